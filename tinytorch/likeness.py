"""Where classes and functions say that they are from, while tinytorch stands in for torch: where torch has them.

Libraries choose by it: `type(x).__module__` begins with "torch" or does not. Modules are looked through when tinytorch
begins to stand in, and those that are loaded later when they have been loaded; each is known to `sys.modules` under
torch's name too, for who looks for the source of a class there. Modules keep their own names: warnings and tracebacks
are told apart by them.
"""
from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import FunctionType, ModuleType
from typing import Any

from ._names import torch_name

__all__ = ["begin", "end", "found"]

_PACKAGE = __package__
#: What torch makes in C, whatever file it is made in here.
_AT_THE_TOP = {f"{_PACKAGE}.{name}" for name in ("device", "dtypes", "memory_format", "stored", "tensor", "legacy")}
#: Modules of functions that are defined below `ops`.
_ROOMS = (".nn.functional", ".linalg", ".fft", ".special")
#: (object, the module that it said before), in order.
_changed: list[tuple[Any, str]] = []
_own: frozenset[str] = frozenset()


def begin(own: frozenset[str]) -> None:
    """Has the classes and functions of all modules that are loaded say torch's names. `own` names, as if they were
    torch's, the modules that it has not."""
    global _own
    _own = own
    for name, module in list(sys.modules.items()):
        if name == _PACKAGE or name.startswith(_PACKAGE + "."):
            _show(name, module)


def end() -> None:
    """Takes it back."""
    while _changed:
        _say(*_changed.pop())


def _show(name, module):
    theirs = "torch" + name.removeprefix(_PACKAGE)
    private = ".".join(theirs.split(".")[:2]) in _own
    if private and name not in _AT_THE_TOP or not isinstance(module, ModuleType):
        return
    if not private and not theirs.startswith("torch.ops"):
        sys.modules.setdefault(theirs, module)
    for value in list(vars(module).values()):
        if not isinstance(value, (type, FunctionType)) and not hasattr(value, "__wrapped__"):      # a function's cover
            continue
        before = getattr(value, "__module__", None)
        if before == name or name == _PACKAGE and str(before).startswith(f"{_PACKAGE}.ops."):
            _changed.append((value, before))
            _say(value, _place_of(value, name))
        elif name.removeprefix(_PACKAGE) in _ROOMS and before == "torch.nn.functional" and not isinstance(value, type):
            _say(value, theirs)                # it was loaded later than its functions


def _say(value, module):
    line = vars(value).get("__firstlineno__")       # by which inspect finds a class; Python 3.13 forgets it below
    value.__module__ = module
    if line is not None:
        value.__firstlineno__ = line


def _place_of(value, module):
    if module in _AT_THE_TOP:
        return "torch"
    if not value.__module__.startswith(f"{_PACKAGE}.ops."):
        return torch_name(value)[0]
    name = value.__name__
    for room in ("", *_ROOMS):
        if vars(sys.modules.get(_PACKAGE + room, sys)).get(name) is value:
            return "torch" + room
    return "torch" if name in vars(sys.modules[_PACKAGE]) else "torch.nn.functional"


class _Loader:
    """Loads a module as its own loader does, then has it looked through."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _show(module.__name__, module)

    def __getattr__(self, name: str) -> Any:   # get_source, get_code, is_package ... for those who look
        return getattr(self._loader, name)


def found(name: str, path: Any) -> ModuleSpec | None:
    """The spec of a module of this package, which is looked through once it is loaded; None for another module."""
    if not name.startswith(_PACKAGE + "."):
        return None
    spec = PathFinder.find_spec(name, path)
    if spec is not None and spec.loader is not None:
        spec.loader = _Loader(spec.loader)
    return spec
