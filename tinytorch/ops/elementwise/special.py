"""The sigmoid, the error function, the gamma function and related functions."""
from __future__ import annotations

import math
from functools import partial
from operator import index as as_int

import numpy as np

from ... import dtypes as dt
from ...autograd.grad_mode import mode, unrecorded
from ...autograd.in_place import in_place
from ...autograd.op import binary, op, unary
from ...autograd.promotion import scalar_of, to_default, underivable
from ...autograd.public import method, public
from ...autograd.record_dtypes import by_steps
from ...errors import not_implemented
from ...kernels import erf as erf_kernels, expressions, gamma as gamma_kernels, native
from ...kernels.expressions import expression
from ...tensor import Tensor
from .arithmetic import conj, rounded_once
from .math import exp, log, square
from .where import pick

__all__ = ["digamma", "erf", "erfc", "erfinv", "lgamma", "logit", "mvlgamma", "polygamma", "sigmoid"]

_SQRT_PI = math.sqrt(math.pi)
_SLOPE = 2.0 / _SQRT_PI                        # the derivative of erf at zero


def real(array):
    """The array. TypeError unless its dtype is real and floating."""
    if array.dtype.kind not in dt.NATIVE:
        raise TypeError("a real floating array is needed")
    return array


def single_or_double(kernel, array):
    """The array. NotImplementedError unless its dtype is float32 or float64: torch's `kernel` has no other."""
    if array.dtype.char not in "fd":
        raise not_implemented(kernel, array)
    return array


def without_derivative(forward, primitive, like):
    """The public function of torch.special with the name and documentation of `forward`. torch has no derivative of it
    and does not check whether `out` requires grad. `like` wraps the computing function in one with the right
    signature."""
    def compute(*operands, out=None):
        if out is None:
            return primitive(*operands)
        with unrecorded():
            return primitive(*operands, out=out)
    call = like(compute)
    call.__name__ = call.__qualname__ = forward.__name__
    call.__doc__, call.__module__ = forward.__doc__, forward.__module__
    return public("special_" + forward.__name__)(call)


@binary(name="sigmoid_backward", method=False, inplace=False,
        grad=lambda g, output: _sigmoid_backward(g, conj(output)),
        output=lambda g, grad, output: conj(g) * grad * (-2 * conj(output) + 1))
def _sigmoid_backward(grad, output):
    if output.dtype.char == "e":
        return rounded_once(_sigmoid_backward.op.forward, grad, output)
    if output.dtype.kind in dt.COMPLEX:
        return grad * conj((1 - output) * output)
    return _sigmoid_slopes(grad, output)


@native.by_element("sigmoid_backward")
def _sigmoid_slopes(grad, output):
    return grad * (1 - output) * output


sigmoid_backward = _sigmoid_backward


def _sigmoid_into(array):
    return native.done("sigmoid", array.size, array, array)


@unary(lambda g, ans: _sigmoid_backward(g, ans), to_float=True, foreach=True,
       in_bfloat16=expression(lambda x: expressions.sigmoid(x)), inplace=partial(in_place, into=_sigmoid_into))
def sigmoid(input):
    """1 / (1 + exp(-input)).

    >>> import tinytorch as torch
    >>> torch.sigmoid(torch.tensor([0., 2.]))
    tensor([0.5000, 0.8808])
    """
    if input.dtype.char == "e":
        return rounded_once(sigmoid.op.forward, input)
    return _sigmoid(input)


@native.by_element("sigmoid")
def _sigmoid(input):
    result = np.empty_like(input)              # of no dimensions too, where functions return numbers
    result[...] = exp.op.forward(np.negative(input, result))
    result += 1
    return np.reciprocal(result, result)


_logit_backward = expression(lambda g, input, low, high, filling: expressions.where(
    input < low, filling, expressions.where(input > high, filling, g / (input * (1 - input)))), 2)


def _logit_slope(g, input, eps):
    low, high, filling = (0.0, 1.0, math.nan) if eps is None else (eps, 1 - eps, 0.0)
    if g.__class__ is np.ndarray and g.dtype.char in "fd":
        return _logit_backward(g, input, low, high, filling)
    outside, slope = (input < low) + (input > high), input * (1 - input)
    if mode.computing_jvp:                     # linear in g outside the limits too
        return g * pick(outside, filling, 1 / pick(outside, 1.0, slope))
    return pick(outside, filling, g / slope)


def _inside(x, low, high):
    """`low` where x is below it, else `high` where x is above that. It differs from a clamp where low > high and for
    NaN."""
    return pick(x < low, low, pick(x > high, high, x))


@by_steps
def _logit_in_bfloat16(input, eps):
    x = input if eps is None else _inside(input, eps, 1 - eps)
    return log(x / (1 - x))


_log_odds = expression(lambda x: expressions.log(x / (1 - x)), 1)
_limited_log_odds = expression(lambda x, low, high: _log_odds.text(
    expressions.where(x < low, low, expressions.where(x > high, high, x))), 1)


@op(name="logit", elementwise=True, input=_logit_slope, in_bfloat16=_logit_in_bfloat16)
def _logit(input, eps):
    if input.dtype.char in "fd":
        return _log_odds(input) if eps is None else _limited_log_odds(input, eps, 1 - eps)
    x = input if eps is None else _inside(input, eps, 1 - eps)
    return np.log(x / (1 - x))


@public(dtypes=dt.INTEGRAL + dt.FLOATING, kernel="logit_cpu", widen=True, out="", method=True, inplace=True,
        elementwise=True)
def logit(input: Tensor, eps: float | bool | None = None, *, out: Tensor | None = None) -> Tensor:
    """log(input / (1 - input)), the inverse of sigmoid. With `eps`, the input is first clamped to [eps, 1 - eps].

    >>> import tinytorch as torch
    >>> torch.logit(torch.tensor([0.5, 0.8808]))
    tensor([0.0000, 2.0000])
    """
    input = to_default(input)
    return _logit(input, eps if eps is None else scalar_of(eps, input._array.dtype, True))


@unary(expression(lambda g, input: _SLOPE * expressions.exp(-expressions.square(input)) * g, 2), to_float=True,
       kernel="erf_vml_cpu", foreach=True, of_zero=True)
def erf(input):
    """The error function.

    >>> import tinytorch as torch
    >>> torch.erf(torch.tensor([0., 1.]))
    tensor([0.0000, 0.8427])
    """
    return erf_kernels.erf(real(input))


@unary(expression(lambda g, input: -_SLOPE * expressions.exp(-expressions.square(input)) * g, 2), to_float=True,
       kernel="erfc_vml_cpu", foreach=True)
def erfc(input):
    """1 - erf(input), accurate where erf is nearly 1.

    >>> import tinytorch as torch
    >>> torch.erfc(torch.tensor([0., 1.]))
    tensor([1.0000, 0.1573])
    """
    return erf_kernels.erfc(real(input))


_erfinv_slope = expression(lambda g, y: 0.5 * _SQRT_PI * expressions.exp(expressions.square(y)) * g, 2)


@unary(lambda g, input: _erfinv_slope(g, erfinv(input)), to_float=True, kernel="erfinv_vml_cpu", of_zero=True)
def erfinv(input):
    """The inverse of erf: infinite at -1 and 1, NaN outside.

    >>> import tinytorch as torch
    >>> torch.erfinv(torch.tensor([0., 0.5]))
    tensor([0.0000, 0.4769])
    """
    return erf_kernels.erfinv(real(input))


def _entr_in_bfloat16(input):
    wide = dt.from_bfloat16(input)
    logarithm = dt.from_bfloat16(dt.to_bfloat16(np.log(wide)))
    return dt.to_bfloat16(np.where(wide > 0, -wide * logarithm, entr.op.forward(wide)))


@unary(lambda g, input: g * -(log(input) + 1), name="special_entr", to_float=True, method=False, inplace=False,
       kernel="entr_cpu", in_bfloat16=_entr_in_bfloat16)
def entr(input):
    """-input * log(input), elementwise: 0 at zero, -inf below zero.

    >>> import tinytorch as torch
    >>> torch.special.entr(torch.tensor([0., 0.5, -1.]))
    tensor([0.0000, 0.3466,   -inf])
    """
    real(input)
    zero_or_less = np.where(input < 0, -np.inf, 0).astype(input.dtype)
    return np.where(input <= 0, zero_or_less, -input * log.op.forward(input))


@unary(expression(lambda g, input: g * gamma_kernels.word_digamma(input), 2), to_float=True,
       kernel="lgamma_vml_cpu", foreach=True)
def lgamma(input):
    """Natural logarithm of the absolute value of the gamma function.

    >>> import tinytorch as torch
    >>> torch.lgamma(torch.tensor([1., 5.]))
    tensor([0.0000, 3.1781])
    """
    return gamma_kernels.lgamma(real(input))


@unary(expression(lambda g, input: g * gamma_kernels.word_trigamma(input), 2), to_float=True)
def digamma(input):
    """The derivative of lgamma.

    >>> import tinytorch as torch
    >>> torch.digamma(torch.tensor([1., 0.5]))
    tensor([-0.5772, -1.9635])
    """
    return gamma_kernels.digamma(real(input))


@op(name="polygamma", first=1, elementwise=True, steps=True, input=lambda g, n, input: g * _polygamma(n + 1, input))
def _polygamma(n, input):
    return gamma_kernels.polygamma(n, real(input))


expressions.on_tensors(exp=exp, square=square, erfinv=erfinv, digamma=digamma, sigmoid=sigmoid,
                       trigamma=lambda x: _polygamma(1, x))


def _of_tensor(function):
    """Makes polygamma a method of Tensor, with the tensor as first argument, and returns its in-place form."""
    @method()
    def polygamma(self, n):
        """The n-th derivative of digamma at each element."""
        return function(n, self)
    polygamma.elementwise = True
    return in_place(polygamma)


@public(out="", inplace=_of_tensor, elementwise=True)
def polygamma(n: int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The n-th derivative of digamma. RuntimeError for a negative `n`.

    >>> import tinytorch as torch
    >>> torch.polygamma(1, torch.tensor([1., 0.5]))
    tensor([1.6449, 4.9348])
    """
    n = as_int(n)
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if n == 0:
        return digamma(input)
    input = to_default(input)
    if dt.kind(input._array.dtype) in dt.COMPLEX:
        raise not_implemented("trigamma" if n == 1 else "polygamma", input)
    return _polygamma(n, input)


@binary(name="special_zeta", to_float=True, method=False, inplace=False, input=underivable("zeta"),
        other=lambda g, input, other: g * -input * zeta(input + 1.0, other), in_bfloat16=True)
def zeta(input, other):
    """The Hurwitz zeta function, the sum of (other + k)^-input over k = 0, 1, ...: infinite if `input` is 1, NaN if it
    is less. Only `other` has a derivative.

    >>> import tinytorch as torch
    >>> torch.special.zeta(torch.tensor([2., 4.]), 1)
    tensor([1.6449, 1.0823])
    """
    return gamma_kernels.zeta(single_or_double("zeta_cpu", input), np.asarray(other, input.dtype))


@op(name="add", steps=True, input=lambda g: g.sum(-1))
def _lowered(input, p):
    return real(input)[..., None] + np.arange(1 - p, 1, dtype=input.dtype) / 2


def _log_gammas(input, p):
    return lgamma(_lowered(input, p)).sum(-1) + p * (p - 1) * math.log(math.pi) / 4


@op(name="mvlgamma", steps=True, input=lambda g, input, p: g * digamma(_lowered(input, p)).sum(-1),
    in_bfloat16=by_steps(_log_gammas))
def _mvlgamma(input, p):
    return _log_gammas(real(input), p)


@public(out="", apart=None, method=True, inplace=True)
def mvlgamma(input: Tensor, p: int, *, out: Tensor | None = None) -> Tensor:
    """Logarithm of the multivariate gamma function of dimension `p`. RuntimeError for `p` below 1.

    >>> import tinytorch as torch
    >>> torch.mvlgamma(torch.tensor([2.5]), 2)
    tensor([0.8570])
    """
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    if dt.kind(input._array.dtype) in dt.COMPLEX:
        raise not_implemented("arange_cpu", input)
    return _mvlgamma(to_default(input), p)
