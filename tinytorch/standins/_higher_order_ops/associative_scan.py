"""associative_scan: running results of an associative function."""
from collections.abc import Callable
from typing import Any

from ..func.batching import vmap
from ..ops.layout.join import cat, stack
from ..ops.layout.rearrange import flip
from ..ops.layout.shape import movedim
from ..tensor import Tensor, check_dim
from ..utils import _pytree as pytree
from .utils import check_scanned

__all__ = ["associative_scan"]


def associative_scan(combine_fn: Callable[[Any, Any], Any], xs: Any, dim: int, reverse: bool = False,
                     combine_mode: str = "pointwise") -> Any:
    """The running results of `combine_fn` over the slices of `xs` along `dim`: x0, combine_fn(x0, x1) ..., or from
    the last to the first with `reverse`. `xs` is a tree of tensors. The function is called for many pairs at once,
    by vmap. ValueError for the mode "pointwise", which is only for GPUs: pass combine_mode="generic".

    >>> import tinytorch as torch
    >>> torch._higher_order_ops.associative_scan(torch.mul, torch.tensor([1., 2., 3., 4.]), 0, combine_mode="generic")
    tensor([ 1.,  2.,  6., 24.])
    """
    given, structure = pytree.tree_flatten(xs)
    dim = check_dim(dim, given[0].ndim)
    _check(combine_fn, given, reverse, combine_mode)
    check_scanned(given, dim, ValueError)
    leaves = [movedim(x, dim, 0) for x in given]
    if reverse:
        leaves = [flip(x, [0]) for x in leaves]
    batched = vmap(combine_fn)

    def combined(a, b):
        result = batched(pytree.tree_unflatten(a, structure), pytree.tree_unflatten(b, structure))
        result = pytree.tree_leaves(result)
        if len(result) != len(leaves):
            raise AssertionError(f"Combine_fn returned {len(result)} leaves, of {len(leaves)}")
        return result
    results = _scanned(combined, leaves)
    if reverse:
        results = [flip(y, [0]) for y in results]
    return pytree.tree_unflatten([movedim(y, 0, dim) for y in results], structure)


def _scanned(combined, leaves):
    """The running results along dimension 0. The results at odd places are the running results of pairs; each of the
    others takes one step from the result before it."""
    length = len(leaves[0])
    if length < 2:
        return leaves
    odd = _scanned(combined, combined([x[0:length - 1:2] for x in leaves], [x[1::2] for x in leaves]))
    even = [x[:1] for x in leaves]
    if length > 2:
        before = odd if length % 2 else [x[:-1] for x in odd]
        even = [cat([first, y]) for first, y in zip(even, combined(before, [x[2::2] for x in leaves]))]
    return [_interleaved(a, b) for a, b in zip(even, odd)]


def _interleaved(even, odd):
    both = stack([even[:len(odd)], odd], 1).flatten(0, 1)
    return both if len(even) == len(odd) else cat([both, even[-1:]])


def _check(combine_fn, given, reverse, combine_mode):
    if not callable(combine_fn):
        raise ValueError(f"Combine_fn must be a callable, but got {combine_fn}")
    if not isinstance(reverse, bool):
        raise RuntimeError(f"Reverse must be a bool, but got {type(reverse)}")
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}")
    if combine_mode == "pointwise":
        raise ValueError("For combine_mode='pointwise', all input tensors need to be on CUDA or XPU")
    if not all([isinstance(x, Tensor) for x in given]):
        raise ValueError("xs leaves must be a Tensor")
    if any([x.is_sparse for x in given]):
        raise ValueError("xs leaves must dense Tensors, consider using `to_dense()`")
