"""The modified Bessel functions of the first kind, of order 0 and 1, also scaled by exp(-|x|)."""
from __future__ import annotations

from functools import lru_cache

import numpy as np

from ... import dtypes as dt
from ...autograd.op import unary
from ...errors import not_implemented
from ...tensor import Tensor
from .rounding import sgn
from .special import real
from .where import pick

__all__ = ["i0"]


@lru_cache
def _series(order):
    """Two Chebyshev series: of exp(-x) I(x) (of order 1, over x) for x from 0 to 8, and of exp(-x) sqrt(x) I(x) by
    8 / x beyond. They interpolate the integral of exp(x cos t) cos(order t) over a half turn by the midpoint rule,
    which is exact to rounding for a periodic function."""
    from numpy.polynomial import Chebyshev  # takes long to import

    t = (np.arange(4000) + 0.5) * (np.pi / 4000)
    fall = -2 * np.sin(t / 2) ** 2             # cos(t) - 1

    def scaled(x):
        return (np.exp(x[:, None] * fall) * np.cos(order * t)).mean(1)

    # No node of the interpolation is 0 itself.
    near = Chebyshev.interpolate(lambda x: scaled(x) / x ** order, 30, [0, 8])
    far = Chebyshev.interpolate(lambda y: scaled(8 / y) * np.sqrt(8 / y), 25, [0, 1])
    return near, far


def _scaled(order, input):
    """exp(-|x|) I(x), of the given order."""
    near, far = _series(order)
    x = np.abs(real(input)).astype(np.float64)
    small = np.minimum(x, 8)
    result = np.where(x <= 8, near(small) * small ** order, far(8 / np.maximum(x, 8)) / np.sqrt(np.maximum(x, 8)))
    return np.where(input < 0, -result, result) if order else result


def _grown(order, input):
    return (_scaled(order, input) * np.exp(np.abs(input).astype(np.float64))).astype(input.dtype)


def _no_half(g, kernel):
    """The gradient; NotImplementedError in half precision, for which torch has no kernel."""
    array = g.array if isinstance(g, Tensor) else g
    if array.dtype in (np.float16, dt.BFLOAT16):
        raise not_implemented(kernel, dt.of(array))
    return g


def _slope(input, ans, of_order_0):
    """The derivative of order 1, of_order_0(x) - ans / x, which is 1/2 near 0 (and in torch at NaN)."""
    tiny = float(np.finfo((input.array if isinstance(input, Tensor) else input).dtype).eps)
    plain = (input < -tiny) + (input > tiny)
    x = pick(plain, input, 1.0)
    return pick(plain, of_order_0(x) - ans / x, 0.5)


@unary(lambda g, input: g * i1(input), to_float=True, kernel="i0_vml_cpu")
def i0(input):
    """The modified Bessel function of the first kind, of order 0.

    >>> import tinytorch as torch
    >>> torch.i0(torch.tensor([0., 1., 2.]))
    tensor([1.0000, 1.2661, 2.2796])
    """
    return _grown(0, input)


@unary(lambda g, input, ans: _no_half(g, "i1_backward") * _slope(input, ans, i0), name="special_i1", to_float=True,
       method=False, inplace=False)
def i1(input):
    """The modified Bessel function of the first kind, of order 1.

    >>> import tinytorch as torch
    >>> torch.special.i1(torch.tensor([0., 1., 2.]))
    tensor([0.0000, 0.5652, 1.5906])
    """
    return _grown(1, input)


@unary(lambda g, input, ans: g * (i1e(input) - sgn(input) * ans), name="special_i0e", to_float=True, method=False,
       inplace=False)
def i0e(input):
    """exp(-|input|) i0(input).

    >>> import tinytorch as torch
    >>> torch.special.i0e(torch.tensor([0., 1., 2.]))
    tensor([1.0000, 0.4658, 0.3085])
    """
    return _scaled(0, input).astype(input.dtype)


@unary(lambda g, input, ans: _no_half(g, "i1e_backward") * _slope(input, ans, lambda x: i0e(x) - sgn(x) * ans),
       name="special_i1e", to_float=True, method=False, inplace=False)
def i1e(input):
    """exp(-|input|) i1(input).

    >>> import tinytorch as torch
    >>> torch.special.i1e(torch.tensor([0., 1., 2.]))
    tensor([0.0000, 0.2079, 0.2153])
    """
    return _scaled(1, input).astype(input.dtype)
