"""The regularised incomplete gamma functions."""
from __future__ import annotations

from ... import dtypes as dt
from ...autograd.op import binary
from ...autograd.promotion import underivable
from ...errors import not_implemented
from ...kernels import incomplete_gamma as kernels
from .math import exp, log
from .special import lgamma

__all__ = ["igamma", "igammac"]


def _density(input, other):
    """The derivative with respect to `other`: other^(input - 1) exp(-other) / gamma(input)."""
    return exp((input - 1) * log(other) - other - lgamma(input))


def _real(kernel, array):
    """The array. NotImplementedError unless its dtype is real and floating."""
    if array.dtype.kind not in dt.FLOATING:
        raise not_implemented(kernel, array)
    if array.dtype.kind not in dt.NATIVE:
        raise TypeError("NumPy has no bfloat16")
    return array


@binary(numbers="none", input=underivable("igamma: input"),
        other=lambda g, input, other: g * _density(input, other))
def igamma(input, other):
    """The regularised lower incomplete gamma function: the integral of t^(input - 1) exp(-t) / gamma(input) from 0 to
    `other`. NaN if an argument is negative. Only `other` has a derivative. NotImplementedError for integers.

    >>> import tinytorch as torch
    >>> torch.igamma(torch.tensor([1., 2.]), torch.tensor([1., 1.]))
    tensor([0.6321, 0.2642])
    """
    return kernels.lower(_real("igamma_cpu", input), other)


@binary(numbers="none", input=underivable("igammac: input"),
        other=lambda g, input, other: -g * _density(input, other))
def igammac(input, other):
    """The regularised upper incomplete gamma function, 1 - igamma(input, other).

    >>> import tinytorch as torch
    >>> torch.igammac(torch.tensor([1., 2.]), torch.tensor([1., 1.]))
    tensor([0.3679, 0.7358])
    """
    return kernels.upper(_real("igammac_cpu", input), other)
