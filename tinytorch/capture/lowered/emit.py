"""Encodes recorded calls as the words of a program for native/replay.c.

A sequence of elementwise operations is fused into one call. The memory plan lets arrays share memory if they are never
needed at the same time. Addresses and numbers that change from call to call are patched into the words by `fixes`.
"""
from __future__ import annotations

import struct
from typing import Any

import numpy as np

from ...kernels.native.table import numbered
from .arrays import Place, Reading, Root
from .tape import Call, Each, Element, _apart, _together

__all__ = ["Words", "fused", "plan"]

#: Limits of elementwise.c.
_REGISTERS, _OPERANDS, _RESULTS, _FLAGS, _NUMBERS, _STEPS, _DIMENSIONS = 12, 12, 12, 2, 12, 64, 8
_FLAG = 4
#: So many elements may be computed earlier than in the program.
_FEW = 1024
_OPERANDS_AT, _RESULTS_AT, _NUMBERS_AT = _REGISTERS, _REGISTERS + _OPERANDS, _REGISTERS + _OPERANDS + _RESULTS
_WHERE = _COUNT = numbered()
_BOOL, _FLOAT, _DOUBLE = map(np.dtype, (np.bool_, np.float32, np.float64))
_ARITHMETIC = {name: f"{name}_each" for name in ("add", "sub", "mul", "div")}


class Fused:
    """Several elementwise operations (`Each`) as one call."""

    __slots__ = ("eaches", "inside", "name")

    def __init__(self, eaches, inside):
        self.eaches, self.inside = eaches, inside      # inside: roots that no other call uses
        self.name = "fused"

    def _places(self, of):
        return [x for each in self.eaches for x in of(each) if x.root not in self.inside]

    @property
    def reads(self):
        return {x.root for x in self._places(lambda e: [y for y in e.operands if y.__class__ is Place])}

    @property
    def writes(self):
        return {x.root for x in self._places(lambda e: [e.out])}

    def places(self):
        return self._places(Each.places)


def _steps_of(place):
    """Strides in elements."""
    size = place.dtype.itemsize
    return tuple([0 if n == 1 else s // size for n, s in zip(place.shape, place.strides)])


def _wide(each):
    """The dtype that an Each computes in."""
    found = {x.dtype for x in each.places()} - {_BOOL}
    return found.pop() if found else _FLOAT


def _same(a, b):
    return a.root is b.root and a.offset == b.offset and a.shape == b.shape and a.dtype == b.dtype and (
        _steps_of(a) == _steps_of(b))


class _Group:
    """Consecutive elementwise operations that are fused into one call."""

    def __init__(self):
        self.eaches, self.key, self.read, self.written = [], None, [], []

    def takes(self, each):
        """Whether `each` can join the group. An empty group takes any operation."""
        # Reasons against it, in this order: another shape, layout or dtype; too many operations; an operand or a
        # result that overlaps an array of the group without being the same; more arrays or numbers than elementwise.c
        # has room for
        key = each.out.shape, _steps_of(each.out), _wide(each)
        if not self.eaches:
            self.key = key
            return True
        if key != self.key or len(self.eaches) >= 24:
            return False
        operands = [x for x in each.operands if x.__class__ is Place]
        for x in operands:
            for y in self.written:
                if x.root is y.root and not _same(x, y) and not _apart(x, y):
                    return False
        for y in [*self.read, *self.written]:
            if each.out.root is y.root and not _same(each.out, y) and not _apart(each.out, y):
                return False
        read = self._distinct([*self.read, *[x for x in operands if not any(_same(x, y) for y in self.written)]])
        written = self._distinct([*self.written, each.out])
        flags = len([x for x in written if x.dtype == _BOOL])
        numbers = {x if x.__class__ is not Reading else id(x) for e in [*self.eaches, each] for x in e.operands
                   if x.__class__ is not Place}
        return len(read) <= _OPERANDS and len(written) <= min(_RESULTS, _REGISTERS) - 2 and flags <= _FLAGS and (
            len(numbers) <= _NUMBERS)

    def _distinct(self, places):
        found = []
        for x in places:
            if not any(_same(x, y) for y in found):
                found.append(x)
        return found

    def add(self, each):
        self.eaches.append(each)
        self.read = self._distinct([*self.read, *[x for x in each.operands if x.__class__ is Place
                                                  and not any(_same(x, y) for y in self.written)]])
        self.written = self._distinct([*self.written, each.out])


def fused(calls: list[Any], wanted: set[Root]) -> list[Any]:
    """The calls, with each sequence of Eaches fused. `wanted`: roots that are also needed outside of the calls."""
    uses: dict[Root, int] = {}
    for call in calls:
        for x in call.places():
            uses[x.root] = uses.get(x.root, 0) + 1
    found, group, later = [], _Group(), []     # later: calls behind the group, which further operations may pass

    def close():
        if group.eaches:
            own: dict[Root, int] = {}
            for each in group.eaches:
                for x in each.places():
                    own[x.root] = own.get(x.root, 0) + 1
            inside = {root for root, n in own.items() if root.kind == "made" and n == uses[root] and root not in wanted}
            # a root stays in registers only if it is written before it is read and always has the same layout
            first, seen = {}, {}
            for each in group.eaches:
                for x in each.places():
                    if not _same(seen.setdefault(x.root, x), x):
                        inside.discard(x.root)
                for x in each.operands:
                    if x.__class__ is Place:
                        first.setdefault(x.root, "read")
                first.setdefault(each.out.root, "written")
            inside = {root for root in inside if first[root] == "written"}
            found.append(Fused(group.eaches, inside))
        found.extend(later)
        later.clear()
        group.__init__()
    for call in calls:
        if call.__class__ is not Each:
            later.append(call)
            if call.__class__ is not Call or not group.eaches:
                close()
            continue
        call = _flat(call)
        if not _passes(call, later) or not group.takes(call):
            close()
            group.takes(call)
        group.add(call)
    close()
    return found


def _flat(each):
    """An operation on arrays without gaps, as one on arrays of one dimension."""
    places = [x for x in each.places() if any(_steps_of(x)) or x is each.out]
    if not all([x.contiguous for x in places]):
        return each
    shape = each.out.size,

    def flat(x):
        if x.__class__ is not Place:
            return x
        return x._replace(shape=shape, strides=(x.dtype.itemsize * any(_steps_of(x)),))
    return Each(each.name, [flat(x) for x in each.operands], flat(each.out))


def _passes(each, later):
    """Whether an operation gives the same before these calls. Large arrays stay where they are, since their memory
    would be needed longer."""
    if not later:
        return True
    return each.out.size <= _FEW and not any(
        [call.writes & each.reads or each.out.root in call.writes | call.reads for call in later])


def plan(calls: list[Any], roots: list[Root], kept_to_end: set[Root]) -> int:
    """Assigns each root of kind "made" an offset within one block (`root.within`). Two roots share memory only if they
    are never needed at the same time. Returns the size of the block."""
    first, last = {}, {}
    for i, call in enumerate(calls):
        for root in call.reads | call.writes:
            first.setdefault(root, i)
            last[root] = i
    ends: dict[int, list] = {}
    for root in first:
        if root.kind == "made":
            ends.setdefault(len(calls) if root in kept_to_end else last[root], []).append(root)
    begins: dict[int, list] = {}
    for root, i in first.items():
        if root.kind == "made":
            begins.setdefault(i, []).append(root)
    free, size = [], 0                         # free: [start, stop] of the gaps, sorted
    for i in range(len(calls)):
        for root in sorted(begins.get(i, ()), key=lambda r: -r.nbytes):
            need = -(-root.nbytes // 64) * 64
            fits = [k for k, (start, stop) in enumerate(free) if stop - start >= need]
            if fits:
                k = min(fits, key=lambda k: free[k][1] - free[k][0])
                root.within = free[k][0]
                free[k][0] += need
                if free[k][0] == free[k][1]:
                    del free[k]
            elif free and free[-1][1] == size:
                root.within = free[-1][0]
                size = root.within + need
                free.pop()
            else:
                root.within = size
                size += need
        for root in ends.get(i, ()):
            start, stop = root.within, root.within + -(-root.nbytes // 64) * 64
            free.append([start, stop])
        free.sort()
        joined = []
        for start, stop in free:
            if joined and joined[-1][1] == start:
                joined[-1][1] = stop
            else:
                joined.append([start, stop])
        free = joined
    return size


class Words:
    """The words of a program.

    addresses   the addresses of the roots that keep theirs
    bases       the index, in the array of values that each call fills in, of every other root and of every Reading (by
                its text)
    fixes       (index of a word, index of its base, offset): the word is the base plus the offset
    """

    def __init__(self, addresses: dict[Root, int]) -> None:
        self.addresses, self.words, self.fixes, self.calls = addresses, [], [], 0
        self.bases: dict[Any, int] = {}

    def base(self, key: Any) -> int:
        return self.bases.setdefault(key, len(self.bases))

    def _word(self, x):
        if x.__class__ is Place:
            known = self.addresses.get(x.root)
            if known is not None:
                self.words.append(known + x.offset)
            else:
                self.fixes.append((len(self.words), self.base(x.root), x.offset))
                self.words.append(0)
        elif x.__class__ is Reading:
            self.fixes.append((len(self.words), self.base(x.text), 0))
            self.words.append(0)
        elif x is None:
            self.words.append(0)
        elif x.__class__ is float:
            self.words.append(struct.unpack("q", struct.pack("d", x))[0])
        else:
            self.words.append(int(x))

    def add(self, call: Any) -> None:
        """Appends a call."""
        name, words = (call.name, call.words) if call.__class__ is Call else _packed(call)
        pending: list[tuple[int, int]] = []
        for at, x in enumerate(words):
            if x.__class__ is Element:         # a preceding call of "number" copies the element into this call's word
                self._begin("number", 2)
                self._word(x.place)
                self.fixes.append((len(self.words), self.base("program"), 0))
                self.words.append(0)
                pending.append((len(self.words) - 1, at))
        self._begin(name, len(words))
        for word, at in pending:
            self.fixes = [(w, b, 8 * (len(self.words) + at) if w == word else o) for w, b, o in self.fixes]
        for x in words:
            self._word(0.0 if x.__class__ is Element else x)

    def _begin(self, name, count):
        self.calls += 1
        self.words += [_WHERE[name], count + 1, 1]


def _packed(call):
    """(name, words) of a Fused."""
    # The cases, in this order:
    #   one addition, subtraction, multiplication or division of float32 that `_plain` takes: its own kernel
    #   nothing leaves the registers: a call of "zero" with no bytes, which does nothing
    #   anything else: a call of the machine of elementwise.c. An operand of its code is a register (a root of
    #   `inside`), an earlier result, an array that is read, or a number. A step writes to a register or to an array.
    # Words of the machine: the counts, the sizes of the dimensions, then (kind, array, strides) of each operand,
    # (kind, array) of each result, the numbers, the code. Kinds: 0 has the strides of the result, 1 is a single
    # element, 2 has strides of its own; _FLAG is added for bools.
    eaches, inside = call.eaches, call.inside
    if len(eaches) == 1 and not inside:
        plain = _plain(eaches[0])
        if plain is not None:
            return plain
    first = eaches[0]
    wide = _wide(first)
    operands, results, numbers, code = [], [], [], []
    last = {}
    for i, each in enumerate(eaches):
        for x in each.operands:
            if x.__class__ is Place and x.root in inside:
                last[x.root] = i
    free, registers = list(range(_REGISTERS))[::-1], {}

    def number(x):
        for k, y in enumerate(numbers):
            if x is y or x.__class__ is float and y.__class__ is float and struct.pack("d", x) == struct.pack("d", y):
                return _NUMBERS_AT + k
        numbers.append(x)
        return _NUMBERS_AT + len(numbers) - 1

    def source(x):
        if x.__class__ is not Place:
            return number(x)
        if x.root in registers:
            return registers[x.root]
        for k, y in enumerate(results):
            if _same(x, y):
                return _RESULTS_AT + k
        for k, y in enumerate(operands):
            if _same(x, y):
                return _OPERANDS_AT + k
        operands.append(x)
        return _OPERANDS_AT + len(operands) - 1
    names = _operations(wide)
    for i, each in enumerate(eaches):
        sources = [source(x) for x in each.operands]
        for root in {x.root for x in each.operands if x.__class__ is Place and x.root in registers}:
            if last.get(root) == i and root is not each.out.root:
                free.append(registers.pop(root))
        if each.out.root in inside:
            if each.out.root not in registers:
                registers[each.out.root] = free.pop()
            to = registers[each.out.root]
            if last.get(each.out.root, -1) < i:        # nothing reads it
                free.append(registers.pop(each.out.root))
        else:
            k = next((k for k, y in enumerate(results) if _same(each.out, y)), None)
            if k is None:
                k = len(results)
                results.append(each.out)
            to = _RESULTS_AT + k
        sources += sources[:1] * (4 - len(sources))
        code.append(sum([x << 8 * k for k, x in enumerate((names.index(each.name), to, *sources))]))
    if not results:                            # nothing needs any of the results
        return "zero", [0, None]
    out = results[0]
    dims = _together(out.shape, *[_steps_of(x) for x in operands], _steps_of(out))
    dims = dims or [(1, *[0] * len(operands), 1)]
    if len(dims) > _DIMENSIONS:
        raise NotImplementedError("an operation over too many dimensions")
    words = [out.size, len(dims), len(operands), len(results), len(numbers), len(code), *[d[0] for d in dims]]
    own = [d[-1] for d in dims]
    for k, x in enumerate(operands):
        strides = [d[1 + k] for d in dims]
        if not any(strides):
            kind = 1
        else:
            kind = 0 if strides == own else 2
        words += [kind | (_FLAG if x.dtype == _BOOL and wide != _BOOL else 0), x, *strides]
    for x in results:
        words += [_FLAG if x.dtype == _BOOL else 0, x]
    words += [x if x.__class__ is Reading else float(x) for x in numbers]
    return f"fused{wide.itemsize}", [*words, *code]


def _plain(each):
    """(name, words) of an Each that a kernel of plain arithmetic computes, else None."""
    kernel = _ARITHMETIC.get(each.name)
    if kernel is None or each.out.dtype != _FLOAT:
        return None
    x, y = each.operands
    if x.__class__ is not Place or y.__class__ is not Place or x.dtype != _FLOAT or y.dtype != _FLOAT:
        return None
    if _steps_of(x) != _steps_of(each.out):
        if each.name not in ("add", "mul") or _steps_of(y) != _steps_of(each.out):
            return None
        x, y = y, x
    dims = _together(each.out.shape, _steps_of(y), _steps_of(each.out))
    n = each.out.size
    if not dims or len(dims) == 1 and dims[0][1] == dims[0][2]:
        period = n
    elif len(dims) == 1 and not dims[0][1]:
        period = 1
    elif len(dims) == 2 and not dims[0][1] and dims[1][1] == dims[1][2] == 1:
        period = dims[1][0]
    else:
        return None
    return kernel, [n, period, x, y, each.out]


_names = {}


def _operations(wide):
    if wide not in _names:
        from ...kernels import native
        _names[wide] = native.operations(str(wide.itemsize))
    return _names[wide]
