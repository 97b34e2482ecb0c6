"""The source of the Python function that replays a program in C, and the words of its calls."""
from __future__ import annotations

import re
import struct
import sys
from typing import Any

import numpy as np

from ...autograd.identity import ALONE, ITEM, NEVER, UNCHANGED, launch, same, settle
from ...kernels import native, threads
from ...kernels.native.table import KERNELS, failing
from ...tensor import wrap
from ..program import MADE, Ref, refs
from ..references import OF_A_NAME
from ..replay import Changed, may_be_scalar
from .arrays import Place, Root
from .emit import Words
from .sums import InNumpy

__all__ = ["InPython", "Opaque", "Stale", "Text", "as_it_lies", "owner_of"]


#: Of a new array that C makes.
_MOST_DIMENSIONS = 32


class Stale(Exception):
    """Options or state of an optimiser have changed since the lowering. Raised before the replay has any effect."""


class Opaque:
    """Stands in for a value that one step in Python makes and another one reads."""

    __slots__ = ("slot",)

    def __init__(self, slot):
        self.slot = slot


class InPython:
    """A step in Python between two sequences in C.

    values    the values of the slots that it reads
    results   the places of the arrays that it makes
    effects   the effects (see `Text._effects`) that come before it
    """

    def __init__(self, step, values, results, effects):
        self.step, self.values, self.results, self.effects = step, values, results, effects
        self.reads = {x.root for x in self.places()}
        self.writes = set()

    def places(self):
        found = []
        for value in self.values.values():
            _collect(value, found)
        return found + [x for x in self.results.values() if x.__class__ is Place]


def _collect(value, found):
    if value.__class__ is Place:
        found.append(value)
    elif isinstance(value, (tuple, list)):
        for x in value:
            _collect(x, found)


def owner_of(array):
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def address(array: np.ndarray) -> int:
    """The address of an array's first element."""
    try:
        return native._place_of(array)
    except (TypeError, ValueError):            # it is not contiguous, empty or read-only
        return array.__array_interface__["data"][0]


class Text:
    """Writes the source of the function that replays a program, and builds the function."""

    def __init__(self, maker, calls, addresses):
        self.maker, self.calls, self.addresses = maker, calls, addresses
        self.lines, self.scope, self.name = [], maker.scope, maker.name
        self.words = Words(addresses)
        self.at: dict[Root, str] = {}          # the source of a root's address, if a name holds it already
        self.known: dict[Root, str] = {}       # the source of the array whose memory is that of a root
        self.views: dict = {}
        self.kept: dict[int, str | None] = {}  # id of a leaf -> the result of `_kept_gradient`
        self.gradients: list[tuple] = []       # (leaf, its name in `kept`) of these
        self.for_gradients: list[str] = []     # the lines that make their tensors anew where that is needed
        self.for_options: list[str] = []       # the checks of options of optimisers
        #: What C does after the last call: (leaf, name in `kept`) of its new gradients, and the tensors written to
        self.settled: tuple[list, list] = [], []

    def function(self):
        # The lines, in this order: the arrays of the inputs; the checks; new memory (put in by `_assembled`); the
        # calls, where an entry into C alternates with calls of Python and NumPy; the effects; the results
        maker, lines = self.maker, self.lines
        segments, at = [], []
        for call in self.calls:
            if call.__class__ is InPython or call.__class__ is InNumpy:
                segments += [at, call]
                at = []
            else:
                at.append(call)
        segments.append(at)
        self._given()
        lines += [f"{name} = {text}" for text, name in maker.read.items()]
        for check in dict.fromkeys([*maker.checks, *[f"{text} is {outcome}" if outcome in (True, False) else
                                                     f"{text} == {outcome!r}" for text, outcome in maker.decided]]):
            (self.for_options if self._is_of_options(check) else lines).append(f"if not ({check}): raise Stale")
        if maker.same.words or maker.same.rooms:       # dicts are looked into after they have been compared
            words = self.name(maker.same.packed(), "s")
            lines.append(f"if not {self.name(same, 'f')}({words}): raise Stale")
            maker.scope["objects"] = maker.same
        fresh = len(lines)
        effects = [x for call in self.calls if call.__class__ is InPython for x in call.effects] + maker.effects
        leaves = [id(leaf) for kind, leaf, _ in effects if kind == "grad"]
        for kind, leaf, place in effects:      # before the calls refer to these arrays
            # a leaf with several gradients, one for each step, has new arrays: `kept` has one for each leaf
            if kind == "grad" and leaves.count(id(leaf)) == 1 and not any(
                    [slot.value is leaf for slot in maker.program.grads]):
                self.kept[id(leaf)] = self._kept_gradient(self.name(leaf, "t"), leaf, place)
        packed, lasts = [], False
        for segment in segments:
            if segment.__class__ is InPython:
                self._in_python(segment)
                lasts = lasts or maker.step_lasts(segment.step)
            elif segment.__class__ is InNumpy:
                self._in_numpy(segment)
                lasts = lasts or maker.call_lasts(segment)
            elif segment:
                first, calls = len(self.words.words), self.words.calls
                fixes, room = len(self.words.fixes), 0 if lasts else _ANY
                for call in segment:
                    if not lasts and maker.call_lasts(call):
                        lasts, room = True, self.words.calls - calls
                    self.words.add(call)
                packed.append((first, len(self.words.words), self.words.calls - calls, fixes, len(self.words.fixes),
                               [call.name for call in segment], room))
                lines.append(("enter", len(packed) - 1))
        self._last_effects(maker.effects)
        found = [self._value(maker._runtime(maker.values[index])) for index in maker.wanted]
        lines.append("return " + ("".join([f"{x}, " for x in found]) or "()"))
        return self._assembled(packed, fresh)

    def _is_of_options(self, text):
        """Whether the value of this source depends on nothing but options of optimisers."""
        return any([name in text for name in self.maker.options]) and not re.search(r"\bv\d+\b", text)

    def _given(self):
        maker = self.maker
        self.fresh_lines = []
        for place, index in enumerate(maker.program.inputs):
            if index is not None:
                self.known[maker.tape.owner(maker.values[index])] = f"inputs[{place}]"
        for root, text in list(self.known.items()):
            self.lines.append(f"r{root.number} = {text}")
            self.known[root] = f"r{root.number}"
        for slot in maker.program.grads:
            root = maker.tape.owner(maker.values[slot.index])
            self.lines.append(f"r{root.number} = {self.name(slot.value, 't')}._grad._array")
            self.known[root] = f"r{root.number}"

    def _root(self, root):
        """The source of the array whose memory is that of a root at this call."""
        if root in self.known:
            return self.known[root]
        if root.kind == "fresh":
            self.fresh_lines.append(f"r{root.number} = empty({max(root.nbytes, 1)}, bytes_)")
            self.known[root] = f"r{root.number}"
        elif root.kind in ("kept", "constant"):
            self.known[root] = self.name(root.real, "a")
        elif root.kind == "made":
            self.known[root] = self.name(self.maker.block, "b")
        return self.known[root]

    def _array(self, place):
        """The source of the array at a place."""
        # The cases, in this order:
        #   the address never changes: a view that is made now; a kept slot's own array
        #   a new array that is the whole of its root: np.empty
        #   the array of a slot as it is given; otherwise, a view of it
        root = place.root
        key = root, place.offset, place.shape, place.strides, place.dtype
        if key in self.views:
            return self.views[key]
        if root.kind in ("made", "kept", "constant"):
            memory = self.maker.block if root.kind == "made" else root.real
            offset = root.within + place.offset if root.kind == "made" else place.offset
            if root.kind == "kept" and root.slot is not None:
                for slot in self.maker.slots:
                    if slot.root == root.slot and slot.array is not None and (
                            slot.offset, slot.shape, slot.strides, slot.dtype) == key[1:]:
                        self.views[key] = self.name(slot.array, "a")
                        return self.views[key]
            memory = as_it_lies(memory)
            made = np.ndarray(place.shape, place.dtype, memory, offset if place.size else 0, place.strides)
            self.views[key] = self.name(made, "w")
            self.maker.held.append(made)
            return self.views[key]
        if root.kind == "fresh" and root not in self.known and place.offset == 0 and (
                place.strides == _usual_strides(place)) and (
                    place.nbytes == root.nbytes or root.nbytes == 1 and not place.size):
            shape, dtype = self.name(place.shape, "s"), self.name(place.dtype, "d")
            self.fresh_lines.append(f"r{root.number} = empty({shape}, {dtype})")
            self.known[root] = f"r{root.number}"
            self.views[key] = self.known[root]
            return self.known[root]
        memory = self._root(root)
        slot = self.maker.slots[root.slot] if root.slot is not None else None
        if slot is not None and (slot.offset, slot.shape, slot.strides, slot.dtype) == key[1:]:
            return memory
        start = 0 if slot is None else slot.offset
        shape, dtype, strides = self.name(place.shape, "s"), self.name(place.dtype, "d"), self.name(place.strides, "s")
        return f"part({memory}, {shape}, {dtype}, {place.offset - start}, {strides})"

    def _value(self, value):
        if value.__class__ is Place:
            return self._array(value)
        if value.__class__ is Opaque:
            return f"x{value.slot}"
        if isinstance(value, (tuple, list)) and any(_has_place(x) for x in value):
            parts = [self._value(x) for x in value]
            if value.__class__ is list:
                return f"[{', '.join(parts)}]"
            text = f"({''.join([x + ', ' for x in parts])})"
            return f"{self.name(type(value))}(*{text})" if hasattr(value, "_fields") else text
        return repr(value) if value is None or type(value) in (bool, int) else self.name(value)

    def _argument(self, x, values):
        if x.__class__ is Ref:
            return self._value(values[x.slot])
        if any(True for _ in refs(x)):
            if x.__class__ is dict:
                return "{" + ", ".join([f"{key!r}: {self._argument(y, values)}" for key, y in x.items()]) + "}"
            if x.__class__ is slice:
                return "slice(" + ", ".join([self._argument(y, values) for y in (x.start, x.stop, x.step)]) + ")"
            parts = [self._argument(y, values) for y in x]
            if x.__class__ is list:
                return f"[{', '.join(parts)}]"
            text = f"({''.join([y + ', ' for y in parts])})"
            return f"{self.name(type(x))}(*{text})" if hasattr(x, "_fields") else text
        if x.__class__ is list and all([y is None or y.__class__ in (bool, int) for y in x]):
            return repr(x)
        return repr(x) if x is None or type(x) in (bool, int) else self.name(x)

    def _in_numpy(self, call):
        given = [self._value(x) for x in call.args] + [f"{key}={x!r}" for key, x in call.kwargs.items()]
        self.lines.append(f"{self.name(call.call, 'f')}({', '.join([*given, f'out={self._array(call.out)}'])})")

    def _in_python(self, call):
        step = call.step
        self._effects(call.effects)
        given = [self._argument(x, call.values) for x in step.args]
        if step.kind == "check":
            self.lines.append(f"if bool({given[0]}) is not {step.results}: raise Changed")
            return
        given += [f"{key}={self._argument(x, call.values)}" for key, x in step.kwargs.items()]
        text = f"{self.name(step.call, 'f')}({', '.join(given)})"
        target = self._target(step.results, step)
        scalar = may_be_scalar(step, self.maker.slots)
        if scalar and step.results.__class__ is Ref:
            text = f"asarray({text})"
        self.lines.append(f"{target} = {text}" if target else text)
        if scalar and step.results.__class__ is not Ref:
            self.lines.append(f"x{step.results[0].slot} = asarray(x{step.results[0].slot})")
        for index, place in call.results.items():
            read = any([x.root is place.root for c in self.calls for x in c.places() if c.__class__ is not InPython])
            if self.maker.bits and not read:
                self.known[place.root] = f"x{index}"
                continue
            slot = self.maker.slots[index]
            strides, dtype, shape = self.name(slot.strides, "s"), self.name(slot.dtype, "d"), self.name(slot.shape, "s")
            self.lines.append(f"if x{index}.strides != {strides} or x{index}.dtype != {dtype} or x{index}.shape != "
                              f"{shape}: x{index} = fitting(x{index}, {shape}, {dtype}, {strides})")
            self.known[place.root] = f"x{index}"
            if read:
                self.lines.append(("base", place.root, f"address(x{index})", slot.offset))

    def _target(self, results, step):
        made = set(step.makes)
        if results.__class__ is Ref:
            return f"x{results.slot}" if results.slot in made else ""
        if isinstance(results, (tuple, list)) and any([i in made for i in refs(results)]):
            parts = []
            for x in results:
                part = self._target(x, step)
                if part and x.__class__ is not Ref:
                    part = f"({part})"
                parts.append(f"{part or '_'}, ")
            return "".join(parts)
        return ""

    def _effects(self, effects):
        for kind, leaf, place in effects:
            t = self.name(leaf, "t")
            if kind == "none":
                self.lines.append(f"{t}._grad = None")
            elif kind == "grad":
                kept = self.kept.get(id(leaf))
                self.lines.append(f"{t}._grad = {kept}[0]" if kept else f"{t}._grad = wrap({self._array(place)})")
            elif kind == "bump":
                self.lines.append(f"{t}._grad._version_counter[0] += 1")
            else:
                self.lines.append(f"{t}._version_counter[0] += 1")

    def _last_effects(self, effects):
        """The effects after the last call. C has those that it can have: new gradients and counts of writes."""
        own: dict[int, int] = {}
        for kind, leaf, _ in effects:
            own[id(leaf)] = own.get(id(leaf), 0) + (kind != "written")
        held = {id(leaf) for leaf, _ in self.gradients}
        in_c, others = [], []
        for x in effects:
            alone = x[0] == "written" or x[0] == "grad" and id(x[1]) in held and own[id(x[1])] == 1
            (in_c if alone else others).append(x)
        if same is None or not in_c:
            return self._effects(effects)
        self._effects(others)
        self.settled = [(leaf, self.kept[id(leaf)]) for kind, leaf, _ in in_c if kind == "grad"], [
            leaf for kind, leaf, _ in in_c if kind == "written"]
        first = len(self.lines)
        self._effects(in_c)
        if self.settled[0]:
            self.lines[first:] = ["if not settle(gradients[1]):", *["    " + x for x in self.lines[first:]]]
        else:
            packed = self.name(_packed_effects([], [id(leaf) for leaf in self.settled[1]]), "s")
            self.lines[first:] = [f"if not settle({packed}):", *["    " + x for x in self.lines[first:]]]

    def _kept_gradient(self, t, leaf, place):
        """The name of a list [tensor, array, address] for a gradient whose memory is reused by the next call. A call
        makes a new array only if something else refers to the old one, so no one sees it change. Reuse is worthwhile
        because allocating an array of many pages takes longer than filling it. None if the gradient is not a whole,
        contiguous array."""
        root = place.root
        whole = place.size and not place.offset and place.nbytes == root.nbytes
        if root.kind != "fresh" or root in self.known or not whole or place.strides != _usual_strides(place):
            return None
        kept = f"h{root.number}"
        self.scope[kept] = [None, None, 0]
        shape, dtype = self.name(place.shape, "s"), self.name(place.dtype, "d")
        self.for_gradients += [
            f"one = {kept}[0]",                # references: this name, the list, and the leaf
            f"if one is None or one._requires_grad or counted(one) != {OF_A_NAME + 1} + ({t}._grad is one) "
            f"or counted({kept}[1]) != 3:",
            f"    one = wrap(empty({shape}, {dtype}))",
            f"    {kept}[:] = one, one._array, place_of(one._array)"]
        self.known[root], self.at[root] = f"{kept}[1]", f"{kept}[2]"
        self.views[root, place.offset, place.shape, place.strides, place.dtype] = f"{kept}[1]"
        self.gradients.append((leaf, kept))
        return kept

    def _of_options(self, bases):
        """The lines that look at the options of optimisers, if they are not the objects that they were. `bases`: (the
        first base that depends on them alone, the sources of all of these)."""
        lines = [*self.for_options, *_put("options", bases)]
        if same is None or not lines:
            return lines
        used = [name for name in self.maker.options if any([name in line for line in lines])]
        groups: dict[int, list[str]] = {}
        for i, name in enumerate(used):
            group, key = self.maker.options[name]
            self.maker.held.append(key)
            groups.setdefault(id(group), []).append(f"{ITEM}, {id(group)}, {id(key)}, id(now[{i}])")
        words = [word for group, items in groups.items() for word in (f"{UNCHANGED}, {group}, 0, {len(items)}", *items)]
        self.scope.update(options=[NEVER, None], settled=_settled,
                          pack_options=struct.Struct(f"{1 + 4 * len(words)}q").pack)
        # The address of an option says what it is as long as it is held, and cannot change
        return ["if not same(options[0]):", *["    " + line for line in (
            "options[0] = NEVER", *lines, f"now = ({''.join([name + ', ' for name in used])})",
            f"if settled(now): options[:] = pack_options({', '.join([str(len(words)), *words])}), now")]]

    def _of_gradients(self, bases):
        """The lines that make gradients anew, if others hold the old ones or if there are none."""
        lines = [*self.for_gradients, *_put("gradients", bases)]
        if same is None or not lines:
            return lines
        words, effects = [], []
        for leaf, kept in self.gradients:
            room = id(leaf.__dict__)
            words += [str(ALONE), str(room), f"id({kept}[0])", f"id({kept}[1])"]
        for leaf, kept in self.settled[0]:
            effects += [str(id(leaf.__dict__)), f"id({kept}[0])"]
        effects += [str(id(leaf)) for leaf in self.settled[1]]
        self.maker.held += [(leaf, leaf.__dict__) for leaf, _ in self.gradients]
        self.scope.update(gradients=[NEVER, b""], pack_gradients=struct.Struct(f"{1 + len(words)}q").pack,
                          pack_effects=struct.Struct(f"{2 + len(effects)}q").pack)
        return ["if not same(gradients[0]):", *["    " + line for line in (
            "gradients[0] = NEVER", *lines,
            f"gradients[:] = pack_gradients({', '.join([str(len(self.gradients)), *words])}), "
            f"pack_effects({', '.join([*map(str, map(len, self.settled)), *effects])})")]]

    def _assembled(self, packed, fresh):
        """(function, source) from all lines."""
        # First the values that each call writes to `bases`, with their struct format (layout). Then the lines: a str
        # is source, ("base", ...) sets a base after a step in Python, ("enter", ...) calls C. At the end `fresh_lines`
        # and the line that fills `bases` are inserted at index `fresh`, and the source is compiled
        words, maker = self.words, self.maker
        program = np.array(words.words + [0], np.int64)
        fix = np.array(words.fixes or [(0, 0, 0)], np.int64)
        base = np.zeros(len(words.bases) + 1, np.int64)
        maker.held += [program, fix, base]
        at = [x.__array_interface__["data"][0] for x in (program, fix, base)]
        enter = native.entering("enter_replay")
        pack = struct.Struct("9q").pack
        # Addresses and numbers that change from call to call are written to `bases` before the first call in C: first
        # those of every call, then those that depend on options alone, then those of gradients that are kept.
        # place_of is faster than address, but raises for arrays that are not contiguous, empty or read-only:
        # `fast` uses it wherever it is likely to succeed, and the source falls back on `values`
        parts: list[list] = [[], [], []]
        for key in words.bases:
            if key == "program":
                parts[1].append((key, "q", str(at[0]), str(at[0])))
            elif key.__class__ is Root:
                if key.kind == "given" and key.slot is not None and maker.slots[key.slot].origin == MADE:
                    text = "0"                 # a step in Python sets it later
                else:
                    self._root(key)            # this adds the line that allocates it, if it is fresh
                    of_fresh = "place_of({})" if key.kind == "fresh" and key.nbytes > 1 else "address({})"
                    text = self.at.get(key) or of_fresh.format(self.known[key])
                    slot = maker.slots[key.slot] if key.slot is not None else None
                    if slot is not None and slot.offset:
                        text += f" - {slot.offset}"
                near = text == f"address({self.known.get(key)})" and key.nbytes > 0
                fast = f"place_of({self.known[key]})" if near else text
                parts[2 if key in self.at else 0].append((key, "q", text, fast))
            else:
                parts[self._is_of_options(key)].append((key, "d", key, key))
        parts[0].sort(key=lambda x: x[0].__class__ is not Root or x[0].kind == "fresh")
        parts[0].sort(key=lambda x: x[0].__class__ is not Root)        # arrays, new arrays, numbers
        number = {key: i for i, (key, *_) in enumerate([x for part in parts for x in part])}
        for i, key in enumerate(words.bases):
            fix[[w for w, (_, b, _) in enumerate(words.fixes) if b == i], 1] = number[key]
        scope = {**self.scope, "address": address, "Stale": Stale, "Changed": Changed, "wrap": wrap, "empty": np.empty,
                 "counted": sys.getrefcount, "place_of": native._place_of,
                 "bytes_": np.dtype(np.uint8), "asarray": np.asarray, "part": _part, "fitting": _fitting, "bases": base,
                 "enter": enter, "team": threads.team, "free": threads.free, "pack": pack, "failed": _failed,
                 "same": same, "settle": settle, "NEVER": NEVER}
        before, first = [], 0
        for part, lines in zip(parts, (self._of_call, self._of_options, self._of_gradients)):
            name = lines.__name__[4:]
            scope[f"put_{name}"] = struct.Struct("".join([x[1] for x in part])).pack_into
            before.append(lines([first, [x[2] for x in part], [x[3] for x in part]]))
            first += len(part)
        scope.update(self.scope)
        text = []
        for line in self.lines:
            if line.__class__ is str:
                text.append(line)
            elif line[0] == "base":
                _, root, value, offset = line
                if root in number:
                    text.append(f"bases[{number[root]}] = {value}" + (f" - {offset}" if offset else ""))
            else:
                start, stop, count, begin, end, names, room = packed[line[1]]
                given = count, start, stop, end - begin, len(base), at[0], at[1] + 24 * begin, at[2]
                scope[f"one{line[1]}"], scope[f"given{line[1]}"] = pack(1, *given), given
                scope[f"names{line[1]}"] = names
                text.append(f"if code := enter(one{line[1]} if team.size == 1 else pack(free(), *given{line[1]})): "
                            f"failed(code, names{line[1]}, {room})")
        launched = self._launched(parts[0], packed, (*at, len(base)))
        if launched is not None:
            scope.update(launch=launch, words_of_call=launched[0])
            place = text.index(next(line for line in text if line.startswith("if code := enter(")), fresh)
            text[place:place + 1] = ["if team.size == 1:", *["    " + line for line in launched[1]], "else:", *[
                "    " + line for line in (*before[0], text[place].replace("one0 if team.size == 1 else ", ""))]]
            before[0] = []
        text[fresh:fresh] = [*before[1], *before[2], *before[0]]
        names = list(scope)
        body = "\n        ".join(text)
        source = f"def make({', '.join(names)}):\n    def replay(inputs):\n        {body}\n    return replay\n"
        room: dict[str, Any] = {}
        exec(compile(source, "<program in C>", "exec"), room)
        made = room["make"](**scope)
        made.held = maker.held                 # the memory whose addresses are in the words
        return made, source

    def _launched(self, part, packed, memory):
        """(the first argument of `launch`, the lines that run the program by it), or None if it has other arguments
        than arrays that are given, a single new array, and numbers. `part`: the bases of each call. `memory`: the
        addresses of the program, of its fixes and of the bases, and the number of bases."""
        roots = [key for key, *_ in part if key.__class__ is Root]
        arrays = [root for root in roots if root.kind == "given"]
        fresh = [root for root in roots if root.kind == "fresh"]
        if launch is None or len(packed) != 1 or len(roots) > len(arrays) + len(fresh) or (
                len(fresh) != len(self.fresh_lines) or len(fresh) > 1) or any(
                    [call.__class__ in (InPython, InNumpy) for call in self.calls]):
            return None
        whole = [place for place, text in self.views.items() if fresh and text == self.known[fresh[0]]]
        if len(whole) != len(fresh) or not all([self.known[root].isidentifier() for root in roots]):
            return None
        if whole and len(whole[0][2]) > _MOST_DIMENSIONS:
            return None
        (start, stop, count, begin, end, _, room), (program, fix, bases, n) = packed[0], memory
        numbers = [text for key, _, text, _ in part if key.__class__ is not Root]
        shape = whole[0][2] if whole else ()
        dtype = whole[0][4] if whole else None
        words = [native.address_of("enter_replay"), 1, count, start, stop, end - begin, n, program, fix + 24 * begin,
                 bases, bases, len(arrays), len(fresh), len(numbers), id(dtype), len(shape), *shape,
                 *[self.maker.slots[root.slot].offset for root in arrays]]
        self.maker.held.append(dtype)
        made = self.known[fresh[0]] if fresh else "code"
        failing = f"{made}.__class__ is int" if fresh else made
        return struct.pack(f"{len(words)}q", *words), [
            f"{made} = launch({', '.join(['words_of_call', *[self.known[x] for x in arrays], *numbers])})",
            f"if {failing}: failed({made}, names0, {room})"]

    def _of_call(self, bases):
        """The lines that make new arrays and write what each call has of its own."""
        return [*self.fresh_lines, *_put("call", bases)]


def _put(name, bases):
    """The line that writes these bases."""
    first, values, fast = bases
    if not values:
        return []
    puts = [f"put_{name}(bases, {8 * first}, {', '.join(x)})" for x in (fast, values)]
    return puts[:1] if fast == values else [f"try: {puts[0]}", f"except (TypeError, ValueError): {puts[1]}"]


def _packed_effects(gradients, written):
    """The argument of `settle`."""
    return struct.pack(f"{2 + len(gradients) + len(written)}q", len(gradients) // 2, len(written), *gradients, *written)


#: The classes of numbers and other values that cannot change.
_PLAIN = frozenset((int, float, bool, str, type(None), np.float32, np.float64))


def _settled(values):
    """Whether none of these options can change without being another object."""
    for x in values:
        if x.__class__ not in _PLAIN and (x.__class__ is not tuple or not _settled(x)):
            return False
    return True


def _usual_strides(place):
    """The strides that np.empty gives an array of this shape and dtype."""
    strides, step = [], place.dtype.itemsize
    for n in place.shape[::-1]:
        strides.insert(0, step)
        step *= max(n, 1)
    return tuple(strides) if place.size else np.empty(place.shape, place.dtype).strides


def _has_place(x):
    if isinstance(x, (tuple, list)):
        return any([_has_place(y) for y in x])
    return x.__class__ in (Place, Opaque)


def as_it_lies(owner):
    """A view of a dense array with its dimensions sorted by their strides, so that the view is C-contiguous."""
    if owner.flags.c_contiguous:
        return owner
    return owner.transpose(sorted(range(owner.ndim), key=lambda i: -owner.strides[i]))


def _part(memory, shape, dtype, offset, strides):
    """A view of the memory of an array. `offset` counts from the first element of the array."""
    if not memory.flags.c_contiguous:
        owner = owner_of(memory)
        offset += address(memory) - address(owner)
        memory = as_it_lies(owner)
    return np.ndarray(shape, dtype, memory, offset, strides)


def _fitting(found, shape, dtype, strides):
    """A copy of the result of a step in Python, with the strides that it had when the program was recorded."""
    if found.shape != shape or found.dtype != dtype:
        raise Changed
    n = Place(None, 0, shape, strides, dtype).reach()[1]
    made = np.ndarray(shape, dtype, np.empty(n, np.uint8), 0, strides)
    made[...] = found
    return made


#: More calls than an entry into C makes.
_ANY = 1 << 62


def _failed(code, names, room):
    """Raises the error for the result of a call in C that failed. Before any of the first `room` calls of this entry,
    nothing that lasts has been written, so the call of the program can run eagerly if one of these fails."""
    call, why = divmod(code, 4)
    name = names[min(call, len(names) - 1)]
    if why == 1:
        raise MemoryError("no memory for a kernel")
    if call < room or why == 3:
        raise Changed
    found = failing(name) if name in KERNELS else ""
    raise eval(native._OUTSIDE[found or ""])
