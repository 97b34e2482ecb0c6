"""Norms of vectors and matrices."""
import builtins

import numpy as np

from ...autograd.op import op
from ...autograd.promotion import EXACT, converted, in_float32, write_out
from ...errors import type_name
from ...tensor import check_dim
from ..elementwise.rounding import sgn
from ..reduction.reductions import _add, axes, check_tensor, kept_shape, like, masked, raw, spread
from .decompositions import svdvals


def _direction(x):
    """x / |x|, 0 where x is 0: the sign of a real number."""
    if raw(x).dtype.kind == "c":
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
        squares = input * input if input.dtype.kind != "c" else input.real ** 2 + input.imag ** 2
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


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None, out=None):
    """(sum of |x|**ord) ** (1/ord) over `dim` (an int or several; all if None); ord may be inf, -inf, 0.

    RuntimeError for integers, and for an empty reduction with ord inf or below 0.

    >>> import tinytorch as torch
    >>> torch.linalg.vector_norm(torch.tensor([3., 4.]))
    tensor(5.)
    """
    check_tensor("linalg_vector_norm", x)
    if dtype is not None:
        x = converted(x, dtype.numpy)
    if x.array.dtype.kind in "biu":
        raise RuntimeError("linalg.vector_norm: Expected a floating point or complex tensor as input. "
                           f"Got {type_name(x)}")
    if x.array.dtype.kind == "V":
        return write_out(out, in_float32(lambda wide: vector_norm(wide, ord, dim, keepdim), x), exact=EXACT)
    over = axes(dim, x.array.ndim)
    if not x.array.size and (ord < 0 or ord == float("inf")):
        if dim is None or builtins.any(not x.array.shape[d] for d in over):
            raise RuntimeError(f"linalg.vector_norm cannot compute the {ord:g} norm on an empty "
                               + ("tensor because the operation does not have an identity" if dim is None else
                                  f"dimension {over[0]} because this dimension is empty and the operation does not "
                                  "have an identity"))
    return write_out(out, vector_norm_over(x, ord, over, keepdim), exact=EXACT)


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


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None, out=None):
    """The norm of matrices: ord "fro", "nuc" (sum of singular values), 2, -2 (largest, smallest singular
    value), 1, -1 (largest, smallest column sum), inf, -inf (row sum).

    >>> import tinytorch as torch
    >>> torch.linalg.matrix_norm(torch.tensor([[3., 0.], [0., -4.]]), 1)
    tensor(4.)
    """
    check_tensor("linalg_matrix_norm", A)
    if dtype is not None:
        A = converted(A, dtype.numpy)
    ndim = A.array.ndim
    if ndim < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
    if A.array.dtype.kind not in "fc":
        raise RuntimeError("linalg.matrix_norm: Expected a floating point or complex tensor as input. "
                           f"Got {type_name(A)}")
    if len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    row, column = check_dim(dim[0], ndim), check_dim(dim[1], ndim)
    if row == column:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    if ord == "fro":
        return vector_norm(A, 2, (row, column), keepdim, out=out)
    if ord in ("nuc", 2, -2):
        s = svdvals(A.movedim((row, column), (-2, -1)))
        result = s.sum(-1) if ord == "nuc" else _extreme(s, ord == 2, -1, False)
        return write_out(out, _kept(result, (row, column), ndim) if keepdim else result)
    if ord not in (1, -1, float("inf"), -float("inf")):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    over, rest = (row, column) if ord in (1, -1) else (column, row)
    sums = vector_norm(A, 1, over, True)
    result = _extreme(sums, ord > 0, rest, True)
    return write_out(out, result if keepdim else result.squeeze((row, column)))
