"""Norms and distances: norm dist cdist renorm."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...autograd import late_bound
from ...autograd.grad_mode import mode
from ...autograd.op import op
from ...autograd.promotion import EXACT, check_broadcast, converted, promoted, scalar_of, underivable
from ...autograd.public import method, public, refuse
from ...errors import C_NAMES, not_implemented, type_name
from ...kernels import expressions
from ...kernels.expressions import expression
from ...kernels.linalg.products import dot
from ...tensor import Tensor, check_dim
from ...types import Ints, Number
from ..elementwise.arithmetic import sub
from ..elementwise.rounding import abs as absolute, sgn
from ..elementwise.where import pick
from ..reduction.reductions import at_once, in_c_order, like, masked, raw
from .norms import matrix_norm, norm_grad, summed_norm, vector_norm, vector_norm_over

__all__ = ["cdist", "dist", "norm", "renorm"]


@public(python=True, repeats=True)
def norm(input: Tensor, p: Number | str | None = "fro", dim: int | Ints | None = None, keepdim: bool = False,
         out: Tensor | None = None, dtype: dt.dtype | None = None) -> Tensor:
    """The norm of order p of all elements or over `dim`: "fro" (the root of the sum of squares), "nuc" (the
    sum of the singular values of matrices), or a number as in `torch.linalg.vector_norm`.

    >>> import tinytorch as torch
    >>> torch.norm(torch.tensor([[3., 0.], [0., 4.]]))
    tensor(5.)
    """
    if isinstance(p, np.ndarray):
        raise TypeError("linalg_vector_norm(): argument 'ord' (position 2) must be Number, not numpy.ndarray")
    if not isinstance(input, Tensor):
        input.ndim                             # noqa: B018  (AttributeError for anything but a tensor, as in torch)
    if type(input._array) is not np.ndarray and input.is_sparse:
        return late_bound.sparse("norm", (input, p, dim, keepdim), {"dtype": dtype, "out": out})
    dims = [dim] if isinstance(dim, int) else dim
    if isinstance(p, str) and not (p == "fro" and (dims is None or len(dims) <= 2)):
        return matrix_norm(input, p, list(range(input.ndim)) if dims is None else dims, keepdim, dtype=dtype, out=out)
    p = 2 if p is None or p == "fro" else p
    if dtype is None and out is None:
        return vector_norm(input, p, dims, keepdim)
    return vector_norm(input, p, dims, keepdim, dtype=dtype, out=out)


@method("norm", in_python=True)
def _norm(self, p: Number | str | None = "fro", dim: int | Ints | None = None, keepdim: bool = False,
          dtype: dt.dtype | None = None) -> Tensor:
    """`torch.norm`."""
    return norm(self, p, dim, keepdim, dtype=dtype)


def _dist_grad(g, input, other, p, ans):
    difference = input - other
    return norm_grad(g, difference, p, ans, tuple(range(len(difference.shape))))


def _negative(g):
    return g if g is None else -g


def _dist_of_records(input, other, p):
    difference = dt.numbers(dt.stored(dt.numbers(input) - dt.numbers(other), input.dtype))
    return dt.stored(_dist.op.forward(difference, np.zeros((), difference.dtype), p), input.dtype)


@op(name="dist", steps=True, input=_dist_grad,
    other=lambda g, input, other, p, ans: _negative(_dist_grad(g, input, other, p, ans)),
    stored=dt.ONLY_COMPLEX32, on_records=_dist_of_records, kernel="add_stub",
    in_bfloat16=True)     # the forward rounds bfloat16 itself
def _dist(input, other, p):
    difference = dt.widened(dt.narrowed(dt.widened(input) - dt.widened(other))) if input.dtype == dt.BFLOAT16 else (
        input - other)
    result = vector_norm_over(difference, p, tuple(range(difference.ndim)), False)
    return dt.narrowed(result) if input.dtype == dt.BFLOAT16 else result


@public(method=True)
def dist(input: Tensor, other: Tensor, p: Number = 2) -> Tensor:
    """The norm of order p of input - other.

    >>> import tinytorch as torch
    >>> torch.dist(torch.tensor([0., 3.]), torch.tensor([4., 0.]))
    tensor(5.)
    """
    if input._array.dtype == bool or other._array.dtype == bool:
        return sub(input, other)               # raises torch's error
    input, other = promoted(input, other)
    check_broadcast(input._array.shape, other._array.shape)
    if input._array.dtype.kind in dt.INTEGRAL:
        raise RuntimeError("norm(): input dtype should be either floating point or complex. "
                           f"Got {type_name(input)} instead.")
    if (p < 0 or p == float("inf")) and not input._array.size * other._array.size:
        return vector_norm(input - other, float(p))              # raises torch's error
    return at_once(_dist, input, other, float(p))


# ------------------------------------------------------------------ distances of rows
def distances(difference, p):
    """Norms of order p along the last axis, in the steps of torch's cdist and pdist. Their maximum ignores NaN."""
    if p == 0:
        return np.minimum(np.ceil(np.abs(difference)), 1).sum(-1)
    if p == float("inf"):
        return np.fmax.reduce(np.abs(difference), axis=-1, initial=0)
    return summed_norm(difference, p, (difference.ndim - 1,), False)


def distances_grad(g, difference, p, ans):
    """The gradient of `difference`. The arguments are arrays, or Tensors in forward mode. `g` and `ans` have size 1
    along the last axis."""
    if p == 0:
        return masked(g * difference, False)
    if p == 1:                                 # in torch's kernel the sign of NaN is NaN
        return g * pick(raw(difference) != raw(difference), difference, sgn(difference))
    size = absolute(difference)
    if p == float("inf"):
        return g * sgn(difference) * like(g, 1 - np.minimum(np.ceil(np.abs(raw(size) - raw(ans))), 1))
    there = raw(ans) != 0
    ans = pick(there, ans, 1.0)                # no division by zero: masked elements are differentiated too
    if p == 2:
        return masked(g * difference / ans, there)
    if p < 1:
        there = there & (raw(difference) != 0)
    size = pick(there, size, 1.0)
    if p < 2 or isinstance(g, Tensor):         # the other form has no second derivative at zero
        slope = sgn(difference) * size ** (p - 1)
    else:
        slope = difference * size ** (p - 2)
    return masked(slope * g / ans ** (p - 1), there)


_difference = expression(lambda x1, x2: x1 - x2, 2)


def _row_differences(x1, x2):
    return _difference(x1[..., :, None, :], x2[..., None, :, :])


def _rows_grad(g, x1, x2, p, found):
    return distances_grad(g[..., None], _row_differences(x1, x2), p, found[..., None]).sum(-2)


_none = underivable("_cdist_backward")


@op(name="cdist_backward", g=_none, x1=_none, x2=_none, found=_none)
def _cdist_backward(g, x1, x2, p, found):
    return in_c_order(_rows_grad(g, x1, x2, p, found))


def _cdist_grad(g, x1, x2, p, ans):
    """The node of torch, which cannot be differentiated again. Forward mode, which torch lacks here, uses a formula
    that can."""
    return (_rows_grad if mode.computing_jvp else _cdist_backward)(g, x1, x2, p, ans)


@op(name="cdist", x1=_cdist_grad, x2=lambda g, x1, x2, p, ans: _cdist_grad(g.mT, x2, x1, p, ans.mT))
def _cdist(x1, x2, p):
    if not x1.shape[-1] or not x1.shape[-2] * x2.shape[-2]:
        batch = np.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
        return np.zeros((*batch, x1.shape[-2], x2.shape[-2]), x1.dtype)
    return in_c_order(distances(_row_differences(x1, x2), p))


def _euclidean_grad(g, x1, x2, ans):
    there = raw(ans) != 0
    ratio = masked(g / pick(there, ans, 1.0), there)
    return x1 * ratio.sum(-1, keepdims=True) - ratio @ x2


_root = expression(lambda squares: expressions.sqrt(expressions.maximum(squares, 0.0)))


@op(name="euclidean_dist", steps=True, x1=_euclidean_grad,
    x2=lambda g, x1, x2, ans: _euclidean_grad(g.mT, x2, x1, ans.mT))
def _euclidean_dist(x1, x2):
    """Computed by one product of matrices: |x1|^2 - 2 x1 x2 + |x2|^2."""
    half = x1.dtype == np.float16
    a, b = (x.astype(np.float32) if half else x for x in (x1, x2))
    one, two = ((x * x).sum(-1, keepdims=True) for x in (a, b))
    if half:
        one, two = (x.astype(np.float16).astype(np.float32) for x in (one, two))
    rows = np.concatenate([a * -2, one, np.ones_like(one)], -1)
    columns = np.concatenate([b, np.ones_like(two), two], -1).mT
    squares = dot(rows, columns) if rows.ndim == columns.ndim == 2 else rows @ columns
    return _root(squares.astype(x1.dtype, copy=False))


_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


@public(python=True, autocast="up", repeats=True)
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """The distances (norms of order p) between all rows of x1 (..., n, d) and of x2 (..., m, d): (..., n, m).

    >>> import tinytorch as torch
    >>> torch.cdist(torch.tensor([[0., 0.]]), torch.tensor([[3., 4.], [0., 1.]]))
    tensor([[5., 1.]])
    """
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    refuse(cdist, x1, x2, p)                   # from here on torch's function is C++
    p = float(p)
    _check_points(x1, x2, p)
    full = x1._array.size and x2._array.size
    by_product = full and p == 2 and compute_mode != _MODES[2] and (
        compute_mode == _MODES[1] or max(x1._array.shape[-2], x2._array.shape[-2]) > 25)
    if full and not by_product and x1._array.dtype.char not in "fd":
        raise not_implemented("cdist", x1)
    if full and x1._array.dtype != x2._array.dtype:
        one, two = type_name(x1), type_name(x2)
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {C_NAMES[one]} != {C_NAMES[two]}"
                           if by_product else f"expected scalar type {one} but found {two}")
    if by_product:
        found = at_once(_euclidean_dist, x1, x2)
        return found.view(found.shape)
    if not full and (x1._array.dtype != x2._array.dtype or x1._array.dtype.char not in "fd"):
        x1_wide, x2_wide = (converted(x, np.dtype(np.float32)) for x in (x1, x2))
        return converted(_cdist(x1_wide, x2_wide, p), x1._array.dtype)
    return _cdist(x1, x2, p)


def _check_points(x1, x2, p):
    """RuntimeError for arguments that `cdist` does not take, in torch's order."""
    a, b = x1._array, x2._array
    if a.ndim == b.ndim == 2 and a.shape[1] == b.shape[1] and a.dtype.char in "fd" and b.dtype.char in "fd" and p >= 0:
        return
    for name, x in (("X1", x1), ("X2", x2)):
        if x._array.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x._array.ndim}D")
    if x1._array.shape[-1] != x2._array.shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1._array.shape[-1]} "
                           f"X2: {x2._array.shape[-1]}")
    for name, x in (("X1", x1), ("X2", x2)):
        if dt.kind(x._array.dtype) not in dt.FLOATING:
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {type_name(x)}")
    if not p >= 0:
        raise RuntimeError("cdist only supports non-negative p values")
    check_broadcast(x1._array.shape[:-2], x2._array.shape[:-2])


# ------------------------------------------------------------------ renorm
def _other_axes(shape, dim):
    return tuple([d for d in range(len(shape)) if d != dim])


def _wider(x, dtype):
    return converted(x, dtype) if isinstance(x, Tensor) else x.astype(dtype, copy=False)


def _renorm_grad(g, input, p, dim, maxnorm):
    """torch's steps, in which norms are computed in the next wider dtype."""
    axes = _other_axes(input.shape, dim)
    own = (input._array if isinstance(input, Tensor) else input).dtype
    dtype = np.dtype(np.float32) if own in (np.float16, dt.BFLOAT16) else np.result_type(own, np.float64)
    size = vector_norm_over(_wider(input, dtype), p, axes, True)
    along = (input.conj() * g).real
    along = _wider(along, raw(size).dtype).sum(axes, keepdims=True)
    inverse = 1 / (size + 1e-7)
    inner = norm_grad(along, input, p, size, axes)
    changed = _wider(inverse * maxnorm * (g - inverse * inner), own)
    large = raw(size) > maxnorm
    return masked(changed, large) + masked(g, ~large)


@op(name="renorm", steps=True, input=_renorm_grad, in_bfloat16=True)     # the forward rounds bfloat16 itself
def _renorm(input, p, dim, maxnorm):
    wide = dt.cast(input, np.dtype(np.float32)) if input.itemsize == 2 else input
    size = vector_norm_over(wide, p, _other_axes(input.shape, dim), True)
    factor = dt.cast(np.where(size > maxnorm, maxnorm / (size + 1e-7), 1), input.dtype)
    return dt.cast(np.multiply(dt.widened(input), dt.widened(factor), order="C"), input.dtype)


@public(out=EXACT, method=True, inplace=True)
def renorm(input: Tensor, p: Number, dim: int, maxnorm: Number, *, out: Tensor | None = None) -> Tensor:
    """`input` with each slice along `dim` scaled down so that its norm of order p is at most `maxnorm`.

    >>> import tinytorch as torch
    >>> torch.renorm(torch.tensor([[3., 4.], [0., 1.]]), 2, 0, 1.)
    tensor([[0.6000, 0.8000],
            [0.0000, 1.0000]])
    """
    array = input._array
    for name, number in (("p", p), ("maxnorm", maxnorm)):
        if isinstance(number, complex):
            raise RuntimeError(f"renorm: {name} must be real-valued")
    p, maxnorm = scalar_of(p), scalar_of(maxnorm)
    if not p > 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if array.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {array.ndim} dimensions")
    if not maxnorm >= 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    dim = check_dim(dim, array.ndim)
    if array.dtype.kind in dt.INTEGRAL:
        raise RuntimeError("linalg.vector_norm: Expected a floating point or complex tensor as input. "
                           f"Got {type_name(input)}")
    empty = next((d for d, n in enumerate(array.shape) if not n and d != dim), None)
    if p == np.inf and empty is not None:
        raise RuntimeError(f"linalg.vector_norm cannot compute the inf norm on the dimension {empty}because this "
                           "dimension is empty and the operation does not have an identity")
    return at_once(_renorm, input, p, dim, maxnorm)
