"""Lengths and distances: norm dist cdist renorm."""
import builtins

import numpy as np

from ...autograd.op import methods, op
from ...autograd.promotion import EXACT, converted, in_float32, promoted, type_name, write_out
from ...autograd.views import assign, check_in_place
from ...tensor import check_dim
from ..reduction.reductions import _add, axes, check_tensor, kept_shape, like, masked, numpy_names, raw, spread
from ..elementwise.rounding import sgn

__all__ = ["cdist", "dist", "norm", "renorm"]


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


@numpy_names
def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The norm of order p of all elements or over `dim`: "fro" (the root of the sum of squares), "nuc" (the
    sum of the singular values of matrices), or a number as in `torch.linalg.vector_norm`.

    >>> import tinytorch as torch
    >>> torch.norm(torch.tensor([[3., 0.], [0., 4.]]))
    tensor(5.)
    """
    check_tensor("norm", input)
    if p == "nuc":
        from .functions import matrix_norm        # which is above this file
        return matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, dtype=dtype, out=out)
    if p is None or p == "fro":
        p = 2
    elif isinstance(p, str):
        raise RuntimeError(f"only valid string values are 'fro' and 'nuc', found: {p}")
    return vector_norm(input, p, dim, keepdim, dtype=dtype, out=out)


def dist(input, other, p=2):
    """The norm of order p of input - other.

    >>> import tinytorch as torch
    >>> torch.dist(torch.tensor([0., 3.]), torch.tensor([4., 0.]))
    tensor(5.)
    """
    return norm(input - other, float(p))


def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """Distances (norms of order p) of every row of x1 (..., n, d) to every row of x2 (..., m, d): (..., n, m).

    >>> import tinytorch as torch
    >>> torch.cdist(torch.tensor([[0., 0.]]), torch.tensor([[3., 4.], [0., 1.]]))
    tensor([[5., 1.]])
    """
    for name, x in (("X1", x1), ("X2", x2)):
        if x.array.dtype.kind != "f":
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {type_name(x)}")
        if x.array.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.array.ndim}D")
    if x1.array.shape[-1] != x2.array.shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1.array.shape[-1]} "
                           f"X2: {x2.array.shape[-1]}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    x1, x2 = promoted(x1, x2)
    difference = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    return vector_norm_over(difference, p, (difference.array.ndim - 1,), False)


def renorm(input, p, dim, maxnorm, *, out=None):
    """`input` with each slice along `dim` scaled down so that its norm of order p is at most `maxnorm`.

    >>> import tinytorch as torch
    >>> torch.renorm(torch.tensor([[3., 4.], [0., 1.]]), 2, 0, 1.)
    tensor([[0.6000, 0.8000],
            [0.0000, 1.0000]])
    """
    array = input.array
    if array.dtype.kind not in "fc":
        raise RuntimeError("linalg.vector_norm: Expected a floating point or complex tensor as input. "
                           f"Got {type_name(input)}")
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if array.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {array.ndim} dimensions")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    dim = check_dim(dim, array.ndim)
    size = vector_norm_over(input, p, tuple(d for d in range(array.ndim) if d != dim), True)
    large = size.array > maxnorm
    factor = masked(maxnorm / (size + 1e-7), large) + like(size, (~large).astype(size.array.dtype))
    return write_out(out, input * factor, exact=EXACT)


def renorm_(self, p, dim, maxnorm):
    """In-place form of `renorm`: writes the result into `self` and returns it."""
    check_in_place(self)
    return assign(self, renorm(self.clone(), p, dim, maxnorm))       # its steps keep what they read: a copy


methods(norm, dist, renorm, renorm_)
