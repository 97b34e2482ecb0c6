"""Whether objects are where they were, and arguments as they were, asked of many objects by one call of C
(native/objects.c).

A guard such as `tensor._array is array` takes Python about 20 nanoseconds, and C one or two. The fields of tensors and
of the variables around functions lie at fixed offsets, which are found by looking for known objects. Where they are not
found (another Python than CPython), or where other threads could change a dict meanwhile (Python without the lock),
`same` is None, and the guards are written in Python.
"""
from __future__ import annotations

import gc
import struct
import sys
from collections import defaultdict
from collections.abc import Callable
from types import CellType
from typing import Any

import numpy as np

from ..kernels import native
from ..kernels.native.objects import builtin_of_library, new_array
from ..tensor import Tensor, wrap

try:
    import ctypes
except ImportError:                            # as in browsers: no library can be loaded
    ctypes = None                              # type: ignore[assignment]

__all__ = ["ALONE", "ITEM", "NEVER", "Same", "Signature", "UNCHANGED", "fits", "launch", "same",
           "settle", "wrapped"]

_FIELD, ITEM, _NUMBER, _NO_ITEM, ALONE, UNCHANGED = range(6)
_OBJECT, _TENSOR = range(2)


class Same:
    """Objects and the places where they must be. `packed()` is the argument of `same`, which is valid as long as this
    object lives."""

    def __init__(self) -> None:
        self.words: list[int] = []
        self.rooms: dict[int, list[int]] = {}  # id of a dict that has versions -> words
        self.held: list[Any] = []              # what the addresses belong to

    def packed(self) -> bytes:
        words = []
        for room, of_room in self.rooms.items():
            words += [UNCHANGED, room, 0, len(of_room) // 4, *of_room]
        words += self.words
        return struct.pack(f"{len(words) + 1}q", len(words) // 4, *words)

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
        self._add(ITEM, room, 0, key, value)

    def item_of_dict(self, room: dict, key: Any, value: Any) -> None:
        """The same for a dict that is changed as a dict alone, not as the attributes of an object."""
        self.held += [room, key, value]
        self.rooms.setdefault(id(room), []).extend([ITEM, id(room), id(key), id(value)])

    def no_item_of_dict(self, room: dict, key: Any) -> None:
        """Such a dict has None or nothing under the key."""
        self.held += [room, key]
        self.rooms.setdefault(id(room), []).extend([_NO_ITEM, id(room), id(key), 0])

    def array(self, tensor: Tensor, array: np.ndarray) -> None:
        """The tensor has this array."""
        self._add(_FIELD, tensor, _offsets["array"], None, array)

    def no_item(self, room: dict, key: Any) -> None:
        """The dict has None or nothing under the key."""
        self._add(_NO_ITEM, room, 0, key, None)

    def number(self, array: np.ndarray, other: np.ndarray) -> None:
        """Two arrays of one dtype hold the same number."""
        self.held += [array, other]
        self.words += [_NUMBER, *[x.__array_interface__["data"][0] for x in (array, other)], array.nbytes]


class Signature:
    """The arguments that a call must have. `packed()` is the first argument of `fits`, which is valid as long as this
    object lives."""

    def __init__(self) -> None:
        self.words: list[int] = []
        self.held: list[Any] = []
        self.count = self.tensors = 0

    def packed(self) -> bytes:
        return struct.pack(f"{len(self.words) + 1}q", self.count, *self.words)

    def object(self, x: Any) -> None:
        """The next argument is this object."""
        self.count += 1
        self.held.append(x)
        self.words += [_OBJECT, id(x)]

    def tensor(self, tensor: Tensor, first: int | None = None) -> None:
        """The next argument is a tensor like this one. It shares memory with tensor number `first` and with none before
        that; None: with no earlier one."""
        array = tensor._array
        self.held += [tensor.__class__, array.dtype]
        words = [id(tensor.__class__), id(array.dtype), array.ndim, id(tensor._requires_grad),
                 int(tensor._node is not None), *array.shape, *array.strides]
        self.words += [_TENSOR, self.tensors if first is None else first, len(words), *words]
        self.count += 1
        self.tensors += 1


#: The argument of `same` that never holds: an object that no dict has.
NEVER = b""

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
    """(same, settle, wrapped, fits, launch)"""
    global NEVER
    if ctypes is None or native.level() is None or sys.implementation.name != "cpython" or (
            not getattr(sys, "_is_gil_enabled", lambda: True)()):
        return (None,) * 5
    try:
        tensor, cell = wrap(np.zeros(2)), CellType(_offsets)
        tensor._node = tensor._view_info = object()    # two fields with the same object are not found
        tensor._view_info = struct
        _offsets.update(array=_offset(tensor, tensor._array), flag=_offset(tensor, False), cell=_offset(cell, _offsets),
                        version=_offset(tensor, tensor._version_counter), node=_offset(tensor, tensor._node),
                        view=_offset(tensor, tensor._view_info))
        functions = [ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
                     for name in ("PyDict_GetItem", "PyBool_FromLong", "PyList_GetItem", "PyObject_GetAttr",
                                  "PyDict_SetItem", "PyList_SetItem", "PyList_New", "PyType_GenericNew")]
        library = native._loaded[1]
        library.set_identity.restype, library.set_identity.argtypes = None, (ctypes.c_char_p,)
        library.set_identity(struct.pack(
            "19q", *[id(x) for x in (list, Tensor, False, _GRAD, _HOOKS)],
            *[_offsets[x] for x in ("array", "flag", "version", "node", "view")], _version_of_dicts(), *functions))
        made = [builtin_of_library(library, name, several) for name, several in (
            ("same", False), ("settle", False), ("wrapped", False), ("fits", True), ("launch", True))]
        never = Same()
        never.item(_offsets, _GRAD, None)
        NEVER = never.packed()
        return made if _agrees(*made) else (None,) * 5
    except (AttributeError, TypeError, ValueError):
        return (None,) * 5


def _version_of_dicts():
    """The offset of a dict's version, which any change increases; 0 where dicts have none (from Python 3.14 on)."""
    at, seen = object.__basicsize__ + struct.calcsize("P"), []
    if struct.calcsize("P") < 8 or dict.__basicsize__ < at + 8:
        return 0
    room: Any
    other: Any
    for room, other in (({}, {"a": 1}), (defaultdict(int), defaultdict(int, a=1))):
        value = object()
        for change in (lambda: None, lambda: room.update(a=1), lambda: room.update(a=2), lambda: room.pop("a"),   # noqa: B023
                       lambda: room.__setitem__(value, 1), lambda: room.__delitem__(value),                       # noqa: B023
                       lambda: room.setdefault("b", 3), room.popitem, lambda: room.update(other), room.clear):    # noqa: B023
            change()
            seen.append(ctypes.c_uint64.from_address(id(room) + at).value)
        seen.append(ctypes.c_uint64.from_address(id(other) + at).value)
    return at if len(set(seen)) == len(seen) and all(seen) else 0


def _agrees(same, settle, wrapped, fits, launch):
    """Whether C finds in a few objects what Python finds, and makes the same tensors. `launch` returns arrays, for
    which it needs NumPy's function."""
    array = np.zeros(3)
    before = sys.getrefcount(array)
    made, twin = wrapped(array), wrap(array)
    alike = made.__class__ is Tensor and sys.getrefcount(array) == before + 2 and gc.is_tracked(made) and all(
        [getattr(made, name) == getattr(twin, name) for name in ("_node", "_requires_grad", "_version_counter",
                                                                 "_view_info")]) and made._array is array
    return alike and new_array() != 0 and _finds_changes(same) and _finds_references(same) and _settles(settle) and (
        _compares_arguments(fits))


def _finds_changes(same):
    array, value = np.zeros(3), object()
    tensor, cell, room = wrap(array), CellType(value), {"a": value, "c": None}
    held = Same()
    held.tensor(tensor, array, False)
    held.cell(cell, value)
    held.item(room, "a", value)
    held.no_item(room, "c")
    held.number(np.ones(1), one := np.ones(1))
    plain = {"x": value, array.size: 5}
    held.item_of_dict(plain, "x", value)
    held.item_of_dict(plain, array.size, plain[array.size])
    held.array(third := wrap(array), array)
    packed, found = held.packed(), []

    def look(change, back):
        change()
        found.append(same(packed))
        back()
    look(lambda: None, lambda: None)
    for owner, name, other in ((tensor, "_array", np.zeros(3)), (tensor, "_requires_grad", True),
                               (cell, "cell_contents", room), (third, "_array", np.zeros(3))):
        before = getattr(owner, name)
        look(lambda: setattr(owner, name, other), lambda: setattr(owner, name, before))    # noqa: B023
    look(lambda: room.pop("a"), lambda: room.update(a=value))
    look(lambda: room.update(a=1), lambda: room.update(a=value))
    look(lambda: one.fill(2), lambda: one.fill(1))
    look(lambda: room.update(c=1), lambda: room.pop("c"))
    look(lambda: plain.update(x=5), lambda: plain.update(x=value))
    look(lambda: plain.pop("x"), lambda: plain.update(x=value))
    look(lambda: plain.update({array.size: 6}), lambda: plain.update({array.size: 5}))
    look(lambda: None, lambda: None)
    look(lambda: plain.update(y=1), lambda: None)
    look(lambda: plain.update(x=5), lambda: None)
    return found == [True, *[False] * 11, True, True, False] and not same(NEVER)


def _finds_references(same):
    held: list[Any] = [wrap(np.zeros(3))]
    room: dict[str, Any] = {}
    held.append(held[0]._array)
    packed = struct.pack("5q", 1, ALONE, id(room), id(held[0]), id(held[1]))
    found = [same(packed)]                     # nothing else refers to them, and there is no gradient
    room["_grad"] = held[0]
    found.append(same(packed))                 # it is the gradient
    more = [held[0]]
    found.append(same(packed))                 # somebody holds the tensor
    more[0] = held[1]
    found.append(same(packed))                 # or its array
    more.clear()
    room["_grad"] = more
    found.append(same(packed))                 # another gradient
    room["_grad"] = None
    found.append(same(packed))
    held[0]._requires_grad = True
    found.append(same(packed))
    held[0]._requires_grad = False
    held[0]._array = np.zeros(3)
    found.append(same(packed))
    return found == [True, True, False, False, False, True, False, False] and sys.getrefcount(more) < 4


def _settles(settle):
    room: dict[str, Any] = {}
    gradient, written = wrap(np.zeros(3)), [wrap(np.zeros(3)) for _ in range(2)]
    packed = struct.pack("6q", 1, 2, id(room), id(gradient), *[id(x) for x in written])
    before = sys.getrefcount(gradient)
    done = settle(packed), settle(packed)
    alike = (room == {"_grad": gradient} and sys.getrefcount(gradient) == before + 1
             and [x._version_counter for x in written] == [[2], [2]])
    written[1]._version_counter, room["_grad"] = _Cell([2]), None
    return done == (True, True) and alike and settle(packed) is False and room["_grad"] is None and (
        written[0]._version_counter == [2])


class _Cell(list):
    """A version cell of another kind."""


def _compares_arguments(fits):
    whole = np.zeros((4, 3), np.float32)
    x, y, hooked, flagged = wrap(whole), wrap(np.zeros((4, 3), np.float32)), wrap(whole), wrap(whole)
    hooked._hooks, flagged._requires_grad = {}, True
    one, two = Signature(), Signature()
    one.tensor(x)
    one.object(None)
    two.tensor(x)
    two.tensor(y)
    shared = Signature()
    shared.tensor(x)
    shared.tensor(wrap(whole[:]), 0)
    node = wrap(whole)
    node._node = node
    cases = [(one, (x, None), 1), (one, (y, None), 1), (one, (x, 1), -1), (one, (x,), 0), (one, (x, None, 1), 0),
             (one, (None, x), 0), (two, (x, y), 1), (two, (x, x), 0), (two, (x, wrap(whole)), 0), (two, (y, x), 1),
             (shared, (x, wrap(whole)), 1), (shared, (wrap(whole[:]), x), 1), (shared, (x, y), 0),
             (two, (x, wrap(np.ndarray((4, 3), np.float32, bytearray(48)))), -1),
             *[(one, (other, None), 0) for other in (
                 hooked, flagged, node, wrap(whole[:3]), wrap(whole[:, :2]), wrap(whole.reshape(3, 4)), whole,
                 wrap(whole.T), wrap(whole[::-1]), wrap(whole.astype(np.int32)), wrap(whole.reshape(2, 2, 3)))]]
    return [fits(signature.packed(), args) for signature, args, _ in cases] == [n for *_, n in cases]


_GRAD, _HOOKS = "_grad", "_hooks"
#: same(packed) -> whether the objects of a `Same` are where they were; or None.
same: Callable[[bytes], bool] | None
#: settle(packed) -> whether it noted gradients and writes, which come in bytes as objects.c says; or None.
settle: Callable[[bytes], bool] | None
#: wrapped(array) -> what `wrap` of tensor.py returns while no thread is in inference mode; or None.
wrapped: Callable[[np.ndarray], Tensor] | None
#: fits(packed, args) -> 1: the arguments are those of a `Signature`; 0: not; -1: perhaps. Or None.
fits: Callable[[bytes, tuple], int] | None
#: launch(packed, *arrays, *numbers) -> the array that a program makes, or a number (see objects.c); or None.
launch: Callable | None
same, settle, wrapped, fits, launch = _found()
