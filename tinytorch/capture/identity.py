"""Whether objects are where they were, asked of many objects by one call of C (native/objects.c).

A guard such as `tensor._array is array` takes Python about 20 nanoseconds, and C one or two. The fields of tensors and
of the variables around functions lie at fixed offsets, which are found by looking for known objects. Where they are not
found (another Python than CPython), or where other threads could change a dict meanwhile (Python without the lock),
`same` is None, and the guards are written in Python.
"""
from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from types import CellType
from typing import Any

import numpy as np

from ..kernels import native
from ..kernels.native.objects import builtin_of_library
from ..tensor import Tensor, wrap

try:
    import ctypes
except ImportError:                            # as in browsers: no library can be loaded
    ctypes = None

__all__ = ["Same", "same"]

_FIELD, _ITEM, _ARRAY_OF_ITEM, _NUMBER = range(4)


class Same:
    """Objects and the places where they must be. `packed()` is the argument of `same`, which is valid as long as this
    object lives."""

    def __init__(self) -> None:
        self.words: list[int] = []
        self.held: list[Any] = []              # what the addresses belong to

    def packed(self) -> bytes:
        return struct.pack(f"{len(self.words) + 1}q", len(self.words) // 4, *self.words)

    def _add(self, kind, owner, at, key, x):
        self.held += [owner, key, x]
        self.words += [kind, id(owner) + at, 0 if key is None else id(key), id(x)]

    def tensor(self, tensor: Tensor, array: np.ndarray, flag: bool) -> None:
        """The tensor has this array, and its `_requires_grad` is `flag`."""
        self._add(_FIELD, tensor, _offsets["array"], None, array)
        self._add(_FIELD, tensor, _offsets["flag"], None, flag)

    def cell(self, cell: CellType, value: Any) -> None:
        """A variable around a function has this value."""
        self._add(_FIELD, cell, _offsets["cell"], None, value)

    def item(self, room: dict, key: Any, value: Any) -> None:
        """The dict has this value under the key."""
        self._add(_ITEM, room, 0, key, value)

    def array_of_item(self, room: dict, key: Any, array: np.ndarray) -> None:
        """The dict has a tensor of class Tensor under the key, and this is its array."""
        self._add(_ARRAY_OF_ITEM, room, 0, key, array)

    def number(self, array: np.ndarray, other: np.ndarray) -> None:
        """Two arrays of one dtype hold the same number."""
        self.held += [array, other]
        self.words += [_NUMBER, *[x.__array_interface__["data"][0] for x in (array, other)], array.nbytes]


_offsets: dict[str, int] = {}


def _offset(x, inside):
    """The offset of the one field of an object that holds the object `inside`."""
    size = struct.calcsize("P")
    fields = (ctypes.c_void_p * (type(x).__basicsize__ // size)).from_address(id(x))
    found = [i for i, field in enumerate(fields) if field == id(inside)]
    if len(found) != 1:
        raise TypeError("the fields of an object are not found")
    return found[0] * size


def _found():
    if ctypes is None or native.level() is None or sys.implementation.name != "cpython" or (
            not getattr(sys, "_is_gil_enabled", lambda: True)()):
        return None
    try:
        tensor, cell = wrap(np.zeros(2)), CellType(_offsets)
        _offsets.update(array=_offset(tensor, tensor._array), flag=_offset(tensor, False), cell=_offset(cell, _offsets))
        functions = [ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
                     for name in ("PyDict_GetItem", "PyBool_FromLong")]
        library = native._loaded[1]
        library.set_identity.restype, library.set_identity.argtypes = None, (ctypes.c_char_p,)
        library.set_identity(struct.pack("4q", id(Tensor), _offsets["array"], *functions))
        made = builtin_of_library(library, "same")
        return made if _agrees(made) else None
    except (AttributeError, TypeError, ValueError):
        return None


def _agrees(made):
    """Whether C finds in a few objects what Python finds."""
    array, value = np.zeros(3), object()
    tensor, cell, room = wrap(array), CellType(value), {"a": value, "b": wrap(array)}
    held = Same()
    held.tensor(tensor, array, False)
    held.cell(cell, value)
    held.item(room, "a", value)
    held.array_of_item(room, "b", array)
    held.number(np.ones(1), one := np.ones(1))
    packed, found = held.packed(), []

    def look(change, back):
        change()
        found.append(made(packed))
        back()
    look(lambda: None, lambda: None)
    for owner, name, other in ((tensor, "_array", np.zeros(3)), (tensor, "_requires_grad", True),
                               (cell, "cell_contents", room), (room["b"], "_array", np.zeros(3))):
        before = getattr(owner, name)
        look(lambda: setattr(owner, name, other), lambda: setattr(owner, name, before))    # noqa: B023
    for key in ("a", "b"):
        before = room[key]
        look(lambda: room.pop(key), lambda: room.update({key: before}))                    # noqa: B023
        look(lambda: room.update({key: 1}), lambda: room.update({key: before}))            # noqa: B023
    look(lambda: one.fill(2), lambda: one.fill(1))
    look(lambda: None, lambda: None)
    return found == [True, *[False] * 9, True]


#: same(packed) -> whether the objects of a `Same` are where they were; or None.
same: Callable[[bytes], bool] | None = _found()
