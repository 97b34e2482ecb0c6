"""gelu, by the error function or by tanh."""
from __future__ import annotations

import math
from functools import partial

import numpy as np

from ... import dtypes as dt
from ...autograd.op import op
from ...autograd.promotion import FOUND, write_out
from ...autograd.public import public
from ...errors import not_implemented
from ...kernels import halves, native
from ...kernels.erf import erf
from ...kernels.layout import as_array
from ...tensor import Tensor
from ..elementwise.arithmetic import rounded_once
from ..elementwise.math import exp, tanh

_HALF_SQRT, _DENSITY = math.sqrt(0.5), 1 / math.sqrt(2 * math.pi)
_TANH_SCALE, _TANH_CUBE = math.sqrt(2 / math.pi), 0.044715
#: The native kernel for each value of `approximate`.
_NATIVE = {"none": "gelu", "tanh": "gelu_tanh"}


def _curvature(g, grad, input, approximate):
    if approximate == "none":
        square = input * input
        density = exp(square * -0.5) * _DENSITY
        return g * grad * (2 * density - square * density)
    t = tanh(_TANH_SCALE * (input + _TANH_CUBE * input * input * input))
    slope = _TANH_SCALE * (1 + 3 * _TANH_CUBE * input * input)
    return g * grad * (1 - t * t) * (slope + 3 * _TANH_CUBE * _TANH_SCALE * input * input - input * t * slope * slope)


def _share(input, approximate):
    """gelu(input) / input: the share of `input` that gelu lets through."""
    if approximate == "none":
        share = erf(input * _HALF_SQRT)
    else:
        share = input * input
        share *= _TANH_CUBE
        share += 1
        share *= input
        share *= _TANH_SCALE
        np.tanh(share, out=share)
    share += 1
    share *= 0.5
    return share


@op(name="gelu_backward", batches="elements",
    grad=lambda g, input, approximate, share: _gelu_backward(g, input, approximate, share),
    input=_curvature)
def _gelu_backward(grad, input, approximate, share):
    """`grad` times the derivative of gelu, which is `share` + input * share'."""
    if grad.dtype.char == "e":
        return rounded_once(_gelu_backward.op.forward, grad, input, approximate, share)
    return _SLOPES[approximate](grad, input, share)


def _slopes(approximate, grad, input, share):
    slope = as_array(input * input)
    if approximate == "none":
        slope *= -0.5
        np.exp(slope, out=slope)
        slope *= _DENSITY
    else:
        slope *= 3 * _TANH_CUBE * _TANH_SCALE
        slope += _TANH_SCALE
        slope *= 2 * share * (1 - share)
    slope *= input
    slope += share
    same = slope.shape == np.shape(grad)       # `grad` may have a batch dimension more
    return np.multiply(grad, slope, out=slope if same else None)


_SLOPES = {approximate: native.by_element(f"{kernel}_backward")(partial(_slopes, approximate))
           for approximate, kernel in _NATIVE.items()}


@op(name="gelu", aux=True, elementwise=True,
    input=lambda g, input, approximate, aux: _gelu_backward(g, input, approximate, aux))
def _gelu(input, approximate, keep):
    if input.itemsize == 2:
        result = None if keep or not input.flags.c_contiguous else halves.gelu(input, approximate == "tanh")
        if result is not None:
            return result, None
        if input.dtype.char == "e":
            result, share = _gelu.op.forward(input.astype(np.float32), approximate, keep)
            return result.astype(np.float16), share
    if type(input) is np.ndarray and not input.flags.c_contiguous:
        input = np.ascontiguousarray(input)
    if native.takes(_NATIVE[approximate], input):
        result, share = np.empty(input.shape, input.dtype), np.empty(input.shape, input.dtype) if keep else None
        native.run(_NATIVE[approximate], input.size, input, share, result)
        return result, share
    share = _share(np.atleast_1d(input), approximate).reshape(input.shape)
    return as_array(share * input), share


@public(hot=True, repeats=True)
def gelu(input: Tensor, *, approximate: str = "none", out: Tensor | None = None) -> Tensor:
    """input * P(normal variate < input); approximate="tanh": by the tanh formula.

    Hendrycks and Gimpel 2016, Gaussian Error Linear Units.

    >>> import tinytorch as torch
    >>> torch.nn.functional.gelu(torch.tensor([0., 1.]))
    tensor([0.0000, 0.8413])
    """
    array = input._array
    if approximate not in ("none", "tanh"):
        if not isinstance(approximate, str):
            raise TypeError(f"gelu(): argument 'approximate' must be str, not {type(approximate).__name__}")
        raise RuntimeError("approximate argument must be either none or tanh.")
    if out is not None:
        return write_out(out, gelu(input, approximate=approximate), input, exact=FOUND)
    if array.dtype.kind in dt.FLOATING:
        return _gelu(input, approximate)
    raise not_implemented("GeluKernelImpl", input)
