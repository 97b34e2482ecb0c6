"""Activations, element by element: hardtanh threshold hardswish silu mish softplus ... and glu.

The families of relu, elu, gelu and softmax are in files of these names.
"""
from __future__ import annotations

from math import prod

import numpy as np

from ... import dtypes as dt
from ...autograd.grad_mode import mode
from ...autograd.in_place import in_place
from ...autograd.op import op, renamed, unwatched
from ...autograd.promotion import FOUND, fit_every_float, scalar_of
from ...autograd.public import public, refuse
from ...errors import not_implemented, type_name
from ...kernels import native
from ...kernels.errstate import ignored
from ...kernels.expressions import exp, expression, log1p, maximum, minimum, sigmoid as sigmoid_of, tanh, where
from ...kernels.layout import operand_order
from ...tensor import Tensor, check_dim, wrap
from ...types import Number
from ..elementwise.arithmetic import REFUSED, conj, refused, rounded_once, zeros_like
from ..elementwise.math import exp as exp_op
from ..elementwise.special import sigmoid, sigmoid_backward
from ..elementwise.where import pick
from ..layout.join import _cat as side_by_side
from .relu import refuse_clamp

__all__ = ["hardshrink", "sigmoid_", "threshold", "threshold_"]

sigmoid_ = Tensor.sigmoid_

_INT64 = np.dtype(np.int64)


# ------------------------------------------------------------------ piecewise linear
@op(name="hardtanh_backward", grad=lambda g, input, low, high: _hardtanh_backward(g, input, low, high),
    input=zeros_like)
@expression(arrays=2)
def _hardtanh_backward(grad, input, low, high):
    return where(input <= low, 0.0, where(input >= high, 0.0, grad))


@op(name="hardtanh", elementwise=True, input=lambda g, input, low, high: _hardtanh_backward(g, input, low, high))
@expression
def _hardtanh(input, low, high):
    """A zero of `input` keeps its sign where a limit is a zero of the other sign."""
    return minimum(high, maximum(low, input))


@public(elementwise=True, repeats=True)
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


@op(name="threshold_backward", grad=lambda g, input, threshold: _threshold_backward(g, input, threshold),
    input=zeros_like)
@expression(arrays=2)
def _threshold_backward(grad, input, threshold):
    return where(input <= threshold, 0.0, grad)


@op(name="threshold", elementwise=True, input=lambda g, input, threshold: _threshold_backward(g, input, threshold))
@expression
def _threshold(input, threshold, value):
    return where(input <= threshold, value, input)


@public(dtypes=dt.INTEGER + dt.FLOATING, kernel="threshold_cpu", elementwise=True)
def threshold(input: Tensor, threshold: Number, value: Number) -> Tensor:
    """`input` where it is above `threshold`, else `value`.

    >>> import tinytorch as torch
    >>> torch.threshold(torch.tensor([0.5, 2.]), 1, 20)
    tensor([20.,  2.])
    """
    dtype = input._array.dtype
    return _threshold(input, scalar_of(threshold, dtype), scalar_of(value, dtype, True))


@op(name="hardshrink_backward", grad=lambda g, input, lambd: _shrink_backward(g, input, lambd), input=zeros_like)
@expression(arrays=2)
def _shrink_backward(grad, input, lambd):
    return where(abs(input) <= lambd, 0.0, grad)


@op(name="hardshrink", elementwise=True, input=lambda g, input, lambd: _shrink_backward(g, input, lambd))
@expression
def _hardshrink(input, lambd):
    return where(abs(input) <= lambd, 0.0, input)


@public(dtypes=dt.FLOATING, kernel="hardshrink_cpu", out=FOUND, method=True, repeats=True)
def hardshrink(input: Tensor, lambd: Number = 0.5) -> Tensor:
    """`input` outside [-lambd, lambd], 0 inside.

    >>> import tinytorch as torch
    >>> torch.hardshrink(torch.tensor([0.25, -2.]))
    tensor([ 0., -2.])
    """
    return _hardshrink(input, scalar_of(lambd, input._array.dtype, True))


_softshrink_backward = renamed(_shrink_backward, "softshrink_backward")


@op(name="softshrink", elementwise=True, input=lambda g, input, lambd: _softshrink_backward(g, input, lambd))
@expression
def _softshrink(input, lambd):
    return input - minimum(lambd, maximum(-lambd, input))


#: What every dtype of floats holds.
_LEAST_LARGEST = 65504


@public(dtypes=dt.FLOATING, kernel="softshrink_check", out=FOUND, repeats=True)
def softshrink(input: Tensor, lambd: Number = 0.5) -> Tensor:
    """`input` moved towards 0 by `lambd`, and 0 in [-lambd, lambd]. RuntimeError if `lambd` is negative.

    >>> import tinytorch as torch
    >>> torch.nn.functional.softshrink(torch.tensor([0.25, -2.]))
    tensor([ 0.0000, -1.5000])
    """
    lambd = scalar_of(lambd)
    if not 0 <= lambd <= _LEAST_LARGEST:
        largest = dt.finfo(input.dtype).max
        if not 0 <= lambd <= largest:
            raise RuntimeError(f"lambda must be in range [0, {largest:g}] for input dtype "
                               f"{type_name(input)}, but found {lambd:g}")
    return _softshrink(input, lambd)


#: 1/6 in single precision, which torch uses in every dtype.
_SIXTH = float(np.float32(1 / 6))


@op(name="hardsigmoid_backward", backward_name=REFUSED, grad=refused("hardsigmoid_backward"),
    input=refused("hardsigmoid_backward"))
@expression(arrays=2)
def _hardsigmoid_backward(grad, input):
    return where(abs(input) < 3.0, grad * _SIXTH, 0.0)


def _hardsigmoid_slope(g, input):
    # In torch this gradient has tangents, but no gradient.
    return g * pick((input > -3) * (input < 3), _SIXTH, 0.0) if mode.computing_jvp else _hardsigmoid_backward(g, input)


@op(name="hardsigmoid", elementwise=True, input=_hardsigmoid_slope)
@expression
def _hardsigmoid(input):
    return minimum(6.0, maximum(0.0, input + 3.0)) / 6.0


@public(dtypes=dt.FLOATING, kernel="hardsigmoid_cpu", elementwise=True)
def hardsigmoid(input: Tensor) -> Tensor:
    """min(max(input + 3, 0), 6) / 6.

    >>> import tinytorch as torch
    >>> torch.nn.functional.hardsigmoid(torch.tensor([-4., 0.]))
    tensor([0.0000, 0.5000])
    """
    return _hardsigmoid(input)


@op(name="hardswish_backward", grad=lambda g, input: _hardswish_backward(g, input),
    input=lambda g, grad, input: pick((input > -3) * (input < 3), g * grad / 3, 0.0))
@expression(arrays=2)
def _hardswish_backward(grad, input):
    return grad * where(input <= -3.0, 0.0, where(input < 3.0, 0.5 + input / 3.0, 1.0))


@op(name="hardswish", elementwise=True, input=lambda g, input: _hardswish_backward(g, input))
@expression
def _hardswish(input):
    return input * (minimum(6.0, maximum(0.0, input + 3.0)) / 6.0)


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
    return input / (1 + exp_op.op.forward(-input))


@public(dtypes=dt.FLOATING + dt.COMPLEX, kernel="silu_cpu", elementwise=True)
def silu(input: Tensor) -> Tensor:
    """input * sigmoid(input), also called swish.

    >>> import tinytorch as torch
    >>> torch.nn.functional.silu(torch.tensor([0., 1.]))
    tensor([0.0000, 0.7311])
    """
    return _silu(input)


@expression(arrays=2)
def _mish_slope(g, input):
    t = tanh(log1p(exp(input)))
    return g * (t + input * sigmoid_of(input) * (1 - t * t))


@op(name="mish", elementwise=True, input=_mish_slope)
@expression
def _mish(input):
    return input * tanh(maximum(input, 0.0) + log1p(exp(-abs(input))))


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


@op(name="softplus_backward", grad=lambda g, input, beta, threshold: _softplus_backward(g, input, beta, threshold),
    input=_softplus_curvature)
@expression(arrays=2)
def _softplus_backward(grad, input, beta, threshold):
    scaled = input * beta
    grown = exp(scaled)
    return where(scaled > threshold, grad, grad * grown / (grown + 1.0))


@op(name="softplus", elementwise=True,
    input=lambda g, input, beta, threshold: _softplus_backward(g, input, beta, threshold))
@expression
def _softplus(input, beta, threshold):
    scaled = input * beta
    return where(scaled > threshold, input, log1p(exp(scaled)) / beta)


@public(dtypes=dt.FLOATING, kernel="softplus_cpu", out=FOUND, repeats=True)
def softplus(input: Tensor, beta: Number = 1, threshold: Number = 20) -> Tensor:
    """log(1 + exp(beta * input)) / beta; `input` itself where beta * input > threshold.

    >>> import tinytorch as torch
    >>> torch.nn.functional.softplus(torch.tensor([0., 30.]))
    tensor([ 0.6931, 30.0000])
    """
    return _softplus(input, scalar_of(beta, input._array.dtype), scalar_of(threshold, input._array.dtype))


_log_sigmoid_of = expression(lambda x: minimum(x, 0.0) - log1p(exp(-abs(x))))


@op(name="log_sigmoid_backward", grad=lambda g, input: _log_sigmoid_backward(g, input),
    input=lambda g, grad, input: sigmoid(input) * (sigmoid(input) - 1) * g * grad)
@expression(arrays=2)
def _log_sigmoid_backward(grad, input):
    return grad * sigmoid_of(-input)


@op(name="log_sigmoid", batches="elements", input=lambda g, input: _log_sigmoid_backward(g, input))
def _log_sigmoid(input):
    if not input.flags.c_contiguous:           # torch's result is always in C order
        input = np.ascontiguousarray(input)
    return _log_sigmoid_of(input)


@public("log_sigmoid", dtypes=dt.FLOATING, kernel="log_sigmoid_cpu",
        out="expected scalar type {Want} but found {Have}", repeats=True)
def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(input)), without underflow.

    >>> import tinytorch as torch
    >>> torch.nn.functional.logsigmoid(torch.tensor([0., -1000.]))
    tensor([-6.9315e-01, -1.0000e+03])
    """
    return _log_sigmoid(input)


# ------------------------------------------------------------------ composites
_soft_sign = expression(lambda input: input / (abs(input) + 1))


@public(python=True)
def softsign(input: Tensor) -> Tensor:
    """input / (1 + |input|).

    >>> import tinytorch as torch
    >>> torch.nn.functional.softsign(torch.tensor([-1., 3.]))
    tensor([-0.5000,  0.7500])
    """
    if unwatched(input, True) and type(input._array) is np.ndarray and input._array.dtype.char in "fd":
        with ignored():
            return wrap(np.asarray(_soft_sign(input._array)))      # without the library, of one element a number
    return input / (input.abs() + 1)


@public(python=True)
def tanhshrink(input: Tensor) -> Tensor:
    """input - tanh(input).

    >>> import tinytorch as torch
    >>> torch.nn.functional.tanhshrink(torch.tensor([0., 1.]))
    tensor([0.0000, 0.2384])
    """
    if input._array.dtype.kind in dt.BOOL:
        return input - input                   # the subtraction raises torch's error for bools
    return input - input.tanh()


def _halves(x, dim):
    n, before = x.shape[dim] // 2, (slice(None),) * dim
    return x[(*before, slice(n))], x[(*before, slice(n, None))]


def _glu_turn(g, input, dim):
    """The gradient of the gradient that _glu_backward is given."""
    (of_x, of_gate), (x, gate) = _halves(g, dim), _halves(input, dim)
    share = sigmoid(gate)
    return (of_x + of_gate * x * (1 - share)) * share


def _glu_slopes(g, grad, input, dim):
    (of_x, of_gate), (x, gate) = _halves(g, dim), _halves(input, dim)
    share = sigmoid(gate)
    slope = grad * share * (1 - share)
    n = gate.shape[dim]
    return side_by_side(dim, (n, n), of_gate * slope, (of_x + of_gate * x * (1 - 2 * share)) * slope)


@op(name="glu_backward", batches="dims", grad=_glu_turn, input=_glu_slopes)
def _glu_backward(grad, input, dim):
    if input.dtype.char == "e":
        return rounded_once(lambda g, x: _glu_backward.op.forward(g, x, dim), grad, input)
    if native.many("glu_backward", input.size) and input.dtype == grad.dtype == np.float32 and (
            type(input) is type(grad) is np.ndarray):
        shape = input.shape
        return native.result("glu_backward", shape, prod(shape[:dim]), prod(shape[dim:]) // 2,
                             np.ascontiguousarray(grad), np.ascontiguousarray(input))
    (x, gate), n = _halves(input, dim), grad.shape[dim]
    share = sigmoid.op.forward(gate)
    return side_by_side.op.forward(dim, (n, n), grad * share, grad * x * (1 - share) * share)


@op(name="glu", batches="dims", input=lambda g, input, dim: _glu_backward(g, input, dim))
def _glu(input, dim):
    if input.dtype.char == "e":
        return rounded_once(lambda x: _glu.op.forward(x, dim), input)
    x, gate = _halves(input, dim)
    if native.many("glu", input.size) and input.dtype == np.float32 and type(input) is np.ndarray:
        shape = input.shape
        result = native.result("glu", x.shape, prod(shape[:dim]), prod(shape[dim:]) // 2, np.ascontiguousarray(input))
        return result if input.flags.c_contiguous else operand_order(result, x, gate)
    return x * sigmoid.op.forward(gate)


@public(python=True, repeats=True)
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
    return _glu(input, check_dim(dim, input._array.ndim))


def _hardtanh_into(array, min_val=-1, max_val=1):
    return fit_every_float(min_val, max_val) and _hardtanh.op.forward.into(array, float(min_val), float(max_val))


hardtanh_ = in_place(hardtanh, into=_hardtanh_into)
hardsigmoid_, hardswish_, mish_ = [in_place(function, into=primitive.op.forward.into) for function, primitive in (
    (hardsigmoid, _hardsigmoid), (hardswish, _hardswish), (mish, _mish))]
silu_ = in_place(silu, into=lambda array: native.done("silu", array.size, array, array))
threshold_ = in_place(threshold, lambda memory, values, *_, **__: np.copyto(memory, values))
