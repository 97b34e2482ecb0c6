"""Norms of vectors and matrices."""
from __future__ import annotations

import builtins

import numpy as np

from ... import dtypes as dt
from ...autograd.op import op
from ...autograd.promotion import EXACT, converted, in_float32
from ...autograd.public import public
from ...errors import type_name
from ...tensor import Tensor, check_dim
from ...types import Ints, Number
from ..elementwise.rounding import sgn
from ..reduction.reductions import _add, axes, kept_shape, like, masked, raw, spread
from .spectra import svdvals

_DTYPE = "linalg.matrix_norm expected out tensor dtype {Want} but got: {Have}"
#: Dtypes that are too narrow to decompose matrices in.
_LOW = (np.float16, dt.BFLOAT16)


def _direction(x):
    """x / |x|, 0 where x is 0: the sign of a real number."""
    if raw(x).dtype.kind in dt.COMPLEX:
        return sgn(x)
    return like(x, np.sign(raw(x)))


def _norm_grad(g, ans, input, p, dim):
    shape, nonzero = input.shape, raw(ans) != 0
    if p == 2:
        return spread(g, shape, dim) * masked(input / spread(ans, shape, dim), nonzero.reshape(kept_shape(shape, dim)))
    if p == 1:
        return spread(g, shape, dim) * _direction(input)
    if p == 0:
        return input * 0
    size = np.abs(raw(input))
    if p in (float("inf"), -float("inf")):
        extreme = raw(ans).reshape(kept_shape(shape, dim))
        hits = (size == extreme) | (np.isnan(size) & np.isnan(extreme))
        weight = (hits / hits.sum(axis=dim, keepdims=True)).astype(size.dtype)
        return spread(g, shape, dim) * _direction(input) * like(g, weight)
    return input * masked(builtins.abs(input) ** (p - 2), size != 0) * spread(
        masked(g, nonzero) * masked(ans ** (1 - p), nonzero), shape, dim)


@op(name="linalg_vector_norm", input=lambda g, ans, input, p, dim: _norm_grad(g, ans, input, p, dim))
def vector_norm_over(input, p, dim, keepdim):
    if input.dtype == np.float16:
        return vector_norm_over(input.astype(np.float32), p, dim, keepdim).astype(np.float16)
    if p == 2:
        squares = input * input if input.dtype.kind not in dt.COMPLEX else input.real ** 2 + input.imag ** 2
        return np.sqrt(_add(squares, dim, keepdim)).astype(input.real.dtype, copy=False)
    size = np.abs(input)
    if p == 1:
        return _add(size, dim, keepdim)
    if p == 0:
        return _add((size != 0).astype(size.dtype), dim, keepdim)
    if p == float("inf"):
        return np.maximum.reduce(size, axis=dim, keepdims=keepdim, initial=0)
    if p == -float("inf"):
        return np.minimum.reduce(size, axis=dim, keepdims=keepdim)
    return _add(size ** p, dim, keepdim) ** (1 / p)


@public("linalg_vector_norm", out=EXACT, apart=None)
def vector_norm(input: Tensor, ord: Number = 2, dim: int | Ints | None = None, keepdim: bool = False, *,
                dtype: dt.dtype | None = None, out: Tensor | None = None) -> Tensor:
    """(sum of |x|**ord) ** (1/ord) over `dim` (an int or several; all if None); ord may be inf, -inf, 0.

    RuntimeError for integers, and for an empty reduction with ord inf or below 0.

    >>> import tinytorch as torch
    >>> torch.linalg.vector_norm(torch.tensor([3., 4.]))
    tensor(5.)
    """
    if dtype is not None:
        input = converted(input, dtype.numpy)
    array = input.array
    if array.dtype.kind in dt.INTEGRAL:
        raise RuntimeError("linalg.vector_norm: Expected a floating point or complex tensor as input. "
                           f"Got {type_name(input)}")
    if array.dtype.kind in dt.WIDENED:         # here: `dtype` may ask for float32 of bfloat16, or the other way round
        return in_float32(lambda wide: vector_norm(wide, ord, dim, keepdim), input)
    over = axes(dim, array.ndim)
    if not array.size and (ord < 0 or ord == float("inf")):
        if dim is None or builtins.any(not array.shape[d] for d in over):
            raise RuntimeError(f"linalg.vector_norm cannot compute the {ord:g} norm on an empty "
                               + ("tensor because the operation does not have an identity" if dim is None else
                                  f"dimension {over[0]} because this dimension is empty and the operation does not "
                                  "have an identity"))
    return vector_norm_over(input, ord, over, keepdim)


def _kept(result, dim, ndim):
    """`result`, of which axes `dim` have been reduced, with them as axes of size 1."""
    for d in sorted(d % ndim for d in dim):
        result = result.unsqueeze(d)
    return result


def _extreme(x, largest, dim, keepdim):
    """The largest (0 if there is none) or smallest element along `dim`."""
    if not largest:
        return x.amin(dim, keepdim)
    return x.amax(dim, keepdim) if x.array.shape[dim] else x.sum(dim, keepdim)


@public("linalg_matrix_norm", out=_DTYPE, apart=None)
def matrix_norm(input: Tensor, ord: Number | str = "fro", dim: Ints = (-2, -1), keepdim: bool = False, *,
                dtype: dt.dtype | None = None, out: Tensor | None = None) -> Tensor:
    """The norm of matrices: ord "fro", "nuc" (sum of singular values), 2, -2 (largest, smallest singular
    value), 1, -1 (largest, smallest column sum), inf, -inf (row sum).

    >>> import tinytorch as torch
    >>> torch.linalg.matrix_norm(torch.tensor([[3., 0.], [0., -4.]]), 1)
    tensor(4.)
    """
    if dtype is not None:
        input = converted(input, dtype.numpy)
    ndim = input.array.ndim
    if ndim < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
    if input.array.dtype.kind in dt.INTEGRAL:
        raise RuntimeError("linalg.matrix_norm: Expected a floating point or complex tensor as input. "
                           f"Got {type_name(input)}")
    if len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    row, column = check_dim(dim[0], ndim), check_dim(dim[1], ndim)
    if row == column:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    if ord == "fro":
        return vector_norm(input, 2, (row, column), keepdim)
    if ord in ("nuc", 2, -2):
        if input.array.dtype in _LOW:
            raise RuntimeError(f"linalg.matrix_norm: Low precision dtypes not supported. Got {type_name(input)}")
        s = svdvals(input.movedim((row, column), (-2, -1)))
        result = s.sum(-1) if ord == "nuc" else _extreme(s, ord == 2, -1, False)
        return _kept(result, (row, column), ndim) if keepdim else result
    if ord not in (1, -1, float("inf"), -float("inf")):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    over, rest = (row, column) if ord in (1, -1) else (column, row)
    sums = vector_norm(input, 1, over, True)
    result = _extreme(sums, ord > 0, rest, True)
    return result if keepdim else result.squeeze((row, column))
