"""Activations made of straight pieces, element by element: relu hardtanh prelu threshold ...

The others are in smooth_activation.py.
"""
from functools import partial

import numpy as np

from ... import dtypes as dt
from ...autograd.in_place import in_place
from ...autograd.op import op, renamed, unary
from ...autograd.promotion import in_float32, need_tensors
from ...autograd.public import methods
from ...errors import not_implemented, type_name
from ...kernels.random.samplers import rrelu_slopes
from ...random import stream_of
from ...tensor import Tensor, wrap

__all__ = ["hardshrink", "prelu", "relu", "relu_", "rrelu", "rrelu_", "threshold", "threshold_"]


def floating(kernel, primitive, input, *settings):
    """primitive(input, *settings) for floating `input`; torch's error, which names its `kernel`, for others."""
    try:
        kind = input.array.dtype.kind
    except AttributeError:
        need_tensors(primitive.__name__.strip("_"), input=input)
        raise
    if kind == "f":
        return primitive(input, *settings)
    if kind == "V":
        return in_float32(lambda x: primitive(x, *settings), input)
    raise not_implemented(kernel, input)


def real(name, array):
    """Refuse bools and complex numbers, where a clamp is meant."""
    if array.dtype.kind == "b":
        raise RuntimeError(f"{name[0]} inputs not supported for {name[1]}")
    if array.dtype.kind == "c":
        raise NotImplementedError("clamp is not supported for complex types")


# ------------------------------------------------------------------ relu and its piecewise linear kin
#: Zeros to compare with: NumPy takes longer to convert a Python number than to compare a small array.
_ZERO = {d.numpy: np.zeros((), d.numpy) for d in dt.ALL if d.category in (1, 2)}

#: max(0, x) by dtype. Of two zeros NumPy returns the second, of halves the first: it is to be that of x, so that -0.
#: stays -0. as in torch.
_AT_LEAST_ZERO = {d: partial(np.maximum, zero) for d, zero in _ZERO.items()}
_AT_LEAST_ZERO[np.dtype(np.float16)] = lambda x: np.maximum(x, _ZERO[x.dtype])


def limited(x, low, high):
    """`x` moved into [low, high]; a zero that equals one of them stays as it is."""
    if x.dtype == np.float16:
        return np.minimum(np.maximum(x, low), high)
    return np.minimum(high, np.maximum(low, x))


def parts(x):
    """`x` where it is positive, else -0., which leaves every zero that it is added to as it is; and `x` where it is
    not, else 0."""
    if x.dtype == np.float16:
        return np.maximum(-0.0, x), np.minimum(x, 0)
    return np.maximum(x, -0.0), np.minimum(0, x)


@unary(name="is_not_zero", method=False, inplace=False)
def _is_not_zero(input):
    # 1 (also for NaN) or 0 in the input's dtype: a product with a bool array costs a small one twice the time
    return np.not_equal(input, _ZERO[input.dtype]).astype(input.dtype)


def _clipped_in_rows(x, zero):
    """max(zero, x) of a contiguous array. NumPy compares two arrays several numbers at a time, but an array and a
    number one by one: half the time goes if the zeros come as an array as well."""
    result = np.empty_like(x)
    flat, out, whole = x.reshape(-1), result.reshape(-1), x.size - x.size % 1024
    rows, zeros = flat[:whole].reshape(-1, 1024), np.zeros(1024, x.dtype)
    pairs = ((zeros, rows), (zero, flat[whole:])) if x.dtype != np.float16 else ((rows, zeros), (flat[whole:], zero))
    np.maximum(*pairs[0], out=out[:whole].reshape(-1, 1024))
    np.maximum(*pairs[1], out=out[whole:])
    return result


@unary(lambda g, ans: g * _is_not_zero(ans))
def relu(input):
    """max(input, 0); its derivative at 0 is 0, at NaN 1. RuntimeError for bool.

    >>> import tinytorch as torch
    >>> torch.relu(torch.tensor([-1., 2.]))
    tensor([0., 2.])
    """
    try:
        if input.size >= 16384 and input.flags.c_contiguous:
            return _clipped_in_rows(input, _ZERO[input.dtype])
        return _AT_LEAST_ZERO[input.dtype](input)
    except KeyError:                           # a dtype without a zero to compare with
        real(("Boolean", "relu"), input)
        raise


relu_ = Tensor.relu_


@op(name="hardtanh", input=lambda g, input, low, high: g * ((input > low) * (input < high)))
def _hardtanh(input, low, high):
    return limited(input, low, high)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """`input` limited to [min_val, max_val]; the derivative is 0 at both ends and outside.

    ValueError if min_val > max_val, RuntimeError for bool.

    >>> import tinytorch as torch
    >>> torch.nn.functional.hardtanh(torch.tensor([-2., 0.5]))
    tensor([-1.0000,  0.5000])
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if inplace:
        return hardtanh_(input, min_val, max_val)
    real(("Bool", "hardtanh"), input.array)
    if input.array.dtype.kind == "V":
        return in_float32(lambda x: _hardtanh(x, min_val, max_val), input)
    if input.array.dtype.kind in "iu":
        min_val, max_val = int(min_val), int(max_val)
        if min_val < 0 and input.array.dtype.kind == "u":
            raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return _hardtanh(input, min_val, max_val)


def relu6(input, inplace=False):
    """min(max(input, 0), 6).

    >>> import tinytorch as torch
    >>> torch.nn.functional.relu6(torch.tensor([-1., 7.]))
    tensor([0., 6.])
    """
    return hardtanh(input, 0, 6, inplace)


@op(name="leaky_relu_backward",
    grad=lambda g, input, slope: _leak(g, input, slope),
    slope=lambda g, grad, input: g * grad * (input <= 0))
def _leak(grad, input, slope):
    """The gradient `grad`, times `slope` (a number or an array) where input is not positive."""
    # masks are multiplied rather than selected by: np.where is slow where the branches alternate
    positive = input > 0
    if slope.__class__ is float and 0 <= slope <= 1:
        factor = np.maximum(positive, np.asarray(slope, grad.dtype))
    else:
        factor = ~positive * np.asarray(slope, grad.dtype)
        factor += positive
    return grad * factor


@op(name="leaky_relu", input=lambda g, input, slope: _leak(g, input, slope))
def _leaky_relu(input, slope):
    if slope.__class__ is float and 0 < slope < 1:
        return np.maximum(input, input * slope)
    return _prelu.op.forward(input, slope)


_rrelu = renamed(_leaky_relu, "rrelu_with_noise")


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """`input` where positive, else input * negative_slope. NotImplementedError for integers.

    >>> import tinytorch as torch
    >>> torch.nn.functional.leaky_relu(torch.tensor([-1., 2.]), 0.5)
    tensor([-0.5000,  2.0000])
    """
    if inplace:
        return leaky_relu_(input, negative_slope)
    return floating("leaky_relu_cpu", _leaky_relu, input, negative_slope)


@op(name="prelu_kernel",
    input=lambda g, input, weight: _leak(g, input, weight),
    weight=lambda g, input: g * (input * (input <= 0)))
def _prelu(input, weight):
    positive, negative = parts(input)
    return positive + negative * weight


def prelu(input, weight):
    """`input` where positive, else input * weight. `weight` has one element, or one for each channel (dimension 1).

    RuntimeError if the numbers of channels differ or `weight` is no vector.

    >>> import tinytorch as torch
    >>> torch.prelu(torch.tensor([-4., 2.]), torch.tensor(0.25))
    tensor([-1.,  2.])
    """
    if input.array.dtype != weight.array.dtype:
        raise RuntimeError(f"prelu: Type promoting not supported. Got {str(input.dtype)[6:].title()} "
                           f"and {str(weight.dtype)[6:].title()}")
    if weight.array.ndim > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.array.ndim}")
    if weight.array.size != 1:
        if input.array.ndim == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input.array.shape[1] if input.array.ndim > 1 else 1
        if channels != weight.array.size:
            raise RuntimeError("Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                               f"{weight.array.size} and channel size = {channels}.")
    if input.array.ndim == 0:
        weight = weight.reshape(())
    elif weight.array.ndim:
        weight = weight.reshape((1, -1) + (1,) * (input.array.ndim - 2) if input.array.ndim > 1 else (1,))
    if input.array.dtype.kind == "V":
        return in_float32(_prelu, input, weight)
    return floating("prelu", _prelu, input, weight)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """leaky_relu whose slope is drawn from [lower, upper) for each element when training, else is the middle.

    >>> import tinytorch as torch
    >>> torch.rrelu(torch.tensor([-16., 2.]), 0.25, 0.75)
    tensor([-8.,  2.])
    """
    if inplace:
        return rrelu_(input, lower, upper, training)
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    if not training:
        return floating("leaky_relu_cpu", _rrelu, input, (lower + upper) / 2)
    if input.array.dtype.kind in "biuc" or input.array.dtype == np.float16:
        raise not_implemented("rrelu_with_noise_out_cpu", input)
    with stream_of(None) as stream:
        slopes = rrelu_slopes(input.array, lower, upper, stream)
    return floating("rrelu_with_noise_out_cpu", _rrelu, input, wrap(slopes))


@op(name="threshold", input=lambda g, input, threshold: g * ~(input <= threshold))
def _threshold(input, threshold, value):
    return np.where(input <= threshold, np.asarray(value, input.dtype), input)


def threshold(input, threshold, value, inplace=False):
    """`input` where it is above `threshold`, else `value`.

    >>> import tinytorch as torch
    >>> torch.threshold(torch.tensor([0.5, 2.]), 1, 20)
    tensor([20.,  2.])
    """
    if inplace:
        return threshold_(input, threshold, value)
    if input.array.dtype.kind in "bc":
        raise not_implemented("threshold_cpu", input)
    if input.array.dtype.kind == "V":
        return in_float32(lambda x: _threshold(x, threshold, value), input)
    return _threshold(input, threshold, value)


@op(name="hardshrink", input=lambda g, input, lambd: g * ~((input <= lambd) * (input >= -lambd)))
def _hardshrink(input, lambd):
    return input * ~((input >= -lambd) & (input <= lambd)) + 0.0           # 0. for the -0. of a negative number


def hardshrink(input, lambd=0.5):
    """`input` outside [-lambd, lambd], 0 inside.

    >>> import tinytorch as torch
    >>> torch.hardshrink(torch.tensor([0.25, -2.]))
    tensor([ 0., -2.])
    """
    return floating("hardshrink_cpu", _hardshrink, input, lambd)


@op(name="softshrink", input=lambda g, input, lambd: g * ~((input <= lambd) * (input >= -lambd)))
def _softshrink(input, lambd):
    return input - np.minimum(np.maximum(input, -lambd), lambd)


def softshrink(input, lambd=0.5):
    """`input` moved towards 0 by `lambd`, and 0 in [-lambd, lambd]. RuntimeError if `lambd` is negative.

    >>> import tinytorch as torch
    >>> torch.nn.functional.softshrink(torch.tensor([0.25, -2.]))
    tensor([ 0.0000, -1.5000])
    """
    if lambd < 0 and input.array.dtype.kind in "fV":
        raise RuntimeError(f"lambda must be in range [0, {dt.finfo(input.dtype).max:g}] for input dtype "
                           f"{type_name(input)}, but found {lambd:g}")
    return floating("softshrink_check", _softshrink, input, lambd)


@op(name="hardsigmoid", input=lambda g, input: g * ((input > -3) * (input < 3)) / 6)
def _hardsigmoid(input):
    return np.minimum(np.maximum(input + 3, 0), 6) / 6


def hardsigmoid(input, inplace=False):
    """min(max(input + 3, 0), 6) / 6.

    >>> import tinytorch as torch
    >>> torch.nn.functional.hardsigmoid(torch.tensor([-4., 0.]))
    tensor([0.0000, 0.5000])
    """
    return written(floating("hardsigmoid_cpu", _hardsigmoid, input), input, inplace)


def _hardswish_gradient(g, input):
    inside = g * ((input > -3) * (input < 3))
    return inside * (_hardtanh(input, -3.0, 3.0) / 3 + 0.5) + g * (input >= 3)


@op(name="hardswish", input=_hardswish_gradient)
def _hardswish(input):
    return input * (np.minimum(np.maximum(input + 3, 0), 6) / 6)


def hardswish(input, inplace=False):
    """input * hardsigmoid(input).

    >>> import tinytorch as torch
    >>> torch.nn.functional.hardswish(torch.tensor([-4., 3.]))
    tensor([-0.,  3.])
    """
    return written(floating("hardswish_cpu", _hardswish, input), input, inplace)


def written(result, input, inplace):
    """`result`, written into `input` if the function was called in place."""
    return in_place(lambda self: result)(input) if inplace else result


hardtanh_, leaky_relu_, rrelu_ = map(in_place, (hardtanh, leaky_relu, rrelu))
threshold_ = in_place(threshold, lambda memory, values, *_, **__: np.copyto(memory, values))
methods(prelu, hardshrink)
