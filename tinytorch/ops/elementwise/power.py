"""Powers, logarithms and angles of two numbers: pow float_power hypot atan2 logaddexp xlogy ..."""
from __future__ import annotations

import math

import numpy as np

from ... import dtypes as dt, return_types
from ...autograd.in_place import by_pieces
from ...autograd.op import binary, op, operator
from ...autograd.promotion import CONVERTED, NUMBERS, check_broadcast, converted, result_dtype, stored_as, write_out
from ...autograd.public import method, public, reflected
from ...autograd.record_dtypes import by_steps
from ...autograd.views import assign, check_in_place
from ...errors import not_a_tensor, not_implemented, refuse_records, type_name
from ...kernels import expressions
from ...kernels.expressions import expression, log_of_sum
from ...kernels.layout import operand_order
from ...kernels.memory import WHOLE
from ...kernels.stepwise import plain, stepwise
from ...kernels.ufuncs import shared
from ...tensor import Tensor, wrap
from ...types import Number, Tensors
from .arithmetic import alike, conj, is_complex, mul, rounded_once, ternary, zeros_like
from .math import cubed, exp2, inverse_root, log, reciprocal
from .where import pick, scaled_unless

__all__ = ["arctan2", "atan2", "float_power", "frexp", "hypot", "ldexp", "logaddexp", "logaddexp2", "pow", "xlogy"]

_LN2 = math.log(2.0)


def _power_slope(g, input, other):
    if isinstance(other, (int, float, complex)):
        if other == 0 and other.__class__ is not bool:         # torch does not take False for 0 here
            return zeros_like(g)
        if other == 2:
            return g * (2 * conj(input))
        power = _pow(input, other - 1)
        if isinstance(power, np.ndarray) and power.dtype.char == "e":          # torch does not round the number first
            return g * rounded_once(np.multiply, power, other)
        return g * conj(other * power)
    return scaled_unless(other == 0, g, conj(other * _pow(input, other - 1)))


def _exponent_slope(g, ans, input, other):
    # At base zero the power does not depend on a non-negative exponent.
    flat = (input == 0) * (other.real >= 0)
    if is_complex(other):
        flat = flat * (other.imag == 0)
    return g * pick(flat, 0.0, conj(ans * log(input)))


#: The exponents for which NumPy's operator computes no power, but for instance a product.
_PRODUCTS = (-1, 0, 0.5, 1, 2)


@binary(input=_power_slope, other=_exponent_slope, method=False, inplace=False, name="pow", kernel="pow",
        in_bfloat16=lambda input, other: _pow_in_bfloat16(input, other), number_counts=False,
        of_number=lambda input, number: _pow_number(input, number),
        of_first_number=lambda number, input, other: _number_to_power(
            input, other, number.__class__ is not bool and number == 1),
        called={"other": "exponent"})
def _pow(input, other):
    # By dtype: floating numbers (three exponents first, which torch computes in other ways); records, which are
    # refused; complex numbers; integers, first to an integer, then to an array, whose negative elements differ.
    kind = input.dtype.kind
    if kind == dt.NATIVE:
        if other.__class__ is int and other == 3 or other.__class__ is float and other == 3.0:
            if input.dtype == np.float16:
                return _pow.op.forward(input.astype(np.float32), 3).astype(np.float16)
            return cubed(input)                # NumPy computes only the exponent 2 by a product
        if other.__class__ is float and other == -0.5 and input.dtype != np.float16:
            return inverse_root(input)         # differs from input ** -0.5 for -inf and -0
        if other.__class__ is int and not -1 << 24 <= other <= 1 << 24 and input.dtype == np.float32:
            return dt.cast(input.astype(float) ** other, input.dtype)          # float32 loses whether `other` is odd
        if other.__class__ in (int, float) and other in _PRODUCTS:
            return input ** other
        return shared(np.power, input, other)
    if kind in dt.WIDENED:
        if is_complex(input):
            raise not_implemented("pow", dt.complex32)
        refuse_records("pow", input)
        raise TypeError("NumPy has no bfloat16")
    if kind not in dt.INTEGRAL:
        return _complex_power(input, other)
    if isinstance(other, int):
        if other == 0 or other == 1:
            return input.copy("K") if other else np.ones_like(input)
        if other < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        other = stored_as(other, input.dtype)
    if kind in dt.BOOL:
        raise not_implemented("pow", dt.bool)
    negative = other < 0
    if not np.any(negative):
        return shared(np.power, input, other)
    # Reciprocals are rounded toward zero: only those of 1 and -1 are not 0.
    power = input ** np.where(negative, other & 1, other)
    return np.where(negative, np.where(np.abs(input) == 1, power, 0), power)


def _complex_power(input, other):
    """exp(other * log(input)), which gives C's results where NumPy's power differs: 0 ** 0 is nan. A few exponents have
    shorter formulas."""
    if not isinstance(other, np.ndarray):
        if other == 0 or other == 1:
            return input.copy("K") if other else np.ones_like(input)
        if other == 0.5 or other == -0.5:
            root = np.sqrt(input)
            return root if other == 0.5 else reciprocal(root)
        if other == -1:
            return reciprocal(input)
        if other == 2 or other == 3 or other == -2:
            square = input * input
            if other == 2:
                return square
            return square * input if other == 3 else reciprocal(square)
    return np.exp(_c_product(other, np.log(input)))


def _c_product(a, b):
    """a * b as C multiplies complex numbers: infinite factors give an infinite product, where NumPy's parts are NaN."""
    product = np.asarray(a * b)
    lost = np.isnan(product.real) & np.isnan(product.imag)
    if not lost.any():
        return product
    a, b = [np.broadcast_to(x, product.shape)[lost] for x in (a, b)]
    parts = a.real, a.imag, b.real, b.imag
    infinite = np.isinf(a), np.isinf(a), np.isinf(b), np.isinf(b)
    is_infinite = infinite[0] | infinite[2]
    # An infinite factor is replaced by the signs of its infinite parts, and NaN beside it by 0.
    c, d, e, f = [np.where(one, np.copysign(np.isinf(x), x), np.where(np.isnan(x), np.copysign(0, x), x))
                  for x, one in zip(parts, infinite)]
    recovered = np.empty_like(a, product.dtype)
    recovered.real, recovered.imag = np.inf * (c * e - d * f), np.inf * (c * f + d * e)
    product[lost] = np.where(is_infinite, recovered, product[lost])
    return product


def _pow_in_bfloat16(input, other):
    """Powers in bfloat16. torch computes a few exponents in several steps and rounds each of them."""
    if other.__class__ is int or other.__class__ is float:
        x = stepwise(input)
        if other == 3:
            return plain(x * x * x)
        if other == -2:
            return plain(1 / (x * x))
        if other == -0.5:
            # Whole blocks of 64 elements are an exception: AVX-512 computes them in one step.
            order = "F" if input.flags.f_contiguous else "C"
            flat = input.reshape(-1, order=order)
            whole = flat.size // 64 * 64
            return np.concatenate((dt.to_bfloat16(1 / np.sqrt(dt.from_bfloat16(flat[:whole]))),
                                   plain(1 / np.sqrt(stepwise(flat[whole:]))))).reshape(input.shape, order=order)
    return dt.narrowed(_pow.op.forward(dt.widened(input), dt.widened(other)))


@op(name="pow", steps=True, elementwise=True, input=lambda g, input, other, number: _power_slope(g, input, number),
    in_bfloat16=lambda input, other, number: _pow_in_bfloat16(input, other), called={"other": "exponent"})
def _to_number(input, other, number):
    """The forward of `_pow`: `other` is `number` as the dtype holds it. The derivative subtracts 1 from `number`."""
    return _pow.op.forward(input, other)


def _pow_number(input, number):
    """`_pow` for a number that half precision cannot hold exactly, or of another dtype."""
    dtype = input._array.dtype
    halves = dtype.kind in dt.FLOATING and dtype.char not in "fd"
    stored = dt.cast(stored_as(number, dtype), np.dtype(float)).item() if halves else number
    return _to_number(input, stored, number)


@op(name="pow.2", batches="elements", steps=True, other=_exponent_slope, called={"other": "exponent"})
def _number_to_power(input, other, is_one):
    if is_one:
        return np.full(other.shape, dt.cast(np.asarray(1), other.dtype))
    return np.asarray(_pow.op.forward(input, other), order="C")        # torch's result has this order


@public(hot=True, method=True, inplace=True, elementwise=True, repeats=True)
def pow(input: Tensor | Number, exponent: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """input to the power `exponent`. One of them may be a number.

    RuntimeError for integers to a negative number.

    >>> import tinytorch as torch
    >>> torch.pow(torch.tensor([1., 2., 3.]), 2)
    tensor([1., 4., 9.])
    >>> torch.pow(2, torch.tensor([1, 2]))
    tensor([2, 4])
    """
    try:
        return _pow(input, exponent, out=out)
    except RuntimeError:
        if not isinstance(out, Tensor) or input.__class__ is bool or not isinstance(input, NUMBERS) or input != 1:
            raise
        # torch does not compute powers of the number 1: it fills `out`, whatever its dtype.
        return write_out(out, wrap(dt.cast(np.ones(exponent._array.shape), out._array.dtype)))


def _double(input, exponent):
    """The dtype in which float_power computes."""
    return dt.complex128 if result_dtype((input, exponent)).is_complex else dt.float64


def _float_power_in_place(function):
    def float_power_(self, exponent):
        """In-place form of `float_power`: RuntimeError unless the tensor is in double precision."""
        if not isinstance(exponent, (Tensor, *NUMBERS)):
            raise not_a_tensor("float_power_", "exponent", 1, exponent)
        d = _double(self, exponent)
        if self.dtype is not d:
            raise RuntimeError(f"the base given to float_power_ has dtype {type_name(self)} but the operation's result "
                               f"requires dtype {d.type_name}")
        check_in_place(self)
        if self._array.size > WHOLE and by_pieces(float_power_, self, (exponent,)):
            return self
        return assign(self, function(self, exponent))
    return float_power_


@public(out="the output given to float_power has dtype {Have} but the operation's result requires dtype {Want}",
        method=True, inplace=_float_power_in_place, elementwise=True)
def float_power(input: Tensor | Number, exponent: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """input to the power `exponent` in double precision, whatever the dtypes.

    >>> import tinytorch as torch
    >>> torch.float_power(torch.tensor([4]), -0.5)
    tensor([0.5000], dtype=torch.float64)
    """
    d = _double(input, exponent).numpy
    operands = [converted(x, d) if isinstance(x, Tensor) else d.type(x).item() for x in (input, exponent)]
    return _pow(*operands, out=CONVERTED)


def _refuse_integers(name, x):
    if x.dtype.kind in dt.INTEGRAL:
        raise not_implemented(name, x)


_hypot = expression(lambda x, y: expressions.hypot(x, y), 2)
_hypot_slope = expression(lambda g, ans, input: g * input / ans, 3)


@binary(numbers="none", input=_hypot_slope, other=lambda g, ans, other: _hypot_slope(g, ans, other))
def hypot(input, other):
    """sqrt(input^2 + other^2) without overflow. NotImplementedError for integers.

    >>> import tinytorch as torch
    >>> torch.hypot(torch.tensor([3.]), torch.tensor([4.]))
    tensor([5.])
    """
    _refuse_integers("hypot_cpu", input)
    return _hypot(input, other)


def _inverse(square):
    return expressions.where(square == 0, 0.0, expressions.reciprocal(square))


@binary(numbers="none", to_float=True, aliases="arctan2",
        input=expression(lambda g, input, other: g * other * _inverse(input * input + other * other), 3),
        other=expression(lambda g, input, other: g * -input * _inverse(input * input + other * other), 3))
@expression(arrays=2)
def atan2(input, other):
    """The angle of the point (other, input) in radians, in (-pi, pi].

    >>> import tinytorch as torch
    >>> torch.atan2(torch.tensor([1., 0.]), torch.tensor([1., -1.]))
    tensor([0.7854, 3.1416])
    """
    return expressions.arctan2(input, other)


_logaddexp_slope = expression(lambda g, input, other: g / conj(1 + expressions.exp(other - input)), 3)


@binary(input=_logaddexp_slope,
        other=lambda g, input, other: _logaddexp_slope(g, other, input), inplace=False, numbers="none")
def logaddexp(input, other):
    """log(exp(input) + exp(other)) without overflow. NotImplementedError for integers.

    >>> import tinytorch as torch
    >>> torch.logaddexp(torch.tensor([1000.]), torch.tensor([1000.]))
    tensor([1000.6932])
    """
    _refuse_integers("logaddexp_cpu", input)
    if input.dtype.kind not in dt.COMPLEX:
        return log_of_sum(input, other)
    first = input.real >= other.real
    high, low = np.where(first, input, other), np.where(first, other, input)
    result = high + np.log1p(np.exp(low - high))
    endless = np.isinf(high.real) & (high.real == low.real)
    if endless.any():
        sums = np.log(np.exp(low) + np.exp(high))
        result = np.where(endless, np.where(high.real < 0, low, sums), result)
    return np.where(np.isnan(input) | np.isnan(other), complex(math.nan, math.nan), result).astype(input.dtype)


@binary(input=lambda g, input, other: g / (1 + exp2(other - input)),
        other=lambda g, input, other: g / (1 + exp2(input - other)), inplace=False, numbers="none")
def logaddexp2(input, other):
    """log2(2^input + 2^other) without overflow. NotImplementedError for integers.

    >>> import tinytorch as torch
    >>> torch.logaddexp2(torch.tensor([3.]), torch.tensor([3.]))
    tensor([4.])
    """
    _refuse_integers("logaddexp2_cpu", input)
    return np.logaddexp2(input, other)


def _in_bfloat16(logarithm):
    """input * logarithm(other) in bfloat16. The logarithm is rounded too."""
    def compute(input, other):
        input, other = dt.widened(input), dt.widened(other)
        product = input * dt.from_bfloat16(dt.to_bfloat16(logarithm(other)))
        return dt.to_bfloat16(np.where((input == 0) & ~np.isnan(other), np.float32(0), product))
    return compute


_times_log = expression(lambda x, y: expressions.where(
    x == 0.0, expressions.where(y == y, 0.0, y), x * expressions.log(y)), 2)


@binary(input=lambda g, input, other: pick((input == 0) * (other <= 0), 0.0, _scaled_log(g, other)),
        other=lambda g, input, other: g * input / other, to_float=True, in_bfloat16=_in_bfloat16(np.log))
def xlogy(input, other):
    """input * log(other): zero where input is zero, unless other is NaN.

    >>> import tinytorch as torch
    >>> torch.xlogy(torch.tensor([0., 2.]), torch.tensor([0., 1.]))
    tensor([0., 0.])
    """
    if dt.kind(input.dtype) in dt.COMPLEX:
        raise not_implemented("xlogy_cpu", input)
    if input.dtype.char in "fd":
        return _times_log(input, other)
    product, zero = input * np.log(other, dtype=input.dtype), np.asarray(input) == 0
    return np.where(zero & ~np.isnan(other), np.zeros((), input.dtype), product)


def _g_xlogy(input, other):
    return xlogy.op.forward(input, other)


def _g_xlog1py(input, other):
    return xlog1py.op.forward(input, other)


# xlogy and xlog1py as factors of a gradient: they are linear in the gradient, and forward mode needs this also where it
# is zero.
_scaled_log = binary(input=lambda g, other: _scaled_log(g, other), other=lambda g, input, other: g * input / other,
                     name="xlogy", method=False, inplace=False, in_bfloat16=_in_bfloat16(np.log))(_g_xlogy)
_scaled_log1p = binary(input=lambda g, other: _scaled_log1p(g, other), name="special_xlog1py", method=False,
                       other=lambda g, input, other: g * input / (other + 1), inplace=False,
                       in_bfloat16=_in_bfloat16(np.log1p))(_g_xlog1py)


@binary(input=lambda g, input, other: pick((input == 0) * (other <= -1), 0.0, _scaled_log1p(g, other)),
        other=lambda g, input, other: g * input / (other + 1), name="special_xlog1py", to_float=True, method=False,
        inplace=False, in_bfloat16=_in_bfloat16(np.log1p))
def xlog1py(input, other):
    """input * log(1 + other): zero where input is zero, unless other is NaN.

    >>> import tinytorch as torch
    >>> torch.special.xlog1py(torch.tensor([0., 2.]), torch.tensor([-1., 1.]))
    tensor([0.0000, 1.3863])
    """
    if input.dtype.kind in dt.COMPLEX:
        raise not_implemented("xlog1py_cpu", input)
    product = input * np.log1p(other, dtype=input.dtype)
    return np.where((np.asarray(input) == 0) & ~np.isnan(other), np.zeros((), input.dtype), product)


def _ldexp_slope(g, other):
    if isinstance(other, Tensor):
        return g * conj(_pow(2 if other._array.dtype.kind in dt.INTEGER else 2.0, other))
    if other.dtype.kind in dt.INTEGER:         # an integer power of 2 is 0 if the exponent is negative or too large
        return g * _pow.op.forward(np.asarray(2, other.dtype), other).astype(g.dtype)
    return g * conj(2.0 ** other)


def _ldexp_in_bfloat16(input, other):
    if other.dtype.kind in dt.INTEGER:
        return dt.to_bfloat16(_ldexp.op.forward(dt.from_bfloat16(input), other))
    result = by_steps(lambda input, other: input * 2.0 ** other)(input, other)
    return operand_order(result, input, np.asarray(other, order="C"))


@op(name="ldexp", batches="elements", input=_ldexp_slope, other=lambda g, ans: g * conj(ans) * _LN2, steps=True,
    in_bfloat16=_ldexp_in_bfloat16)
def _ldexp(input, other):
    if other.dtype.kind in dt.INTEGER:
        return operand_order(np.ldexp(input, other), input, other)
    power = np.asarray(2.0 ** other, order="C")        # torch's powers of a number have this order
    return operand_order(input * power, input, power)


@op(name="ldexp", elementwise=True, steps=True, input=lambda g, power: g * conj(power),
    wide=lambda g, input: g * conj(input))
def _times_power(input, wide, power):
    """`wide`: 2^other in the common dtype. `power`: 2^other in the dtype of `other`, for the derivative."""
    return input * wide


@public(out="", method=True, inplace=True, elementwise=True)
def ldexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input * 2^other. If `other` holds integers, the result has the dtype of `input`, and bools are refused
    (NotImplementedError).

    >>> import tinytorch as torch
    >>> torch.ldexp(torch.tensor([1.]), torch.tensor([3]))
    tensor([8.])
    """
    if input.is_floating_point() and other._array.dtype.kind in dt.INTEGRAL:
        if other._array.dtype.kind in dt.BOOL:
            raise not_implemented("ldexp_cpu_exp", dt.bool)
        return ternary(_ldexp, input, other)
    if input._array.dtype.kind in dt.INTEGRAL and other._array.dtype.kind in dt.DIFFERENTIABLE and other.dim():
        input = converted(input, other._array.dtype)
    if input._array.dtype == other._array.dtype and input._array.dtype.kind in dt.DIFFERENTIABLE:
        return ternary(_ldexp, input, other)
    power, d = _pow(2.0, other), result_dtype((wrap(np.empty((), input._array.dtype)), other))
    if d is power.dtype or input._array.dtype == np.float32:
        return mul(input, power)
    operands = alike(input, _pow(2.0, converted(other, d.numpy)))      # in a wider dtype than that of `other`
    if other._array.dtype.kind in dt.INTEGER:   # the derivative uses integer powers, where 2^-1 is 0
        power = _pow(2, other)
    return ternary(_times_power, *operands, converted(power, operands[0]._array.dtype))


def _frexp_grad(g, exponent):
    if not isinstance(g, Tensor):
        return np.ldexp(g, -exponent)
    return (g / exp2(exponent)).to(g.dtype)    # ldexp would use an integer power of 2, as in torch


@op(name="frexp", input=_frexp_grad)
def _mantissa(input, exponent):
    return np.ldexp(input, -exponent)


@public(out="torch.frexp() expects an out of dtype {want} but got {have}", method=True)
def frexp(input: Tensor, *, out: Tensors | None = None) -> return_types.frexp:
    """(mantissa, exponent) with input = mantissa * 2^exponent and |mantissa| in [0.5, 1).

    RuntimeError for integers.

    >>> import tinytorch as torch
    >>> torch.frexp(torch.tensor([10.])).exponent
    tensor([4], dtype=torch.int32)
    """
    if dt.kind(input._array.dtype) not in dt.FLOATING:
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    exponent = wrap(dt.given(np.asarray(np.frexp(dt.widened(input._array))[1], np.int32)))
    return return_types.frexp(_mantissa(input, exponent), exponent)


def _atan2_beside_integer(input, other, dtype):
    check_broadcast(input._array.shape, other._array.shape)
    own = input if input._array.dtype.kind in dt.INTEGER else other
    factor = -own if own is input else own
    return _atan2_of(*[converted(x, dtype) for x in (input, other, factor, own * own)])


@op(name="atan2", elementwise=True, steps=True,
    input=lambda g, input, factor, square: g * factor * _inverse(input * input + square),
    other=lambda g, other, factor, square: g * factor * _inverse(square + other * other))
def _atan2_of(input, other, factor, square):
    """The angle if one operand holds integers. `square` is the square of that operand in its own dtype, where it may
    wrap around. `factor`, in the same dtype, is the factor of the other operand's derivative."""
    return atan2.op.forward(input, other)


atan2.op.beside_integer = _atan2_beside_integer
arctan2 = atan2
method("__pow__", shown=True, in_python=True, called="pow")(operator(_pow))
method("__rpow__", shown=True, in_python=True)(reflected(_pow))
method("__ipow__", shown=True, in_python=True, called="pow_")(Tensor.pow_.as_operator)
