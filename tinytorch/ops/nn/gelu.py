"""gelu, by the error function or by tanh."""
from __future__ import annotations

import math

import numpy as np

from ... import dtypes as dt
from ...autograd.op import op
from ...autograd.promotion import in_float32
from ...autograd.public import public, refuse
from ...errors import not_implemented
from ...kernels.erf import erf
from ...tensor import Tensor
from ..elementwise.math import tanh

_HALF_SQRT, _TANH_SCALE, _TANH_CUBE = math.sqrt(0.5), math.sqrt(2 / math.pi), 0.044715


def _gelu_gradient(g, wanted, input, approximate, aux):
    """d gelu: the share of `input` let through (aux: that, or its tanh) and how it changes."""
    slope = input * input
    if approximate == "none":
        slope *= -0.5
        np.exp(slope, out=slope)
        slope *= input
        slope *= 1 / math.sqrt(2 * math.pi)
        slope += aux
    else:
        slope *= 3 * _TANH_CUBE * _TANH_SCALE
        slope += _TANH_SCALE
        slope *= input
        slope *= 1 - aux * aux
        slope += 1
        slope += aux
        slope *= 0.5
    slope *= g
    return slope,


def _gelu_decomposition(input, approximate):
    if approximate == "none":
        return input * 0.5 * (1 + (input * _HALF_SQRT).erf())
    return input * 0.5 * (1 + tanh(_TANH_SCALE * (input + _TANH_CUBE * input * input * input)))


@op(name="gelu", aux=True, inputs=1, elementwise=True, joint=_gelu_gradient, decomposition=_gelu_decomposition)
def _gelu(input, approximate, keep):
    input = np.atleast_1d(input)
    if approximate == "none":
        share = erf(input * _HALF_SQRT)
        share += 1
        share *= 0.5
        return share * input, share
    t = input * input
    t *= _TANH_CUBE
    t += 1
    t *= input
    t *= _TANH_SCALE
    np.tanh(t, out=t)
    result = t + 1
    result *= input
    result *= 0.5
    return result, t


@public(hot=True)
def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """input * P(normal variate < input); approximate="tanh": by the tanh formula.

    Hendrycks and Gimpel 2016, Gaussian Error Linear Units.

    >>> import tinytorch as torch
    >>> torch.nn.functional.gelu(torch.tensor([0., 1.]))
    tensor([0.0000, 0.8413])
    """
    try:
        array = input.array
    except AttributeError:
        refuse(gelu, input)
        raise
    if approximate not in ("none", "tanh"):
        if not isinstance(approximate, str):
            raise TypeError(f"gelu(): argument 'approximate' must be str, not {type(approximate).__name__}")
        raise RuntimeError("approximate argument must be either none or tanh.")
    if array.ndim == 0:
        return gelu(input.reshape(1), approximate=approximate).reshape(())
    if array.dtype.kind in dt.NATIVE:
        return _gelu(input, approximate)
    if array.dtype.kind in dt.WIDENED:
        return in_float32(_gelu, input, approximate)
    raise not_implemented("GeluKernelImpl", input)
