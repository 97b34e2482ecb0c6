"""What the op wrappers do off the hot path: operands of several dtypes, Python numbers that do not
fit, bfloat16, `out=`, and torch's messages for operations that cannot be done."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy import ndarray

from .. import dtypes as dt
from ..errors import C_NAMES, kind_of, not_implemented, sizes_do_not_match, type_name, warn
from ..kernels.errstate import ignored
from ..kernels.expressions import Symbol
from ..kernels.memory import refusal
from ..kinds.lazy import is_lazy
from ..kinds.table import kind_among
from ..seam import UNSEEN, door
from ..tensor import Tensor, wrap
from ..types import Number
from . import late_bound
from .grad_mode import differentiates, mode
from .node import Op
from .overridable import NUMBERS, called_from_here, not_an_operand
from .places import count_write
from .views import check_inference, check_overlap, check_written, give, is_apart, may_share, resized

#: Characters of the dtypes in which NumPy computes with a Python number just as torch does (not float16).
FLOATS = "fd"

_FLOAT32, _FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)


def on_arrays(o: Op, *operands: Any, level: int = 3) -> np.ndarray | np.generic:
    """An op called on plain arrays by a function of this package, outside of backward: there is nothing to record.
    Called from elsewhere, an array is no valid operand. `level`: the number of frames from this function to the caller
    of the op. In a derivative rule that is traced, Symbols stand for arrays."""
    if any(isinstance(x, (ndarray, np.generic, Symbol)) for x in operands) and called_from_here(level, o.name):
        return o.forward(*operands)
    return not_an_operand(o, 1, *operands)


def of_numbers(o: Op, call: Callable, input: Any, other: Any, out: Tensor | None) -> Any:
    """An op of two operands, neither of them a tensor. torch does arithmetic of two numbers, and derivative rules
    compute with the numbers that reductions of arrays return."""
    if type(input) not in _PYTHONS or type(other) not in _PYTHONS:
        if not isinstance(input, NUMBERS) or not isinstance(other, NUMBERS):
            return on_arrays(o, input, other, level=4)
        if called_from_here(3, o.name):
            return o.forward(input, other)
        input, other = dt.number_of(input), dt.number_of(other)
    d = result_dtype((input, other)).numpy
    return call(wrap(dt.cast(np.asarray(input), d)), other, out=out)


_PYTHONS = {bool, int, float, complex}

#: The `out` of a call whose operands were converted: then NumPy may choose another memory order than torch.
CONVERTED = object()


def unlike(o: Op, call: Callable, input: Tensor | Number | np.generic, other: Tensor | Number | np.generic,
           to_float: bool, out: Tensor | None = None) -> Tensor:
    """An op of two operands, at least one of them a tensor, whose dtypes differ: each is converted to their common
    dtype at once, and integers to the default dtype with `to_float`.

    The cases, in order: a tensor of integers beside a floating one (`beside_integer`); a number that is not to become
    a tensor (`of_number`); a single number beside half precision (`wide_scalar`); a number as first operand for which
    there is another op (`of_first_number`); else `call` with both operands converted.
    """
    number_first = not isinstance(input, Tensor)
    if number_first and out is not None and not o.out_beside_number:
        raise TypeError(f"{call.__name__}() received an invalid combination of arguments - got ({kind_of(input)}, "
                        "Tensor, out=Tensor), but expected one of:\n * (Tensor input, Tensor other, *, Tensor out = "
                        "None)\n")
    d = result_dtype((input, other))
    if o.beside_integer is not None and d.is_floating_point and any(
            [isinstance(x, Tensor) and x._array.dtype.kind in dt.INTEGER for x in (input, other)]):
        return o.beside_integer(input, other, d.numpy)
    if to_float and d.category < 2:
        d = dt.get_default_dtype()
    if o.of_number is not None and not isinstance(other, Tensor):
        return o.of_number(_in_dtype(input, d.numpy), dt.number_of(other))
    if o.wide_scalar is not None and d in _HALVES and _is_wide_scalar(other, d):
        other = converted(other, _FLOAT32) if isinstance(other, Tensor) else dt.number_of(other)
        return o.wide_scalar(_in_dtype(input, d.numpy), other)
    if o.wide_scalar is not None and d in dt.FLOAT8:
        raise not_implemented(f"{o.name}_cpu_reduced_float", d)
    number, input, other = input, _in_dtype(input, d.numpy), _in_dtype(other, d.numpy)
    try:
        if number_first and o.of_first_number is not None:
            return o.of_first_number(number, input, other)
        return call(input, other, out=CONVERTED)
    except NotImplementedError:
        _check_first(o, out, input, other)
        raise


def _check_first(o, out, *operands):
    """Raise the errors of `out` that torch raises before it looks for the kernel."""
    if isinstance(out, Tensor) and not o.answers:
        if o.differentiable and differentiates() and any(
                [isinstance(x, Tensor) and x._requires_grad for x in operands]):
            raise _no_history(o.name.removesuffix("_cpu") + "(): ")
        check_castable(operands[0], out)


def _no_history(name=""):
    return RuntimeError(f"{name}functions with out=... arguments don't support automatic differentiation, but one of "
                        "the arguments requires grad.")


_HALVES = (dt.float16, dt.bfloat16)


def _is_wide_scalar(other, d):
    """Whether an operand is a single number that is not in the half precision `d` itself."""
    return not isinstance(other, Tensor) or other._array.size == 1 and dt.of(other._array) is not d


def result_dtype(operands: Sequence[Tensor | Number | np.generic]) -> dt.dtype:
    """torch's result type of tensors and Python numbers."""
    tiers = [None, None, None]                 # with dimensions, 0-dim, Python numbers
    for x in operands:
        if isinstance(x, Tensor):
            tier, d = (0 if x._array.ndim else 1), dt.of(x._array)
        else:
            tier, d = 2, dt.of_scalar(dt.number_of(x))
        if tiers[tier] is not d:
            tiers[tier] = d if tiers[tier] is None else dt.promote_types(tiers[tier], d)
    return dt.combine(*tiers)


#: The signatures of result_type: parameter names, and whether each is a tensor.
_FORMS = ((("tensor", True), ("other", True)), (("scalar", False), ("tensor", True)),
          (("tensor", True), ("other", False)), (("scalar1", False), ("scalar2", False)))


@door
def result_type(*args: Tensor | Number, **kwargs: Tensor | Number) -> dt.dtype:
    """The dtype that an operation on two operands computes in: result_type(tensor, other), result_type(scalar, tensor)
    or result_type(scalar1, scalar2), each a tensor or a Python number.

    >>> import tinytorch as torch
    >>> torch.result_type(torch.tensor([1, 2], dtype=torch.int), 1.0)
    torch.float32
    """
    for form in _FORMS:
        names = [name for name, _ in form]
        given = dict(zip(names, args)) | kwargs
        if len(args) + len(kwargs) == 2 == len(given) and set(names) == set(given):
            operands = [given[name] for name in names]
            if all([isinstance(x, Tensor if tensor else NUMBERS) for x, (_, tensor) in zip(operands, form)]):
                return result_dtype(operands)
    got = ", ".join([kind_of(x) for x in args] + [f"{name}={kind_of(x)}" for name, x in kwargs.items()])
    raise TypeError(f"result_type() received an invalid combination of arguments - got ({got}), but expected one of:\n"
                    " * (Tensor tensor, Tensor other)\n * (Number scalar, Tensor tensor)\n * (Tensor tensor, Number "
                    "other)\n * (Number scalar1, Number scalar2)\n")


def _in_dtype(x, numpy_dtype):
    """An operand in the common dtype. It shares the version counter of `x`, because torch saves `x` itself."""
    if not isinstance(x, Tensor):
        return wrap(scalar_as(dt.number_of(x), numpy_dtype))
    result = converted(x, numpy_dtype)
    result._version_counter = x._version_counter
    return result


def promoted(*operands: Tensor | Number) -> tuple[Tensor, ...]:
    """The operands in their common dtype (Python numbers as 0-dim tensors of it)."""
    d = result_dtype(operands).numpy
    return tuple(_in_dtype(x, d) for x in operands)


def stored_as(value: Number, numpy_dtype: np.dtype) -> np.ndarray:
    """A Python number as the 0-dim array that a tensor of a dtype stores. RuntimeError if it does not fit."""
    # In order: numbers that every float dtype holds; wide NumPy numbers and complex numbers without imaginary part
    # become Python floats; then the ranges of integer, bool or complex, and floating dtypes.
    kind = numpy_dtype.kind
    if kind == dt.NATIVE and (value.__class__ is float or value.__class__ is int) and -65504 <= value <= 65504:
        return np.array(value, numpy_dtype)    # every float dtype holds numbers of this range
    is_complex = dt.is_complex(numpy_dtype)
    number: Any = value.item() if isinstance(value, (ndarray, np.generic)) else value
    if isinstance(number, (np.longdouble, np.clongdouble)):     # Python has no numbers of this precision
        number = float(number) if isinstance(number, np.longdouble) else complex(number)
    if isinstance(number, complex):
        if not is_complex and number.imag == 0:
            number = number.real
    elif isinstance(number, int):
        dt.check_long(number)
    if kind in dt.INTEGER:
        if not isinstance(number, complex) and _reaches(numpy_dtype, number):
            return scalar_as(int(number) & (1 << 64) - 1, numpy_dtype)
    elif kind == dt.BOOL or is_complex and not isinstance(number, (float, complex)):
        return scalar_as(number, numpy_dtype)
    elif is_complex or not isinstance(number, complex):
        if all([_holds(numpy_dtype, part) for part in (number.real, number.imag)[:1 + is_complex]]):
            return scalar_as(number, numpy_dtype)
    name = _STORED.get(numpy_dtype.name) or C_NAMES[dt.BY_NUMPY[numpy_dtype].type_name]
    raise RuntimeError(f"value cannot be converted to type {name} without overflow")


def _reaches(numpy_dtype, number):
    """Whether a number lies in the range that torch converts to an integer dtype. A negative int wraps around in an
    unsigned dtype, a negative float does not. Floats are compared in double precision, as in C."""
    signed = numpy_dtype.kind == dt.SIGNED
    high = (1 << 8 * numpy_dtype.itemsize - signed) - 1
    if isinstance(number, float):
        return (-high - 1 if signed else 0) <= number <= float(high)
    return -high - signed <= number <= high


def scalar_of(value: Number, numpy_dtype: np.dtype = _FLOAT64, stored: bool = False) -> Number:
    """A Python number as a kernel takes it for elements of a dtype, by default of double precision. Half precision is
    computed in float32, so there the number must fit in float32, unless it becomes an element itself (`stored`).
    RuntimeError if it does not fit, or has an imaginary part and the dtype has none."""
    if numpy_dtype.kind == dt.NATIVE and (value.__class__ is float or value.__class__ is int) and (
            -65504 <= value <= 65504):         # every float dtype holds numbers of this range
        return float(value)
    if isinstance(value, Tensor):              # a tensor without dimensions stands for its number
        value = value.item()
    floating = numpy_dtype.kind in dt.FLOATING and not dt.is_complex(numpy_dtype)
    if floating and not stored and numpy_dtype.itemsize == 2:
        numpy_dtype = _FLOAT32
    number = stored_as(value, numpy_dtype)
    if not floating:
        return number.item()
    return float(value.real if isinstance(value, complex) else value)


def fit_every_float(*values: object) -> bool:
    """Whether all values are Python's floats or ints that every dtype of floats holds, so that `scalar_of` gives
    float(value) for each of these dtypes."""
    return all([(x.__class__ is float or x.__class__ is int) and -65504 <= x <= 65504 for x in values])


def as_scalar_tensor(value: Number, numpy_dtype: np.dtype) -> np.ndarray:
    """As `stored_as`, but a number that is too large for half precision becomes infinite: as in torch.scalar_tensor."""
    if numpy_dtype.char not in "eV" or numpy_dtype == dt.COMPLEX32:
        return stored_as(value, numpy_dtype)
    with ignored():
        return dt.cast(stored_as(value, np.dtype(np.float64)), numpy_dtype)


def filled_as(value: Number, numpy_dtype: np.dtype, count: int) -> np.ndarray:
    """The number that fills a tensor of `count` elements. torch lets a single number in half precision become
    infinite, and several numbers in complex32."""
    if numpy_dtype == dt.COMPLEX32 and count != 1:
        return scalar_as(value, numpy_dtype)
    return (as_scalar_tensor if count == 1 else stored_as)(value, numpy_dtype)


def _holds(numpy_dtype, part):
    """Whether a number lies in the range of a floating or complex dtype. Below zero, ints are compared with minus the
    largest number, not with the dtype's smallest."""
    if math.isfinite(part):
        low, high = _limits(numpy_dtype)
        return (low if isinstance(part, float) else -high) <= part <= high
    return math.isnan(part) or numpy_dtype not in dt.FINITE


@cache
def _limits(numpy_dtype):
    limits = dt.finfo(dt.BY_NUMPY[numpy_dtype])
    return limits.min, limits.max


#: The C++ names of the integer types that a number is converted to.
_STORED = {"uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int32": "int", "int64": "int64_t",
           "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t"}


def scalar_as(value: Number, numpy_dtype: np.dtype) -> np.ndarray:
    """A Python number as a 0-dim array of a dtype; integers wrap around as in C."""
    if isinstance(value, int):
        dt.check_long(value)
        if numpy_dtype.kind in dt.INTEGER:
            bits = 8 * numpy_dtype.itemsize
            return np.array(value & ((1 << bits) - 1), f"u{numpy_dtype.itemsize}").view(numpy_dtype)
    if isinstance(value, complex) and not dt.is_complex(numpy_dtype) and numpy_dtype.kind != dt.BOOL:
        raise RuntimeError(f"value cannot be converted to type {dt.BY_NUMPY[numpy_dtype].name} without overflow")
    if numpy_dtype.kind == dt.WIDENED:
        return dt.cast(np.array(value, dt.STORED[numpy_dtype].wide), numpy_dtype)
    return np.array(value, numpy_dtype)


def to_default(x: Tensor | Number) -> Tensor | float:
    """Integers and bools in the default dtype; any other tensor unchanged."""
    if not isinstance(x, Tensor):
        return float(x)                        # type: ignore[arg-type]  # no complex number comes here
    return converted(x, dt.get_default_dtype().numpy) if x._array.dtype.kind in dt.INTEGRAL else x


def converted(tensor: Tensor, numpy_dtype: np.dtype) -> Tensor:
    """`tensor` in another dtype, recorded; itself if it has that dtype already."""
    if tensor._array.dtype == numpy_dtype:
        return tensor
    return tensor.to(dt.BY_NUMPY[numpy_dtype])


def refuse_complex_gradient(name: str, *tensors: Tensor | None) -> None:
    """torch's RuntimeError for operations that accept complex tensors and have no gradients for them."""
    if mode.grad_now and any([x is not None and x._requires_grad and dt.is_complex(x._array.dtype) for x in tensors]):
        raise RuntimeError(f"{name} does not support automatic differentiation for outputs with complex dtype.")


def underivable(name: str) -> Callable:
    """The derivative rule of a function for which torch has none."""
    def rule(g):
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")
    return rule


def refuse_gradient(function: str, argument: str, tensor: Tensor | None) -> None:
    """torch's RuntimeError if a tensor requires a gradient and torch has no derivative for it."""
    if tensor is not None and tensor._requires_grad and mode.grad_now:
        raise RuntimeError(f"The function '{function}' is not differentiable with respect to argument '{argument}'. "
                           "This input cannot have requires_grad True.")


def like_tuple(result: tuple, values: Iterable) -> tuple:
    """A tuple like `result`, named if that is, with other values."""
    return type(result)(*values) if hasattr(result, "_fields") else tuple(values)


def unusual_arguments(o: Op, call: Callable, args: Sequence[Any], error: Exception) -> Any:
    """The result of a primitive whose forward raised for these arguments: computed by their kind, or an error."""
    kind = kind_among(args)
    if kind is not None and (result := kind.run(o, call, args, error)) is not UNSEEN:
        return result
    if isinstance(error, TypeError):
        raise error
    raise refusal(error) from None


def unusual_unary(o: Op, call: Callable, input: Tensor, error: Exception | None) -> Tensor:
    """`unusual_arguments` for one tensor, which may also hold integers where floats are needed."""
    kind = kind_among((input,))
    if kind is not None and (result := kind.run_unary(o, call, (input,), error)) is not UNSEEN:
        return result
    if error is not None and not isinstance(error, TypeError):
        raise refusal(error)
    _ask_forward(o, error, input._array)
    default = dt.get_default_dtype().numpy
    if input._array.dtype.kind in dt.INTEGRAL and input._array.dtype != default:
        return call(converted(input, default))
    raise not_implemented(o.kernel or o.name, input)


def _ask_forward(o, error, *operands):
    """Raise the error of the forward itself, where NumPy's function took its place for few elements and failed: the
    forward may refuse a dtype with torch's message. A TypeError of the forward is no such message."""
    if o.ufunc is not None and isinstance(error, TypeError):
        try:
            o.forward(*operands)
        except TypeError:
            pass


def unusual_binary(o: Op, call: Callable, input: Tensor, other: Tensor | Number, error: Exception,
                   out: Tensor | None = None) -> Tensor:
    """`unusual_arguments` for two operands, of which one may also be an integer out of range."""
    a = input._array
    kind = kind_among((input, other))
    if kind is not None:
        try:
            if (result := kind.run_binary(o, call, (input, other), error)) is not UNSEEN:
                return result
        except NotImplementedError:
            _check_first(o, out, input, other)
            raise
    if isinstance(error, MemoryError):
        raise refusal(error)
    if isinstance(error, OverflowError) and not isinstance(other, Tensor):
        return call(input, wrap(scalar_as(other, a.dtype)))
    if isinstance(error, (TypeError, NotImplementedError)):        # torch looks for the kernel last
        _ask_forward(o, error, a, other._array if isinstance(other, Tensor) else other)
        if isinstance(other, Tensor) and not o.is_product:
            check_broadcast(a.shape, other._array.shape)
        _check_first(o, out, input, other)
        if isinstance(error, NotImplementedError):
            raise error
        raise not_implemented(o.kernel or o.name.removesuffix("_cpu") + "_cpu", input) from error
    if isinstance(error, ValueError) and isinstance(other, Tensor):
        check_broadcast(a.shape, other._array.shape)
    raise refusal(error)


def check_broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    """RuntimeError naming the sizes if shapes `a` and `b` do not broadcast."""
    for i in range(1, min(len(a), len(b)) + 1):
        if a[-i] != b[-i] and a[-i] != 1 and b[-i] != 1:
            raise sizes_do_not_match(a[-i], b[-i], max(len(a), len(b)) - i) from None


#: The error for an `out` of another dtype than the result, where no cast is allowed.
EXACT = "Expected out tensor to have dtype {want}, but got {have} instead"
#: The same error in functions that convert no operand.
FOUND = "Found dtype {Have} but expected {Want}"


def write_out(out: Tensor | None, result: Tensor, *inputs: Any, apart: bool | str = False,
              exact: str | None = None) -> Tensor:
    """Store `result` in the tensor given as `out=`, by torch's rules; if that is None return `result`.

    `inputs` are tensors that `out` must not overlap in part, or with `apart` at all (with "resized", not after `out`
    was resized either). `exact`: the error message if the dtypes differ ({want}, {have}, or as {Want}, {Have});
    without it, `out` may have any dtype that the result can be cast to.
    """
    if out is None or out is CONVERTED:
        return result
    if not isinstance(out, Tensor):
        raise TypeError(f"argument 'out' must be Tensor, not {type(out).__name__}")
    if _takes(out, result, inputs, apart):
        out._array[...] = result._array
        count_write(out)
        return out
    _refuse_out(out, result)
    if isinstance(out._array, late_bound.sparse_array) or isinstance(result._array, late_bound.sparse_array):
        return late_bound.sparse_out(out, result)
    _check_dtype(out, result, exact)
    check_castable(result, out)
    check_inference(out)
    # A lazy `out` of another shape is resized: torch then writes to other memory, and checks nothing here.
    if not is_lazy(out._array) or out._array.shape == result._array.shape:
        check_written(out._array)
    for x in inputs:
        if isinstance(x, Tensor) and (apart if x is out else may_share(out._array, x._array)):
            check_overlap(out, x, apart)
    if out._array.shape != result._array.shape:
        _resize_out(out, result, inputs, apart)
    out._array[...] = dt.cast(result._array, out._array.dtype)
    count_write(out)
    return out


def _refuse_out(out, result):
    """RuntimeError if `out` is on another device than `result`, or if one of them requires grad in grad mode."""
    if type(out._array) is not type(result._array) and out.device is not result.device:
        raise RuntimeError(f"Attempting to copy from device {result.device} to device {out.device}, but cross-device "
                           "copies are not allowed!")
    if differentiates() and (result._requires_grad or out.requires_grad):
        raise _no_history("" if result._node is None else f"{result._node.op.name}(): ")


def _check_dtype(out, result, exact):
    """RuntimeError with the message `exact`, if there is one, where the dtypes of `out` and `result` differ."""
    if exact is not None and out._array.dtype != result._array.dtype:
        want, have = type_name(result), type_name(out)
        raise RuntimeError(exact.format(want=C_NAMES[want], have=C_NAMES[have], Want=want, Have=have))


def _resize_out(out, result, inputs, apart):
    """Give `out` the shape of `result`, with torch's warning if it has elements. RuntimeError if `out` is an input of
    another shape than the broadcast one."""
    shape = result._array.shape
    if not apart and not is_lazy(out._array) and any([x is out for x in inputs]) and shape == np.broadcast_shapes(*[
            x._array.shape for x in inputs if isinstance(x, Tensor)]):
        raise RuntimeError(f"output with shape {list(out._array.shape)} doesn't match the broadcast shape "
                           f"{list(shape)}")
    if out._array.size:
        warn("An output with one or more elements was resized since it had shape "
             f"{list(out._array.shape)}, which does not match the required output shape {list(shape)}. "
             "This behavior is deprecated, and in a future PyTorch release outputs will not be resized "
             "unless they have zero elements. You can explicitly reuse an out tensor t by resizing it, "
             "inplace, to zero elements with t.resize_(0).")
    give(out, resized(out._array, result._array))
    for x in inputs if apart == "resized" else ():
        if isinstance(x, Tensor) and may_share(out._array, x._array):
            check_overlap(out, x, apart)


def _takes(out, result, inputs, apart):
    """Whether `result` can be written to `out` without further checks. Nearly always it can: `out` has an ndarray of
    the shape and dtype of the result in its own memory, and neither has a history."""
    target, array = out._array, result._array
    if (target.__class__ is not np.ndarray or array.__class__ is not np.ndarray or target.base is not None
            or target.dtype is not array.dtype or target.shape != array.shape or result._requires_grad
            or not is_apart(out) or not target.flags.carray):
        return False
    for x in inputs:
        if isinstance(x, Tensor) and (apart if x is out else x._array is target or x._array.base is not None):
            return False
    return True


def check_castable(result: Tensor, out: Tensor) -> None:
    """RuntimeError if the dtype of a result cannot be cast to that of `out`."""
    if not dt.can_cast(dt.of(result._array), dt.of(out._array)):
        raise RuntimeError(f"result type {type_name(result)} can't be cast to the desired output type {type_name(out)}")


def refill(out: Tensor | None, result: Tensor, by_count: bool = False) -> Tensor:
    """`write_out` for functions that make or fill a tensor: `out`, whatever it holds, gets the shape of `result` (with
    `by_count` it keeps its own shape if that has as many elements) and its numbers, without a warning. It requires
    gradients if `result` does."""
    if out is None:
        return result
    if not isinstance(out, Tensor):
        raise TypeError(f"argument 'out' must be Tensor, not {type(out).__name__}")
    if differentiates() and out.requires_grad:
        raise _no_history()
    check_inference(out)
    if out._array.size != result._array.size if by_count else out._array.shape != result._array.shape:
        give(out, resized(out._array, result._array))
    try:
        out._array[...] = dt.cast(result._array, out._array.dtype).reshape(out._array.shape)
    except ValueError as error:
        raise refusal(error) from None
    count_write(out)
    if result._requires_grad:
        out.requires_grad_()
    return out


def check_out_dtype(out: Tensor | None, input: Tensor) -> None:
    """RuntimeError unless the tensor given as `out=`, if any, has the dtype of `input`."""
    if out is not None and out._array.dtype != input._array.dtype:
        names = [C_NAMES.get(type_name(x), x.dtype.name) for x in (input, out)]
        raise RuntimeError("Expected out tensor to have dtype {}, but got {} instead".format(*names))
