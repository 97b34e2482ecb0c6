"""Reductions: sum mean max min var std norm all any ..."""
import numpy as np

from .. import dtype as dt
from ..autograd.op import methods, op
from ..autograd.promotion import converted, write_out
from ..tensor import Tensor, check_dim

__all__ = ["mean", "sum"]


def axes(dim, ndim):
    """`dim` (None, an int, several ints) as a tuple of distinct axes from the front."""
    if dim is None:
        return tuple(range(ndim))
    if dim.__class__ is int:
        return (check_dim(dim, ndim),) if ndim else (check_dim(dim, ndim),)[1:]
    found = tuple(check_dim(d, ndim) for d in dim)
    if len(set(found)) != len(found):
        raise RuntimeError(f"dim {next(d for d in found if found.count(d) > 1)} appears multiple times in the list of dims")
    return found if found and ndim else tuple(range(ndim))


def spread(g, shape, dim):
    """The gradient of a reduction over axes `dim` (not kept) laid out again over `shape`."""
    if not isinstance(g, Tensor):
        return np.broadcast_to(g.reshape(kept_shape(shape, dim)), shape)
    return g.reshape(kept_shape(shape, dim)).expand(shape)


def kept_shape(shape, dim):
    return tuple([1 if i in dim else n for i, n in enumerate(shape)])


@op(name="sum", input=lambda g, shape, dim: spread(g, shape, dim))
def _sum(input, dim, keepdim):
    return np.add.reduce(input, axis=dim, keepdims=keepdim)


def sum(input, dim=None, keepdim=False, *, dtype=None, out=None):
    """Sum of all elements, or over `dim` (an int or several). Integers are summed in int64.

    >>> import tinytorch as torch
    >>> torch.sum(torch.tensor([[1, 2], [3, 4]]), 0)
    tensor([4, 6])
    """
    if dtype is not None:
        input = converted(input, dtype.numpy)
    elif input.array.dtype.kind in "biu":
        input = converted(input, dt.int64.numpy)
    return write_out(out, _sum(input, axes(dim, input.array.ndim), keepdim))


def mean(input, dim=None, keepdim=False, *, dtype=None, out=None):
    """Mean of all elements, or over `dim` (an int or several). RuntimeError for integers without `dtype`.

    >>> import tinytorch as torch
    >>> torch.mean(torch.tensor([1., 3.]))
    tensor(2.)
    """
    if dtype is not None:
        input = converted(input, dtype.numpy)
    elif input.array.dtype.kind in "biu":
        raise RuntimeError("mean(): could not infer output dtype. Input dtype must be either a floating point or "
                           f"complex dtype. Got: {input.dtype.tensor_type[:-6]}")
    dim = axes(dim, input.array.ndim)
    count = 1
    for d in dim:
        count *= input.array.shape[d]
    return write_out(out, _sum(input, dim, keepdim) / (count or float("nan")))


methods(sum, mean)
