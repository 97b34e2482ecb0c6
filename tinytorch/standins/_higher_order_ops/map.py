"""map: a function of the slices of tensors along their first dimension."""
from collections.abc import Callable
from typing import Any

from ..tensor import Tensor
from ..utils import _pytree as pytree
from .utils import stacked

__all__ = ["map"]


def map(f: Callable, xs: Any, *args: Any) -> Any:
    """The stacked results of f(slice, *args) for the slices of `xs` along dimension 0. `xs` and the result of `f` are
    trees of tensors. RuntimeError if the first dimensions of `xs` differ or are empty.

    >>> import tinytorch as torch
    >>> torch._higher_order_ops.map(lambda row, k: row.sum() * k, torch.tensor([[1., 2.], [3., 4.]]), 10)
    tensor([30., 70.])
    """
    leaves, structure = pytree.tree_flatten(xs)
    if not all([isinstance(x, Tensor) for x in leaves]):
        raise RuntimeError(f"Mapped xs can only consist of tensors. Got xs {leaves}.")
    shapes = [x.shape for x in leaves]
    if not shapes[0][0]:
        raise RuntimeError("Leading dimensions of mapped xs cannot be 0.")
    if any([shape[0] != shapes[0][0] for shape in shapes]):
        raise RuntimeError(f"Leading dimensions of mapped xs must be consistent. Got shapes {shapes}.")
    return stacked([f(pytree.tree_unflatten([x[i] for x in leaves], structure), *args) for i in range(shapes[0][0])])
