"""Calls that are made again with other tensors of the same shapes, without Python's way to a kernel.

A function that is declared with `public(repeats=True)` promises that what it does follows from the dtypes, shapes and
strides of its tensors and from its other arguments, and never from the numbers in the tensors, which kernels alone
read. Its door then asks `again`, which is in C (kernels/native/repeat.c), for a record of such a call. The third and
the fourth call with the same arguments, but for the numbers in tensors, are listened to. If they pass the same to
kernels, up to addresses, then a record of these kernels is written. The record is tried, with other numbers in its new
memory and in the tensors, and used if its results are the function's, bit for bit.
"""
from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .. import dtypes as dt
from ..kernels import native
from ..kernels.native.objects import builtin_of_library, of_library
from ..seam import on_settings
from ..tensor import Size, Tensor, new_tensor_state, wrap
from . import identity

try:
    import ctypes
except ImportError:                            # as in browsers: no library can be loaded
    ctypes = None                              # type: ignore[assignment]

__all__ = ["begin", "learn"]

#: So many calls of a function wait for being listened to a second time.
_MOST_HEARD = 8
#: The words of notes.h and repeat.c.
_WORDS_OF_NOTES, _WORDS_OF_CONTENT, _MOST_MADE = 1 << 15, 128, 8
_ARRAY, _CALL, _LOOP, _HELD, _UNKNOWN = range(5)
_NUMBER, _OF_ARGUMENT, _OF_MADE, _IN_RECORD = range(4)
_WHOLE, _REAL = range(2)


def _never(args):
    """`again` of a function that is not repeated."""


def begin(repeats: Any) -> None:
    """Gives a function's `Repeats` (public.py) a table, and `again` in C; without the library, an `again` that never
    knows a result."""
    made = _of_library()
    if made is None:
        repeats.again = _never
        return
    repeats.table = bytes(8 * 24 + 1)          # of its own: equal bytes may be one object
    repeats.again, forget, repeats.learned = made(repeats.table)
    on_settings.append(partial(forget, None))


def learn(repeats: Any, key: tuple, call: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The result of call(*args, **kwargs), which is listened to. After the second time a record of what it does goes
    into the table under `key`, if possible."""
    if repeats.left <= 0:
        return call(*args, **kwargs)
    repeats.left -= 1
    result, notes = _heard(call, args, kwargs)
    name, written = _keyed(key), _written(key, result, notes)
    before = repeats.heard.pop(name, None)
    if before is None:
        if len(repeats.heard) > _MOST_HEARD:
            repeats.heard.clear()
        repeats.heard[name] = written
    elif before == written and written is not None:
        record = _packed(key, name, result, *written)
        others = _others(key, args, kwargs)
        if _agrees(result, record, key) and others is not None:
            key_of_others, args, kwargs = others
            if _agrees(call(*args, **kwargs), record, key_of_others):
                repeats.learned((record, key))
    return result


def _tensors(key):
    """The tensors of a key in the order in which C finds them."""
    found = []
    for x in key:
        found += [y for y in x if type(y) is Tensor] if isinstance(x, (list, tuple)) else [x] * (type(x) is Tensor)
    return found


def _others(*arguments):
    """The same arguments with tensors of other numbers, so that nothing that follows from the numbers can pass for a
    constant. None if a tensor has only numbers for which no others are known to be good, as places that are all 0."""
    random, made = np.random.default_rng(0), {}

    def other(x):
        if isinstance(x, (list, tuple)):
            return type(x)(map(other, x)) if type(x) in (list, tuple) else x
        if isinstance(x, dict):
            return {name: other(value) for name, value in x.items()}
        if type(x) is not Tensor:
            return x
        if id(x) not in made:
            array = x._array
            span = np.lib.array_utils.byte_bounds(array)
            memory = np.empty(span[1] - span[0], np.int8)
            start = array.__array_interface__["data"][0] - span[0]
            new = np.ndarray(array.shape, array.dtype, memory, start, array.strides)
            new[...] = _numbers_like(array, random)
            made[id(x)] = wrap(new), not array.size or new.tobytes() != array.tobytes()
        return made[id(x)][0]
    found = [other(x) for x in arguments]
    return found if all([changed for _, changed in made.values()]) else None


def _numbers_like(array, random):
    """Numbers of the kind of those in an array, in another order: integers between 0 or the least and the largest."""
    if array.dtype.kind == "b":
        return random.random(array.shape) < 0.5
    if array.dtype.kind in "iu":
        return random.integers(min(0, int(array.min())), int(array.max()) + 1, array.shape) if array.size else array
    return dt.cast(random.standard_normal(array.shape), array.dtype)


def _agrees(result, record, key):
    """Whether a record gives this result."""
    tried = _tried((record, key))
    return type(tried) is type(result) and _bits(tried) == _bits(result)


def _heard(call, args, kwargs):
    """(the result of a call, the notes of the kernels that it calls)"""
    notes = struct.pack("2q", 0, _WORDS_OF_NOTES) + bytes(8 * _WORDS_OF_NOTES)
    try:
        _listen(notes)
        result = call(*args, **kwargs)
    finally:
        _listen(None)
    return result, np.frombuffer(notes, np.int64)[2:][:struct.unpack_from("q", notes)[0]].tolist()


def _results(result):
    """The arrays of a result; None if it is something else than new tensors around arrays in their usual order."""
    found = list(result) if isinstance(result, tuple) else [result]
    for x in found:
        if type(x) is not Tensor or x._requires_grad or x._node is not None or x._view_info is not None or (
                type(x._array) is not np.ndarray or not x._array.flags.c_contiguous or not x._array.flags.writeable):
            return None
    return [x._array for x in found]


def _bits(result):
    arrays = _results(result)
    return arrays and [(x.dtype, x.shape, x.strides, x.tobytes()) for x in arrays]


class _Span(NamedTuple):
    """The memory of an array: its first address, the first one behind it, and where the array's elements start."""

    low: int
    high: int
    start: int


def _span(array):
    low, high = np.lib.array_utils.byte_bounds(array)
    return _Span(low, high, array.__array_interface__["data"][0])


class _Unknown(Exception):
    """Raised for notes that make no record."""


class _Writer:
    """Writes the calls in notes as words of a record.

    made    (dtype, shape, bytes) of each new array: first the results, then memory that only kernels see
    held    what must live as long as the record, beside what the key holds
    """

    def __init__(self, tensors, arrays):
        self.inputs = [_span(x._array) for x in tensors]
        self.spans = [_span(x) for x in arrays]
        self.made = [(x.dtype, x.shape, x.nbytes) for x in arrays]
        self.contents: dict[int, tuple[int, bytes]] = {}       # address -> what stands there
        self.pool, self.words, self.calls, self.held = b"", [], 0, []

    def read(self, notes):
        """Writes all calls. Raises _Unknown if one cannot be written."""
        at = 0
        while at < len(notes):
            kind = notes[at]
            if kind == _ARRAY:
                address, size, written = notes[at + 1:at + 4]
                content = struct.pack(f"{_WORDS_OF_CONTENT}q", *notes[at + 4:at + 4 + _WORDS_OF_CONTENT])
                self._array(address, size, written, content)
                at += 4 + _WORDS_OF_CONTENT
            elif kind == _CALL:
                function, count = notes[at + 1:at + 3]
                kinds, values = notes[at + 3:at + 3 + count], notes[at + 3 + count:at + 3 + 2 * count]
                operands = [[_NUMBER, x, 0] if kind in (_WHOLE, _REAL) else self._operand(x)
                            for kind, x in zip(kinds, values)]
                self._call(function, 0, operands, 0, 0, [])
                at += 3 + 2 * count
            elif kind == _LOOP:
                function, elements, data, count = notes[at + 1:at + 5]
                operands = []
                for address, step, first in zip(*[notes[at + 5 + i:at + 5 + 3 * count:3] for i in range(3)]):
                    if not step:
                        self._array(address, 8, 0, struct.pack("q", first))
                    operands.append(self._operand(address))
                self._call(function, 1, operands, elements, data, notes[at + 6:at + 5 + 3 * count:3])
                at += 5 + 3 * count
            elif kind == _HELD:
                self.held.append(ctypes.cast(notes[at + 1], ctypes.py_object).value)
                at += 2
            else:
                raise _Unknown

    def _call(self, function, loop, operands, elements, data, steps):
        self.words += [function, loop, len(operands), elements, data, *sum(operands, []), *steps]
        self.calls += 1

    def _known(self, address, spans):
        return next((i for i, span in enumerate(spans) if span.low <= address < max(span.high, span.low + 1)), None)

    def _array(self, address, size, written, content):
        if not address or self._known(address, self.spans) is not None:
            return
        if self._known(address, self.inputs) is not None:
            if written:                        # nobody would count the write
                raise _Unknown
        elif written:                          # memory that the function made and does not return
            if size >= 1 << 31:
                raise _Unknown
            self.spans.append(_Span(address, address + size, address))
            self.made.append((np.dtype(np.int8), (size,), size))
        elif size > len(content):
            raise _Unknown
        else:
            self.contents[address] = size, content[:size]

    def _operand(self, address):
        if not address:
            return [_NUMBER, 0, 0]
        for kind, spans in ((_OF_ARGUMENT, self.inputs), (_OF_MADE, self.spans)):
            i = self._known(address, spans)
            if i is not None:
                return [kind, i, address - spans[i].start]
        if address not in self.contents:
            raise _Unknown
        _, content = self.contents[address]
        at = len(self.pool)
        self.pool += content + bytes(-len(content) % 64)
        return [_IN_RECORD, at, 0]


def _written(key, result, notes):
    """What a call that was listened to passes to kernels: words, new arrays, constants, the number of calls, and what
    must live as long. None if it cannot be written, or if its results are in memory that was there before."""
    arrays = _results(result)
    if arrays is None or not notes:
        return None
    writer = _Writer(_tensors(key), arrays)
    if any([_overlap(a, b) and a.start != b.start for i, a in enumerate(writer.inputs) for b in writer.inputs[:i]]) or (
            any([_overlap(a, b) for a in writer.inputs for b in writer.spans])):
        return None                            # addresses would not tell whose they are
    try:
        writer.read(notes)
    except _Unknown:
        return None
    if len(writer.made) > _MOST_MADE:
        return None
    return writer.words, writer.made, writer.pool, writer.calls, writer.held


def _overlap(a, b):
    return a.low < b.high and b.low < a.high


def _packed(key, start, result, words, made, pool, calls, held):
    """The record: (bytes, what lives as long). `start` holds the words of the key."""
    front = [len(made)]
    for dtype, shape, size in made:
        front += [id(dtype), len(shape), size, *shape]
    make = type(result) if hasattr(result, "_fields") else _tuple
    front += [len(_results(result)), int(isinstance(result, tuple)), id(make), calls]
    size = 8 + len(start) + 8 * (len(front) + len(words))
    moved, at = list(words), 0
    for _ in range(calls):                     # constants stand behind the words
        count = moved[at + 2]
        for i in range(count):
            place = at + 5 + 3 * i
            if moved[place] == _IN_RECORD:
                moved[place + 1] += size
        at += 5 + 3 * count + (count if moved[at + 1] else 0)
    packed = struct.pack("q", len(start) // 8) + start + struct.pack(f"{len(front) + len(words)}q", *front, *moved)
    return packed + pool, [_held(key), make, [dtype for dtype, _, _ in made], held]


def _tuple(*results):
    return results


def _held(key):
    """What the addresses in a key belong to, without the tensors: dtypes of arrays, strings and the like."""
    return [x._array.dtype if type(x) is Tensor else [y._array.dtype if type(y) is Tensor else y for y in x]
            if isinstance(x, (list, tuple)) else x for x in key]


#: The attribute that holds what a tensor is a view of.
_BASE = "base"
_listen: Any = None
_tried: Any = None
_keyed: Any = None
_made: Any = False


def _of_library():
    """A function of a table, which makes (again, forget, learned) for it; None without the library, or where C cannot
    read Python's objects."""
    global _made, _listen, _tried, _keyed
    if _made is not False:
        return _made
    _made = None
    if identity.fits is None or identity.wrapped is None:
        return None
    library = native._loaded[1]
    cell = _place_of_cell()
    length = ctypes.cast(ctypes.pythonapi.PyList_Size, ctypes.c_void_p).value
    if cell is None:
        return None
    names = int, float, list, tuple, Size, str, bool, type(None), dt.dtype, _BASE
    library.set_classes.restype, library.set_classes.argtypes = None, (ctypes.c_char_p,)
    library.set_classes(struct.pack("13q", *map(id, names), cell, id(True), length))
    _listen = builtin_of_library(library, "listen")
    _tried = builtin_of_library(library, "tried")
    _keyed = of_library(library, "keyed", ctypes.string_at)

    def made(table):
        return [of_library(library, name, table) for name in ("again", "forget", "learned")]
    _made = made
    return made


def _place_of_cell():
    """The address of the field `cell` of `new_tensor_state`; None if it is not found."""
    size, twin = struct.calcsize("P"), type(new_tensor_state)()
    twin.cell = object()
    fields = (ctypes.c_void_p * (type(twin).__basicsize__ // size)).from_address(id(twin))
    found = [i for i, field in enumerate(fields) if field == id(twin.cell)]
    return id(new_tensor_state) + found[0] * size if len(found) == 1 else None
