"""The distribution function of the normal distribution, its logarithm and inverse, and erfcx."""
from __future__ import annotations

import math

from ...autograd.op import renamed, unary
from ...autograd.public import public
from ...kernels import erf as erf_kernels, normal as kernels
from ...tensor import Tensor
from .arithmetic import mul
from .math import exp, square
from .special import erf, single_or_double

_times = renamed(mul, "mul.1")                 # torch's node for a product with a number in C++
_SQRT_2_PI = math.sqrt(2.0 * math.pi)


@unary(lambda g, input, ans: (2.0 * input * ans - 2.0 / math.sqrt(math.pi)) * g, name="special_erfcx", to_float=True,
       method=False, inplace=False, in_bfloat16=True)
def erfcx(input):
    """exp(input^2) erfc(input), which does not underflow for large numbers.

    >>> import tinytorch as torch
    >>> torch.special.erfcx(torch.tensor([0., 1., 10.]))
    tensor([1.0000, 0.4276, 0.0561])
    """
    return erf_kernels.erfcx(single_or_double("erfcx_cpu", input))


@public("special_ndtr", out="")
def ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The distribution function of the standard normal distribution, (1 + erf(input / sqrt 2)) / 2.

    >>> import tinytorch as torch
    >>> torch.special.ndtr(torch.tensor([-1., 0., 1.]))
    tensor([0.1587, 0.5000, 0.8413])
    """
    return _times(1 + erf(_times(input, math.sqrt(0.5))), 0.5)


@unary(lambda g, input, ans: g / _SQRT_2_PI * exp(-(ans + square(input) / 2)), name="special_log_ndtr",
       to_float=True, method=False, inplace=False, in_bfloat16=True)
def log_ndtr(input):
    """The logarithm of `ndtr`, accurate far below zero too.

    >>> import tinytorch as torch
    >>> torch.special.log_ndtr(torch.tensor([-10., 0., 1.]))
    tensor([-53.2313,  -0.6931,  -0.1728])
    """
    return kernels.log_ndtr(single_or_double("log_ndtr_cpu", input))


@unary(lambda g, ans: g * _SQRT_2_PI * exp(square(ans) / 2), name="special_ndtri", to_float=True, method=False,
       inplace=False, in_bfloat16=True)
def ndtri(input):
    """The inverse of `ndtr`: infinite at 0 and 1, NaN outside.

    >>> import tinytorch as torch
    >>> torch.special.ndtri(torch.tensor([0., 0.25, 0.5]))
    tensor([   -inf, -0.6745,  0.0000])
    """
    return kernels.ndtri(single_or_double("ndtri_cpu", input))
