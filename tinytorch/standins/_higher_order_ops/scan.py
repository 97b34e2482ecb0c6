"""scan: a function with a memory, over the slices of tensors."""
from collections.abc import Callable
from typing import Any

from ..ops.layout.rearrange import flip
from ..ops.layout.shape import movedim
from ..tensor import Tensor, check_dim
from ..utils import _pytree as pytree
from .utils import check_like, check_scanned, stacked

__all__ = ["scan"]


def scan(combine_fn: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any, *, dim: int = 0,
         reverse: bool = False) -> tuple[Any, Any]:
    """Calls carry, y = combine_fn(carry, slice of `xs` along `dim`) for one slice after the other, with `reverse` from
    the last to the first. `init` is the first carry. Returns the last carry and the y's, stacked along `dim`. `init`,
    `xs` and y are trees of tensors. RuntimeError if a step returns a carry of another dtype or shape.

    >>> import tinytorch as torch
    >>> torch._higher_order_ops.scan(lambda c, x: (c + x, c * x), torch.tensor(0.), torch.tensor([1., 2., 3.]))
    (tensor(6.), tensor([0., 2., 9.]))
    """
    first, (given, structure) = pytree.tree_leaves(init), pytree.tree_flatten(xs)
    if not given:
        return init, []
    dim = check_dim(dim, given[0].ndim)
    _check(combine_fn, first, given, reverse)
    check_scanned(given, dim, RuntimeError)
    leaves = [movedim(x, dim, 0) for x in given]
    places = range(len(leaves[0]))
    carry, results = init, []
    for i in reversed(places) if reverse else places:
        new, result = combine_fn(carry, pytree.tree_unflatten([x[i] for x in leaves], structure))
        check_like(carry, new, "init", "carry")
        carry = new
        results.append(result)
    results = stacked(results)
    if reverse:
        results = pytree.tree_map(lambda y: flip(y, [0]), results)
    return carry, pytree.tree_map(lambda y: movedim(y, 0, dim) if dim < y.ndim else y, results)


def _check(combine_fn, first, given, reverse):
    if not callable(combine_fn):
        raise RuntimeError(f"Combine_fn must be a callable, but got {combine_fn}")
    if not isinstance(reverse, bool):
        raise RuntimeError(f"Reverse must be a bool, but got {type(reverse)}")
    if not first:
        raise RuntimeError("scan() operator requires init leaves.")
    for name, leaves in (("init", first), ("xs", given)):
        for leaf in leaves:
            if not isinstance(leaf, Tensor):
                raise RuntimeError(f"All {name} leaves must be a Tensor but got {leaf}")
