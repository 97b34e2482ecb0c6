"""Activations, element by element: hardtanh threshold hardswish silu mish softplus ... and glu.

Those of the families of relu, elu, gelu and softmax are in the files of those names.
"""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...autograd.grad_mode import mode
from ...autograd.in_place import in_place
from ...autograd.op import op, renamed
from ...autograd.promotion import FOUND, scalar_of
from ...autograd.public import public, refuse
from ...errors import not_implemented, type_name
from ...kernels import native
from ...kernels.expressions import exp, expression, log1p, maximum, minimum, sigmoid as sigmoid_of, tanh, where
from ...tensor import Tensor, check_dim
from ...types import Number
from ..elementwise.arithmetic import REFUSED, conj, refused, rounded_once, zeros_like
from ..elementwise.special import sigmoid, sigmoid_backward
from ..elementwise.where import pick
from .relu import refuse_clamp

__all__ = ["hardshrink", "sigmoid_", "threshold", "threshold_"]

sigmoid_ = Tensor.sigmoid_

_INT64 = np.dtype(np.int64)


# ------------------------------------------------------------------ of straight pieces
#: `x` moved into [low, high]; a zero that equals one of them stays as it is.
limited = expression(lambda x, low, high: minimum(high, maximum(low, x)))
_limited_slope = expression(lambda g, x, low, high: where((x <= low) | (x >= high), 0.0, g), 2)


@op(name="hardtanh_backward", grad=lambda g, input, low, high: _hardtanh_backward(g, input, low, high),
    input=zeros_like)
def _hardtanh_backward(grad, input, low, high):
    return _limited_slope(grad, input, low, high)


@op(name="hardtanh", elementwise=True, input=lambda g, input, low, high: _hardtanh_backward(g, input, low, high))
def _hardtanh(input, low, high):
    return limited(input, low, high)


@public(elementwise=True)
def hardtanh(input: Tensor, min_val: Number = -1, max_val: Number = 1) -> Tensor:
    """`input` limited to [min_val, max_val]; the derivative is 0 at both ends and outside. RuntimeError for bool.

    >>> import tinytorch as torch
    >>> torch.nn.functional.hardtanh(torch.tensor([-2., 0.5]))
    tensor([-1.0000,  0.5000])
    """
    refuse_clamp(("Bool", "hardtanh"), input._array)
    stored = _INT64 if input._array.dtype.kind in dt.INTEGER else input._array.dtype
    min_val, max_val = scalar_of(min_val, stored, True), scalar_of(max_val, stored, True)
    if stored is _INT64:
        if min_val < 0 and not input.dtype.is_signed:
            raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return _hardtanh(input, min_val, max_val)


_above = expression(lambda x, threshold, value: where(x <= threshold, value, x))
_above_slope = expression(lambda g, x, threshold: where(x <= threshold, 0.0, g), 2)


@op(name="threshold_backward", grad=lambda g, input, threshold: _threshold_backward(g, input, threshold),
    input=zeros_like)
def _threshold_backward(grad, input, threshold):
    return _above_slope(grad, input, threshold)


@op(name="threshold", elementwise=True, input=lambda g, input, threshold: _threshold_backward(g, input, threshold))
def _threshold(input, threshold, value):
    return _above(input, threshold, value)


@public(dtypes=dt.INTEGER + dt.FLOATING, kernel="threshold_cpu", elementwise=True)
def threshold(input: Tensor, threshold: Number, value: Number) -> Tensor:
    """`input` where it is above `threshold`, else `value`.

    >>> import tinytorch as torch
    >>> torch.threshold(torch.tensor([0.5, 2.]), 1, 20)
    tensor([20.,  2.])
    """
    dtype = input._array.dtype
    return _threshold(input, scalar_of(threshold, dtype), scalar_of(value, dtype, True))


_shrunk = expression(lambda x, low, high: where((x >= low) & (x <= high), 0.0, x))
_shrunk_slope = expression(lambda g, x, low, high: where((x >= low) & (x <= high), 0.0, g), 2)
_moved = expression(lambda x, low, high: x - minimum(high, maximum(low, x)))


@op(name="hardshrink_backward", grad=lambda g, input, lambd: _shrink_backward(g, input, lambd), input=zeros_like)
def _shrink_backward(grad, input, lambd):
    return _shrunk_slope(grad, input, -lambd, lambd)


@op(name="hardshrink", elementwise=True, input=lambda g, input, lambd: _shrink_backward(g, input, lambd))
def _hardshrink(input, lambd):
    return _shrunk(input, -lambd, lambd)


@public(dtypes=dt.FLOATING, kernel="hardshrink_cpu", out=FOUND, method=True)
def hardshrink(input: Tensor, lambd: Number = 0.5) -> Tensor:
    """`input` outside [-lambd, lambd], 0 inside.

    >>> import tinytorch as torch
    >>> torch.hardshrink(torch.tensor([0.25, -2.]))
    tensor([ 0., -2.])
    """
    return _hardshrink(input, scalar_of(lambd, input._array.dtype, True))


_softshrink_backward = renamed(_shrink_backward, "softshrink_backward")


@op(name="softshrink", elementwise=True, input=lambda g, input, lambd: _softshrink_backward(g, input, lambd))
def _softshrink(input, lambd):
    return _moved(input, -lambd, lambd)


@public(dtypes=dt.FLOATING, kernel="softshrink_check", out=FOUND)
def softshrink(input: Tensor, lambd: Number = 0.5) -> Tensor:
    """`input` moved towards 0 by `lambd`, and 0 in [-lambd, lambd]. RuntimeError if `lambd` is negative.

    >>> import tinytorch as torch
    >>> torch.nn.functional.softshrink(torch.tensor([0.25, -2.]))
    tensor([ 0.0000, -1.5000])
    """
    lambd, largest = scalar_of(lambd), dt.finfo(input.dtype).max
    if not 0 <= lambd <= largest:
        raise RuntimeError(f"lambda must be in range [0, {largest:g}] for input dtype "
                           f"{type_name(input)}, but found {lambd:g}")
    return _softshrink(input, lambd)


#: 1/6, that of single precision in every dtype.
_SIXTH = float(np.float32(1 / 6))


_hard = expression(lambda x: minimum(6.0, maximum(0.0, x + 3.0)) / 6.0)
_hard_slope = expression(lambda g, x: where((x > -3.0) & (x < 3.0), g * _SIXTH, 0.0), 2)


@op(name="hardsigmoid_backward", backward_name=REFUSED, grad=refused("hardsigmoid_backward"),
    input=refused("hardsigmoid_backward"))
def _hardsigmoid_backward(grad, input):
    return _hard_slope(grad, input)


def _hardsigmoid_slope(g, input):
    # torch derives tangents of the gradient, but no gradient of it.
    return g * pick((input > -3) * (input < 3), _SIXTH, 0.0) if mode.computing_jvp else _hardsigmoid_backward(g, input)


@op(name="hardsigmoid", elementwise=True, input=_hardsigmoid_slope)
def _hardsigmoid(input):
    return _hard(input)


@public(dtypes=dt.FLOATING, kernel="hardsigmoid_cpu", elementwise=True)
def hardsigmoid(input: Tensor) -> Tensor:
    """min(max(input + 3, 0), 6) / 6.

    >>> import tinytorch as torch
    >>> torch.nn.functional.hardsigmoid(torch.tensor([-4., 0.]))
    tensor([0.0000, 0.5000])
    """
    return _hardsigmoid(input)


_hard_gate = expression(lambda x: x * (minimum(6.0, maximum(0.0, x + 3.0)) / 6.0))
_hard_gate_slope = expression(lambda g, x: g * where(x <= -3.0, 0.0, where(x < 3.0, x / 3.0 + 0.5, 1.0)), 2)


@op(name="hardswish_backward", grad=lambda g, input: _hardswish_backward(g, input),
    input=lambda g, grad, input: pick((input > -3) * (input < 3), g * grad / 3, 0.0))
def _hardswish_backward(grad, input):
    return _hard_gate_slope(grad, input)


@op(name="hardswish", elementwise=True, input=lambda g, input: _hardswish_backward(g, input))
def _hardswish(input):
    return _hard_gate(input)


@public(dtypes=dt.FLOATING, kernel="hardswish_cpu", elementwise=True)
def hardswish(input: Tensor) -> Tensor:
    """input * hardsigmoid(input).

    >>> import tinytorch as torch
    >>> torch.nn.functional.hardswish(torch.tensor([-4., 3.]))
    tensor([-0.,  3.])
    """
    return _hardswish(input)


# ------------------------------------------------------------------ smooth
def _silu_gradient(g, input):
    if input.__class__ is np.ndarray and input.dtype.char == "e":
        return rounded_once(_silu_gradient, g, input)
    return _silu_slopes(g, input)


@native.by_element("silu_backward")
def _silu_slopes(g, input):
    s = sigmoid(input)
    return g * conj(s * (1 + input * (1 - s)))


@op(name="silu", elementwise=True, input=_silu_gradient)
def _silu(input):
    if input.dtype.char == "e":
        return rounded_once(_silu.op.forward, input)
    return _times_sigmoid(input)


@native.by_element("silu")
def _times_sigmoid(input):
    return input * sigmoid.op.forward(input)


@public(dtypes=dt.FLOATING + dt.COMPLEX, kernel="silu_cpu", elementwise=True)
def silu(input: Tensor) -> Tensor:
    """input * sigmoid(input), also called swish.

    >>> import tinytorch as torch
    >>> torch.nn.functional.silu(torch.tensor([0., 1.]))
    tensor([0.0000, 0.7311])
    """
    return _silu(input)


def _mish_gradient(g, x):
    t = tanh(log1p(exp(x)))
    return g * (t + x * sigmoid_of(x) * (1 - t * t))


_mish_value = expression(lambda x: x * tanh(maximum(x, 0.0) + log1p(exp(-abs(x)))))
_mish_slope = expression(_mish_gradient, 2)


@op(name="mish", elementwise=True, input=lambda g, input: _mish_slope(g, input))
def _mish(input):
    return _mish_value(input)


@public(dtypes=dt.FLOATING, kernel="mish_cpu", elementwise=True)
def mish(input: Tensor) -> Tensor:
    """input * tanh(softplus(input)).

    >>> import tinytorch as torch
    >>> torch.nn.functional.mish(torch.tensor([0., 1.]))
    tensor([0.0000, 0.8651])
    """
    return _mish(input)


def _softplus_curvature(g, grad, input, beta, threshold):
    scaled = input * beta
    return sigmoid_backward(g * grad, sigmoid(scaled)) * (scaled < threshold) * beta


def _softplus_value(x, beta, threshold):
    scaled = x * beta
    return where(scaled > threshold, x, log1p(exp(scaled)) / beta)


def _softplus_gradient(g, x, beta, threshold):
    scaled = x * beta
    grown = exp(scaled)
    return where(scaled > threshold, g, g * grown / (grown + 1.0))


_softplus_of, _softplus_slope = expression(_softplus_value), expression(_softplus_gradient, 2)


@op(name="softplus_backward", grad=lambda g, input, beta, threshold: _softplus_backward(g, input, beta, threshold),
    input=_softplus_curvature)
def _softplus_backward(grad, input, beta, threshold):
    return _softplus_slope(grad, input, beta, threshold)


@op(name="softplus", elementwise=True,
    input=lambda g, input, beta, threshold: _softplus_backward(g, input, beta, threshold))
def _softplus(input, beta, threshold):
    return _softplus_of(input, beta, threshold)


@public(dtypes=dt.FLOATING, kernel="softplus_cpu", out=FOUND)
def softplus(input: Tensor, beta: Number = 1, threshold: Number = 20) -> Tensor:
    """log(1 + exp(beta * input)) / beta; `input` itself where beta * input > threshold.

    >>> import tinytorch as torch
    >>> torch.nn.functional.softplus(torch.tensor([0., 30.]))
    tensor([ 0.6931, 30.0000])
    """
    return _softplus(input, scalar_of(beta, input._array.dtype), scalar_of(threshold, input._array.dtype))


_log_sigmoid_of = expression(lambda x: minimum(x, 0.0) - log1p(exp(-abs(x))))
_log_sigmoid_slope = expression(lambda g, x: g * sigmoid_of(-x), 2)


@op(name="log_sigmoid_backward", grad=lambda g, input: _log_sigmoid_backward(g, input),
    input=lambda g, grad, input: sigmoid(input) * (sigmoid(input) - 1) * g * grad)
def _log_sigmoid_backward(grad, input):
    return _log_sigmoid_slope(grad, input)


@op(name="log_sigmoid", batches="elements", input=lambda g, input: _log_sigmoid_backward(g, input))
def _log_sigmoid(input):
    if not input.flags.c_contiguous:           # nor is the result in another order in torch
        input = np.ascontiguousarray(input)
    return _log_sigmoid_of(input)


@public("log_sigmoid", dtypes=dt.FLOATING, kernel="log_sigmoid_cpu",
        out="expected scalar type {Want} but found {Have}")
def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(input)), without underflow.

    >>> import tinytorch as torch
    >>> torch.nn.functional.logsigmoid(torch.tensor([0., -1000.]))
    tensor([-6.9315e-01, -1.0000e+03])
    """
    return _log_sigmoid(input)


# ------------------------------------------------------------------ composites
@public(python=True)
def softsign(input: Tensor) -> Tensor:
    """input / (1 + |input|).

    >>> import tinytorch as torch
    >>> torch.nn.functional.softsign(torch.tensor([-1., 3.]))
    tensor([-0.5000,  0.7500])
    """
    return input / (input.abs() + 1)


@public(python=True)
def tanhshrink(input: Tensor) -> Tensor:
    """input - tanh(input).

    >>> import tinytorch as torch
    >>> torch.nn.functional.tanhshrink(torch.tensor([0., 1.]))
    tensor([0.0000, 0.2384])
    """
    if input._array.dtype.kind in dt.BOOL:
        return input - input                   # refused, as torch refuses it
    return input - input.tanh()


@public(python=True)
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half of `input` along `dim`, times the sigmoid of the second. RuntimeError if it cannot be halved.

    >>> import tinytorch as torch
    >>> torch.nn.functional.glu(torch.tensor([4., 0.]))
    tensor([2.])
    """
    if input._array.ndim == 0:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    if dim.__class__ is not int:
        refuse(glu, input, dim)
    size = input._array.shape[check_dim(dim, input._array.ndim)]
    if size % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {check_dim(dim, input._array.ndim)} "
                           f"is size {size}")
    if dt.kind(input._array.dtype) not in dt.FLOATING:
        raise not_implemented("glu_cpu", input)
    return input.narrow(dim, 0, size // 2) * input.narrow(dim, size // 2, size // 2).sigmoid()


hardtanh_, hardsigmoid_, hardswish_, silu_, mish_ = map(in_place, (hardtanh, hardsigmoid, hardswish, silu, mish))
threshold_ = in_place(threshold, lambda memory, values, *_, **__: np.copyto(memory, values))
