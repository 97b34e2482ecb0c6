"""Exponential linear units: elu selu celu."""
from __future__ import annotations

from ... import dtypes as dt
from ...autograd.in_place import in_place
from ...autograd.op import op, renamed
from ...autograd.promotion import fit_every_float, scalar_of
from ...autograd.public import public
from ...kernels.expressions import exp, expm1, expression, where
from ...tensor import Tensor
from ...types import Number

__all__ = ["celu", "celu_", "selu", "selu_"]

_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


#: These take products of the settings: the scale of a negative input, and that of a positive one.
_value = expression(lambda x, negative, positive, rate: where(x < 0.0, expm1(x * rate) * negative, x * positive))
_slope = expression(lambda g, x, negative, positive, rate: g * where(x <= 0.0, exp(x * rate) * negative, positive), 2)
_slope_by_output = expression(lambda g, y, negative, positive, rate: g * where(
    y <= 0.0, (y + negative) * rate, positive), 2)


@op(name="elu_backward",
    grad=lambda g, input, alpha, scale, rate: _elu_backward(g, input, alpha, scale, rate),
    input=lambda g, grad, input, alpha, scale, rate: _elu_backward(g * grad * rate, input, alpha, scale, rate)
    * (input < 0))
def _elu_backward(grad, input, alpha, scale, rate):
    return _slope(grad, input, alpha * scale * rate, scale, rate)


@op(name="elu_backward",
    grad=lambda g, output, alpha, scale, rate: _elu_backward_by_output(g, output, alpha, scale, rate),
    output=lambda g, grad, output, alpha, scale, rate: g * grad * rate * (output < 0))
def _elu_backward_by_output(grad, output, alpha, scale, rate):
    """`_elu_backward` for an in-place elu, which has overwritten its input with its output."""
    if alpha < 0:
        raise RuntimeError("In-place elu backward calculation is triggered with a negative slope which is not "
                           "supported. This is caused by calling in-place forward function with a negative slope, "
                           "please call out-of-place version instead.")
    return _slope_by_output(grad, output, alpha * scale, scale, rate)


@op(name="elu", elementwise=True,
    input=lambda g, input, alpha, scale, rate: _elu_backward(g, input, alpha, scale, rate))
def _elu(input, alpha, scale, rate):
    return _value(input, alpha * scale, scale, rate)


_elu_over = op(name="elu.1", elementwise=True, input=lambda g, ans, alpha, scale, rate: _elu_backward_by_output(
    g, ans, alpha, scale, rate))(_elu.op.forward)
_celu = renamed(_elu, "celu")
_elu.op.over, _celu.op.over = _elu_over.op, _elu_over.op.renamed("celu.1")


@public(dtypes=dt.FLOATING, kernel="elu_cpu", elementwise=True)
def elu(input: Tensor, alpha: Number = 1.0, scale: Number = 1, input_scale: Number = 1) -> Tensor:
    """`scale` times: input where positive, else alpha * (exp(input * input_scale) - 1).

    >>> import tinytorch as torch
    >>> torch.nn.functional.elu(torch.tensor([-1., 2.]))
    tensor([-0.6321,  2.0000])
    """
    dtype = input._array.dtype
    return _elu(input, scalar_of(alpha, dtype), scalar_of(scale, dtype), scalar_of(input_scale, dtype))


@public(dtypes=dt.FLOATING, kernel="elu_cpu", elementwise=True)
def selu(input: Tensor) -> Tensor:
    """elu with the constants for which activations keep mean 0 and variance 1.

    Klambauer et al. 2017, Self-Normalizing Neural Networks.

    >>> import tinytorch as torch
    >>> torch.selu(torch.tensor([-1., 1.]))
    tensor([-1.1113,  1.0507])
    """
    return _elu(input, _SELU_ALPHA, _SELU_SCALE, 1.0)


@public(dtypes=dt.FLOATING, kernel="elu_cpu", elementwise=True)
def celu(input: Tensor, alpha: Number = 1.0) -> Tensor:
    """`input` where positive, else alpha * (exp(input / alpha) - 1). RuntimeError if alpha is 0.

    >>> import tinytorch as torch
    >>> torch.celu(torch.tensor([-1., 1.]), 2.)
    tensor([-0.7869,  1.0000])
    """
    alpha = scalar_of(alpha)
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _celu(input, scalar_of(alpha, input._array.dtype), 1.0, 1.0 / alpha)


def _elu_into(array, alpha=1.0, scale=1, input_scale=1):
    if not fit_every_float(alpha, scale, input_scale):
        return False
    scale = float(scale)
    return _value.into(array, float(alpha) * scale, scale, float(input_scale))


def _celu_into(array, alpha=1.0):
    return fit_every_float(alpha) and alpha != 0 and _value.into(array, float(alpha), 1.0, 1.0 / alpha)


elu_, celu_ = in_place(elu, into=_elu_into), in_place(celu, into=_celu_into)
selu_ = in_place(selu, into=lambda array: _value.into(array, _SELU_ALPHA * _SELU_SCALE, _SELU_SCALE, 1.0))
