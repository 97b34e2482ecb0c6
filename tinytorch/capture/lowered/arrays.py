"""Arrays that stand in for the arrays of a program while it is lowered, so that every operation on them is recorded.

A `Traced` is an ndarray with placeholder contents. Its shape, its strides and its place in memory are the ones that the
replayed program will have, and a view of it is a view of the same memory. A computation with it is recorded on the tape
(tape.py). Code that would read its values, or that would compute without the tape, gets NotLowered.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["NotLowered", "Place", "Reading", "Root", "Traced"]


class NotLowered(NotImplementedError):
    """This cannot be done in C, so Python runs the step."""


class Root:
    """A block of memory of a program.

    kind    "made": the program allocates it within its planned block
            "fresh": it leaves the program, so each call allocates it anew
            "given": it belongs to an argument or to the result of a step in Python, and its address changes per call
            "kept": it belongs to an array that keeps its address, such as a parameter
            "constant": it belongs to an array that nothing writes to
    array   the array of bytes that owns the memory during tracing
    real    the actual array if the kind is "kept" or "constant"
    seed    the seed of its placeholder contents during tracing
    """

    __slots__ = ("kind", "array", "real", "number", "slot", "seed", "within")

    def __init__(self, kind: str, array: np.ndarray, number: int, real: np.ndarray | None = None) -> None:
        self.kind, self.array, self.number, self.real = kind, array, number, real
        self.slot, self.seed, self.within = None, 0, 0

    @property
    def nbytes(self) -> int:
        return self.array.nbytes


class Place(NamedTuple):
    """The location and layout of an array in the memory of a root. `offset` and `strides` are in bytes."""

    root: Root
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype

    @property
    def size(self) -> int:
        n = 1
        for m in self.shape:
            n *= m
        return n

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def contiguous(self) -> bool:
        step = self.dtype.itemsize
        for n, stride in zip(self.shape[::-1], self.strides[::-1]):
            if n != 1 and stride != step:
                return False
            step *= n
        return True

    def reach(self) -> tuple[int, int]:
        """The range of bytes that the array spans in the memory of its root: (first, last + 1)."""
        if not self.size:
            return self.offset, self.offset
        ends = [(n - 1) * s for n, s in zip(self.shape, self.strides)]
        return (self.offset + sum([e for e in ends if e < 0]),
                self.offset + sum([e for e in ends if e > 0]) + self.dtype.itemsize)


class Reading(float):
    """A number that each call of the program reads anew by evaluating the expression `text`. A decision that depends on
    it is appended to `decided` as (text, outcome), and the program is valid while the outcome stays the same."""

    __slots__ = ("text", "decided")

    def __new__(cls, value: float, text: str, decided: list) -> Reading:
        made = float.__new__(cls, value)
        made.text, made.decided = text, decided
        return made

    def __bool__(self):
        return self._decide(float.__bool__(self), f"bool({self.text})")

    def _decide(self, outcome, text):
        self.decided.append((text, outcome))
        return outcome

    def __hash__(self):
        return float.__hash__(self)

    def exactly(self) -> Reading:
        """float(self), but as a Reading."""
        return Reading(float.__add__(self, 0.0), f"float({self.text})", self.decided)


def _text(x):
    return x.text if x.__class__ is Reading else repr(x)


def _arithmetic(word, sign):
    plain, reflected = getattr(float, f"__{word}__"), getattr(float, f"__r{word}__")

    def forward(self, other):
        if not isinstance(other, (int, float)):
            return NotImplemented
        return Reading(plain(self, other), f"({self.text} {sign} {_text(other)})", self.decided)

    def backward(self, other):
        if not isinstance(other, (int, float)):
            return NotImplemented
        return Reading(reflected(self, other), f"({_text(other)} {sign} {self.text})", self.decided)
    return forward, backward


for _word, _sign in (("add", "+"), ("sub", "-"), ("mul", "*"), ("truediv", "/"), ("pow", "**")):
    _forward, _backward = _arithmetic(_word, _sign)
    setattr(Reading, f"__{_word}__", _forward)
    setattr(Reading, f"__r{_word}__", _backward)
Reading.__neg__ = lambda self: Reading(float.__neg__(self), f"(-{self.text})", self.decided)
Reading.__abs__ = lambda self: Reading(float.__abs__(self), f"abs({self.text})", self.decided)


def _comparison(word, sign):
    plain = getattr(float, f"__{word}__")

    def compare(self, other):
        outcome = plain(self, other)
        return outcome if outcome is NotImplemented else self._decide(outcome, f"({self.text} {sign} {_text(other)})")
    return compare


for _word, _sign in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("eq", "=="), ("ne", "!=")):
    setattr(Reading, f"__{_word}__", _comparison(_word, _sign))


class Traced(np.ndarray):
    """An array whose operations are recorded on `tape`: see the docstring of the module."""

    def __new__(cls, shape, dtype=float, buffer=None, offset=0, strides=None):
        if not isinstance(buffer, Traced):
            raise NotLowered("an array of memory outside the program")
        made = np.ndarray.__new__(cls, shape, dtype, buffer, offset, strides)
        made.tape = buffer.tape
        return made

    def __array_finalize__(self, source):
        self.tape = getattr(source, "tape", None)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return self.tape.ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function, types, args, kwargs):
        return self.tape.function(function, args, kwargs)

    # ndarray itself makes views: slices, transpose, swapaxes, squeeze, view, diagonal
    def __getitem__(self, index):
        self.tape.check_index(index)
        found = np.ndarray.__getitem__(self, index)
        if isinstance(found, np.ndarray):
            return found
        return np.ndarray.__getitem__(self, (*index, ...) if type(index) is tuple else (index, ...))

    def __setitem__(self, index, value):
        self.tape.check_index(index)
        self.tape.move(value, self[index])

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def view(self, *args, **kwargs):
        found = np.ndarray.view(self, *args, **kwargs)
        if type(found) is not Traced:
            raise NotLowered("a view of another class")
        return found

    def reshape(self, *shape, **kwargs):
        asked = kwargs.pop("copy", None)
        if asked is True or kwargs.get("order", "C") != "C":
            raise NotLowered("reshape in another order")
        found = np.ndarray.reshape(self, *shape)
        if asked is False and not self.tape.known(found):
            raise ValueError("reshape would copy")
        return found if self.tape.known(found) else self.tape.moved(self).reshape(*shape)

    def ravel(self, order="C"):
        if order == "K" and not self.flags.c_contiguous:
            found = np.ndarray.ravel(self, "K")
            if self.tape.known(found):
                return found
            raise NotLowered("ravel")
        return self.reshape(-1)

    def flatten(self, order="C"):
        if order != "C":
            raise NotLowered("flatten in another order")
        return self.copy().reshape(-1)

    def copy(self, order="C"):
        return self.tape.moved(self, order)

    def __copy__(self):
        return self.tape.moved(self, "K")

    def __deepcopy__(self, memo):
        return self.tape.moved(self, "K")

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        dtype = np.dtype(dtype)
        if dtype == self.dtype:
            return self.tape.moved(self, order) if copy else self
        return self.tape.cast(self, dtype, order)

    def fill(self, value):
        self.tape.move(value, self)

    def dot(self, other, out=None):
        return self.tape.dot(self, other, out)

    def conj(self):
        return self.conjugate()

    def conjugate(self):
        if self.dtype.kind == "c":
            raise NotLowered("complex numbers")
        return self

    def clip(self, low=None, high=None, out=None):
        return self.tape.clip(self, low, high, out)

    def sum(self, axis=None, dtype=None, out=None, keepdims=False):
        if dtype is not None or out is not None:
            raise NotLowered("a sum in another dtype")
        return np.add.reduce(self, axis=axis, keepdims=keepdims)

    def max(self, axis=None, out=None, keepdims=False):
        return np.maximum.reduce(self, axis=axis, keepdims=keepdims)

    def min(self, axis=None, out=None, keepdims=False):
        return np.minimum.reduce(self, axis=axis, keepdims=keepdims)

    def mean(self, axis=None, dtype=None, out=None, keepdims=False):
        total = self.sum(axis, dtype, out, keepdims)
        return total / (self.size // max(total.size, 1))


def _refused(name):
    def refuse(self, *args, **kwargs):
        raise NotLowered(f"ndarray.{name}")
    return refuse


#: Methods that return views, apart from those that Traced overrides. Every other method would compute without the
#: tape or would read values, so it is refused.
_VIEWS = {"transpose", "swapaxes", "squeeze", "diagonal", "setflags"}
for _name, _method in vars(np.ndarray).items():
    if callable(_method) and _name[0] != "_" and _name not in vars(Traced) and _name not in _VIEWS:
        setattr(Traced, _name, _refused(_name))
for _name in ("__contains__", "__format__", "__array__", "__reduce__", "__reduce_ex__", "__complex__"):
    setattr(Traced, _name, _refused(_name))


def _hidden(name):
    return property(lambda self: (_ for _ in ()).throw(NotLowered(f"ndarray.{name}")))


#: Attributes that expose the memory itself.
for _name in ("flat", "data", "ctypes"):
    setattr(Traced, _name, _hidden(_name))


def _of_constant(name):
    plain = getattr(np.ndarray, name)

    def look(self, *args):
        if self.tape is None or self.tape.owner(self).kind != "constant":
            raise NotLowered(f"ndarray.{name}")
        return plain(np.ndarray.view(self, np.ndarray), *args)
    return look


#: Methods that read values. Only the values of constants are known while tracing.
for _name in ("item", "tolist", "__bool__", "__int__", "__float__", "__index__"):
    setattr(Traced, _name, _of_constant(_name))
