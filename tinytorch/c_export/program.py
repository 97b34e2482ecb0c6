"""The program that is being written: its memory, its lines, and loops over tensors."""
from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from .values import C_TYPES, Storage, Value, kind_of, placed

__all__ = ["Program", "by", "literal"]

#: Names that no variable may have.
_TAKEN = set("""auto break case char const continue default do double else enum extern float for goto if inline int
long register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
INFINITY NAN memory integers conditions main abs exp log sin cos tan tanh sqrt floor ceil round trunc pow index y0 y1
j0 j1 gamma erf""".split())


@lru_cache
def _functions():
    """{name of a function of functions.c: its text, with the comment above it}, in the order of the file."""
    text = __spec__.loader.get_data(os.path.join(os.path.dirname(__file__), "functions.c")).decode()
    found = re.findall(r"(?:^/\*(?:[^*]|\*(?!/))*\*/\n)?^static \w+ \**(\w+)\(.*?^\}\n", text, re.M | re.S)
    blocks = [m.group(0) for m in re.finditer(
        r"(?:^/\*(?:[^*]|\*(?!/))*\*/\n)?^static \w+ \**(\w+)\(.*?^\}\n", text, re.M | re.S)]
    return dict(zip(found, blocks))


def literal(x: Any, kind: str = "f") -> str:
    """A number as C writes it.

    >>> literal(.1), literal(float("inf")), literal(2, "i")
    ('0.100000001f', 'INFINITY', '2')
    """
    if kind != "f":
        return str(int(x))
    x = float(np.float32(x))
    if math.isnan(x):
        return "NAN"
    if math.isinf(x):
        return "INFINITY" if x > 0 else "-INFINITY"
    text = f"{x:.9g}"
    return text + ("f" if "." in text or "e" in text else ".0f")


def by(shape: Sequence[int]) -> str:
    """A shape as text.

    >>> by((2, 3))
    '2 x 3'
    """
    return " x ".join(map(str, shape)) or "one number"


class Program:
    """Lines of C, and the memory that they work on.

    name  of the function
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.inputs, self.outputs, self.constants = [], [], []
        self._lines, self._used, self._names, self._memory, self._shapes = [], set(), {name}, [], {}
        self._made = {}                        # {id of a tensor: its constant}

    # ------------------------------------------------------------- names and memory
    def unique(self, name: str) -> str:
        """A name in C that is not in use yet."""
        name = re.sub(r"\W", "_", name).strip("_") or "x"
        name = name if not name[0].isdigit() else "x" + name
        names, k, made = self._names | _TAKEN | set(_functions()), 1, name
        while made in names:
            made, k = f"{name}_{k}", k + 1
        self._names.add(made)
        return made

    def input(self, name: str, shape: Sequence[int], dtype: np.dtype) -> Value:
        """A tensor that the caller passes."""
        storage = Storage(self.unique(name), kind_of(dtype), math.prod(shape), "input")
        self.inputs.append(Value(storage, shape))
        return self.inputs[-1]

    def output(self, storage: Storage, shape: Sequence[int]) -> None:
        """Makes this memory a parameter of the function, for a result of this shape."""
        self.outputs.append(storage)
        self._shapes[storage] = tuple(shape)

    def results(self) -> list[tuple[Storage, tuple[int, ...]]]:
        """The memory of the outputs, each with its shape."""
        return [(s, self._shapes[s]) for s in self.outputs]

    def constant(self, tensor: Any, name: str) -> Value:
        """The values of a tensor, which the file holds once."""
        if id(tensor) not in self._made:
            array = np.ascontiguousarray(tensor.detach().numpy())
            storage = Storage(self.unique(name), kind_of(array.dtype), array.size, "constant")
            self.constants.append((storage, array))
            self._made[id(tensor)] = tensor, Value(storage, array.shape)
        return self._made[id(tensor)][1]

    def new(self, name: str, shape: Sequence[int], kind: str = "f") -> Value:
        """Memory for a tensor that is about to be computed."""
        storage = Storage(self.unique(name), kind, max(math.prod(shape), 1), "memory", len(self._lines))
        self._memory.append(storage)
        self._shapes[storage] = tuple(shape)
        return Value(storage, shape)

    def rename(self, storage: Storage, name: str) -> None:
        """Gives memory another name, in all lines."""
        name, before = self.unique(name), storage.name
        storage.name = name
        self._lines = [re.sub(rf"\b{before}\b", name, line) for line in self._lines]

    # ------------------------------------------------------------- lines
    def line(self, text: str, *values: Value | None) -> None:
        """A statement that reads or writes these values."""
        for value in values:
            if value is not None:
                value.storage.last = len(self._lines)
        self._lines.append(text)

    def call(self, function: str, *arguments: Any) -> None:
        """Calls a function of functions.c with numbers and dense values; None passes NULL."""
        self.need(function)
        values = [x for x in arguments if isinstance(x, Value)]
        self.line(f"{function}({', '.join([self.argument(x) for x in arguments])});", *values)

    def need(self, function: str) -> None:
        """Adds a function of functions.c to the file, with the functions that it calls."""
        if function not in self._used:
            self._used.add(function)
            text = _functions()[function]
            for other in _functions():
                if other != function and re.search(rf"\b{other}\(", text):
                    self.need(other)

    @staticmethod
    def argument(x: Any) -> str:
        """An argument of a function as C writes it."""
        if x is None:
            return "NULL"
        if isinstance(x, Value):
            return x.storage.name + (f" + {x.offset}" if x.offset else "")
        if isinstance(x, float):
            return literal(x)
        return str(int(x))

    # ------------------------------------------------------------- loops
    def loop(self, out: Value, text: str | Callable[..., str], *operands: Value) -> Value:
        """Writes `text` to each element of `out`: an expression of C with {0}, {1} ... for the elements of the
        operands, which are broadcast."""
        operands = [x.expanded(out.shape) for x in operands]
        shape, strides = _merged(out.shape, [out.strides, *[x.strides for x in operands]])
        letters = [f"i{d}" for d in range(len(shape))]
        heads = [f"for (int {i} = 0; {i} < {n}; {i}++)" for i, n in zip(letters, shape)]
        places = [f"{x.storage.name}[{_index(x.offset, s, letters)}]" for x, s in zip((out, *operands), strides)]
        body = f"{places[0]} = {text.format(*places[1:])};"
        self.line("\n    ".join([*[("    " * d) + h for d, h in enumerate(heads)], "    " * len(heads) + body]),
                  out, *operands)
        return out

    def dense(self, value: Value, name: str = "copy") -> Value:
        """The value itself if its elements lie row by row, else a copy for which this holds."""
        if value.is_dense():
            return value
        return self.loop(self.new(name, value.shape, value.kind), "{0}", value)

    # ------------------------------------------------------------- the file
    def text(self, head: str) -> str:
        """The file, which begins with the comment `head`."""
        parts = [f"/* {head} */\n#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n"]
        parts += [text for name, text in _functions().items() if name in self._used]
        for storage, array in self.constants:
            declared = f"static const {C_TYPES[storage.kind]} {storage.name}[{max(array.size, 1)}]"
            parts.append(f"/* {by(array.shape)} */\n{declared} = {{\n{_rows(array, storage.kind)}}};\n")
        parts.append(self._function())
        return "\n".join(parts)

    def signature(self) -> str:
        """The declaration of the function, without its semicolon."""
        given = [f"const {C_TYPES[v.kind]} *{v.storage.name}" for v in self.inputs]
        made = [f"{C_TYPES[s.kind]} *{s.name}" for s in self.outputs]
        return f"void {self.name}({', '.join(given + made)})"

    def _function(self):
        pools, lines = {"f": "memory", "i": "integers", "b": "conditions"}, []
        held = [s for s in self._memory if s.place == "memory"]
        starts = {}
        for kind, pool in pools.items():
            places, total = placed([s for s in held if s.kind == kind])
            if total:
                lines.append(f"    static {C_TYPES[kind]} {pool}[{total}];")
            starts.update({s: f"    {C_TYPES[kind]} *const {s.name} = {pool} + {at};  /* {by(self._shapes[s])} */"
                           for s, at in places.items()})
        lines += [starts[s] for s in held]
        lines += [f"    (void){v.storage.name};" for v in self.inputs]
        lines += ["    " + line for line in self._lines]
        return "\n".join([self.signature() + ";\n", self.signature(), "{", *lines, "}", ""])


def _rows(array, kind):
    flat, rows = [literal(x, kind) for x in array.reshape(-1).tolist()] or ["0"], ""
    for start in range(0, len(flat), 8):
        rows += "    " + ", ".join(flat[start:start + 8]) + ",\n"
    return rows


def _merged(shape, strides):
    """The shape and strides with as few dimensions as possible: neighbours that all operands can walk as one dimension
    are merged, and dimensions of one element are left out. At least one dimension remains."""
    sizes, steps = [], [[] for _ in strides]
    for d, n in enumerate(shape):
        if n == 1:
            continue
        if sizes and all([own[-1] == s[d] * n for own, s in zip(steps, strides)]):
            sizes[-1] *= n
            for own, s in zip(steps, strides):
                own[-1] = s[d]
            continue
        sizes.append(n)
        for own, s in zip(steps, strides):
            own.append(s[d])
    return (sizes, steps) if sizes else ([1], [[0] for _ in strides])


def _index(offset, strides, letters):
    terms = [i if s == 1 else f"{i} * {s}" for i, s in zip(letters, strides) if s]
    return " + ".join(([str(offset)] if offset or not terms else []) + terms)
