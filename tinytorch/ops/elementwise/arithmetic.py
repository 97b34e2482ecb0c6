"""Elementwise arithmetic (add sub mul div remainder ...) and the operators for it."""
from __future__ import annotations

import functools

import numpy as np

from ... import dtypes as dt
from ...autograd.grad_mode import mode
from ...autograd.in_place import updates
from ...autograd.op import binary, op, operator, renamed, unary
from ...autograd.overridable import NUMBERS
from ...autograd.promotion import check_broadcast, promoted, stored_as, write_out
from ...autograd.public import method, public, reflected
from ...autograd.record_dtypes import in_float32
from ...errors import not_implemented
from ...kernels import expressions
from ...kernels.arithmetic import MANY, many, whole_quotients
from ...kernels.expressions import expression, where
from ...kernels.looks import all_true
from ...kernels.ufuncs import shared
from ...tensor import Tensor, wrap
from ...types import Number

__all__ = ["add", "div", "divide", "floor_divide", "fmod", "mul", "multiply", "neg",
           "negative", "positive", "remainder", "rsub", "sub", "subtract", "true_divide"]

_TWO_BOOLS = ("Subtraction, the `-` operator, with two bool tensors is not supported. "
              "Use the `^` or `logical_xor()` operator instead.")
_NO_BOOL = ("Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, "
            "use the `~` or `logical_not()` operator instead.")


def conj(x):
    """The complex conjugate of an array, a Tensor or a number. Real arguments are returned unchanged."""
    return x.conjugate()


def is_complex(x):
    """Whether an array or Tensor is complex."""
    dtype = (x._array if isinstance(x, Tensor) else x).dtype
    return dtype.kind in _MAYBE_COMPLEX and dt.is_complex(dtype)


_MAYBE_COMPLEX = dt.COMPLEX + dt.WIDENED


@unary(lambda g: conj(g), name="conj_physical", ufunc=np.conjugate, stored=dt.ONLY_COMPLEX32)
def _conj(input):
    return np.conjugate(input)


@method()
def conjugate(self):
    """The conjugate, or the tensor itself if it is real. ndarrays and Python numbers have this method too, so that
    derivative rules can call x.conjugate() on any of them."""
    return _conj(self) if is_complex(self) else self


def zeros_like(g):
    """The derivative rule of functions that are constant between their steps: zeros like the gradient."""
    return wrap(np.zeros_like(g._array)) if isinstance(g, Tensor) else np.zeros_like(g)


def rounded_once(function, *args):
    """function(*args) of float16 arrays, computed in float32 and rounded once at the end, as torch's single kernel
    does."""
    wide = [x.astype(np.float32) if isinstance(x, (np.ndarray, np.generic)) else x for x in args]
    return function(*wide).astype(np.float16)


#: The name of the node of an operation whose derivative is `refused`.
REFUSED = "torch::autograd::NotImplemented"


def refused(name):
    """The derivative rule of an operation for which torch has no derivative. It raises RuntimeError, or
    NotImplementedError in forward mode."""
    def rule(g):
        if mode.computing_jvp:
            raise NotImplementedError(f"Trying to use forward AD with aten::{name} that does not support it.")
        raise RuntimeError(f"derivative for aten::{name} is not implemented")
    return rule


# ------------------------------------------------------------------ sums
#: For float16 and bfloat16: computed in single precision, then rounded.
_add_halves, _sub_halves, _mul_halves, _div_halves = (expression(text, 2) for text in (
    lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y, lambda x, y: x / y))


@binary(numbers="any", input=lambda g: g, other=lambda g: g, name="add", ufunc=np.add,
        stored=dt.ONLY_COMPLEX32, kernel="add_stub", in_bfloat16=_add_halves)
def _add(input, other):
    if input.dtype.char == "e":
        return _add_halves(input, other)
    if input.size >= MANY and (result := many("add_each", input, other)) is not None:
        return result
    return shared(np.add, input, other)


def _is_bool(x):
    return x._array.dtype == bool if isinstance(x, Tensor) else isinstance(x, bool)


def _refuse_bools(input, other):
    if _is_bool(input) != _is_bool(other):
        for x in input, other:
            if x.__class__ is int:
                dt.check_long(x)
        raise RuntimeError(_NO_BOOL)


@binary(numbers="any", input=lambda g: g, other=lambda g: -g, name="sub", mixed=_refuse_bools,
        ufunc=np.subtract, stored=dt.ONLY_COMPLEX32, kernel="add_stub", in_bfloat16=_sub_halves)
def _sub(input, other):
    if input.dtype == bool:
        raise RuntimeError(_TWO_BOOLS)
    if input.dtype.char == "e":
        return _sub_halves(input, other)
    if input.size >= MANY and (result := many("sub_each", input, other)) is not None:
        return result
    return shared(np.subtract, input, other)


@binary(input=lambda g: -g, other=lambda g: g, name="rsub.1", stored=dt.ONLY_COMPLEX32, kernel="add_stub")
def _rsub(input, other):
    if input.dtype == bool:
        raise RuntimeError(_TWO_BOOLS)
    return shared(np.subtract, other, input)


@op(name="add", elementwise=True, input=lambda g: g, other=lambda g, alpha: g * conj(alpha),
    stored=dt.ONLY_COMPLEX32, kernel="add_stub",
    on_records=lambda input, other, alpha: half_multiply_add(input, alpha, other))
def _add_times(input, other, alpha):
    return input + other * alpha


@op(name="sub", elementwise=True, input=lambda g: g, other=lambda g, alpha: -g * conj(alpha),
    stored=dt.ONLY_COMPLEX32, kernel="add_stub",
    on_records=lambda input, other, alpha: half_multiply_add(input, -alpha, other))
def _sub_times(input, other, alpha):
    if input.dtype == bool:
        raise RuntimeError(_TWO_BOOLS)
    return input - other * alpha


def half_multiply_add(input, value, other):
    """input + value * other in complex32. Each step is rounded. `value` is a number or an array."""
    product = dt.numbers(half_product(value, other))
    return dt.stored(dt.numbers(input) + product, dt.COMPLEX32)


def half_product(value, other):
    """The product of complex32 numbers. The first factor may be a Python number."""
    if not isinstance(value, np.ndarray):
        value = dt.cast(np.asarray(value), dt.COMPLEX32)
    return dt.stored(dt.numbers(value) * dt.numbers(other), dt.COMPLEX32)


_rsub_tensor, _rsub_times = renamed(_sub, "rsub"), renamed(_sub_times, "rsub")


def _scaled(primitive, name, input, other, alpha):
    """`primitive` of two operands, the second times alpha. alpha is checked as in torch: it must fit their dtype."""
    if isinstance(alpha, Tensor):
        alpha = alpha.item()
    if not isinstance(alpha, (bool, int, float, complex)):
        raise TypeError(f"{name}(): argument 'alpha' must be Number, not {type(alpha).__name__}")
    input, other = promoted(input, other)
    kind = input._array.dtype.kind
    if isinstance(alpha, bool) and kind not in dt.BOOL:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, (float, complex)) and kind in dt.INTEGRAL:
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if isinstance(alpha, complex) and not is_complex(input):
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")
    stored = stored_as(alpha, input._array.dtype)
    if kind in dt.INTEGRAL:
        alpha = stored
    return ternary(lambda a, b: primitive(a, b, alpha), input, other)


@public(method=True, inplace=functools.partial(updates, np.add), ioperator="__iadd__", older=("input alpha other",),
        elementwise=True, repeats=True)
def add(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """input + alpha * other, with broadcasting and type promotion.

    >>> import tinytorch as torch
    >>> torch.add(torch.tensor([1., 2.]), 10, alpha=2)
    tensor([21., 22.])
    """
    if alpha.__class__ is not int or alpha != 1:
        return write_out(out, _scaled(_add_times, "add", input, other, alpha), input, other)
    return _add(input, other, out=out)


@public(method=True, inplace=functools.partial(updates, np.subtract), ioperator="__isub__", aliases="subtract",
        older=("input alpha other",), elementwise=True, repeats=True)
def sub(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """input - alpha * other, with broadcasting and type promotion. RuntimeError for bools.

    >>> import tinytorch as torch
    >>> torch.sub(torch.tensor([3, 4]), 1)
    tensor([2, 3])
    """
    _refuse_bools(input, other)
    if alpha.__class__ is not int or alpha != 1:
        return write_out(out, _scaled(_sub_times, "sub", input, other, alpha), input, other)
    return _sub(input, other, out=out)


@public(repeats=True)
def rsub(input: Tensor, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """other - alpha * input. RuntimeError for bools.

    >>> import tinytorch as torch
    >>> torch.rsub(torch.tensor([3, 4]), 1, alpha=2)
    tensor([-5, -7])
    """
    _refuse_bools(input, other)
    if alpha == 1 and alpha.__class__ is not bool:
        return _rsub_tensor(other, input) if isinstance(other, Tensor) else _rsub(input, other)
    return _scaled(_rsub_times, "rsub", other, input, alpha)


@unary(lambda g: -g, aliases="negative __neg__", ufunc=np.negative, foreach=True, stored=dt.ONLY_COMPLEX32)
def neg(input):
    """-input. RuntimeError for bool.

    >>> import tinytorch as torch
    >>> torch.neg(torch.tensor([1, -2]))
    tensor([-1,  2])
    """
    try:
        return shared(np.negative, input)
    except TypeError:
        if input.dtype.kind not in dt.BOOL:
            raise
        raise RuntimeError("Negation, the `-` operator, on a bool tensor is not supported. "
                           "If you are trying to invert a mask, use the `~` or `logical_not()` operator "
                           "instead.") from None


@public(method="positive __pos__", shares=True)
def positive(input: Tensor) -> Tensor:
    """The tensor itself. RuntimeError for bool.

    >>> import tinytorch as torch
    >>> torch.positive(torch.tensor([1, -2]))
    tensor([ 1, -2])
    """
    if input._array.dtype == bool:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


# ------------------------------------------------------------------ products and quotients
@binary(input=lambda g, other: g * conj(other),
        other=lambda g, input: g * conj(input),
        inplace=functools.partial(updates, np.multiply), ioperator="__imul__", aliases="multiply", numbers="any",
        wide_scalar=True, repeats=True, ufunc=np.multiply, in_bfloat16=_mul_halves, stored=dt.ONLY_STORED)
def mul(input, other):
    """input * other, with broadcasting and type promotion.

    >>> import tinytorch as torch
    >>> torch.mul(torch.tensor([1., 2.]), torch.tensor([[2], [3]]))
    tensor([[2., 4.],
            [3., 6.]])
    """
    if input.dtype.char == "e":
        return _mul_halves(input, other)
    if input.size >= MANY and (result := many("mul_each", input, other)) is not None:
        return result
    return shared(np.multiply, input, other)


@binary(numbers="any", input=lambda g, other: g / conj(other),
        other=lambda g, input, other: -g * conj(input / other / other),
        to_float=True, name="div", wide_scalar=True, ufunc=np.true_divide, in_bfloat16=_div_halves)
def _true_divide(input, other):
    if input.dtype.char == "e":
        return _div_halves(input, other)
    if input.size >= MANY and (result := many("div_each", input, other)) is not None:
        return result
    return shared(np.true_divide, input, other)


def _check_divisor(name, input, other):
    """RuntimeError for an integer division by zero, NotImplementedError between bools."""
    if input.dtype.kind in dt.INTEGRAL:
        if input.dtype.kind in dt.BOOL:
            raise not_implemented(name, dt.bool)
        nonzero = all_true(other != 0) if isinstance(other, np.ndarray) else other != 0
        if not nonzero and input.size:
            raise RuntimeError("ZeroDivisionError")


def _to_bfloat16_and_back(array):
    return dt.from_bfloat16(dt.to_bfloat16(array))


def _trunc_divide_bfloat16(input, other):
    a, b = dt.widened(input), dt.widened(other)
    return dt.to_bfloat16(np.trunc(a / b if np.size(b) == 1 else _to_bfloat16_and_back(a / b)))


def _floor_divide_bfloat16(input, other):
    a, b = dt.widened(input), dt.widened(other)
    if np.size(b) == 1:
        return dt.to_bfloat16(np.floor_divide(a, b))
    return dt.to_bfloat16(_floored(a, b, _to_bfloat16_and_back))


@binary(numbers="any", input=lambda g, other: zeros_like(g), other=lambda g, input, other: zeros_like(g), name="div.2",
        wide_scalar=True, in_bfloat16=_floor_divide_bfloat16)
def _floor_divide(input, other):
    return _floor_quotient(input, other)


def _floor_quotient(input, other):
    if input.dtype == _LONG and (result := whole_quotients(input, other)) is not None:
        return result
    _check_divisor("div_floor_cpu", input, other)
    if input.dtype.char == "e":
        if np.size(other) == 1:                # torch divides by a single number in float32
            return rounded_once(np.floor_divide, input, other)
        return _floored(input, other, np.asarray)
    return _quotient(input, other) if input.dtype.char == "f" else np.floor_divide(input, other)


_LONG = np.dtype(np.int64)
_fmod, _modulo = (expression(text, 2) for text in (
    lambda x, y: expressions.fmod(x, y), lambda x, y: expressions.remainder(x, y)))


def _floored(a, b, rounded):
    """The quotient rounded down, in torch's steps. `rounded` rounds each step to half precision."""
    rest, exact = expressions.fmod(a, b), a / b
    quotient = rounded(rounded(a - rest) / b)
    quotient = where((rest != 0) & ((b < 0) != (rest < 0)), rounded(quotient - 1), quotient)
    whole = expressions.floor(quotient)
    whole = where(rounded(quotient - whole) > 0.5, rounded(whole + 1), whole)
    return where(b == 0, exact, where(quotient == 0, expressions.copysign(quotient, exact), whole))


_quotient = expression(lambda x, y: _floored(x, y, lambda step: step), 2)
_truncated = expression(lambda x, y: expressions.trunc(x / y), 2)


@binary(numbers="any", input=lambda g, other: zeros_like(g), other=lambda g, input, other: zeros_like(g), name="div.2",
        wide_scalar=True, in_bfloat16=_trunc_divide_bfloat16)
def _trunc_divide(input, other):
    _check_divisor("div_trunc_cpu", input, other)
    if input.dtype.char == "e" and np.size(other) == 1:
        return rounded_once(lambda a, b: np.trunc(a / b), input, other)
    if input.dtype.char in "fd":
        return _truncated(input, other)
    if input.dtype.kind in dt.NATIVE:
        return np.trunc(np.true_divide(input, other))
    quotient, rest = np.divmod(input, other)
    return quotient + ((rest != 0) & ((input < 0) != (np.asarray(other) < 0)))


@public(method=True, inplace=functools.partial(updates, np.true_divide), ioperator="__itruediv__", aliases="divide",
        elementwise=True, repeats=True)
def div(input: Tensor | Number, other: Tensor | Number, *, rounding_mode: str | None = None,
        out: Tensor | None = None) -> Tensor:
    """input / other, with broadcasting. Integers give floats, unless the quotient is rounded.

    rounding_mode  None, 'trunc' (toward zero, as in C) or 'floor' (as Python's //)
    RuntimeError for a rounded integer division by zero.

    >>> import tinytorch as torch
    >>> a = torch.tensor([7, -7])
    >>> torch.div(a, 2), torch.div(a, 2, rounding_mode="trunc")
    (tensor([ 3.5000, -3.5000]), tensor([ 3, -3]))
    """
    if rounding_mode is None:
        return _true_divide(input, other, out=out)
    if rounding_mode == "floor":
        return _floor_divide(input, other, out=out)
    if rounding_mode == "trunc":
        return _trunc_divide(input, other, out=out)
    raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'")


@public(method=True, inplace=True, elementwise=True, repeats=True)
def true_divide(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """input / other: `div` without rounding.

    >>> import tinytorch as torch
    >>> torch.true_divide(torch.tensor([1, 2]), 2)
    tensor([0.5000, 1.0000])
    """
    return _true_divide(input, other, out=out)


@binary(numbers="any", input=refused("floor_divide"), other=refused("floor_divide"), backward_name=REFUSED,
        kernel="div_floor_cpu", ioperator="__ifloordiv__", wide_scalar=True, repeats=True,
        in_bfloat16=_floor_divide_bfloat16)
def floor_divide(input, other):
    """input / other rounded down. RuntimeError for an integer division by zero, and in backward.

    >>> import tinytorch as torch
    >>> torch.floor_divide(torch.tensor([7, -7]), 2)
    tensor([ 3, -4])
    """
    return _floor_quotient(input, other)


@binary(input=lambda g: g, other=lambda g, input, other: -g * _floor_divide(input, other), ioperator="__imod__",
        out_beside_number=False,
        of_first_number=lambda number, input, other: _remainder_of_number(input, other))
def remainder(input, other):
    """The remainder of input / other rounded down. It has the sign of `other`, as Python's %.

    RuntimeError for integers if `other` is zero.

    >>> import tinytorch as torch
    >>> torch.remainder(torch.tensor([5, -5]), 3)
    tensor([2, 1])
    """
    _check_divisor("remainder_cpu", input, other)
    return _modulo(input, other) if input.dtype.char in "fd" else shared(np.remainder, input, other)


@op(name="remainder", elementwise=True, backward_name=REFUSED, input=refused("remainder"), other=refused("remainder"))
def _remainder_of_number(input, other):
    if dt.kind(input.dtype) in dt.COMPLEX:
        raise not_implemented("remainder_cpu", input)
    return remainder.op.forward(input, other)


@binary(numbers="other", input=lambda g: g, other=lambda g, input, other: -g * _trunc_divide(input, other))
def fmod(input, other):
    """The remainder of input / other rounded toward zero. It has the sign of `input`.

    RuntimeError for integers if `other` is zero.

    >>> import tinytorch as torch
    >>> torch.fmod(torch.tensor([5, -5]), 3)
    tensor([ 2, -2])
    """
    _check_divisor("fmod_cpu", input, other)
    return _fmod(input, other) if input.dtype.char in "fd" else shared(np.fmod, input, other)


# ------------------------------------------------------------------ several operands
def alike(*tensors):
    """The tensors converted to their common dtype."""
    d = tensors[0]._array.dtype
    for t in tensors:
        if t._array.dtype is not d:
            return promoted(*tensors)
    return tensors


def ternary(primitive, *operands):
    """`primitive` of several operands (Tensors or Python numbers) that broadcast. bfloat16 is computed in float32."""
    try:
        return primitive(*operands)
    except ValueError:
        shape = ()
        for x in operands:
            if isinstance(x, Tensor):
                check_broadcast(shape, x._array.shape)
                shape = np.broadcast_shapes(shape, x._array.shape)
        raise
    except TypeError:
        if operands[0]._array.dtype != dt.BFLOAT16:
            raise
        return in_float32(primitive, *operands)


# ------------------------------------------------------------------ operators, other names
subtract, multiply, divide, negative = sub, mul, div, neg
_subtracted_from = operator(_rsub)


@method("__rsub__", shown=True, in_python=True)
def _subtract_from(self, other):
    """other - self."""
    if isinstance(other, bool) and self._array.dtype == bool:
        return _sub(self, self)                # raises torch's error
    try:
        _refuse_bools(self, other)
    except RuntimeError:
        if isinstance(other, (Tensor, *NUMBERS)):
            raise
        return NotImplemented                  # an array or a list is not an operand
    return _subtracted_from(self, other)


method("__add__", "__radd__", shown="add")(operator(_add))
method("__sub__", shown="sub")(operator(_sub))
method("__mul__", "__rmul__", shown="mul")(operator(mul))
method("__truediv__", "__div__", shown="div")(operator(_true_divide))
method("__floordiv__", shown=True, in_python=True)(operator(floor_divide))
method("__mod__", shown="remainder")(operator(remainder))
method("__rfloordiv__", shown=True, in_python=True)(reflected(floor_divide))
method("__rmod__", shown=True, in_python=True)(reflected(remainder))
method("__idiv__", shown="div_")(Tensor.div_.as_operator)
