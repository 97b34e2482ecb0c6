"""Elementwise operations. Each is written once, as an expression of the words below and of operators:

    elu = expression(lambda x, slope, rate: where(x > 0, x, slope * expm1(x * rate)), 1)

A call with arrays and numbers runs on the machine of native/elementwise.c: the expression is traced to a short program,
which runs over the arrays block by block, on several threads, and writes nothing to memory between its steps. Where the
machine cannot compute (no library, other dtypes, stand-ins for arrays) NumPy computes from the same text, which is the
machine's twin. The choice depends on the operation and the dtypes alone, never on the number of elements or their
memory layout, and so do the bits of each element.
"""
from __future__ import annotations

import operator
import struct
from collections.abc import Callable
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy import empty, ndarray

from ..kinds.record_dtypes import BFLOAT16, from_bfloat16, to_bfloat16
from ..tensor import Tensor
from . import native
from .layout import operand_order
from .threads import number

__all__ = ["arctan", "arctan2", "copysign", "exp", "expm1", "expression", "fine", "floor", "fmod", "hypot", "lerp",
           "log", "log1p", "maximum", "minimum", "on_tensors", "reciprocal", "remainder", "sigmoid", "sign", "sqrt",
           "square", "tanh", "trunc", "where", "word"]

#: The operands of a step are numbered in this order (elementwise.c): registers, arrays, numbers of the call, literals.
_REGISTERS, _GIVEN, _NUMBERS, _LITERALS = 12, 4, 4, 16
_STEPS, _DIMENSIONS = 64, 8
_FIRST_NUMBER = _REGISTERS + _GIVEN
_FIRST_LITERAL = _FIRST_NUMBER + _NUMBERS
_HALF, _FLOAT, _DOUBLE, _BITS = map(np.dtype, (np.float16, np.float32, np.float64, np.uint16))
#: The dtypes of the machine: for each its C function, the size in the name of its list of operations, and its kind
#: (elementwise.c). 16-bit dtypes are computed in single precision.
_DTYPES = {_FLOAT: ("walk4", "4", 0), _DOUBLE: ("walk8", "8", 0),
           BFLOAT16: ("walk2", "4", 1), _HALF: ("walk2", "4", 2)}


#: All expressions, for tests.
EXPRESSIONS = []
#: All ufuncs from `_fine`, and NumPy's from which they were made.
FINE = {}


class Symbol:
    """A value in an expression that is being traced: an operation on other values, an array or a number.

    exact  whether NumPy and the machine give the same bits, or the machine alone computes the operation: see `fine`"""

    __slots__ = ("name", "operands", "exact")
    dtype = _FLOAT                             # of any of the machine's dtypes: no text depends on which one it is
    ndim, size = 1, 0

    def __init__(self, name: str, *operands: Any, exact: bool = False) -> None:
        self.name, self.operands, self.exact = name, operands, exact

    def __array_ufunc__(self, ufunc, method, *operands, **others):
        if method != "__call__" or others or ufunc not in FINE:
            return NotImplemented
        return Symbol(FINE[ufunc].__name__, *operands, exact=True)

    def __neg__(self):
        return Symbol("neg", self, exact=True)

    def __abs__(self):
        return Symbol("abs", self, exact=True)

    def __invert__(self):
        return Symbol("eq", self, 0.0)         # a condition is 0 or 1

    def conjugate(self):
        return self                            # the machine has no complex numbers

    conj = conjugate

    def __bool__(self):
        raise TypeError("an expression cannot branch: use `where`")


def _operator(name):
    def forward(self, other):
        return Symbol(name, self, other, exact=name != "maximum")

    def reflected(self, other):
        return Symbol(name, other, self, exact=name != "maximum")
    return forward, reflected


for _word, _name in (("add", "add"), ("sub", "sub"), ("mul", "mul"), ("truediv", "div"), ("and", "mul"),
                     ("or", "maximum")):
    _forward, _reflected = _operator(_name)
    setattr(Symbol, f"__{_word}__", _forward)
    setattr(Symbol, f"__r{_word}__", _reflected)
_COMPARISONS = [f.__name__ for f in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)]
for _word in _COMPARISONS:
    setattr(Symbol, f"__{_word}__", _operator(_word)[0])
Symbol.__hash__ = object.__hash__


#: Word -> its operation on tensors, for derivatives that are differentiated again: see `on_tensors`.
_late_bound = {}


def on_tensors(**operations: Callable) -> None:
    """Sets the operations that words stand for when they meet a Tensor, by name."""
    _late_bound.update(operations)


def word(name: str, twin: Callable, exact: bool = False) -> Callable:
    """A function for expressions: it calls `twin` for arrays, and is the machine's operation `name` in a program.
    `exact`: the two round alike."""
    def call(*operands):
        for x in operands:
            if x.__class__ is Symbol:
                return Symbol(name, *operands, exact=exact)
            if isinstance(x, Tensor):
                return _late_bound[name](*operands)
        return twin(*operands)
    call.__name__ = call.__qualname__ = name
    return call


def square(x: Any) -> Any:
    """x * x."""
    if x.__class__ is Symbol:
        return x * x
    return _late_bound["square"](x) if isinstance(x, Tensor) else np.square(x)


def arctan(x: Any) -> Any:
    """The inverse tangent of an array. The machine computes it as arctan2(x, 1)."""
    return Symbol("arctan2", x, 1.0) if x.__class__ is Symbol else np.arctan(x)


def reciprocal(x: Any) -> Any:
    """1 / x."""
    if x.__class__ is Symbol:
        return 1.0 / x
    return _late_bound["reciprocal"](x) if isinstance(x, Tensor) else np.reciprocal(x)


where, sqrt = word("where", np.where, exact=True), word("sqrt", np.sqrt, exact=True)
minimum, maximum = word("minimum", np.minimum), word("maximum", np.maximum)
exp, log, log1p, expm1, tanh = [word(_f.__name__, _f) for _f in (np.exp, np.log, np.log1p, np.expm1, np.tanh)]
arctan2, hypot = word("arctan2", np.arctan2), word("hypot", np.hypot)
floor, trunc, fmod, remainder, copysign = [word(_f.__name__, _f) for _f in (
    np.floor, np.trunc, np.fmod, np.remainder, np.copysign)]


def _lerp(x, y, weight):
    near, distance = abs(weight) < 0.5, y - x
    start, share = np.where(near, x, y), np.where(near, weight, weight - 1)
    if distance.dtype != np.float32:
        return start + share * distance
    return (start + share.astype(np.float64) * distance).astype(np.float32)    # as torch rounds it: once


#: From x to y by a weight, from the nearer end.
lerp = word("lerp", _lerp)
#: -1, 0 or 1; 0 for NaN.
sign = word("sign", lambda x: np.where(np.isnan(x), x.dtype.type(0), np.sign(x)), exact=True)
sigmoid = word("sigmoid", lambda x: 1 / (1 + np.exp(-x)))


# ------------------------------------------------------------------ programs
def _traced(text, count, numbers):
    """The steps of an expression in order, common ones once: (name, operands). An operand is the position of an earlier
    step, ("given", i) for an array, ("number", i) or a float."""
    result = text(*[Symbol("given", i) for i in range(count)], *[Symbol("number", i) for i in range(numbers)])
    steps, places = [], {}

    def place(x):
        if x.__class__ is not Symbol:
            return float(x)
        if x.name in ("given", "number"):
            return (x.name, *x.operands)
        key = x.name, *[repr(place(y)) for y in x.operands]
        if key not in places:
            operands = [place(y) for y in x.operands]
            places[key] = len(steps)
            steps.append((x.name, operands))
        return places[key]
    place(result)
    return _joined(steps)


#: Steps that are one operation of the machine: (operation, the place of an operand, the operation that computes that
#: operand) -> (the operation that is both, what the operands must be). The operands are those of the first operation
#: with those of the second one in their place: 0 stands for the number zero, the same letter for the same operand, and
#: the operation has one operand for each letter.
_FUSED = {**{("where", 0, name): (f"where_{name}", "abcd") for name in _COMPARISONS},
          ("where_le", 0, "abs"): ("where_abs_le", "abcd"), ("where_gt", 3, "mul"): ("positive_or_mul", "a0bcd"),
          ("where_le", 3, "where_ge"): ("unless_outside", "ab0ac0d"),
          ("where_lt", 0, "abs"): ("where_abs_lt", "abcd"), ("where_abs_lt", 2, "mul"): ("mul_if_abs_lt", "abcd0"),
          ("where_lt", 2, "add_div"): ("share_added_below", "abcabd"),
          ("minimum", 1, "maximum"): ("limit", "abc"), ("limit", 2, "add"): ("limit_add", "abcd"),
          ("div", 0, "limit_add"): ("share_of_limit", "abcda"), ("div", 1, "sqrt"): ("div_sqrt", "ab"),
          ("limit", 2, "sub"): ("limit_sub", "abcd"), ("sub", 1, "limit"): ("sub_limit", "abcd"),
          ("mul", 1, "div"): ("mul_div", "abc"), ("mul", 1, "sub"): ("mul_sub", "abc"),
          ("mul", 1, "where_le"): ("mul_unless_le", "abc0d"),
          ("add", 1, "div"): ("add_div", "abc"), ("add", 1, "mul"): ("add_mul", "abc"),
          ("add", 1, "mul_sub"): ("add_mul_sub", "abcd"), ("sub", 1, "mul"): ("sub_mul", "abc")}


def _fitting(operands, pattern):
    """The operands of an operation for the letters of a pattern in `_FUSED`; None if they do not fit."""
    found = {}
    for letter, x in zip(pattern, operands):
        if letter == "0" and repr(x) != "0.0" or found.setdefault(letter, x) != x:
            return None
    found.pop("0", None)
    return list(found.values())


def _joined(steps):
    """The steps, where those that are one operation of the machine are fused, as `_FUSED` says, unless another step
    uses the first one too."""
    used = [0] * len(steps)
    for _, operands in steps:
        for x in operands:
            if x.__class__ is int:
                used[x] += 1
    gone = set()

    def fused(name, operands):
        for place, x in enumerate(operands):
            if x.__class__ is int and used[x] == 1 and (name, place, steps[x][0]) in _FUSED:
                both, pattern = _FUSED[name, place, steps[x][0]]
                fitting = _fitting([*operands[:place], *steps[x][1], *operands[place + 1:]], pattern)
                if fitting is not None:
                    gone.add(x)
                    return fused(both, fitting)
        return name, operands
    for i, step in enumerate(steps):
        steps[i] = fused(*step)
    left = [i for i in range(len(steps)) if i not in gone]
    number = {old: new for new, old in enumerate(left)}
    return [(steps[i][0], [number[x] if x.__class__ is int else x for x in steps[i][1]]) for i in left]


def _assembled(steps, operations):
    """The part of a plan that follows the dimensions: the literals, and the steps with registers for their results.
    None if the machine lacks one of the operations, or if registers, literals or steps do not fit."""
    if len(steps) > _STEPS or any([name not in operations for name, _ in steps]):
        return None
    # A register is free again after the last step that reads its value. The last step writes to the output.
    last = {}
    for i, (_, operands) in enumerate(steps):
        last.update({x: i for x in operands if x.__class__ is int})
    literals, free, register, code = [], list(range(_REGISTERS))[::-1], {}, []

    def source(x):
        if x.__class__ is int:
            return register[x]
        if x.__class__ is tuple:
            return (_REGISTERS if x[0] == "given" else _FIRST_NUMBER) + x[1]
        bits, = struct.unpack("q", struct.pack("d", x))
        if bits not in literals:
            literals.append(bits)
        return _FIRST_LITERAL + literals.index(bits)
    for i, (name, operands) in enumerate(steps):
        sources = [source(x) for x in operands]
        free += [register[x] for x in {x for x in operands if x.__class__ is int} if last[x] == i]
        if i == len(steps) - 1:
            register[i] = _REGISTERS
        elif not free:
            return None
        else:
            register[i] = free.pop()
        sources += sources[:1] * (4 - len(sources))
        code.append(sum([x << 8 * k for k, x in enumerate((operations.index(name), register[i], *sources))]))
    if len(literals) > _LITERALS:
        return None
    return (len(literals), *literals, *code)


@lru_cache(1024)
def _plan(body, shape, shapes):
    """A plan for operands that are broadcast to `shape`. Neighbouring dimensions along which the same operands are
    broadcast are merged."""
    sizes, masks = [], []
    for d, n in enumerate(shape):
        if n == 1:
            continue
        mask = 0
        for k, s in enumerate(shapes):
            at = d - len(shape) + len(s)
            mask |= (at >= 0 and s[at] != 1) << k
        if masks and masks[-1] == mask:
            sizes[-1] *= n
        else:
            sizes.append(n)
            masks.append(mask)
    return None if len(sizes) > _DIMENSIONS else _array([len(sizes) or 1, *(sizes or [1]), *(masks or [0]), *body])


def _array(plan):
    array = np.array(plan, np.int64)
    array.flags.writeable = True               # the address of a writeable array is found faster
    return array


def _flat(arrays):
    """(`arrays`, which have one shape, flattened in memory order, a new array with their strides); None unless they are
    dense and have one memory order."""
    first = arrays[0]
    out = np.empty_like(first)
    for x in arrays:
        if x.strides != out.strides and any([a != b and n != 1 for a, b, n in zip(x.strides, out.strides, x.shape)]):
            return None
    return [x.ravel("K") for x in arrays], out


def _narrowed(x):
    """`x` with one element in each dimension along which it is the same element, as in gradients of sums."""
    if 0 not in x.strides:
        return x
    return x[tuple([slice(1) if n > 1 and step == 0 else slice(None) for n, step in zip(x.shape, x.strides)])]


#: Arrays that an expression does not have.
_ABSENT = (None,) * _GIVEN


class _Program:
    """The program of an expression for one dtype."""

    __slots__ = ("body", "plan", "name", "dtype")

    def __init__(self, body, dtype):
        self.name, _, kind = _DTYPES[dtype]
        self.body, self.dtype, self.plan = body, dtype, _array([256 * kind, *body])

    def run(self, arrays, numbers):
        """The result for arrays of its dtype in any memory order; None if the machine cannot compute it.

        Arrays of one shape are walked through as they are if they are C-contiguous, or flattened if they are dense
        and in one order. Others become C-contiguous and, except in 16 bits, are broadcast by the plan.
        """
        first = arrays[0]
        shape = first.shape
        alike = all([x.shape == shape for x in arrays])
        if alike:
            if first.size and all([x.flags.c_contiguous for x in arrays]):
                out = empty(shape, self.dtype)
                self.walk(self.plan, arrays, numbers, out)
                return out
            found = _flat(arrays) if first.size else None
            if found is not None:
                flat, out = found
                self.walk(self.plan, flat, numbers, out.ravel("K"))
                return out
        else:
            shape = np.broadcast_shapes(*[x.shape for x in arrays])
        if 0 in shape:                         # NumPy gives an empty result torch's strides
            return None
        given = arrays
        arrays = [_narrowed(x) for x in arrays]
        if self.dtype.itemsize == 2:
            arrays = [x if x.size == 1 else np.broadcast_to(x, shape) for x in arrays]
        arrays = [np.ascontiguousarray(x).reshape(x.shape) for x in arrays]
        out = empty(shape, self.dtype)
        plan = self.plan
        if self.dtype.itemsize != 2 and any([x.shape != shape and x.size != 1 for x in arrays]):
            plan = _plan(self.body, shape, tuple([x.shape for x in arrays]))
        if plan is None:
            return None
        self.walk(plan, arrays, numbers, out)
        return out if all([x.flags.c_contiguous for x in given]) else operand_order(out, *given)

    def walk(self, plan, arrays, numbers, out):
        """Runs the machine on C-contiguous arrays and fills a new array, or one of them."""
        if not out.size:
            return
        if out.itemsize == 2:
            arrays, out = [x.view(_BITS) for x in arrays], out.view(_BITS)
        a, b, c, d = *arrays, *_ABSENT[len(arrays):]
        native.run(self.name, out.size, plan.size, a.size, 0 if b is None else b.size, 0 if c is None else c.size,
                   0 if d is None else d.size, *numbers, plan, a, b, c, d, out)


# ------------------------------------------------------------------ the public decorator
def expression(text: Callable | None = None, arrays: int = 1) -> Callable[..., Any]:
    """The function `text` as an elementwise operation. Its first `arrays` parameters are arrays, which are broadcast,
    the others Python numbers. The result keeps the names and the documentation of `text`. 16-bit dtypes are computed in
    single precision and rounded at the end. Without `text` it returns a decorator."""
    if text is None:
        return lambda text: expression(text, arrays)
    call = _callable(text, arrays)
    EXPRESSIONS.append(call)
    return call


def _callable(text, arrays):
    written = text.__code__
    count = written.co_argcount - arrays
    padding = (0.0,) * (_NUMBERS - count)
    programs, quick = {}, {}                   # by dtype: a _Program or None, and the result of `native.held`

    def program_of(dtype):
        if dtype not in programs:
            body = None
            if dtype in _DTYPES and native.level() is not None and arrays <= _GIVEN and count <= _NUMBERS:
                body = _assembled(_traced(text, arrays, count), native.operations(_DTYPES[dtype][1]))
            program = programs[dtype] = None if body is None else _Program(body, dtype)
            if program is not None:
                quick[dtype] = native.held(program.name, dtype, program.plan, arrays, count)
        return programs[dtype]

    def general(*operands):
        # In this order: the machine, for ndarrays of one of its dtypes; float16 widened; bfloat16 widened; the text
        # itself, for other dtypes, stand-ins and Tensors.
        given, numbers = operands[:arrays], operands[arrays:]
        dtype = getattr(given[0], "dtype", None)
        if dtype == _FLOAT or dtype == _DOUBLE:
            given = [np.array(x, dtype) if x.__class__ is float or x.__class__ is int else x for x in given]
        elif dtype == _HALF:                   # arithmetic on 0-dim arrays gives NumPy scalars
            given = [np.array(x) if x.__class__ is np.float16 else x for x in given]
        if all([type(x) is ndarray and x.dtype == dtype for x in given]):
            program = program_of(dtype)
            if program is not None and native.many(program.name, max([x.size for x in given])):
                result = program.run(given, numbers + padding)
                if result is not None:
                    return result
            if dtype == _HALF:
                return text(*[x.astype(_FLOAT) for x in given], *numbers).astype(_HALF)
        if dtype == BFLOAT16:
            wide = [from_bfloat16(x) if getattr(x, "dtype", None) == dtype else x for x in given]
            return to_bfloat16(general(*wide, *numbers))
        result = text(*operands)
        if dtype is None or result.dtype == dtype:
            return result
        return result.astype(dtype) if isinstance(result, ndarray) else dtype.type(result)

    def into(out, *numbers):
        """Writes the value of an expression of one array to that array itself, whose memory has no gaps, and says
        whether it has."""
        program = programs.get(out.dtype) or program_of(out.dtype)
        if program is None or not out.size or out.size < native.LEAST_OF[program.name]:
            return False
        if out.size < native.LEAST:
            out[...] = call(out, *numbers)     # takes less time than `walk`
            return True
        program.walk(program.plan, (out,), numbers + padding, out)
        return True

    call = native.walker(arrays, count, quick, general)
    code = call.__code__
    call.__code__ = code.replace(
        co_varnames=written.co_varnames[:written.co_argcount] + code.co_varnames[written.co_argcount:],
        co_name=written.co_name, co_filename=written.co_filename, co_firstlineno=written.co_firstlineno)
    call.__name__, call.__doc__, call.__module__ = text.__name__, text.__doc__, text.__module__
    call.text, call.arrays, call.program_of, call.into = text, arrays, program_of, into
    return call


# ------------------------------------------------------------------ derivative rules of large arrays
#: From so many bytes on a rule runs on the machine. NumPy computes few elements in less time.
LARGE = 1 << 17
#: A single operation takes NumPy less time, unless several threads share these many bytes, or the result is written
#: past the caches.
_SHARED, _PAST = 1 << 19, 1 << 23
_WHOLE = 1 << 53                               # double precision holds the integers up to this one


def _is_condition(x):
    return x.__class__ is Symbol and x.name in _COMPARISONS


def _is_exact(x):
    """Whether NumPy gives the bits of the machine for a value of a traced expression. The machine's conditions are
    the numbers 0 and 1. NumPy's are bools, of which a number can be a multiple, but whose sums are others. Python
    computes with two numbers in double precision."""
    if x.__class__ is not Symbol or x.name in ("given", "number"):
        return True
    conditions = [_is_condition(y) for y in x.operands]
    if x.name == "where":
        fits = conditions == [True, False, False]
    else:
        fits = not all(conditions) if x.name == "mul" else not any(conditions)
    of_array = any([y.__class__ is Symbol and y.name != "number" for y in x.operands])
    return fits and of_array and x.exact and all([_is_exact(y) for y in x.operands])


def traced_in_one_pass(rule: Callable, arrays: int, numbers: int) -> Callable | None:
    """The expression of a function of arrays and then numbers, whose attribute `single` says whether it is one
    operation; None if it is no program of exact operations, as when it calls anything but words."""
    try:
        result = rule(*[Symbol("given", i) for i in range(arrays)], *[Symbol("number", i) for i in range(numbers)])
    except Exception:                          # whatever the functions that the rule calls raise for a Symbol
        return None
    if arrays > _GIVEN or numbers > _NUMBERS or result.__class__ is not Symbol:
        return None
    exact = result.name != "given" and not _is_condition(result) and _is_exact(result)
    if not exact:
        return None
    call = _callable(rule, arrays)
    call.single = not any([x.__class__ is Symbol and x.name not in ("given", "number") for x in result.operands])
    return call


def in_one_pass(rule: Callable) -> Callable:
    """`rule`, a function of arrays that computes element by element, as in derivative rules. If its operations are
    exact it is an expression for large arrays: one pass of all threads, with the bits that NumPy gives. It may have
    numbers behind the arrays."""
    calls: dict[int, Any] = {}                 # by the number of arrays

    def compute(*operands):
        dtype, most, arrays = getattr(operands[0], "dtype", None), 0, 0
        if dtype != _FLOAT and dtype != _DOUBLE:
            return rule(*operands)
        for i, x in enumerate(operands):
            if x.__class__ is ndarray:
                if x.dtype != dtype or arrays < i or not (x.flags.c_contiguous or _narrowed(x).flags.c_contiguous):
                    return rule(*operands)
                most, arrays = max(most, x.nbytes), arrays + 1
            elif x.__class__ is not float and (x.__class__ is not int or not -_WHOLE <= x <= _WHOLE):
                return rule(*operands)
        if most < LARGE:
            return rule(*operands)
        if arrays not in calls:
            calls[arrays] = traced_in_one_pass(rule, arrays, len(operands) - arrays)
        call = calls[arrays]
        if call is None or call.single and most < _PAST and (most < _SHARED or number() == 1):
            return rule(*operands)
        return call(*operands)
    return compute


@expression(arrays=2)
def log_of_sum(x, y):
    """log(exp(x) + exp(y)) without overflow. Where the two are equal, possibly infinite, log(2) is added."""
    return maximum(x, y) + log1p(exp(where(x == y, 0.0, -abs(x - y))))


def _fine(ufunc):
    """NumPy's ufunc of one operand, but for the dtypes for which the machine has an operation of its name computed by
    that: to .61 units in the last place. NumPy's is off by up to 2 in float32, and by up to 1 in float64; that of
    float16 converts one number at a time."""
    if native.level() is None:
        return ufunc
    plans = {}
    for dtype in (_HALF, _FLOAT, _DOUBLE):
        _, size, kind = _DTYPES[dtype]
        body = _assembled([(ufunc.__name__, [("given", 0)])], native.operations(size))
        if body is not None:
            plans[dtype] = _array([256 * kind, *body])
    made = native.with_plans(ufunc, plans)
    FINE[made] = ufunc
    return made


#: NumPy's functions of one number by their names, from `_fine`.
fine = SimpleNamespace(**{ufunc.__name__: _fine(ufunc) for ufunc in (
    np.exp, np.exp2, np.log, np.log2, np.log10, np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.sinh, np.cosh, np.tanh,
    np.arctanh)})
