"""Lengths and distances: norm dist cdist renorm."""
from __future__ import annotations

import functools

import numpy as np

from ... import dtypes as dt
from ...autograd.in_place import in_place
from ...autograd.promotion import EXACT, converted, promoted
from ...autograd.public import method, public, refuse
from ...errors import not_implemented, type_name
from ...tensor import Tensor, check_dim
from ...types import Ints, Number
from ..reduction.reductions import like, masked
from .norms import matrix_norm, vector_norm, vector_norm_over

__all__ = ["cdist", "dist", "norm", "renorm"]


@public(python=True)
def norm(input: Tensor, p: Number | str | None = "fro", dim: int | Ints | None = None, keepdim: bool = False,
         out: Tensor | None = None, dtype: dt.dtype | None = None) -> Tensor:
    """The norm of order p of all elements or over `dim`: "fro" (the root of the sum of squares), "nuc" (the
    sum of the singular values of matrices), or a number as in `torch.linalg.vector_norm`.

    >>> import tinytorch as torch
    >>> torch.norm(torch.tensor([[3., 0.], [0., 4.]]))
    tensor(5.)
    """
    input.ndim                                 # noqa: B018  what is no tensor has none: AttributeError, as in torch
    dims = [dim] if isinstance(dim, int) else dim
    if isinstance(p, str) and not (p == "fro" and (dims is None or len(dims) <= 2)):
        return matrix_norm(input, p, list(range(input.ndim)) if dims is None else dims, keepdim, dtype=dtype, out=out)
    p = 2 if p is None or p == "fro" else p
    if dtype is None and out is None:
        return vector_norm(input, p, dims, keepdim)
    return vector_norm(input, p, dims, keepdim, dtype=dtype, out=out)


@method("norm")
def _norm(self, p: Number | str | None = "fro", dim: int | Ints | None = None, keepdim: bool = False,
          dtype: dt.dtype | None = None) -> Tensor:
    """`torch.norm`."""
    return norm(self, p, dim, keepdim, dtype=dtype)


@public(method=True)
def dist(input: Tensor, other: Tensor, p: Number = 2) -> Tensor:
    """The norm of order p of input - other.

    >>> import tinytorch as torch
    >>> torch.dist(torch.tensor([0., 3.]), torch.tensor([4., 0.]))
    tensor(5.)
    """
    return vector_norm(input - other, float(p))


_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


@public(python=True)
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """Distances (norms of order p) of every row of x1 (..., n, d) to every row of x2 (..., m, d): (..., n, m).

    >>> import tinytorch as torch
    >>> torch.cdist(torch.tensor([[0., 0.]]), torch.tensor([[3., 4.], [0., 1.]]))
    tensor([[5., 1.]])
    """
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    refuse(cdist, x1, x2, p)                   # what torch does next is not in Python
    for name, x in (("X1", x1), ("X2", x2)):
        if x.array.dtype.kind not in dt.FLOATING:
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {type_name(x)}")
        if x.array.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.array.ndim}D")
    if x1.array.shape[-1] != x2.array.shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1.array.shape[-1]} "
                           f"X2: {x2.array.shape[-1]}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    x1, x2 = promoted(x1, x2)
    if x1.array.dtype.kind in dt.WIDENED:
        raise not_implemented("cdist", x1)
    difference = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    return vector_norm_over(difference, p, (difference.array.ndim - 1,), False)


def _of_copy(function):
    """The in-place form, computed of a copy: the steps keep what they read."""
    @functools.wraps(function)
    def call(input, *args, **kwargs):
        return function(input.clone(), *args, **kwargs)
    return in_place(call)


@public(out=EXACT, method=True, inplace=_of_copy)
def renorm(input: Tensor, p: Number, dim: int, maxnorm: Number, *, out: Tensor | None = None) -> Tensor:
    """`input` with each slice along `dim` scaled down so that its norm of order p is at most `maxnorm`.

    >>> import tinytorch as torch
    >>> torch.renorm(torch.tensor([[3., 4.], [0., 1.]]), 2, 0, 1.)
    tensor([[0.6000, 0.8000],
            [0.0000, 1.0000]])
    """
    array = input.array
    if array.dtype.kind in dt.INTEGRAL:
        raise RuntimeError("linalg.vector_norm: Expected a floating point or complex tensor as input. "
                           f"Got {type_name(input)}")
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if array.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {array.ndim} dimensions")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    dim = check_dim(dim, array.ndim)
    wide = converted(input, np.dtype(np.float32)) if array.dtype.kind in dt.WIDENED else input
    size = vector_norm_over(wide, p, tuple(d for d in range(array.ndim) if d != dim), True)
    large = size.array > maxnorm
    factor = masked(maxnorm / (size + 1e-7), large) + like(size, (~large).astype(size.array.dtype))
    return input * (factor if wide is input else converted(factor, array.dtype))
