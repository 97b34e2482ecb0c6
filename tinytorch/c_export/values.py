"""The values of an exported program: memory, and tensors that are views of it."""
from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

__all__ = ["C_TYPES", "Storage", "Value", "dense_strides", "placed"]

#: The types of C for the kinds of dtypes. Every floating-point dtype becomes single precision.
C_TYPES = {"f": "float", "i": "int64_t", "u": "int64_t", "b": "unsigned char"}


class Storage:
    """Memory of one type.

    name   of the variable in C
    kind   "f", "i" or "b": floating-point numbers, integers, conditions
    size   the number of elements
    place  "input", "output", "constant" or "memory"
    first  the step that makes it; `last` is the last step that uses it. In between it keeps its place
    """

    __slots__ = ("first", "kind", "last", "name", "place", "size")

    def __init__(self, name: str, kind: str, size: int, place: str, step: int = 0) -> None:
        self.name, self.kind, self.size, self.place = name, kind, size, place
        self.first = self.last = step


class Value:
    """A tensor: elements of a storage, which begin at `offset` and lie at `strides`, both counted in elements."""

    __slots__ = ("offset", "shape", "storage", "strides")

    def __init__(self, storage: Storage, shape: Sequence[int], strides: Sequence[int] | None = None,
                 offset: int = 0) -> None:
        self.storage, self.shape, self.offset = storage, tuple(shape), offset
        self.strides = dense_strides(self.shape) if strides is None else tuple(strides)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def kind(self) -> str:
        """The kind of its storage."""
        return self.storage.kind

    def is_dense(self) -> bool:
        """Whether its elements lie row by row without gaps."""
        return all([n == 1 or a == b for n, a, b in zip(self.shape, self.strides, dense_strides(self.shape))])

    def viewed(self, shape: Sequence[int], strides: Sequence[int], offset: int | None = None) -> Value:
        """The same memory in another shape. `offset` None keeps the offset of this value."""
        return Value(self.storage, shape, strides, self.offset if offset is None else offset)

    def expanded(self, shape: Sequence[int]) -> Value:
        """The value repeated along dimensions of one element, and along new dimensions in front."""
        more = len(shape) - len(self.shape)
        own = (*[1] * more, *self.shape)
        strides = [0 if n == 1 and m != 1 else s for n, m, s in zip(own, shape, (*[0] * more, *self.strides))]
        return self.viewed(shape, strides)


def dense_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of a tensor whose elements lie row by row.

    >>> dense_strides((2, 3, 4))
    (12, 4, 1)
    """
    strides, n = [], 1
    for size in reversed(shape):
        strides.append(n)
        n *= size
    return tuple(reversed(strides))


def placed(storages: list[Storage]) -> tuple[dict[Storage, int], int]:
    """({storage: its offset}, the size of the memory). Storages that are in use at the same time do not overlap. The
    largest storages are placed first, each in the first gap that is large enough."""
    places, total = {}, 0
    for storage in sorted(storages, key=lambda s: -s.size):
        beside = sorted([(places[s], places[s] + s.size) for s in places
                         if s.first <= storage.last and storage.first <= s.last])
        at = 0
        for first, last in beside:
            if at + storage.size <= first:
                break
            at = max(at, last)
        places[storage] = at
        total = max(total, at + storage.size)
    return places, total


def kind_of(dtype: np.dtype) -> str:
    """ "f", "i" or "b"; TypeError for a dtype without a counterpart in C."""
    found = {"f": "f", "i": "i", "u": "i", "b": "b"}.get(np.dtype(dtype).kind)
    if found is None:
        raise TypeError(f"export_c: numbers of {dtype} have no counterpart in the program")
    return found
