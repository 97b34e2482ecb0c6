"""Calls that are made again with other tensors of the same shapes, without Python's way to a kernel.

A function that is declared with `public(repeats=True)` promises that what it does follows from the dtypes, shapes and
strides of its tensors and from its other arguments, and never from the numbers in the tensors, which kernels alone
read. Its door then asks `again`, which is in C (kernels/native/repeat.c), for a record of such a call. The third and
the fourth call with the same arguments, but for the numbers in tensors, are listened to. If they pass the same to
kernels, up to addresses, then a record of these kernels is written. The record is tried, with other numbers in its new
memory and in the tensors, and used if its results are the function's, bit for bit. A result is a new tensor, an
argument, or a view of one. A record also says which arguments the function writes to.
"""
from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .. import dtypes as dt
from ..errors import once
from ..kernels import native
from ..kernels.native.objects import builtin_of_library, capi, of_library
from ..kinds.lazy import address_of
from ..seam import on_settings
from ..tensor import Size, Tensor, new_tensor_state, wrap
from . import identity
from .grad_mode import all_threads
from .views import NEVER, View

try:
    import ctypes
except ImportError:                            # as in browsers: no library can be loaded
    ctypes = None                              # type: ignore[assignment]

__all__ = ["begin", "learn"]

#: So many calls of a function wait for being listened to a second time.
_MOST_HEARD = 8
#: The words of notes.h and repeat.c.
_WORDS_OF_NOTES, _WORDS_OF_CONTENT, _MOST_MADE = 1 << 15, 512, 8
_ARRAY, _CALL, _LOOP, _HELD, _UNKNOWN = range(5)
_NUMBER, _OF_ARGUMENT, _OF_MADE, _IN_RECORD = range(4)
_NEW, _GIVEN, _VIEW = range(3)
_MOST_RESULTS = 64
#: Results of so many bytes are copied if they are the same for every call.
_MOST_CONSTANT = 4096
#: Kernels on more bytes than this take much longer than the way to them, and trials take longer still. Of tensors with
#: more bytes only calls that give views are recorded, and their records are not tried with other numbers.
_MOST_BYTES = 1 << 20
_WHOLE, _REAL = range(2)


def _never(args):
    """`again` of a function that is not repeated."""


def begin(repeats: Any) -> None:
    """Gives a function's `Repeats` a table, and `again` in C; without the library, an `again` that never
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
    tensors = _tensors(key)
    before = [_version(x) for x in tensors]
    warned = once.given
    result, notes = _heard(call, args, kwargs)
    if warned != once.given:                   # a record would not warn
        return result
    name, written = _keyed(key), _written(tensors, before, result, notes)
    before = repeats.heard.pop(name, None)
    if before is None:
        if len(repeats.heard) > _MOST_HEARD:
            repeats.heard.clear()
        repeats.heard[name] = written
    elif before == written and written is not None:
        record = _packed(key, name, result, written)
        if (written.places or _agrees(result, record, key)) and (
                _bytes_of(tensors) > _MOST_BYTES or _agrees_for_others(call, record, key, args, kwargs)):
            repeats.learned((record, key))
    return result


def _tensors(key):
    """The tensors of a key in the order in which C finds them."""
    found = []
    for x in key:
        found += [y for y in x if type(y) is Tensor] if isinstance(x, (list, tuple)) else [x] * (type(x) is Tensor)
    return found


def _bytes_of(tensors):
    return sum([x._array.nbytes for x in tensors])


def _others(draw, *arguments):
    """The same arguments with tensors of other numbers, draw(array, random), so that nothing that follows from the
    numbers can pass for a constant. None if a tensor has only numbers for which no others are known to be good, as
    places that are all 0."""
    random, made = np.random.default_rng(0), {}
    shared: dict[tuple, Any] = {}

    def other(x):
        if isinstance(x, (list, tuple)):
            return type(x)(map(other, x)) if type(x) in (list, tuple) else x
        if isinstance(x, dict):
            return {name: other(value) for name, value in x.items()}
        if type(x) is not Tensor:
            return x
        if id(x) not in made:
            array = x._array
            span = _span(array)
            first, memory = shared.get((span.start, array.dtype), (None, None))
            inside = first is not None and first.low <= span.low and span.high <= first.high
            if not inside:
                first, memory = span, np.empty(span.high - span.low, np.int8)
                shared[span.start, array.dtype] = first, memory
            new = np.ndarray(array.shape, array.dtype, memory, span.start - first.low, array.strides)
            if not inside:                     # else it has the numbers of another tensor, such as its transpose
                new[...] = draw(array, random)
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


def _permuted(array, random):
    """The numbers of an array in another order."""
    return random.permutation(array.reshape(-1)).reshape(array.shape)


def _halved(array, random):
    """Half of the numbers of an array: those of a matrix that is positive-definite are of one, too."""
    return array * array.dtype.type(0.5) if array.dtype.kind in "fc" else array


def _agrees(result, record, key):
    """Whether a record gives this result."""
    tensors = _tensors(key)
    return _agrees_in_bits(result, tensors, _tried((record, key)), tensors)


def _agrees_for_others(call, record, key, args, kwargs):
    """Whether a record gives the function's result, and does the same to the arguments, if these have other numbers."""
    for draw in (_numbers_like, _permuted, _halved):
        found, again = [_others(draw, key, args, kwargs) for _ in range(2)]
        if found is None or again is None:
            return False
        of_call, others, by_keyword = found
        try:
            result = call(*others, **by_keyword)
            break
        except Exception:                      # it refuses these numbers, such as divisors of 0
            continue
    else:
        return False
    tried, _, _ = again
    if not _agrees_in_bits(result, _tensors(of_call), _tried((record, tried)), _tensors(tried)):
        return False
    return all([x._version_counter == y._version_counter and x._array.tobytes() == y._array.tobytes()
                for x, y in zip(_tensors(of_call), _tensors(tried))])


def _agrees_in_bits(result, tensors, other, others):
    return type(result) is type(other) and _bits(result, tensors) == _bits(other, others)


def _heard(call, args, kwargs):
    """(the result of a call, the notes of the kernels that it calls)"""
    notes = struct.pack("2q", 0, _WORDS_OF_NOTES) + bytes(8 * _WORDS_OF_NOTES)
    try:
        native.listen(True)
        _listen(notes)
        result = call(*args, **kwargs)
    finally:
        _listen(None)
        native.listen(False)
    return result, np.frombuffer(notes, np.int64)[2:][:struct.unpack_from("q", notes)[0]].tolist()


def _listed(result):
    return list(result) if isinstance(result, tuple) else [result]


class _View(NamedTuple):
    """A result that is a view of argument number `of`: see `viewed` in repeat.c."""

    of: int
    dtype: np.dtype
    made: str | None
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def _results(result, tensors):
    """What each tensor of a result is: the number of an argument, a view of one, or the array of a new tensor in
    the order of rows or columns. None if one is something else."""
    found: list[Any] = []
    for x in _listed(result):
        same = [i for i, y in enumerate(tensors) if x is y]
        if type(x) is not Tensor or x._requires_grad or x._node is not None or type(x._array) is not np.ndarray:
            return None
        if same:
            found.append(same[0])
        elif x._view_info is not None:
            found.append(_view_of(x, tensors))
        else:
            flags = x._array.flags
            found.append(x._array if flags.forc and flags.writeable else None)
    return None if len(found) > _MOST_RESULTS or any([x is None for x in found]) else found


def _view_of(x, tensors):
    """The view that a tensor is of an argument; None if it is no usual one."""
    view, array = x._view_info, x._array
    for i, y in enumerate(tensors):
        if y._version_counter is x._version_counter:
            root = y if y._view_info is None else y._view_info.base
            if root is not view.base or view.seen != NEVER or view.born != _version(y) or (
                    array.flags.writeable != y._array.flags.writeable):
                return None
            offset = address_of(array) - address_of(y._array)
            return _View(i, array.dtype, view.made, offset, array.shape, array.strides)
    return None


def _bits(result, tensors):
    found = _results(result, tensors)
    return found and [(x.dtype, x.shape, x.strides, x.tobytes()) if type(x) is np.ndarray else x for x in found]


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

    made    (dtype, shape, bytes, whether it is in the order of columns) of each new array: first the results, then
            memory that only kernels see
    filled  the places in `made` of those that a kernel has written to
    held    what must live as long as the record, beside what the key holds
    changed     the places of the arguments of which a write was counted
    """

    def __init__(self, tensors, arrays, changed):
        self.changed = changed
        self.inputs = [_span(x._array) for x in tensors]
        self.spans, self.filled = [_span(x) for x in arrays], set()
        self.made = [(x.dtype, x.shape, x.nbytes, x.flags.fnc) for x in arrays]
        self.wrote: set[int] = set()           # the places of arguments that kernels were seen to write to
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
                for i, (address, step, first) in enumerate(zip(*[
                        notes[at + 5 + i:at + 5 + 3 * count:3] for i in range(3)])):
                    inside, written = self._known(address, self.spans), i == count - 1
                    if not step and not written:
                        self._array(address, 8, 0, struct.pack("q", first))
                    elif inside is not None:
                        self._touch(inside, address, elements * step, written)
                    operands.append(self._operand(address))
                self._wrote(address)
                self._call(function, 1, operands, elements, data, notes[at + 6:at + 5 + 3 * count:3])
                at += 5 + 3 * count
            elif kind == _HELD:
                self.held.append(ctypes.cast(notes[at + 1], ctypes.py_object).value)
                at += 2
            else:
                raise _Unknown

    def write_constants(self, arrays):
        """Writes calls that copy these results of a function without tensors, which are the same each time."""
        assert native.address_of is not None   # without the library nothing is listened to
        for i, x in enumerate(arrays):
            at = len(self.pool)
            self.pool += x.tobytes("A") + bytes(-x.nbytes % 64)
            operands = [[_NUMBER, x.nbytes, 0], [_IN_RECORD, at, 0], [_OF_MADE, i, 0]]
            self._call(native.address_of("enter_constant"), 0, operands, 0, 0, [])

    def _call(self, function, loop, operands, elements, data, steps):
        self.words += [function, loop, len(operands), elements, data, *sum(operands, []), *steps]
        self.calls += 1

    def _known(self, address, spans):
        return next((i for i, span in enumerate(spans) if span.low <= address < max(span.high, span.low + 1)), None)

    def _array(self, address, size, written, content):
        if not address:
            return
        at = self._known(address, self.spans)
        if at is not None and (written or at in self.filled):
            self._touch(at, address, size, written)
        elif self._known(address, self.inputs) is not None:
            if written:
                self._wrote(address)
        elif written:                          # memory that the function made and does not return
            if size >= 1 << 31:
                raise _Unknown
            self.spans.append(_Span(address, address + size, address))
            self.made.append((np.dtype(np.int8), (size,), size, False))
            self.filled.add(len(self.made) - 1)
        elif size > len(content):
            raise _Unknown
        else:
            self.contents[address] = size, content[:size]

    def _wrote(self, address):
        at = self._known(address, self.inputs)
        if at is not None and at not in self.changed:          # nobody would count the write
            raise _Unknown
        self.wrote.add(at)

    def _touch(self, at, address, size, written):
        """Notes that a kernel writes to, or reads from, so many bytes of a new array. Before it is filled something
        else may have been at its place."""
        if written and not 0 <= size <= self.spans[at].high - address or not written and at not in self.filled:
            raise _Unknown
        if written:
            self.filled.add(at)

    def _operand(self, address):
        if not address:
            return [_NUMBER, 0, 0]
        for kind, spans in ((_OF_ARGUMENT, self.inputs), (_OF_MADE, self.spans)):
            i = self._known(address, spans)
            if i is not None and (kind == _OF_ARGUMENT or i in self.filled):
                return [kind, i, address - spans[i].start]
        if address not in self.contents:
            raise _Unknown
        _, content = self.contents[address]
        at = len(self.pool)
        self.pool += content + bytes(-len(content) % 64)
        return [_IN_RECORD, at, 0]


def _version(tensor):
    return list.__getitem__(tensor._version_counter, 0)        # that of an inference tensor may not be saved


class _New(NamedTuple):
    """A result that is new array number `number`."""

    number: int


class _Written(NamedTuple):
    """What a call that was listened to does: the words of its calls of kernels and their number, new arrays, constants,
    what must live as long, its results, and the places of the arguments that it writes to."""

    words: list
    calls: int
    made: list
    pool: bytes
    held: list
    results: list
    places: list


def _written(tensors, before, result, notes):
    """What a call does; None if it cannot be written, or if its results are in other memory that was there before.
    `before`: the versions of tensors before the call."""
    results = _results(result, tensors)
    changed = [i for i, x in enumerate(tensors) if _version(x) != before[i]]
    places = [i for i in changed if not any([tensors[i]._version_counter is tensors[j]._version_counter
                                             for j in range(i)])]
    if results is None or any([_version(tensors[i]) != before[i] + 1 for i in places]):
        return None
    arrays = [x for x in results if type(x) is np.ndarray]
    writer = _Writer(tensors, arrays, changed)
    if any([_overlap(a, b) and a.start != b.start for i, a in enumerate(writer.inputs) for b in writer.inputs[:i]]) or (
            any([_overlap(a, b) for a in writer.inputs for b in writer.spans])):
        return None                            # addresses would not tell whose they are
    try:
        if tensors or sum([x.nbytes for x in arrays]) > _MOST_CONSTANT:
            writer.read(notes)
        else:
            writer.write_constants(arrays)
    except _Unknown:
        return None
    silent = not writer.calls and any([x.size for x in arrays])
    if silent or len(writer.made) > _MOST_MADE or not writer.wrote.issuperset(places):
        return None                            # NumPy has written, or there are too many arrays
    if writer.calls and _bytes_of(tensors) + sum([size for _, _, size, _ in writer.made]) > _MOST_BYTES:
        return None
    new = iter(range(len(writer.made)))
    results = [_New(next(new)) if type(x) is np.ndarray else x for x in results]
    return _Written(writer.words, writer.calls, writer.made, writer.pool, writer.held, results, places)


def _overlap(a, b):
    return a.low < b.high and b.low < a.high


def _packed(key, start, result, written):
    """The record: (bytes, what lives as long). `start` holds the words of the key."""
    words, calls, made, pool, held, results, places = written
    front = [len(made)]
    for dtype, shape, size, by_columns in made:
        front += [id(dtype), len(shape), size, by_columns, *shape]
    make, of_results = type(result) if hasattr(result, "_fields") else _tuple, []
    named = [dtype for dtype, *_ in made]    # what addresses in the results and arrays name
    for x in results:
        if type(x) is _New:
            of_results += [_NEW, x.number]
        elif type(x) is _View:
            of_results += [_VIEW, x.of, id(x.dtype), id(x.made), x.offset, len(x.shape), *x.shape, *x.strides]
            named += [x.dtype, x.made]
        else:
            of_results += [_GIVEN, x]
    views = [x for x in results if type(x) is _View]
    front += [len(places), *places, len(views), len(results), int(isinstance(result, tuple)), id(make), len(of_results),
              *of_results, calls]
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
    return packed + pool, [_held(key), make, named, held]


def _tuple(*results):
    return results


def _held(key):
    """What the addresses in a key belong to, without the tensors: dtypes of arrays, strings and the like."""
    return [x._array.dtype if type(x) is Tensor else [y._array.dtype if type(y) is Tensor else y for y in x]
            if isinstance(x, (list, tuple)) else x for x in key]


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
    places = [_place_of(new_tensor_state, "cell"), _place_of(all_threads, "in_special_mode"),
              _place_of(all_threads, "noting_writes")]
    offsets = [_offset(View, name) for name in ("base", "born", "seen", "made")]
    functions = [ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
                 for name in ("PyList_Size", "PySet_Size")]
    set_base = capi("_ARRAY_API", 282)
    if None in places + offsets or not set_base:
        return None
    cell, special, noting = places
    names = int, float, list, tuple, Size, str, bool, type(None), dt.dtype
    library.set_classes.restype, library.set_classes.argtypes = None, (ctypes.c_char_p,)
    library.set_classes(struct.pack("22q", *map(id, names), cell, id(True), id(View), *offsets, id(NEVER), special,
                                    noting, *functions, set_base))
    _listen = builtin_of_library(library, "listen")
    _tried = builtin_of_library(library, "tried")
    _keyed = of_library(library, "keyed", ctypes.string_at)

    def made(table):
        return [of_library(library, name, table) for name in ("again", "forget", "learned")]
    _made = made
    return made


def _place_of(owner, name):
    """The address of a field of an object; None if it is not found."""
    offset = _offset(type(owner), name)
    return None if offset is None else id(owner) + offset


def _offset(kind, name):
    """The offset of a field in objects of a class with slots; None if it is not found."""
    size, twin, value = struct.calcsize("P"), object.__new__(kind), object()
    setattr(twin, name, value)
    fields = (ctypes.c_void_p * (kind.__basicsize__ // size)).from_address(id(twin))
    found = [i for i, field in enumerate(fields) if field == id(value)]
    return found[0] * size if len(found) == 1 else None
