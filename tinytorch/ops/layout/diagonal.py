"""Diagonals and triangles: diagonal diag diag_embed diagflat tril triu and their indices."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...autograd.in_place import in_place
from ...autograd.op import op
from ...autograd.promotion import EXACT, write_out
from ...autograd.public import method, public
from ...autograd.views import check_written
from ...errors import not_implemented, refuse_records
from ...kernels import arrange
from ...kernels.memory import empty
from ...memory_format import layout as Layout
from ...tensor import Tensor, check_dim
from ...types import Device, Extent
from ..creation.options import as_dtype, finish, number_of
from .shape import reshape

__all__ = ["diag", "diag_embed", "diagflat", "diagonal", "tril", "tril_indices", "triu", "triu_indices"]


@op(name="diagonal", view=True, input=lambda g, shape, offset, dim1, dim2: _embed(g, shape, offset, dim1, dim2))
def _diagonal(input, offset, dim1, dim2):
    result = input.diagonal(offset, dim1, dim2)
    if not result.shape[-1]:                   # NumPy lets an empty diagonal begin anywhere in memory
        result = input[...].diagonal(0, dim1, dim2)[..., :0]
    if input.flags.writeable:
        result.flags.writeable = True
    return result


@op(name="diagonal.0_copy", input=lambda g, shape, offset, dim1, dim2: _embed(g, shape, offset, dim1, dim2))
def _diagonal_copy(input, offset, dim1, dim2):
    return input.diagonal(offset, dim1, dim2).copy()


@op(name="diag_embed", g=lambda g, offset, dim1, dim2: _diagonal(g, offset, dim1, dim2))
def _embed(g, shape, offset, dim1, dim2):
    """Zeros with `g` on a diagonal: the gradient of `diagonal`, and the forward of `diag_embed`."""
    last = len(shape) - 1
    if (dim1, dim2) == (last - 1, last) and shape[last] == shape[last - 1] == g.shape[-1] + abs(offset):
        if (result := arrange.on_diagonals(g, offset)) is not None:
            return result
    result = np.zeros(shape, g.dtype)
    _diagonal.op.forward(result, offset, dim1, dim2)[...] = g
    return result


def _triangle(name, keep, upper):
    @op(name=name, batches="leading", input=lambda g, diagonal: primitive(g, diagonal))
    def primitive(input, diagonal):
        result = arrange.triangle(input, diagonal, upper)
        if result is not None:
            return result
        return np.ascontiguousarray(np.where(keep(input.shape[-2:], diagonal), input, np.zeros((), input.dtype)))
    return primitive


def _lower(shape, k):
    """A mask of the lower triangle. `k` is limited to the matrix's corners, since NumPy takes only C's integers."""
    return np.tri(*shape, max(-shape[0], min(k, shape[1])), bool)


_tril = _triangle("tril", _lower, False)
_triu = _triangle("triu", lambda shape, k: ~_lower(shape, k - 1), True)


@public(method=True, shares=True, repeats=True)
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of two dimensions as a new last dimension, as a view.

    >>> import tinytorch as torch
    >>> torch.tensor([[1, 2], [3, 4]]).diagonal()
    tensor([1, 4])
    """
    ndim = input._array.ndim
    first, second = check_dim(dim1, ndim), check_dim(dim2, ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    offset = max(min(offset, input._array.shape[second]), -input._array.shape[first])      # NumPy takes only 32 bits
    return _diagonal(input, offset, first, second)


@public(method=True, repeats=True)
def diag(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """The matrix with a vector on its diagonal; or a copy of the diagonal of a matrix.

    >>> import tinytorch as torch
    >>> torch.diag(torch.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    """
    ndim = input._array.ndim
    if ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {ndim}D")
    result = diag_embed(input, diagonal) if ndim == 1 else _diagonal_copy(input, diagonal, 0, 1)
    return write_out(out, result, exact=EXACT)


@method()
def fill_diagonal_(self, fill_value, wrap=False):
    """Writes a number on the main diagonal. With `wrap` the diagonal of a tall matrix starts again below its end.

    RuntimeError for fewer than two dimensions, or more than two of different sizes.

    >>> import tinytorch as torch
    >>> torch.zeros(2, 2).fill_diagonal_(5)
    tensor([[5., 0.],
            [0., 5.]])
    """
    fill_value = number_of("fill_diagonal_", "fill_value", 1, fill_value)
    if not isinstance(wrap, bool):
        raise TypeError(f"fill_diagonal_(): argument 'wrap' must be bool, not {type(wrap).__name__}")
    shape = self._array.shape
    if len(shape) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    size, step = min(shape), sum(self.stride())
    self.as_strided((size,), (step,)).fill_(fill_value)
    if wrap and len(shape) == 2 and shape[0] > shape[1] + 1:
        first = self.stride(0) * (shape[1] + 1)
        size = self._array.size - (shape[1] + 1) * shape[1]
        self.as_strided((-(-size // (shape[1] + 1)),), (step,), self.storage_offset() + first).fill_(fill_value)
    return self


@public(method=True, repeats=True)
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Zeros with the last dimension of `input` on the diagonal of two new dimensions.

    >>> import tinytorch as torch
    >>> torch.diag_embed(torch.tensor([1, 2]), 1)
    tensor([[0, 1, 0],
            [0, 0, 2],
            [0, 0, 0]])
    """
    shape = input._array.shape
    if not shape:
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got -2)")
    first, second = check_dim(dim1, len(shape) + 1), check_dim(dim2, len(shape) + 1)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    if first > second:
        first, second, offset = second, first, -offset
    side, size = shape[-1] + abs(offset), list(shape[:-1])
    size.insert(first, side)
    size.insert(second, side)
    return _embed(input, tuple(size), offset, first, second)


@public(method=True)
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """The matrix with all elements of `input` on its diagonal.

    >>> import tinytorch as torch
    >>> torch.diagflat(torch.tensor([[1], [2]]))
    tensor([[1, 0],
            [0, 2]])
    """
    return diag_embed(reshape(input, -1), offset)


def _triangle_of(name, primitive, input, diagonal):
    if input._array.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    refuse_records(name, input, dt.FLOAT8_RECORDS)
    return primitive(input, diagonal)


def _zero_expanded(memory, values, diagonal=0):
    step = memory.itemsize * memory.shape[-1] * memory.shape[-2]
    for d in range(memory.ndim - 3, -1, -1) if memory.ndim > 3 else ():
        if d == 0 and (memory.strides[0] == 0 or memory.shape[0] == 1):
            continue
        if memory.strides[d] != step:          # torch computes in a copy then, and writes that back
            check_written(memory)
        step *= memory.shape[d]
    # Where several elements share a place, one zero makes it zero.
    np.copyto(memory, np.zeros((), memory.dtype), where=dt.numbers(values) == 0)


def _in_place(function):
    return in_place(function, _zero_expanded)


@public(method=True, inplace=_in_place, repeats=True)
def tril(input: Tensor, diagonal: Extent = 0, *, out: Tensor | None = None) -> Tensor:
    """The lower triangle of matrices, up to the given diagonal, with zeros above it.

    >>> import tinytorch as torch
    >>> torch.tril(torch.ones(2, 2))
    tensor([[1., 0.],
            [1., 1.]])
    """
    result = _triangle_of("tril", _tril, input, diagonal)
    return result if out is None else write_out(out, result, exact=EXACT)


@public(method=True, inplace=_in_place, repeats=True)
def triu(input: Tensor, diagonal: Extent = 0, *, out: Tensor | None = None) -> Tensor:
    """The upper triangle of matrices, from the given diagonal on, with zeros below it.

    >>> import tinytorch as torch
    >>> torch.triu(torch.ones(2, 2))
    tensor([[1., 1.],
            [0., 1.]])
    """
    result = _triangle_of("triu", _triu, input, diagonal)
    return result if out is None else write_out(out, result, exact=EXACT)


def _indices(name, row, col, offset, outside, dtype, device, requires_grad, pin_memory):
    """The places of the lower triangle of a row x col matrix, or (`outside`) all other places."""
    for size_name, size in (("row", row), ("col", col)):
        if size < 0:
            raise RuntimeError(f"{size_name} must be non-negative, got{size}")
    dtype = as_dtype(dtype, name) or dt.int64
    if dtype not in (dt.int64, dt.int32):
        raise not_implemented(name, dtype)
    found = empty((row, col), np.dtype(bool), lambda size, dtype: np.nonzero(np.tri(*size, offset, dtype) ^ outside))
    return finish(np.array(found).astype(dtype.numpy), device, requires_grad, pin_memory)


@public()
def tril_indices(row: int, col: int, offset: int = 0, *, dtype: dt.dtype | type | None = None,
                 layout: Layout | None = None, device: Device = None, requires_grad: bool | None = False,
                 pin_memory: bool | None = False) -> Tensor:
    """Rows and columns of the elements of a row x col matrix's lower triangle, as 2 x N.

    >>> import tinytorch as torch
    >>> torch.tril_indices(2, 2)
    tensor([[0, 1, 1],
            [0, 0, 1]])
    """
    return _indices("tril_indices", row, col, offset, False, dtype, device, requires_grad, pin_memory)


@public()
def triu_indices(row: int, col: int, offset: int = 0, *, dtype: dt.dtype | type | None = None,
                 layout: Layout | None = None, device: Device = None, requires_grad: bool | None = False,
                 pin_memory: bool | None = False) -> Tensor:
    """Rows and columns of the elements of a row x col matrix's upper triangle, as 2 x N.

    >>> import tinytorch as torch
    >>> torch.triu_indices(2, 2)
    tensor([[0, 0, 1],
            [0, 1, 1]])
    """
    return _indices("triu_indices", row, col, offset - 1, True, dtype, device, requires_grad, pin_memory)
