"""Copies of functions that see replacements for NumPy and for the kernels.

A function of this package that computes with ndarrays looks up NumPy, the entry points of the kernels in C
(kernels/native) and other functions by names of its module and its closure. `World.function` copies such a function.
The names of the copy resolve to the replacements of the world, and to copies of the other functions that it calls. So
the unchanged code of the kernels is traced, and no module is patched.
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
    """The globals of a module, resolved by the world."""

    def __init__(self, world, names):
        super().__init__(__builtins__=names.get("__builtins__", __builtins__), __name__=names.get("__name__"))
        self.world, self.names = world, names
        if ".optim" in names.get("__name__", ""):      # what is traced there only calls float(x)
            self["float"] = _exactly

    def __missing__(self, name):
        return self.world.found(self.names["__name__"], name, self.names[name])


def _exactly(x):
    """float(x), but a Reading stays a Reading."""
    return x.exactly() if x.__class__ is Reading else float(x)


class _Module:
    """A module whose attributes are resolved by the world."""

    def __init__(self, world, module):
        self._world, self._module = world, module

    def __getattr__(self, name):
        return self._world.found(self._module.__name__, name, getattr(self._module, name))


class World:
    """Replacements for the values that the functions of this package look up.

    replaced   {id of a value: its replacement}
    named      {(module, name): the replacement for the value of this name}
    made       made(function) -> the replacement for a function of this package, or None to copy the function
    array      array(ndarray) -> the replacement for an array that is looked up by name
    called     called(function) -> the replacement for any other function, such as one of NumPy
    """

    def __init__(self, replaced: dict[int, Any], named: dict[tuple[str, str], Any], made: Callable,
                 array: Callable, called: Callable) -> None:
        self.replaced, self.named, self.made, self.array, self.called = replaced, named, made, array, called
        self._known, self._held, self._names, self._inside = {}, [], {}, set()

    def found(self, module: str, name: str, x: Any) -> Any:
        """The replacement for the value `x` of a name in a module."""
        if (module, name) in self.named:
            return self.named[module, name]
        return self.value(x)

    def value(self, x: Any) -> Any:
        """The replacement for a value, or the value itself."""
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
        if isinstance(x, ModuleType):          # a lazy module is an instance of a subclass
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
        """A dict, list or tuple with its values replaced; the original if no value is."""
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
        self._known[id(function)] = copy       # before its cells are filled: one may hold the function itself
        self._held.append(function)
        for cell, own in zip(cells or (), function.__closure__ or ()):
            try:
                cell.cell_contents = self.value(own.cell_contents)
            except ValueError:                 # an empty cell
                pass
        return copy
