"""Norms of vectors and matrices."""
from __future__ import annotations

import builtins

import numpy as np

from ... import dtypes as dt
from ...autograd.op import renamed, single
from ...autograd.promotion import EXACT, converted
from ...autograd.public import public
from ...errors import type_name
from ...kernels import expressions, native
from ...kernels.arithmetic import is_large
from ...kernels.expressions import expression
from ...kernels.sums import norm_of_rows, powers, runs
from ...tensor import Tensor, check_dim
from ...types import Ints, Number
from ..elementwise.rounding import abs as absolute, magnitude, sgn
from ..reduction.reductions import (
    _add,
    _count_over,
    at_once,
    axes,
    by_count,
    in_c_order,
    kept_shape,
    like,
    masked,
    masked_quotient,
    raw,
)
from .spectra import svdvals

_DTYPE = "linalg.matrix_norm expected out tensor dtype {Want} but got: {Have}"
#: Dtypes in which matrices are not decomposed.
_LOW_PRECISION = (np.float16, dt.BFLOAT16, dt.COMPLEX32)


#: The orders of norms, besides 2, that need no powers.
_BY_ORDER = (0, 1, float("inf"), -float("inf"))


_of_direction = expression(lambda g, input, ans: g * expressions.where(ans != 0.0, input / ans, 0.0), 3)


def norm_grad(g, input, p, ans, dim):
    """The gradient of the norm `ans` of order p over axes `dim`, in the steps of torch's norm_backward."""
    if p == 0:
        return None
    shape = input.shape
    kept = kept_shape(shape, dim)
    g, ans = g.reshape(kept), ans.reshape(kept)
    nonzero = raw(ans) != 0
    if p == 1:
        return sgn(input) * g
    if p == 2:
        return _of_direction(g, input, ans) if is_large(input) else g * masked(input / ans, nonzero)
    size = absolute(input)
    if p in (float("inf"), -float("inf")):
        x = raw(size)
        hits = (x == raw(ans)) | np.isnan(x)
        return sgn(input) * (by_count(g, hits, dim) * like(g, hits))
    if p < 1:
        return sgn(input) * masked(size ** (p - 1), raw(input) != 0) * g * ans ** (1 - p)
    scaled = sgn(input) * size ** (p - 1) if p < 2 else input * size ** (p - 2)
    return scaled * masked_quotient(g, ans ** (p - 1), nonzero)


@single(name="linalg_vector_norm", batches="dims", steps=True,
    input=lambda g, ans, input, p, dim: norm_grad(g, input, p, ans, dim), stored=dt.ONLY_COMPLEX32, kernel="norm_cpu")
def vector_norm_over(input, p, dim, keepdim):
    if p != 0 and _count_over(input, dim) == 1:     # a single element: no sum is needed
        size = magnitude(input)
        return np.array(size if keepdim else size.squeeze(dim), order="C")
    return summed_norm(input, p, dim, keepdim)


def summed_norm(input, p, dim, keepdim):
    """The norm of order p over axes `dim` by its formula."""
    if input.dtype == np.float16:
        return summed_norm(input.astype(np.float32), p, dim, keepdim).astype(np.float16)
    if p == 2:
        if input.dtype == np.float32 and input.size and (rows := runs(input, dim)) is not None:
            norms, left = norm_of_rows(rows), input.ndim - len(dim)
            if left < 2 and not keepdim:
                return norms if left else norms.reshape(())
            return norms.reshape([1 if i in dim else m for i, m in enumerate(input.shape) if keepdim or i not in dim])
        if input.dtype.kind not in dt.COMPLEX:
            return np.sqrt(_add(input * input, dim, keepdim)).astype(input.dtype, copy=False)
        norm = np.sqrt(_add(input.real ** 2 + input.imag ** 2, dim, keepdim))
        if np.isnan(norm).any():               # a number with an infinite and a NaN part counts as infinite
            norm = np.sqrt(_add(magnitude(input) ** 2, dim, keepdim))
        return norm.astype(input.real.dtype, copy=False)
    if input.dtype.kind in dt.NATIVE and p not in _BY_ORDER:
        total = powers(input, p, dim, keepdim)
        if total.ndim or native.listening:
            power = native.heard(np.power)(total.reshape(-1), total.dtype.type(1 / p))
            return power.reshape(total.shape)
        return total[()] ** (1 / p)            # a number's power is quicker than that of an array
    size = magnitude(input)
    if p == 1:
        return _add(size, dim, keepdim)
    if p == 0:
        return _add((size != 0).astype(size.dtype), dim, keepdim)
    if p == float("inf"):
        return in_c_order(np.maximum.reduce(size, axis=dim, keepdims=keepdim, initial=0))
    if p == -float("inf"):
        return in_c_order(np.minimum.reduce(size, axis=dim, keepdims=keepdim))
    return _add(size ** p, dim, keepdim) ** (1 / p)


#: The op that pairwise_distance records.
norm_over = renamed(vector_norm_over, "norm.1")


def _prepared(name, input, dtype):
    """`input` after torch's checks, converted to the given dtype."""
    if dtype is None and input._array.dtype.kind in dt.NATIVE:
        return input
    if input._array.dtype.kind in dt.INTEGRAL:
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {type_name(input)}")
    if dtype is None:
        return input
    if dtype.numpy.kind in dt.INTEGRAL:
        raise RuntimeError(f"{name}: dtype should be floating point or complex, but got {dtype.type_name}")
    if input.dtype.is_complex != dtype.is_complex:
        kind = "complex" if input.dtype.is_complex else "real"
        raise RuntimeError(f"{name}: dtype should be {kind} for {kind} inputs, but got {dtype.type_name}")
    if dt.promote_types(input.dtype, dtype) is not dtype:
        raise RuntimeError(f"{name}: the dtype of the input ({type_name(input)}) should be convertible without "
                           f"narrowing to the specified dtype ({dtype.type_name})")
    return converted(input, dtype.numpy)


@public("linalg_vector_norm", out=EXACT, apart=None, repeats=True)
def vector_norm(input: Tensor, ord: Number = 2, dim: int | Ints | None = None, keepdim: bool = False, *,
                dtype: dt.dtype | None = None, out: Tensor | None = None) -> Tensor:
    """(sum of |x|**ord) ** (1/ord) over `dim` (an int or several; None: all). `ord` may also be inf, -inf or 0.

    RuntimeError for integers, and for an empty reduction with ord inf or below 0.

    >>> import tinytorch as torch
    >>> torch.linalg.vector_norm(torch.tensor([3., 4.]))
    tensor(5.)
    """
    if ord.__class__ is complex:
        raise RuntimeError("linalg.vector_norm: Expected a non-complex scalar as the order of norm.")
    input = _prepared("linalg.vector_norm", input, dtype)
    array = input._array
    over = axes(dim, array.ndim)
    if not array.size and (ord < 0 or ord == float("inf")):
        if dim is None or builtins.any(not array.shape[d] for d in over):
            raise RuntimeError(f"linalg.vector_norm cannot compute the {ord:g} norm on an empty "
                               + ("tensor because the operation does not have an identity" if dim is None else
                                  f"dimension {over[0]} because this dimension is empty and the operation does not "
                                  "have an identity"))
    if array.dtype.kind in dt.NATIVE:
        return vector_norm_over(input, ord, over, keepdim)
    return at_once(vector_norm_over, input, ord, over, keepdim)


def _extreme(x, largest, dim, keepdim):
    """The largest (0 if there are no elements) or the smallest element along `dim`."""
    if not largest:
        return x.amin(dim, keepdim)
    return x.amax(dim, keepdim) if x._array.shape[dim] else x.detach().sum(dim, keepdim)


@public("linalg_matrix_norm", out=_DTYPE, apart=None)
def matrix_norm(input: Tensor, ord: Number | str = "fro", dim: Ints = (-2, -1), keepdim: bool = False, *,
                dtype: dt.dtype | None = None, out: Tensor | None = None) -> Tensor:
    """The norm of matrices. ord: "fro", "nuc" (sum of singular values), 2, -2 (largest, smallest singular value), 1, -1
    (largest, smallest column sum), inf, -inf (largest, smallest row sum).

    >>> import tinytorch as torch
    >>> torch.linalg.matrix_norm(torch.tensor([[3., 0.], [0., -4.]]), 1)
    tensor(4.)
    """
    ndim = input._array.ndim
    if ndim < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
    input = _prepared("linalg.matrix_norm", input, dtype)
    if len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    row, column = check_dim(dim[0], ndim), check_dim(dim[1], ndim)
    if row == column:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    if ord == "fro":
        return vector_norm(input, 2, (row, column), keepdim)
    if ord in ("nuc", 2, -2):
        if input._array.dtype in _LOW_PRECISION:
            raise RuntimeError(f"linalg.matrix_norm: Low precision dtypes not supported. Got {type_name(input)}")
        order = [d for d in range(ndim) if d not in (row, column)] + [row, column]
        s = svdvals(input.permute(order))
        result = s.sum(-1, keepdim) if ord == "nuc" else _extreme(s, ord == 2, -1, keepdim)
        return result.unsqueeze(-1).permute([order.index(d) for d in range(ndim)]) if keepdim else result
    if ord not in (1, -1, float("inf"), -float("inf")):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    over, rest = (row, column) if ord in (1, -1) else (column, row)
    sums = vector_norm(input, 1, over, keepdim)
    return _extreme(sums, ord > 0, rest if keepdim or rest < over else rest - 1, keepdim)
