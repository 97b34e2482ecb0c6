"""The modified Bessel functions of the first kind, of orders 0 and 1, plain and scaled by exp(-|x|)."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...autograd.op import unary
from ...errors import not_implemented
from ...kernels import modified_bessel as kernels
from ...tensor import Tensor
from .rounding import sgn
from .special import real
from .where import pick

__all__ = ["i0"]


def _refuse_half(g, kernel):
    """The gradient. NotImplementedError in half precision, for which torch has no kernel."""
    array = g._array if isinstance(g, Tensor) else g
    if array.dtype in (np.float16, dt.BFLOAT16):
        raise not_implemented(kernel, dt.of(array))
    return g


def _slope(input, ans, of_order_0):
    """The derivative of order 1: of_order_0(x) - ans / x, and 1/2 near 0 (in torch also at NaN)."""
    tiny = float(np.finfo((input._array if isinstance(input, Tensor) else input).dtype).eps)
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
    return kernels.i(0, real(input))


@unary(lambda g, input, ans: _refuse_half(g, "i1_backward") * _slope(input, ans, i0), name="special_i1",
       kernel="i1_cpu", to_float=True, method=False, inplace=False)
def i1(input):
    """The modified Bessel function of the first kind, of order 1.

    >>> import tinytorch as torch
    >>> torch.special.i1(torch.tensor([0., 1., 2.]))
    tensor([0.0000, 0.5652, 1.5906])
    """
    return kernels.i(1, real(input))


@unary(lambda g, input, ans: g * (i1e(input) - sgn(input) * ans), name="special_i0e", kernel="i0e_cpu",
       to_float=True, method=False, inplace=False)
def i0e(input):
    """exp(-|input|) i0(input).

    >>> import tinytorch as torch
    >>> torch.special.i0e(torch.tensor([0., 1., 2.]))
    tensor([1.0000, 0.4658, 0.3085])
    """
    return kernels.scaled_i(0, real(input))


@unary(lambda g, input, ans: _refuse_half(g, "i1e_backward") * _slope(input, ans, lambda x: i0e(x) - sgn(x) * ans),
       name="special_i1e", kernel="i1e_cpu", to_float=True, method=False, inplace=False)
def i1e(input):
    """exp(-|input|) i1(input).

    >>> import tinytorch as torch
    >>> torch.special.i1e(torch.tensor([0., 1., 2.]))
    tensor([0.0000, 0.2079, 0.2153])
    """
    return kernels.scaled_i(1, real(input))
