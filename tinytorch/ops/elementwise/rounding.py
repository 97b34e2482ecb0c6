"""Signs, absolute values and rounding: abs sign floor round ..."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...autograd.in_place import in_place
from ...autograd.op import binary, op, renamed, unary
from ...autograd.promotion import FOUND
from ...autograd.public import public
from ...autograd.views import check_in_place
from ...errors import not_a_tensor, not_implemented
from ...kernels import expressions, native
from ...kernels.arithmetic import complex_sizes
from ...kernels.expressions import expression
from ...kernels.ufuncs import shared
from ...tensor import Tensor
from .arithmetic import REFUSED, conj, is_complex, refused, rounded_once, zeros_like
from .where import pick

__all__ = ["abs", "absolute", "ceil", "copysign", "fix", "floor", "frac", "heaviside", "nextafter", "round", "sgn",
           "sign", "signbit", "trunc"]


def _refuse(name, array, kinds):
    if array.dtype.kind in kinds:
        raise not_implemented(name, array)


# ------------------------------------------------------------------ sign and absolute value
def _abs_in_place(function):
    recorded = in_place(function)

    def abs_(self):
        """In-place form of `abs`. RuntimeError for complex numbers, whose absolute values are real."""
        if not isinstance(self, Tensor):
            raise not_a_tensor("abs_", "input", 1, self)
        check_in_place(self)
        if is_complex(self):
            raise RuntimeError("In-place abs is not supported for complex tensors.")
        return recorded(self)
    return abs_


def magnitude(x):
    """The absolute values of an array. For complex numbers they are exact to the last bit, unlike NumPy's abs."""
    if x.dtype.kind not in dt.COMPLEX:
        return shared(np.abs, x)
    result = complex_sizes(x) if x.dtype.char == "F" else None
    if result is not None:
        return result
    return np.hypot(x.real, x.imag, dtype=np.float64).astype(x.real.dtype, copy=False)


@unary(lambda g, input: g * sgn(input), inplace=_abs_in_place, casts="complex", aliases="absolute __abs__",
       foreach=True, stored=dt.ONLY_STORED - {dt.FLOAT8_E8M0FNU}, kernel="abs_cpu")
def abs(input):
    """Absolute value. It is real for complex numbers. The gradient at zero is zero.

    >>> import tinytorch as torch
    >>> torch.abs(torch.tensor([-1.5, 2.]))
    tensor([1.5000, 2.0000])
    """
    _refuse("abs_cpu", input, dt.BOOL)
    return magnitude(input)


@unary(zeros_like, foreach=True, of_zero=True)
def sign(input):
    """-1, 0 or 1. NotImplementedError for complex numbers.

    >>> import tinytorch as torch
    >>> torch.sign(torch.tensor([-1.5, 0., 2.]))
    tensor([-1.,  0.,  1.])
    """
    if dt.is_complex(input.dtype):
        raise NotImplementedError("Unlike NumPy, torch.sign is not intended to support complex numbers. "
                                  "Please use torch.sgn instead.")
    return _signs(input)


_sign = expression(lambda x: expressions.sign(x))


def _signs(input):
    if input.dtype.kind in dt.BOOL:
        return input.copy("K")
    if input.dtype.kind in dt.COMPLEX:
        size = magnitude(input)
        signs = input / np.where(size == 0, 1, size).astype(size.dtype)
        return np.where(np.isinf(size), signs.dtype.type(complex(np.nan, np.nan)), signs)
    return _sign(input) if input.dtype.kind in dt.NATIVE else np.sign(input)


def _sgn_slope(g, ans, input):
    if not is_complex(input):
        return zeros_like(g)
    zero = input == 0
    turn = g / pick(zero, 1.0, abs(input))
    return pick(zero, 0.0, turn - ans * (turn * conj(ans)).real)


@unary(_sgn_slope, of_zero=True, stored=dt.ONLY_COMPLEX32, kernel="sign_cpu")
def sgn(input):
    """The sign. For a complex number: the number of absolute value 1 in its direction, and zero for zero.

    >>> import tinytorch as torch
    >>> torch.sgn(torch.tensor([3 + 4j, 0]))
    tensor([0.6000+0.8000j, 0.0000+0.0000j])
    """
    return _signs(input)


@unary(inplace=False, of_zero=True)
def signbit(input):
    """Whether the sign bit is set: true for negative numbers and -0.

    >>> import tinytorch as torch
    >>> torch.signbit(torch.tensor([-0., 1.]))
    tensor([ True, False])
    """
    if dt.is_complex(input.dtype):
        raise NotImplementedError("signbit is not implemented for complex tensors.")
    return np.signbit(input) if input.dtype.kind in dt.NATIVE else input < 0


@binary(numbers="other", input=lambda g, ans, input: g * pick(input == 0, 0.0, ans / input), other=zeros_like,
        without_tangent=(1,), to_float=True, ufunc=np.copysign)
def copysign(input, other):
    """The absolute value of `input` with the sign of `other`.

    >>> import tinytorch as torch
    >>> torch.copysign(torch.tensor([1., 2.]), -1)
    tensor([-1., -2.])
    """
    return np.copysign(input, other)


@binary(numbers="none", name="heaviside", input=refused("heaviside"), other=refused("heaviside"),
        backward_name=REFUSED)
def _heaviside(input, other):
    if dt.kind(input.dtype) in dt.COMPLEX:
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    return np.where(input == 0, other, (input > 0).astype(input.dtype))


@public(method=True, inplace=True, elementwise=True)
def heaviside(input: Tensor, values: Tensor, *, out: Tensor | None = None) -> Tensor:
    """0 below zero, 1 above zero, and `values` at zero. RuntimeError if the dtypes differ.

    >>> import tinytorch as torch
    >>> torch.heaviside(torch.tensor([-1., 0., 2.]), torch.tensor([0.5]))
    tensor([0.0000, 0.5000, 1.0000])
    """
    if any([x is not None and x._array.dtype != input._array.dtype for x in (values, out)]):
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    return _heaviside(input, values, out=out)


def _nextafter_bfloat16(input, other):
    """The next number, by its bits: for one sign, the bits of numbers have the order of the numbers."""
    a, b = np.broadcast_arrays(dt.from_bfloat16(input), dt.from_bfloat16(other))
    bits = np.array(a).view(np.int32) >> 16
    bits = bits + np.where((b > a) == (a > 0), 1, -1)
    smallest = np.where(np.signbit(b), -0x7FFF, 1)
    bits = np.where(a == 0, smallest, bits).astype(np.int16).astype(np.int32) << 16
    result = np.where(a == b, b, bits.view(np.float32))
    return dt.to_bfloat16(np.where(np.isnan(a) | np.isnan(b), np.nan, result))


@binary(numbers="none", input=lambda g, input, other: pick(input == other, 0.0, g), other=zeros_like,
        without_tangent=(1,), in_bfloat16=_nextafter_bfloat16)
def nextafter(input, other):
    """The next floating-point number from `input` in the direction of `other`.

    >>> import tinytorch as torch
    >>> torch.nextafter(torch.tensor([1.]), torch.tensor([2.])) - 1
    tensor([1.1921e-07])
    """
    _refuse("nextafter_cpu", input, dt.INTEGRAL)
    return np.nextafter(input, other)


# ------------------------------------------------------------------ rounding
def _whole(name, ufunc, input):
    if dt.kind(input.dtype) in dt.COMPLEX:
        raise NotImplementedError(f"{name} is not supported for complex inputs")
    _refuse(f"{name}_vml_cpu", input, dt.BOOL)
    return input.copy("K") if input.dtype.kind in dt.INTEGER else shared(ufunc, input)


@unary(zeros_like, kernel="ceil_vml_cpu", foreach=True, of_zero=True)
def ceil(input):
    """The smallest integer not below each element.

    >>> import tinytorch as torch
    >>> torch.ceil(torch.tensor([1.2, -1.2]))
    tensor([ 2., -1.])
    """
    return _whole("ceil", np.ceil, input)


@unary(zeros_like, kernel="floor_vml_cpu", foreach=True, of_zero=True)
def floor(input):
    """The largest integer not above each element.

    >>> import tinytorch as torch
    >>> torch.floor(torch.tensor([1.2, -1.2]))
    tensor([ 1., -2.])
    """
    return _whole("floor", np.floor, input)


@unary(zeros_like, aliases="fix", kernel="trunc_vml_cpu", foreach=True, of_zero=True)
def trunc(input):
    """Each element without its fractional part.

    >>> import tinytorch as torch
    >>> torch.trunc(torch.tensor([1.7, -1.7]))
    tensor([ 1., -1.])
    """
    return _whole("trunc", np.trunc, input)


@unary(lambda g: g, kernel="frac_cpu", foreach=True, of_zero=True)
def frac(input):
    """The fractional part of each element, with its sign. NotImplementedError for integers.

    >>> import tinytorch as torch
    >>> torch.frac(torch.tensor([1.5, -1.25]))
    tensor([ 0.5000, -0.2500])
    """
    _refuse("frac_cpu", input, dt.INTEGRAL)
    return input - np.trunc(input)


@op(name="round", elementwise=True, input=zeros_like)
def _round(input, decimals):
    if decimals == 0:
        return _whole("round", native.heard(np.rint), input)
    _refuse("round_cpu", input, dt.INTEGRAL)
    if dt.kind(input.dtype) in dt.COMPLEX:
        raise NotImplementedError("round is not supported for complex inputs")
    if input.dtype.char == "e":
        return rounded_once(_round.op.forward, input, decimals)
    places = decimals if decimals > 0 else -decimals
    scale = 10.0 ** places if places < 309 else np.inf
    return np.rint(input * scale) / scale if decimals > 0 else np.rint(input / scale) * scale


_round_to = renamed(_round, "round.1")


@public(method=True, inplace=True, kernel="round_vml_cpu", widen=True, out=FOUND, elementwise=True, repeats=True)
def round(input: Tensor, *, decimals: int = 0, out: Tensor | None = None) -> Tensor:
    """Each element rounded to `decimals` places, by default to an integer. Halves are rounded to the even neighbour.

    >>> import tinytorch as torch
    >>> torch.round(torch.tensor([0.5, 1.5, 2.6]))
    tensor([0., 2., 3.])
    """
    return (_round_to if decimals else _round)(input, decimals)


absolute, fix = abs, trunc
