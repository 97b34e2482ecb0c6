"""Smooth activations, element by element: silu mish softplus elu gelu ... and glu."""
import math

import numpy as np

from ...autograd.in_place import in_place
from ...autograd.op import op, renamed
from ...autograd.promotion import need_tensors
from ...errors import not_implemented
from ...kernels.erf import erf
from ...tensor import check_dim
from ..elementwise.arithmetic import conj
from ..elementwise.math import tanh
from ..elementwise.special import sigmoid
from .activation import floating, parts, written

__all__ = ["celu", "celu_", "selu", "selu_", "sigmoid_"]

_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
_HALF_SQRT, _TANH_SCALE, _TANH_CUBE = math.sqrt(0.5), math.sqrt(2 / math.pi), 0.044715


def _silu_gradient(g, input):
    s = sigmoid(input)
    return g * conj(s * (1 + input * (1 - s)))


@op(name="silu", input=_silu_gradient)
def _silu(input):
    return input * sigmoid.op.forward(input)


def silu(input, inplace=False):
    """input * sigmoid(input), also called swish.

    >>> import tinytorch as torch
    >>> torch.nn.functional.silu(torch.tensor([0., 1.]))
    tensor([0.0000, 0.7311])
    """
    need_tensors("silu", input=input)
    result = _silu(input) if input.array.dtype.kind == "c" else floating("silu_cpu", _silu, input)
    return written(result, input, inplace)


def _log1p_exp(x):
    """log(1 + exp(x)) of an array, without overflow."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _mish_gradient(g, input):
    t = tanh(_softplus(input, 1.0, 20.0))
    return g * (t + input * sigmoid(input) * (1 - t * t))


@op(name="mish", input=_mish_gradient)
def _mish(input):
    return input * np.tanh(_log1p_exp(input))


def mish(input, inplace=False):
    """input * tanh(softplus(input)).

    >>> import tinytorch as torch
    >>> torch.nn.functional.mish(torch.tensor([0., 1.]))
    tensor([0.0000, 0.8651])
    """
    return written(floating("mish_cpu", _mish, input), input, inplace)


def _softplus_gradient(g, input, beta, threshold):
    linear = input * beta > threshold
    return g * linear + g * sigmoid(input * beta) * ~linear


@op(name="softplus", input=_softplus_gradient)
def _softplus(input, beta, threshold):
    scaled = input * beta
    result = _log1p_exp(scaled) / beta
    if scaled.size and scaled.max() > threshold:
        result = np.where(scaled > threshold, input, result)
    return result


def softplus(input, beta=1, threshold=20):
    """log(1 + exp(beta * input)) / beta; `input` itself where beta * input > threshold.

    >>> import tinytorch as torch
    >>> torch.nn.functional.softplus(torch.tensor([0., 30.]))
    tensor([ 0.6931, 30.0000])
    """
    return floating("softplus_cpu", _softplus, input, beta, threshold)


@op(name="log_sigmoid", input=lambda g, input: g * sigmoid(-input))
def _log_sigmoid(input):
    return np.minimum(input, 0) - np.log1p(np.exp(-np.abs(input)))


def logsigmoid(input):
    """log(sigmoid(input)), without underflow.

    >>> import tinytorch as torch
    >>> torch.nn.functional.logsigmoid(torch.tensor([0., -1000.]))
    tensor([-6.9315e-01, -1.0000e+03])
    """
    return floating("log_sigmoid_cpu", _log_sigmoid, input)


@op(name="elu_backward",
    grad=lambda g, input, alpha, scale, rate: _elu_backward(g, input, alpha, scale, rate),
    input=lambda g, grad, input, alpha, scale, rate: _elu_backward(g * grad * rate, input, alpha, scale, rate)
    * (input <= 0))
def _elu_backward(grad, input, alpha, scale, rate):
    at_zero = alpha * scale * rate
    slope = np.exp(np.minimum(input, 0) * rate) * at_zero
    if scale != at_zero:
        slope = slope + (input > 0) * np.asarray(scale - at_zero, input.dtype)
    return grad * slope


@op(name="elu", input=lambda g, input, alpha, scale, rate: _elu_backward(g, input, alpha, scale, rate))
def _elu(input, alpha, scale, rate):
    positive, negative = parts(input)
    return np.expm1(negative * rate) * (alpha * scale) + positive * scale


_celu = renamed(_elu, "celu")


def elu(input, alpha=1.0, inplace=False):
    """`input` where positive, else alpha * (exp(input) - 1).

    >>> import tinytorch as torch
    >>> torch.nn.functional.elu(torch.tensor([-1., 1.]))
    tensor([-0.6321,  1.0000])
    """
    return written(floating("elu_cpu", _elu, input, float(alpha), 1.0, 1.0), input, inplace)


def selu(input, inplace=False):
    """elu with the constants for which activations keep mean 0 and variance 1.

    Klambauer et al. 2017, Self-Normalizing Neural Networks.

    >>> import tinytorch as torch
    >>> torch.selu(torch.tensor([-1., 1.]))
    tensor([-1.1113,  1.0507])
    """
    return written(floating("elu_cpu", _elu, input, _SELU_ALPHA, _SELU_SCALE, 1.0), input, inplace)


def celu(input, alpha=1.0, inplace=False):
    """`input` where positive, else alpha * (exp(input / alpha) - 1). RuntimeError if alpha is 0.

    >>> import tinytorch as torch
    >>> torch.celu(torch.tensor([-1., 1.]), 2.)
    tensor([-0.7869,  1.0000])
    """
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return written(floating("elu_cpu", _celu, input, float(alpha), 1.0, 1.0 / alpha), input, inplace)


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


@op(name="gelu", aux=True, inputs=1, joint=_gelu_gradient, decomposition=_gelu_decomposition)
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


def gelu(input, approximate="none"):
    """input * P(normal variate < input); approximate="tanh": by the tanh formula.

    Hendrycks and Gimpel 2016, Gaussian Error Linear Units.

    >>> import tinytorch as torch
    >>> torch.nn.functional.gelu(torch.tensor([0., 1.]))
    tensor([0.0000, 0.8413])
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    need_tensors("gelu", input=input)
    if input.array.ndim == 0:
        return gelu(input.reshape(1), approximate).reshape(())
    return floating("GeluKernelImpl", _gelu, input, approximate)


# ------------------------------------------------------------------ composites
def softsign(input):
    """input / (1 + |input|).

    >>> import tinytorch as torch
    >>> torch.nn.functional.softsign(torch.tensor([-1., 3.]))
    tensor([-0.5000,  0.7500])
    """
    return input / (input.abs() + 1)


def tanhshrink(input):
    """input - tanh(input).

    >>> import tinytorch as torch
    >>> torch.nn.functional.tanhshrink(torch.tensor([0., 1.]))
    tensor([0.0000, 0.2384])
    """
    if input.array.dtype.kind == "b":
        return input - input                   # refused, as torch refuses it
    return input - input.tanh()


def glu(input, dim=-1):
    """The first half of `input` along `dim`, times the sigmoid of the second. RuntimeError if it cannot be halved.

    >>> import tinytorch as torch
    >>> torch.nn.functional.glu(torch.tensor([4., 0.]))
    tensor([2.])
    """
    if input.array.ndim == 0:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    size = input.array.shape[check_dim(dim, input.array.ndim)]
    if size % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {check_dim(dim, input.array.ndim)} "
                           f"is size {size}")
    if input.array.dtype.kind in "biuc":
        raise not_implemented("glu_cpu", input)
    return input.narrow(dim, 0, size // 2) * input.narrow(dim, size // 2, size // 2).sigmoid()


elu_, selu_, celu_, sigmoid_ = map(in_place, (elu, selu, celu, sigmoid))
