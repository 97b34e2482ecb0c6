"""Limits of elements: clamp maximum minimum nan_to_num ..."""
from __future__ import annotations

import functools
import math

import numpy as np

from ... import dtypes as dt
from ...autograd.in_place import in_place
from ...autograd.op import binary, op, renamed
from ...autograd.promotion import (
    FLOATS,
    FOUND,
    NUMBERS,
    converted,
    refuse_complex_gradient,
    result_dtype,
    stored_as,
    write_out,
)
from ...autograd.public import public
from ...autograd.record_dtypes import in_float32
from ...autograd.views import has_history
from ...errors import C_NAMES, not_implemented, refuse_records, type_name
from ...kernels import expressions
from ...kernels.expressions import expression, where
from ...kernels.ufuncs import shared
from ...tensor import Tensor
from ...types import Number
from .arithmetic import alike, is_complex, ternary
from .where import pick

__all__ = ["clamp", "clamp_max", "clamp_min", "clip", "fmax", "fmin", "maximum", "minimum", "nan_to_num"]


def _inside(input, low, high):
    if low is None:
        return input <= high
    return input >= low if high is None else (input >= low) * (input <= high)


#: If an element and a limit are zeros of different sign, the result is the element.
_within = expressions.word("within", lambda low, high, x: np.minimum(high, np.maximum(low, x)))
_between = expression(lambda x, low, high: _within(low, high, x))
_at_least = expression(lambda x, low: expressions.maximum(low, x))
_at_most = expression(lambda x, high: expressions.minimum(high, x))


#: The gradient of an element that is limited by numbers.
_kept = expression(lambda g, x, low, high: where((x >= low) * (x <= high), g, 0.0), 2)
_kept_above = expression(lambda g, x, low: where(x >= low, g, 0.0), 2)
_kept_below = expression(lambda g, x, high: where(x <= high, g, 0.0), 2)


def _clamp_gradient(g, input, low, high):
    if low is None or high is None:
        return _kept_below(g, input, high) if low is None else _kept_above(g, input, low)
    return _kept(g, input, low, high)


@op(name="clamp.1", elementwise=True, input=lambda g, input, low, high: _clamp_gradient(g, input, low, high))
def _clamp(input, low, high):
    if input.dtype.kind not in dt.NATIVE:
        return input.clip(low, high)
    if low is not None and high is not None and low == low:    # if one of them is NaN, both are
        return _between(input, low, high)
    return _at_least(input, low) if high is None else _at_most(input, high)


def _below(input, low, high):
    return input < low if high is None else (input < low) * (low < high)


def _above(input, low, high):
    return input > high if low is None else (input > high) + (high < low)


@op(name="clamp", elementwise=True, input=lambda g, input, low, high: pick(_inside(input, low, high), g, 0.0),
    low=lambda g, input, low, high: pick(_below(input, low, high), g, 0.0),
    high=lambda g, input, low, high: pick(_above(input, low, high), g, 0.0))
def _clamp_tensor(input, low, high):
    if low is not None:
        input = np.maximum(input, low)
    return input if high is None else np.minimum(input, high)


#: The primitive for limits that are numbers, and that for limits that are tensors.
_CLAMPS = _clamp, _clamp_tensor
_CLAMPS_MIN = renamed(_clamp, "clamp_min"), renamed(_clamp_tensor, "clamp_min.1")
_CLAMPS_MAX = renamed(_clamp, "clamp_max"), renamed(_clamp_tensor, "clamp_max.1")


def _clamp_into(array, min=None, max=None):
    """Limits an array of floats by numbers; False for all else."""
    if array.dtype.char not in FLOATS or min is max:
        return False
    for x in (min, max):
        if x.__class__ not in _PLAIN or x is not None and not -_LARGE < x < _LARGE:
            return False
    if min is None:
        return _at_most.into(array, float(max))
    return _at_least.into(array, float(min)) if max is None else _between.into(array, float(min), float(max))


def _clamp_in_place(function):
    @functools.wraps(function)
    def clamp(self, *args, **kwargs):
        try:
            return function(self, *args, **kwargs)
        except NotImplementedError:
            limits = [x for x in (*args, *kwargs.values()) if isinstance(x, NUMBERS)]
            if limits and self._array.dtype.kind in dt.INTEGRAL:
                d = result_dtype((self, *limits))
                if d.is_complex:
                    raise RuntimeError(f"result type {d.type_name} can't be cast to the desired output type "
                                       f"{C_NAMES[type_name(self)]}") from None
            raise
    return in_place(clamp, into=_clamp_into)


@public(method=True, inplace=_clamp_in_place, aliases="clip", elementwise=True, repeats=True)
def clamp(input: Tensor, min: Tensor | Number | None = None, max: Tensor | Number | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """Each element limited to [min, max]. The limits are numbers or tensors that broadcast; one may be None.

    `max` wins where `min` is larger. RuntimeError if both are None.

    >>> import tinytorch as torch
    >>> torch.clamp(torch.tensor([-1., 0.5, 3.]), 0, 1)
    tensor([0.0000, 0.5000, 1.0000])
    """
    return _limited(_CLAMPS, input, min, max, out)


def _limited(primitives, input, min, max, out):
    """`input` limited by numbers or tensors, one of them perhaps None. The frequent case is asked first: a floating
    dtype and numbers of moderate size."""
    of_numbers = primitives[0]
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if (input._array.dtype.char in FLOATS and min.__class__ in _PLAIN and max.__class__ in _PLAIN
            and (min is None or -_LARGE < min < _LARGE) and (max is None or -_LARGE < max < _LARGE)):
        return write_out(out, of_numbers(input, min, max), input, exact=FOUND)
    return _limited_by_any(primitives, input, min, max, out)


def _limited_by_any(primitives, input, min, max, out):
    """The checks and conversions of limits of any kind. A number beside a 0-dim tensor turns the tensor into a number.
    Then either `_limited_by_tensors` or `_limited_by_numbers` computes."""
    if primitives is _CLAMPS and input.is_floating_point():
        min, max = (x.real if isinstance(x, complex) and x.imag == 0 else x for x in (min, max))
    given = [x for x in (min, max) if x is not None]
    for x in given:
        if x.__class__ is int:
            dt.check_long(x)
    mixed = len({isinstance(x, Tensor) for x in given}) > 1
    if mixed and any(isinstance(x, Tensor) and (x._array.ndim or has_history(x)) for x in given):
        raise TypeError("clamp() received an invalid combination of arguments: "
                        "min and max must both be Tensors or both be numbers")
    if any(is_complex(x) if isinstance(x, Tensor) else isinstance(x, complex) for x in (input, *given)):
        _refuse_complex(primitives is _CLAMPS, min, max, input, *given)
    if mixed:
        low, high = (x.item() if isinstance(x, Tensor) else x for x in (min, max))
        return _limited(primitives, input, low, high, out)
    limited = _limited_by_tensors if isinstance(given[0], Tensor) else _limited_by_numbers
    return limited(primitives, input, min, max, given, out)


def _limited_by_tensors(primitives, input, min, max, given, out):
    input, *given = alike(input, *given)
    if len(given) == 2 and input._array.dtype.kind in dt.BOOL:
        raise not_implemented("clamp_cpu", dt.bool)
    rest = iter(given)
    low, high = (None if x is None else next(rest) for x in (min, max))
    return write_out(out, ternary(primitives[1], input, low, high), input)


def _limited_by_numbers(primitives, input, min, max, given, out):
    d = input._array.dtype if input.is_floating_point() else result_dtype((input, *given)).numpy
    if len(given) == 2 and any([x != x for x in given]):
        min = max = math.nan                   # whatever the other number is
    if d.kind in dt.BOOL:
        raise not_implemented(f"clamp{_side(min, max)}_scalar_cpu", dt.bool)
    input = converted(input, d)
    min, max = (None if x is None else stored_as(x, d) for x in (min, max))
    return write_out(out, ternary(primitives[0], input, min, max), input, exact=FOUND)


#: float32, float64 and int64 hold numbers up to _LARGE.
_PLAIN, _LARGE = (int, float, type(None)), 1e18


def _side(min, max):
    """The only limit in torch's name of a routine: "_min" or "_max"; "" if there are two."""
    if max is None:
        return "_min"
    return "_max" if min is None else ""


def _refuse_complex(both_sides, min, max, input, *given):
    """Raises torch's error. It names a routine if the limits are tensors (for `clamp`, which is `both_sides`, only if
    `input` is real)."""
    if both_sides and input._array.dtype.kind in dt.INTEGRAL and not any([isinstance(x, Tensor) for x in given]):
        result_dtype((input, *given))          # raises for numbers without a common dtype
    if both_sides and isinstance(min, complex) | isinstance(max, complex) and input.is_floating_point():
        raise RuntimeError("value cannot be converted to type double without overflow")
    if isinstance(min if max is None else max, Tensor) and not (both_sides and is_complex(input)):
        name = {"_min": "maximum", "_max": "minimum", "": "clamp"}[_side(min, max)]
        raise not_implemented(f"{name}_cpu", result_dtype((input, *given)))
    raise NotImplementedError("clamp is not supported for complex types")


@public(method=True, inplace=functools.partial(in_place, into=_clamp_into), elementwise=True, repeats=True)
def clamp_min(input: Tensor, min: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The larger of each element and `min` (a number or a tensor).

    >>> import tinytorch as torch
    >>> torch.clamp_min(torch.tensor([-1., 3.]), 0)
    tensor([0., 3.])
    """
    return _limited(_CLAMPS_MIN, input, min, None, out)


@public(method=True, inplace=functools.partial(in_place, into=lambda array, max: _clamp_into(array, None, max)),
        elementwise=True)
def clamp_max(input: Tensor, max: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The smaller of each element and `max` (a number or a tensor).

    >>> import tinytorch as torch
    >>> torch.clamp_max(torch.tensor([-1., 3.]), 0)
    tensor([-1.,  0.])
    """
    return _limited(_CLAMPS_MAX, input, None, max, out)


#: The gradient of the first operand of maximum, and of minimum. Equal elements get half of it each.
_of_larger = expression(lambda g, x, y: where(x == y, g / 2.0, where(x < y, 0.0, g)), 3)
_of_smaller = expression(lambda g, x, y: where(x == y, g / 2.0, where(x > y, 0.0, g)), 3)


def _no_complex(name, array):
    if dt.kind(array.dtype) in dt.COMPLEX:
        raise RuntimeError(f"{name} not implemented for complex tensors.")


@binary(numbers="none", input=lambda g, input, other: _of_larger(g, input, other),
        other=lambda g, input, other: _of_larger(g, other, input), inplace=False)
def maximum(input, other):
    """The larger of two elements, NaN if one is NaN. Equal elements share the gradient.

    >>> import tinytorch as torch
    >>> torch.maximum(torch.tensor([1., 5.]), torch.tensor([3., 2.]))
    tensor([3., 5.])
    """
    _no_complex("maximum", input)
    return shared(np.maximum, input, other)


@binary(numbers="none", input=lambda g, input, other: _of_smaller(g, input, other),
        other=lambda g, input, other: _of_smaller(g, other, input), inplace=False)
def minimum(input, other):
    """The smaller of two elements, NaN if one is NaN. Equal elements share the gradient.

    >>> import tinytorch as torch
    >>> torch.minimum(torch.tensor([1., 5.]), torch.tensor([3., 2.]))
    tensor([1., 2.])
    """
    _no_complex("minimum", input)
    return shared(np.minimum, input, other)


@binary(numbers="none", input=lambda g, input, other: pick((input >= other) + (other != other), g, 0.0),
        other=lambda g, input, other: pick((input >= other) + (other != other), 0.0, g), inplace=False)
def fmax(input, other):
    """The larger of two elements. If one is NaN, the other one.

    >>> import tinytorch as torch
    >>> torch.fmax(torch.tensor([1., 5.]), torch.tensor([float("nan"), 2.]))
    tensor([1., 5.])
    """
    _no_complex("fmax", input)
    return shared(np.fmax, input, other)


@binary(numbers="none", input=lambda g, input, other: pick((input <= other) + (other != other), g, 0.0),
        other=lambda g, input, other: pick((input <= other) + (other != other), 0.0, g), inplace=False)
def fmin(input, other):
    """The smaller of two elements. If one is NaN, the other one.

    >>> import tinytorch as torch
    >>> torch.fmin(torch.tensor([1., 5.]), torch.tensor([float("nan"), 2.]))
    tensor([1., 2.])
    """
    _no_complex("fmin", input)
    return shared(np.fmin, input, other)


_finite = expression(lambda x, nan, most, least: where(
    x == x, where(x == math.inf, most, where(x == -math.inf, least, x)), nan))


#: The same if `most` and `least` are the largest and the smallest number: one operation of the machine.
_finite_word = expressions.word("finite", lambda x, most, least, nan: np.where(
    x == x, np.minimum(most, np.maximum(least, x)), nan))
_finite_within = expression(lambda x, nan, most, least: _finite_word(x, most, least, nan))


#: By character of the dtype.
_LARGEST = {char: np.finfo(char).max for char in "fd"}


@op(name="nan_to_num", elementwise=True, input=lambda g, input: g * (input - input == 0))
def _nan_to_num(input, nan, posinf, neginf):
    if input.dtype.char not in "fd":
        return np.nan_to_num(input, True, nan, posinf, neginf)
    largest = _LARGEST[input.dtype.char]
    posinf = largest if posinf is None else posinf
    neginf = -largest if neginf is None else neginf
    if posinf == largest and neginf == -largest:
        return _finite_within(input, nan, posinf, neginf)
    return _finite(input, nan, posinf, neginf)


@public(out="nan_to_num: dtype of out: {Have} should be same as input: {Want}", method=True, inplace=True,
        elementwise=True, repeats=True)
def nan_to_num(input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None, *,
               out: Tensor | None = None) -> Tensor:
    """Replaces NaN by `nan` (0) and infinities by `posinf` and `neginf` (the dtype's largest and smallest number).

    >>> import tinytorch as torch
    >>> torch.nan_to_num(torch.tensor([1., float("nan")]), nan=7.)
    tensor([1., 7.])
    """
    refuse_complex_gradient("nan_to_num", input)
    nan = 0.0 if nan is None else nan
    refuse_records("nan_to_num", input)
    if input._array.dtype.kind != dt.WIDENED:
        return _nan_to_num(input, nan, posinf, neginf)
    limit = dt.finfo(dt.bfloat16).max          # the limit of float32 would be used if the door widened the input
    posinf = limit if posinf is None else posinf
    neginf = -limit if neginf is None else neginf
    return in_float32(_nan_to_num, input, nan, posinf, neginf)


clip = clamp
