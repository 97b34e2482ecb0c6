"""Elementwise functions of one number: exp log sqrt sin tanh ..."""
from __future__ import annotations

import math

import numpy as np

from ... import dtypes as dt
from ...autograd.op import binary, unary
from ...autograd.promotion import NUMBERS
from ...autograd.public import method
from ...kernels import expressions, native
from ...kernels.expressions import expression, fine, where, word
from ...kernels.ufuncs import shared
from ...tensor import Tensor
from .arithmetic import conj, is_complex, rounded_once
from .where import scaled_unless

__all__ = ["acos", "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "asin", "asinh", "atan",
           "atanh", "cos", "cosh", "deg2rad", "exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "rad2deg",
           "reciprocal", "rsqrt", "sin", "sinc", "sinh", "sqrt", "square", "tan", "tanh"]

_LN2, _LN10 = math.log(2.0), math.log(10.0)


def refuse_complex(name, array):
    if dt.kind(array.dtype) in dt.COMPLEX:
        raise RuntimeError(f"{name} is not supported for complex tensors.")


@unary(lambda g, ans: g * conj(ans), to_float=True, ufunc=fine.exp, kernel="exp_vml_cpu", foreach=True)
def exp(input):
    """e to the power of each element.

    >>> import tinytorch as torch
    >>> torch.exp(torch.tensor([0., 1.]))
    tensor([1.0000, 2.7183])
    """
    return shared(fine.exp, input)


@unary(lambda g, ans: g * conj(ans) * _LN2, to_float=True, ufunc=fine.exp2, kernel="exp2")
def exp2(input):
    """2 to the power of each element.

    >>> import tinytorch as torch
    >>> torch.exp2(torch.tensor([0., 3.]))
    tensor([1., 8.])
    """
    if input.dtype.kind not in dt.COMPLEX:
        return shared(fine.exp2, input)
    power = np.empty_like(input)               # real and imaginary part apart: inf times the 0 of ln 2 would be nan
    power.real, power.imag = input.real * _LN2, input.imag * _LN2
    return np.exp(power)


@unary(expression(lambda g, ans: g * conj(ans + 1), 2), to_float=True, kernel="expm1_vml_cpu", foreach=True,
       of_zero=True)
@expression
def expm1(input):
    """exp(input) - 1, accurate near zero.

    >>> import tinytorch as torch
    >>> torch.expm1(torch.tensor([0., 1.]))
    tensor([0.0000, 1.7183])
    """
    return expressions.expm1(input)


@unary(lambda g, input: g / conj(input), to_float=True, ufunc=fine.log, kernel="log_vml_cpu", foreach=True)
def log(input):
    """Natural logarithm: -inf at zero, NaN below zero.

    >>> import tinytorch as torch
    >>> torch.log(torch.tensor([1., 10.]))
    tensor([0.0000, 2.3026])
    """
    return shared(fine.log, input)


@unary(lambda g, input: g / (conj(input) * _LN2), to_float=True, ufunc=fine.log2, kernel="log2_vml_cpu", foreach=True)
def log2(input):
    """Logarithm to base 2.

    >>> import tinytorch as torch
    >>> torch.log2(torch.tensor([1., 8.]))
    tensor([0., 3.])
    """
    return shared(fine.log2, input)


@unary(lambda g, input: g / (conj(input) * _LN10), to_float=True, ufunc=fine.log10, kernel="log10_vml_cpu",
       foreach=True)
def log10(input):
    """Logarithm to base 10.

    >>> import tinytorch as torch
    >>> torch.log10(torch.tensor([1., 20.]))
    tensor([0.0000, 1.3010])
    """
    return shared(fine.log10, input)


_log1p = expression(lambda x: expressions.log1p(x))


@unary(expression(lambda g, input: g / conj(input + 1), 2), to_float=True, kernel="log1p_vml_cpu", foreach=True,
       of_zero=True)
def log1p(input):
    """log(1 + input), accurate near zero.

    >>> import tinytorch as torch
    >>> torch.log1p(torch.tensor([0., 1.]))
    tensor([0.0000, 0.6931])
    """
    if input.dtype.kind != dt.COMPLEX:
        return _log1p(input)
    result = np.asarray(np.log1p(input))       # NumPy adds 1 first, which loses small numbers
    near = np.abs(input) < 0.5
    x, y = input.real[near], input.imag[near]
    squares = x * (2 + x) + y * y
    parts = np.empty(x.shape, input.dtype)
    parts.real = np.where(squares == 0, x, np.log1p(squares) / 2)
    parts.imag = np.arctan2(y, x + 1)
    result[near] = parts
    return result


@unary(lambda g, ans: g / (2 * conj(ans)), to_float=True, ufunc=np.sqrt, kernel="sqrt_vml_cpu", foreach=True,
       of_zero=True)
def sqrt(input):
    """Square root: NaN below zero.

    >>> import tinytorch as torch
    >>> torch.sqrt(torch.tensor([4., 2.]))
    tensor([2.0000, 1.4142])
    """
    return shared(np.sqrt, input)


_cubed = expression(lambda x: x * x * x)
_inverse = expression(lambda x: 1.0 / x)
_inverse_root = expression(lambda x: 1.0 / expressions.sqrt(x))


def cubed(x):
    """x * x * x."""
    return _cubed(x) if x.dtype.char in "fd" else x * x * x


def inverse_root(x):
    """1 / sqrt(x)."""
    return _inverse_root(x) if x.dtype.char in "fd" else 1 / np.sqrt(x)


@unary(lambda g, input: g * conj(3 * (input * input)), name="pow", method=False, inplace=False)
def _cube(input):
    return cubed(input)


@unary(lambda g, ans: -0.5 * g * conj(_cube(ans)), to_float=True, foreach=True)
def rsqrt(input):
    """1 / sqrt(input).

    >>> import tinytorch as torch
    >>> torch.rsqrt(torch.tensor([4., 1.]))
    tensor([0.5000, 1.0000])
    """
    return inverse_root(input)


@unary(lambda g, ans: -g * conj(ans * ans), to_float=True, foreach=True)
def reciprocal(input):
    """1 / input.

    >>> import tinytorch as torch
    >>> torch.reciprocal(torch.tensor([4., 1.]))
    tensor([0.2500, 1.0000])
    """
    if input.dtype.char in "fd":
        return _inverse(input)
    result = shared(np.reciprocal, input)
    if input.dtype.kind in dt.COMPLEX:
        return np.where(input == 0, result.dtype.type(complex(np.inf, np.nan)), result)
    return result


@unary(lambda g, input: g * conj(cos(input)), to_float=True, ufunc=fine.sin, kernel="sin_vml_cpu", foreach=True,
       of_zero=True)
def sin(input):
    """Sine of an angle in radians.

    >>> import tinytorch as torch
    >>> torch.sin(torch.tensor([0., 1.]))
    tensor([0.0000, 0.8415])
    """
    return shared(fine.sin, input)


@unary(lambda g, input: -g * conj(sin(input)), to_float=True, ufunc=fine.cos, kernel="cos_vml_cpu", foreach=True)
def cos(input):
    """Cosine of an angle in radians.

    >>> import tinytorch as torch
    >>> torch.cos(torch.tensor([0., 1.]))
    tensor([1.0000, 0.5403])
    """
    return shared(fine.cos, input)


@unary(lambda g, ans: g * conj(1 + ans * ans), to_float=True, ufunc=fine.tan, kernel="tan_vml_cpu", foreach=True,
       of_zero=True)
def tan(input):
    """Tangent of an angle in radians.

    >>> import tinytorch as torch
    >>> torch.tan(torch.tensor([0., 1.]))
    tensor([0.0000, 1.5574])
    """
    return shared(fine.tan, input)


@unary(lambda g, input: g * conj(rsqrt(-input * input + 1)), to_float=True, aliases="arcsin", ufunc=fine.arcsin,
       kernel="asin_vml_cpu", foreach=True, of_zero=True)
def asin(input):
    """Inverse sine: NaN outside [-1, 1].

    >>> import tinytorch as torch
    >>> torch.asin(torch.tensor([0., 1.]))
    tensor([0.0000, 1.5708])
    """
    return shared(fine.arcsin, input)


@unary(lambda g, input: g * conj(-rsqrt(-input * input + 1)), to_float=True, aliases="arccos", ufunc=fine.arccos,
       kernel="acos_vml_cpu", foreach=True)
def acos(input):
    """Inverse cosine: NaN outside [-1, 1].

    >>> import tinytorch as torch
    >>> torch.acos(torch.tensor([0., 1.]))
    tensor([1.5708, 0.0000])
    """
    return shared(fine.arccos, input)


@unary(expression(lambda g, input: g / conj(input * input + 1), 2), to_float=True, aliases="arctan",
       kernel="atan_vml_cpu", foreach=True, of_zero=True)
@expression
def atan(input):
    """Inverse tangent.

    >>> import tinytorch as torch
    >>> torch.atan(torch.tensor([0., 1.]))
    tensor([0.0000, 0.7854])
    """
    return expressions.arctan(input)


@unary(lambda g, input: g * conj(cosh(input)), to_float=True, ufunc=fine.sinh, foreach=True, of_zero=True)
def sinh(input):
    """Hyperbolic sine.

    >>> import tinytorch as torch
    >>> torch.sinh(torch.tensor([0., 1.]))
    tensor([0.0000, 1.1752])
    """
    return shared(fine.sinh, input)


@unary(lambda g, input: g * conj(sinh(input)), to_float=True, ufunc=fine.cosh, foreach=True)
def cosh(input):
    """Hyperbolic cosine.

    >>> import tinytorch as torch
    >>> torch.cosh(torch.tensor([0., 1.]))
    tensor([1.0000, 1.5431])
    """
    return shared(fine.cosh, input)


@binary(name="tanh_backward", method=False, inplace=False,
        grad=lambda g, output: _tanh_backward(g, conj(output)),
        output=lambda g, grad, output: conj(g) * (-2 * conj(output) * grad))
def _tanh_backward(grad, output):
    return _tanh_slope(grad, output)


def _tanh_slope(grad, output):
    if output.dtype.char == "e":
        return _tanh_slope(grad.astype(np.float32), output.astype(np.float32)).astype(np.float16)
    if output.size >= native.LEAST and (result := _many_tanh_slopes(grad, output)) is not None:
        return result
    if output.dtype not in _ONE or not output.ndim:
        return grad * conj(1 - output * output)
    slope = output * output
    np.subtract(_ONE[output.dtype], slope, slope)
    return grad * slope


_many_tanh_slopes = native.by_element("tanh_backward")(lambda grad, output: None)
#: Arrays of the number 1. NumPy subtracts from such an array faster than it converts a Python number.
_ONE = {np.dtype(c): np.ones((), c) for c in "fd"}


@unary(lambda g, ans: (_tanh_slope if g.__class__ is np.ndarray else _tanh_backward)(g, ans), to_float=True,
       ufunc=fine.tanh, kernel="tanh_vml_cpu", foreach=True, of_zero=True, repeats=True)
def tanh(input):
    """Hyperbolic tangent.

    >>> import tinytorch as torch
    >>> torch.tanh(torch.tensor([0., 1.]))
    tensor([0.0000, 0.7616])
    """
    return shared(fine.tanh, input)


@unary(lambda g, input: g * conj(rsqrt(input * input + 1)), to_float=True, aliases="arcsinh", ufunc=np.arcsinh,
       of_zero=True)
def asinh(input):
    """Inverse hyperbolic sine.

    >>> import tinytorch as torch
    >>> torch.asinh(torch.tensor([0., 1.]))
    tensor([0.0000, 0.8814])
    """
    return shared(np.arcsinh, input)


def _acosh_slope(g, input):
    if is_complex(input):
        return g * conj(rsqrt(input + -1) * rsqrt(input + 1))          # `+ -1` turns -0 into 0 in both parts
    return g * rsqrt(input * input - 1)


@unary(_acosh_slope, to_float=True, aliases="arccosh", ufunc=np.arccosh)
def acosh(input):
    """Inverse hyperbolic cosine: NaN below 1.

    >>> import tinytorch as torch
    >>> torch.acosh(torch.tensor([1., 2.]))
    tensor([0.0000, 1.3170])
    """
    return shared(np.arccosh, input)


@unary(lambda g, input: g / conj(1 - input * input), to_float=True, aliases="arctanh", ufunc=fine.arctanh, of_zero=True)
def atanh(input):
    """Inverse hyperbolic tangent: infinite at -1 and 1, NaN outside.

    >>> import tinytorch as torch
    >>> torch.atanh(torch.tensor([0., 0.5]))
    tensor([0.0000, 0.5493])
    """
    return shared(fine.arctanh, input)


@unary(lambda g: g * (math.pi / 180), to_float=True, of_zero=True)
def deg2rad(input):
    """Degrees to radians.

    >>> import tinytorch as torch
    >>> torch.deg2rad(torch.tensor([180., 90.]))
    tensor([3.1416, 1.5708])
    """
    refuse_complex("deg2rad", input)
    return input * (math.pi / 180)


@unary(lambda g: g * (180 / math.pi), to_float=True, of_zero=True)
def rad2deg(input):
    """Radians to degrees.

    >>> import tinytorch as torch
    >>> torch.rad2deg(torch.tensor([0., 3.1415927]))
    tensor([  0., 180.])
    """
    refuse_complex("rad2deg", input)
    return input * (180 / math.pi)


@unary(lambda g, input: g * conj(input) * 2, name="pow", kernel="pow", casts=True)
def square(input):
    """input * input.

    >>> import tinytorch as torch
    >>> torch.square(torch.tensor([3, -4]))
    tensor([ 9, 16])
    """
    return shared(np.square, input.astype(np.int64) if input.dtype == bool else input)


def _by_pi(x):
    """x * pi, where pi is not rounded to float16 first."""
    return rounded_once(np.multiply, x, math.pi) if not isinstance(x, Tensor) and x.dtype.char == "e" else x * math.pi


def _sinc_slope(g, input):
    x, square = _by_pi(input), _by_pi(input * input)
    sine = sin(x)                              # before the cosine: half precision gradients are summed in this order
    return scaled_unless(square == 0, g, conj((x * cos(x) - sine) / square))


_sine = word("sin", fine.sin)
_sinc = expression(lambda x: where(x == 0, 1.0, _sine(x * math.pi) / (x * math.pi)))


@unary(_sinc_slope, to_float=True, repeats=True)
def sinc(input):
    """sin(pi x) / (pi x), 1 at zero.

    >>> import tinytorch as torch
    >>> torch.sinc(torch.tensor([0., 0.5]))
    tensor([1.0000, 0.6366])
    """
    return _sinc(input)


exp.op.in_bfloat16, log.op.in_bfloat16, tanh.op.in_bfloat16 = (expression(text) for text in (
    lambda x: expressions.exp(x), lambda x: expressions.log(x), lambda x: expressions.tanh(x)))
expressions.on_tensors(log1p=log1p, reciprocal=reciprocal, tanh=tanh)
arcsin, arccos, arctan, arcsinh, arccosh, arctanh = asin, acos, atan, asinh, acosh, atanh


@method("__rtruediv__", "__rdiv__", shown=True, in_python=True, called="__rdiv__")
def _divides(self, other):
    """other / self, computed as a product with the reciprocal, as in torch."""
    return self.reciprocal() * other if isinstance(other, _DIVIDED) else NotImplemented


_DIVIDED = (*NUMBERS, Tensor, np.ndarray)
