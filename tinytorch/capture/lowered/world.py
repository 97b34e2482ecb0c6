"""Functions on arrays as they are, with another NumPy and other kernels beneath them.

A function of this package that computes with ndarrays finds NumPy, the door to the kernels in C (kernels/native) and
its like by names in its module and its closure. `World.function` makes a copy of it whose names find what the world has
in the place of those, and copies of this kind for what else it calls: so the text of a kernel is what is traced, and
nothing that others use is exchanged.
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from .arrays import Reading

_PACKAGE = __name__.partition(".")[0]


class _Globals(dict):
    """The names of a module, as the world has them."""

    def __init__(self, world, names):
        super().__init__(__builtins__=names.get("__builtins__", __builtins__), __name__=names.get("__name__"))
        self.world, self.names = world, names
        if ".optim" in names.get("__name__", ""):      # where it is called alone, never compared
            self["float"] = _exactly

    def __missing__(self, name):
        return self.world.found(self.names["__name__"], name, self.names[name])


def _exactly(x):
    """float(x), which would read a number that is read at each call."""
    return x.exactly() if x.__class__ is Reading else float(x)


class _Module:
    """A module, the same."""

    def __init__(self, world, module):
        self._world, self._module = world, module

    def __getattr__(self, name):
        return self._world.found(self._module.__name__, name, getattr(self._module, name))


class World:
    """replaced   {id of a value: what stands in its place}
    made       made(function) -> what stands for a function of this package instead of its copy, or None
    array      array(ndarray) -> what stands for an array that is found by a name
    called     called(function) -> what stands for a function of others, NumPy's among them
    """

    def __init__(self, replaced: dict[int, Any], named: dict[tuple[str, str], Any], made: Callable,
                 array: Callable, called: Callable) -> None:
        self.replaced, self.named, self.made, self.array, self.called = replaced, named, made, array, called
        self._known, self._held, self._names, self._inside = {}, [], {}, set()

    def found(self, module: str, name: str, x: Any) -> Any:
        """What stands for the value of a name in a module."""
        if (module, name) in self.named:
            return self.named[module, name]
        return self.value(x)

    def value(self, x: Any) -> Any:
        """What stands for a value."""
        kind = type(x)
        if kind in (int, float, str, bool, type(None)):
            return x
        found = self._known.get(id(x), self.replaced.get(id(x), self))
        if found is not self:
            return found
        found = self._found(x, kind)
        self._known[id(x)] = found
        self._held.append(x)
        return found

    def _found(self, x, kind):
        if kind is np.ndarray:
            return self.array(x)
        if isinstance(x, ModuleType):          # one that runs later is of a kind of its own
            ours = x.__name__.partition(".")[0] == _PACKAGE
            return _Module(self, x) if ours or x is np else x
        if kind in (dict, list, tuple):
            return self._within(x, kind)
        if kind is FunctionType:
            found = self.made(x)
            if found is not None:
                return found
            if (x.__module__ or "").partition(".")[0] == _PACKAGE:
                return self.function(x)
            return self.called(x)
        if kind is functools.partial:
            return functools.partial(self.value(x.func), *x.args, **x.keywords)
        if kind is MethodType and (x.__func__.__module__ or "").partition(".")[0] == _PACKAGE:
            return functools.partial(self.value(x.__func__), x.__self__)
        return self.called(x) if callable(x) and not isinstance(x, type) else x

    def _within(self, x, kind):
        """A table, a copy of it if it has what stands otherwise."""
        made = {key: self.value(y) for key, y in x.items()} if kind is dict else [self.value(y) for y in x]
        same = all([made[key] is y for key, y in (x.items() if kind is dict else enumerate(x))])
        return x if same else kind(made)

    def function(self, function: FunctionType) -> Callable:
        """The copy of a function of this package."""
        if id(function) in self._known:
            return self._known[id(function)]
        names = function.__globals__
        if id(names) not in self._names:
            self._names[id(names)] = _Globals(self, names)
        cells = function.__closure__ and tuple([CellType() for _ in function.__closure__])
        copy = FunctionType(function.__code__, self._names[id(names)], function.__name__, function.__defaults__, cells)
        copy.__kwdefaults__ = function.__kwdefaults__
        self._known[id(function)] = copy       # before the cells, of which one may be the function
        self._held.append(function)
        for cell, own in zip(cells or (), function.__closure__ or ()):
            try:
                cell.cell_contents = self.value(own.cell_contents)
            except ValueError:                 # an empty one
                pass
        return copy
