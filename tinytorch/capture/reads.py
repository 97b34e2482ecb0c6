"""Guards on the Python objects that a program reads. They must be the same at each replay.

A call reads more than its arguments: globals, variables around a function, attributes of objects and of their
attributes, items of lists and dicts. The search starts at the objects that `Watch` in effects.py found, and visits
everything that can be reached from them through the names in the code of the program's functions. Each step of the way
becomes a guard: a name in a dict, the items of a container, the elements of a NumPy array. A call that reads an object
that cannot be guarded, or that changes when it is read (an iterator), is not recorded.
"""
from __future__ import annotations

import functools
import operator
import os
import sys
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..autograd.identity import Same
from ..nn import Module
from ..optim import Optimizer
from ..tensor import Tensor

__all__ = ["Reads"]

_PACKAGE = __name__.partition(".")[0]
_MISSING = object()
_PLAIN = frozenset((str, bytes, int, float, complex, range, type(None), bool, type(...), slice))
#: The most objects that may be visited, and the most items of one container.
_MOST = 2000
_OF_MODULES = frozenset(("_parameters", "_buffers", "_non_persistent_buffers_set"))


class Reads:
    """Guards on the objects that are reached from `starts` through the attributes `names` (None: through any).

    reason   why one of them cannot be guarded, or None
    places   (dict, name, value): the dict has this value under the name; _MISSING: it has none
    cells    (cell, value) of variables around functions
    slots    (descriptor, object, value) of attributes in __slots__, and of the defaults of functions
    held     (container, a copy) of lists, dicts, sets and queues
    arrays   (array, its bytes)
    modules  (module, its `training`): compared at the end of a recording; between calls a counter shows its changes
    """

    def __init__(self, starts: list, names: set[str] | None) -> None:
        self.reason: str | None = None
        self.names = names
        self.places: list[tuple] = []
        self.cells: list[tuple] = []
        self.slots: list[tuple] = []
        self.held: list[tuple] = []
        self.arrays: list[tuple] = []
        self.modules: list[tuple[Module, bool]] = []
        self._seen: dict[int, Any] = {}
        self.codes: set[CodeType] = set()      # code of the functions that are reached
        self._todo = list(starts)
        while self._todo and self.reason is None:
            self._look(self._todo.pop())
            if len(self._seen) > _MOST:
                self.reason = f"it may read more than {_MOST} Python objects: pass them as arguments"
        self._seen.clear()

    def __call__(self) -> bool:
        """Whether all guarded objects are as they were."""
        for room, name, value in self.places:
            found = room.get(name, _MISSING)
            if found is not value and not _equal(found, value):
                return False
        return self._others_hold()

    def _others_hold(self):
        for cell, value in self.cells:
            try:
                if cell.cell_contents is not value:
                    return False
            except ValueError:
                return False
        for descriptor, x, value in self.slots:
            if _slot(descriptor, x) is not value:
                return False
        for x, before in self.held:
            if not same_content(x, before):
                return False
        return all([a.tobytes() == content for a, content in self.arrays])

    def condition(self, scope: dict[str, Any], same: Same | None) -> str:
        """The source of a condition that is true if `self()` is. It has no loops, so that it takes half the time. Its
        names are added to `scope`. It raises ValueError if a variable around a function has been deleted. Variables are
        added to `same` instead, if that is given."""
        scope.update(slow_reads=self, MISSING=_MISSING)
        tests = []
        for i, (room, name, value) in enumerate(self.places):
            scope[f"room{i}"], scope[f"value{i}"] = room.get, value
            tests.append(f"room{i}({name!r}, MISSING) is value{i}")
        if self.slots or self.held or self.arrays:
            scope["other_reads"] = self._others_hold
            tests.append("other_reads()")
        else:
            for i, (cell, value) in enumerate(self.cells):
                if same is not None:
                    same.cell(cell, value)
                    continue
                scope[f"cell{i}"], scope[f"held{i}"] = cell, value
                tests.append(f"cell{i}.cell_contents is held{i}")
        return f"({' and '.join(tests)} or slow_reads())" if tests else "True"

    def unwritten(self) -> bool:
        """Whether all guards hold at the end of a call, and no module has changed its `training`."""
        return self() and all([x.training is training for x, training in self.modules])

    # -------------------------------------------------------------- one object
    def _look(self, x):
        kind = x.__class__
        if kind in _PLAIN or isinstance(x, (Tensor, BuiltinFunctionType, Optimizer)):
            return
        key = id(x)
        if key in self._seen:
            return
        self._seen[key] = x
        if isinstance(x, (tuple, frozenset)):
            self._todo += x
        elif isinstance(x, (list, dict, set, deque)):
            self._contained(x)
        elif kind is FunctionType:
            self._function(x)
        elif kind is MethodType:
            self._todo += (x.__self__, x.__func__)
            return
        elif kind is CellType:
            return
        elif isinstance(x, functools.partial):
            self._todo += (x.func, x.args, x.keywords)
        elif isinstance(x, weakref.ref):
            self._todo.append(x())
        elif isinstance(x, ModuleType):
            if not known_elsewhere(x.__name__, getattr(x, "__file__", None) or ""):
                self._named(vars(x))
            return
        elif isinstance(x, type):
            self._class(x)
            return
        elif isinstance(x, np.ndarray):
            self._array(x)
        elif isinstance(x, Iterator) and kind.__module__.partition(".")[0] != _PACKAGE:
            self.reason = f"a {kind.__name__}, which advances when it is read"
        elif isinstance(x, (bytearray, memoryview)) or kind.__module__ in ("array", "_ctypes", "_thread", "ctypes"):
            self.reason = f"a {kind.__name__} that is read"
        if type(x).__module__.partition(".")[0] not in (_PACKAGE, "numpy", "builtins", "collections") or isinstance(
                x, Module):
            self._instance(x, kind)

    def _contained(self, x):
        if len(x) > _MOST:
            self.reason = f"a {type(x).__name__} of {len(x)} items that is read: pass the needed ones as arguments"
            return
        self.held.append((x, x.copy()))
        if isinstance(x, dict):
            self._todo += x.keys()
            self._todo += x.values()
        else:
            self._todo += x

    def _function(self, x):
        cells = x.__closure__ or ()
        if known_elsewhere(x.__module__ or "", x.__code__.co_filename):
            for cell in cells:                 # it may wrap a function of the program
                with suppress(ValueError):
                    if isinstance(cell.cell_contents, (FunctionType, MethodType)):
                        self._todo.append(cell.cell_contents)
            return
        self.codes.add(x.__code__)
        for cell in cells:
            try:
                value = cell.cell_contents
            except ValueError:
                continue
            self.cells.append((cell, value))
            self._todo.append(value)
        self._todo += (x.__defaults__, x.__kwdefaults__)
        for name in ("__defaults__", "__kwdefaults__"):
            if getattr(x, name) is not None:
                self.slots.append((operator.attrgetter(name), x, getattr(x, name)))
        wrapped = x.__dict__.get("__wrapped__")
        if wrapped is not None:
            self._todo.append(wrapped)

    def _array(self, x):
        if x.nbytes > 4096:
            self.reason = "a NumPy array of more than 4096 bytes that is read: pass it as a tensor"
        elif x.dtype.hasobject:
            self.reason = "an array of objects"
        else:
            self.arrays.append((x, x.tobytes()))

    def _instance(self, x, kind):
        own = getattr(x, "__dict__", None)
        if isinstance(own, dict):
            self._named(own, kind)
            if isinstance(x, Module):
                self.modules.append((x, x.training))
                self._todo += own.get("_modules", {}).values()
        if not isinstance(x, Module) or kind.__module__.partition(".")[0] != _PACKAGE:
            self._class(kind)
        for name, descriptor in _members(kind):
            if self.names is None or name in self.names:
                value = _slot(descriptor, x)
                self.slots.append((descriptor, x, value))
                self._todo.append(value)

    def _class(self, x):
        for base in x.__mro__:
            if not known_elsewhere(base.__module__, ""):
                self._named(vars(base))
            elif base.__module__.partition(".")[0] != _PACKAGE and base is not object:
                return

    def _named(self, room, kind=None):
        """Guards the values of a dict of attributes whose names are read.

        `kind` is the class of the object that has the dict. If the class has a name that the dict has not, a guard
        checks that the dict still lacks it.
        """
        names = self.names
        for name in [x for x in room if names is None or x in names]:
            value = room[name]
            if name[:2] == "__" == name[-2:] or name in _OF_MODULES:
                continue
            self.places.append((room, name, value))
            if isinstance(value, property):
                value = value.fget
            elif isinstance(value, (staticmethod, classmethod)):
                value = value.__func__
            self._todo.append(value)
        if kind is not None and names is not None and not issubclass(kind, Module):
            for name in names:
                if name not in room and any([name in vars(base) for base in kind.__mro__[:-1]]):
                    self.places.append((room, name, _MISSING))


class _Slotted:
    __slots__ = ("a",)


_MEMBER = type(_Slotted.a)


@functools.lru_cache(maxsize=4096)
def _members(kind: type) -> list[tuple[str, Any]]:
    """(name, descriptor) of each attribute in the __slots__ of a class and its bases."""
    return [(name, x) for base in kind.__mro__ for name, x in vars(base).items() if type(x) is _MEMBER]


def _equal(a, b):
    return a.__class__ is b.__class__ and a.__class__ in _PLAIN and repr(a) == repr(b)


def _slot(descriptor, x):
    try:
        return descriptor(x) if descriptor.__class__ is operator.attrgetter else descriptor.__get__(x)
    except AttributeError:
        return _MISSING


_PLACE = os.path.dirname(os.__file__)


@functools.lru_cache(maxsize=4096)
def known_elsewhere(module: str, file: str) -> bool:
    """Whether a module is the library's, NumPy's or Python's own. Its attributes are not guarded."""
    root = module.partition(".")[0]
    if root in (_PACKAGE, "numpy", "builtins") or file.startswith("<frozen"):
        return True
    file = file or getattr(sys.modules.get(module), "__file__", None) or ""
    return root in sys.stdlib_module_names and root != "__main__" and (not file or file.startswith(_PLACE))


def same_content(a: Any, b: Any) -> bool:
    """Whether two containers have the same items: the same objects, or for sets, equal ones."""
    if len(a) != len(b):
        return False
    if isinstance(a, dict):
        return all(map(operator.is_, a, b)) and all(map(operator.is_, a.values(), b.values()))
    return a == b if isinstance(a, (set, frozenset)) else all(map(operator.is_, a, b))
