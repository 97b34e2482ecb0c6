"""Copies with elements repeated or moved (repeat tile repeat_interleave roll flip rot90), and torch.reshape."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...arguments import ints_of
from ...autograd.op import op, unwatched
from ...autograd.public import method, public, refuse
from ...errors import not_implemented, refuse_records
from ...kernels import arrange
from ...kernels.copies import repeated, tiled
from ...kernels.layout import ordered_like
from ...kernels.memory import empty
from ...kernels.scatter import owned
from ...kernels.sums import add_up
from ...kinds.lazy import is_lazy
from ...kinds.one_step import one_step
from ...memory_format import contiguous_format
from ...tensor import Tensor, check_dim, wrap
from ...types import Extent, Extents, Ints
from ..elementwise.complex import _neg_view, is_conj, is_neg
from .shape import _view, reshape as reshaped
from .sizes import distinct_dims, sizes

__all__ = ["flip", "fliplr", "flipud", "repeat_interleave", "reshape", "roll", "rot90", "tile"]


def _sum_repeats(g, shape, repeats):
    """The gradient of repeat: the sum over the copies of each element."""
    shape = (1,) * (len(repeats) - len(shape)) + tuple(shape)
    spread = [n for pair in zip(repeats, shape) for n in pair]
    g, axes = g.reshape(tuple(spread)), tuple(range(0, 2 * len(shape), 2))
    return g.sum(axes) if isinstance(g, Tensor) else add_up(g, axes)


@op(name="repeat", input=lambda g, shape, repeats: _sum_repeats(g, shape, repeats))
def _repeat(input, repeats):
    return tiled(input, repeats)


@op(name="roll", input=lambda g, shifts, dims: _roll(g, tuple([-n for n in shifts]), dims))
def _roll(input, shifts, dims):
    if dims is None or len(dims) > 1 or not input.size:
        return np.asarray(np.roll(input, shifts, dims), order="C")
    if (result := arrange.rolled(input, shifts[0], dims[0])) is not None:
        return result
    before, n = (slice(None),) * dims[0], input.shape[dims[0]]
    first = n - shifts[0] % n
    parts = input[(*before, slice(first, None))], input[(*before, slice(0, first))]
    return np.asarray(np.concatenate(parts, dims[0]), order="C")


@op(name="flip", input=lambda g, dims: _flip(g, dims))
def _flip(input, dims):
    if input.ndim - 1 in dims and input.shape[-1] > 1:         # else torch moves bytes, which any dtype allows
        refuse_records("flip_cpu", input)
    if len(dims) == 1 and (result := arrange.flipped(input, dims[0])) is not None:
        return result
    return ordered_like(np.flip(input, dims).copy("K"), input)


@op(name="rot90", input=lambda g, k, dims: _rot90(g, -k % 4, dims))
def _rot90(input, k, dims):
    a, b = dims
    if (k == 2 or k and (b if k == 1 else a) == input.ndim - 1) and input.shape[-1] > 1:
        refuse_records("flip_cpu", input)
    if k in (0, 2):
        return ordered_like(np.flip(input, dims).copy("K"), input) if k else input.copy()
    result = arrange.flipped(input, b if k == 1 else a)
    if result is None:
        result = ordered_like(np.flip(input, b if k == 1 else a).copy("K"), input)
    return result.swapaxes(a, b)


@public(hot=True, shares=True)
def reshape(input: Tensor, shape: Extents) -> Tensor:
    """The same elements in another shape: a view where the strides allow it, else a copy.

    >>> import tinytorch as torch
    >>> torch.reshape(torch.arange(4), (2, -1))
    tensor([[0, 1],
            [2, 3]])
    """
    if not isinstance(shape, (tuple, list)):   # only the method takes sizes one by one
        refuse(reshape, input, shape)
    return reshaped(input, shape)


@method()
def repeat(self: Tensor, *args: int | Ints, repeats: Ints | None = None) -> Tensor:
    """A copy of the tensor repeated along each dimension. Extra counts make new dimensions in front.

    >>> import tinytorch as torch
    >>> torch.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    repeats = sizes(args, "repeat", "repeats") if repeats is None else ints_of(repeats, "repeat", "repeats", None, True)
    shape = self._array.shape
    if len(repeats) < len(shape):
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    if repeats and min(repeats) < 0:
        size = [k * n for k, n in zip(repeats, (1,) * (len(repeats) - len(shape)) + shape)]
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(size)}: {size}")
    return _repeat(self, repeats)


@public()
def tile(input: Tensor, dims: Extents) -> Tensor:
    """`repeat` that also accepts fewer counts than dimensions.

    >>> import tinytorch as torch
    >>> torch.tile(torch.tensor([[1], [2]]), (2,))
    tensor([[1, 1],
            [2, 2]])
    """
    return repeat(input, (1,) * (input._array.ndim - len(dims)) + tuple(dims))


@method("tile")
def _tile_method(self: Tensor, *args: int | Ints, dims: Ints | None = None) -> Tensor:
    """`repeat` that also accepts fewer counts than dimensions: tile(2, 1) or tile((2, 1))."""
    return tile(self, sizes(args, "tile", "dims") if dims is None else ints_of(dims, "tile", "dims", None, True))


@public(looks=True)
def repeat_interleave(input: Tensor, repeats: Tensor | Extent | None = None, dim: int | None = None, *,
                      output_size: Extent | None = None) -> Tensor:
    """Each element (or slice of `dim`) repeated `repeats` times; a tensor gives a count for each.

    With one argument: the numbers 0, 1, ..., each repeated as often as `input` says. RuntimeError for negative counts.

    >>> import tinytorch as torch
    >>> torch.repeat_interleave(torch.tensor([1, 2]), 2), torch.repeat_interleave(torch.tensor([0, 2]))
    (tensor([1, 1, 2, 2]), tensor([1, 1]))
    """
    if repeats is None:
        if dim is not None:
            raise _no_repeats()
        counts = _counts(input, "repeat_interleave only accept 1D vector as repeat")
        return wrap(_repeated(counts))
    if isinstance(repeats, Tensor) and is_lazy(input._array):   # torch repeats the memory, and the result stays lazy
        conjugated, negated = is_conj(input), is_neg(input)
        input = input.conj() if conjugated else input
        result = repeat_interleave(_neg_view(input) if negated else input, repeats, dim, output_size=output_size)
        result = result.conj() if conjugated else result
        return _neg_view(result) if negated else result
    if isinstance(repeats, Tensor):
        _check_counts(repeats._array)           # before the check of the dimension
    if dim is None:
        input, dim = reshaped(input, -1), 0
    elif not input._array.ndim and isinstance(repeats, Tensor):
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    dim = check_dim(dim, input._array.ndim)
    if not isinstance(repeats, Tensor):
        return _repeat_each(input, repeats, dim, output_size)
    counts, n = _counts(repeats), input._array.shape[dim]
    if counts.size == 1:
        counts = np.broadcast_to(counts.reshape(-1), (n,))
    elif counts.size != n:
        raise RuntimeError("repeats must have the same size as input along dim, but got repeats.size(0) = "
                           f"{counts.size} and input.size({dim}) = {n}")
    if output_size is not None:
        return input.index_select(dim, wrap(_repeated_to(counts, output_size)))
    return input.index_select(dim, wrap(_repeated(counts)))


def _repeat_each(input, repeats, dim, output_size):
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    if output_size is not None and input._array.ndim and input._array.shape[dim] * repeats != output_size:
        raise RuntimeError("repeat_interleave: Invalid output_size, expected "
                           f"{input._array.shape[dim] * repeats} but got {output_size}")
    if unwatched(input, True) and input._array.ndim and (found := repeated(input._array, dim, repeats)) is not None:
        shape = input._array.shape
        return _view(wrap(found), (*shape[:dim], shape[dim] * repeats, *shape[dim + 1:]))
    spread = input.unsqueeze(dim + 1)
    shape = spread._array.shape
    spread = spread.expand(shape[:dim + 1] + (repeats,) + shape[dim + 2:])
    return spread.clone(memory_format=contiguous_format).flatten(dim, dim + 1)


@method("repeat_interleave")
def _repeat_interleave_method(self: Tensor, repeats: Tensor | int, dim: int | None = None, *,
                              output_size: int | None = None) -> Tensor:
    """Each element (or slice of `dim`) repeated `repeats` times; a tensor gives a count for each."""
    if repeats is None:
        raise _no_repeats()
    return repeat_interleave(self, repeats, dim, output_size=output_size)


def _no_repeats():
    return TypeError("repeat_interleave(): argument 'repeats' must be Tensor or int, not NoneType")


def _check_counts(counts):
    if counts.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")


def _repeated(counts):
    """The numbers 0, 1, ..., each repeated as often as `counts` says."""
    counts = owned(counts)
    return empty((counts.sum(),), counts.dtype,
                 lambda size, dtype: np.repeat(np.arange(counts.size), dt.as_intp(counts)))


@one_step
def _repeated_to(counts, output_size):
    if counts.sum() != output_size:
        raise RuntimeError("allocated size does not match required size")
    return _repeated(counts)


def _counts(repeats, vector_error=None):
    """The counts in a tensor, checked. `vector_error`: the message for counts that are no vector."""
    counts = repeats._array
    if counts.dtype not in (np.int32, np.int64):
        raise not_implemented("repeat_interleave_cpu", repeats)
    if vector_error is not None and counts.ndim != 1:
        raise RuntimeError(vector_error)
    _check_counts(counts)
    if counts.size and counts.min() < 0:
        raise RuntimeError("repeats can not be negative")
    return counts


@public(method=True, repeats=True)
def roll(input: Tensor, shifts: int | Extents, dims: int | Ints | None = None) -> Tensor:
    """Moves the elements along `dims` by `shifts`; those moved beyond the end come in at the start. Without `dims` the
    flat tensor is rolled.

    >>> import tinytorch as torch
    >>> torch.tensor([1, 2, 3]).roll(1)
    tensor([3, 1, 2])
    """
    shifts = sizes((shifts,), "roll", "shifts")
    dims = () if dims is None else sizes((dims,), "roll", "dims")
    if not shifts:
        raise RuntimeError("`shifts` required")
    if not dims and len(shifts) == 1:
        return _roll(input, shifts, None)
    if len(shifts) != len(dims):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    if not input._array.size:
        return _roll(input, shifts, None)      # torch does not check the dimensions
    if not input._array.ndim:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    return _roll(input, shifts, tuple([check_dim(d, input._array.ndim) for d in dims]))


@public(repeats=True)
def flip(input: Tensor, dims: Ints) -> Tensor:
    """A copy with the order along `dims` reversed.

    >>> import tinytorch as torch
    >>> torch.flip(torch.tensor([[1, 2], [3, 4]]), (0, 1))
    tensor([[4, 3],
            [2, 1]])
    """
    dims = distinct_dims(ints_of(dims, "flip", "dims", 2), input._array.ndim)
    return _flip(input, dims if input._array.ndim else ())


@method("flip")
def _flip_method(self: Tensor, *args: int | Ints, dims: Ints | None = None) -> Tensor:
    """A copy with the order along `dims` reversed: flip(0, 1) or flip((0, 1))."""
    return flip(self, sizes(args, "flip", "dims", False) if dims is None else ints_of(dims, "flip", "dims", None))


@public(method=True)
def fliplr(input: Tensor) -> Tensor:
    """`flip` of dimension 1.

    >>> import tinytorch as torch
    >>> torch.fliplr(torch.tensor([[1, 2]]))
    tensor([[2, 1]])
    """
    if input._array.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return _flip(input, (1,))


@public(method=True)
def flipud(input: Tensor) -> Tensor:
    """`flip` of dimension 0.

    >>> import tinytorch as torch
    >>> torch.flipud(torch.tensor([1, 2]))
    tensor([2, 1])
    """
    if input._array.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return _flip(input, (0,))


@public(method=True)
def rot90(input: Tensor, k: int = 1, dims: Ints = (0, 1)) -> Tensor:
    """Turns the plane of two dimensions k times by 90 degrees, from the first towards the second.

    >>> import tinytorch as torch
    >>> torch.rot90(torch.tensor([[1, 2], [3, 4]]))
    tensor([[2, 4],
            [1, 3]])
    """
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if input._array.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input._array.ndim}")
    a, b = dims
    if a == b or abs(a - b) == input._array.ndim:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {a} and dim1 = {b}")
    a, b = check_dim(a, input._array.ndim), check_dim(b, input._array.ndim)
    return _rot90(input, k % 4, (a, b))
