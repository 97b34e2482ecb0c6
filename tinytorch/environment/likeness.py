"""Where classes and functions say that they are from, while tinytorch stands in for torch: where torch has them.

Libraries choose by it: `type(x).__module__` begins with "torch" or does not. Modules are looked through when tinytorch
begins to stand in, and those that are loaded later when they have been loaded; each is known to `sys.modules` under
torch's name too, for who looks for the source of a class there. Modules keep their own names: warnings and tracebacks
are told apart by them.

`import torch` loads `multiprocessing.connection`, and libraries that import `multiprocessing` alone use it. Here it is
loaded when it is asked for.
"""
from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import FunctionType, ModuleType
from typing import Any

from .names import ELSEWHERE, torch_name

__all__ = ["begin", "end", "found", "made_since"]

_PACKAGE = __package__.partition(".")[0]
#: What torch makes in C, whatever file it is made in here.
_AT_THE_TOP = {f"{_PACKAGE}.{name}" for name in (
    "device", "dtypes", "memory_format", "kinds.record_dtypes", "tensor", "ops.creation.legacy", "_checks", "_rare",
    "_removed")}
#: Modules of functions that are defined below `ops`.
_ROOMS = (".nn.functional", ".linalg", ".fft", ".special")
#: (object, the module and the name that it said before), in order.
_changed: list[tuple[Any, str, str]] = []
_own: frozenset[str] = frozenset()
_aliases: dict[str, list[str]] = {}


def begin(own: frozenset[str], aliases: dict[str, list[str]]) -> None:
    """Has the classes and functions of all modules that are loaded say torch's names. `own` names, as if they were
    torch's, the modules that it has not; `aliases` torch's other names of modules."""
    global _own, _aliases
    _own, _aliases = own, aliases
    for name, module in list(sys.modules.items()):
        if name == _PACKAGE or name.startswith(_PACKAGE + "."):
            _show(name, module)
    for room in ("", *_ROOMS):                 # first, for of a function's places pickles name one
        if _PACKAGE + room in sys.modules:
            _find_again(_PACKAGE + room, sys.modules[_PACKAGE + room])
    for name, module in list(sys.modules.items()):
        if name.startswith(_PACKAGE + "."):
            _find_again(name, module)
    _find_methods()
    if "multiprocessing" in sys.modules:
        _load_connection_later(sys.modules["multiprocessing"])


def end() -> None:
    """Takes it back."""
    global _own
    _own = frozenset()
    while _changed:
        _say(*_changed.pop())
        _changed.pop()                         # what that has entered
    if vars(sys.modules.get("multiprocessing", sys)).get("__getattr__") is _connection:
        del sys.modules["multiprocessing"].__getattr__


def made_since(value: type) -> None:
    """Has a class that was made after its module was looked through say torch's name too."""
    if _own:
        _say(value, torch_name(value)[0])


def _theirs(name):
    """What torch calls a module; None for one that it has not."""
    theirs = "torch" + name.removeprefix(_PACKAGE)
    return None if ".".join(theirs.split(".")[:2]) in _own or theirs.startswith("torch.ops") else theirs


def _show(name, module):
    theirs = _theirs(name)
    for alias in _aliases.get(name, ()):   # an import later would put it in place of a function of that name
        sys.modules.setdefault(alias, module)
        room, _, part = alias.rpartition(".")
        vars(sys.modules.get(_PACKAGE + room.removeprefix("torch"), module)).setdefault(part, module)
    if theirs is None and name not in _AT_THE_TOP and not name.startswith(f"{_PACKAGE}.ops") or (
            not isinstance(module, ModuleType)):
        return
    if theirs is not None:
        sys.modules.setdefault(theirs, module)
    for value in list(vars(module).values()):
        if not isinstance(value, (type, FunctionType)) and not hasattr(value, "__wrapped__"):      # a function's cover
            continue
        before = getattr(value, "__module__", None)
        if before == name or name == _PACKAGE and str(before).startswith(f"{_PACKAGE}.ops."):
            _say(value, _place_of(value, name))


def _find_again(name, module):
    """Has the functions that a module of torch's offers, and that cannot be found under the name that they say, as
    pickles find them, say that they are this module's."""
    theirs = "torch" if name in _AT_THE_TOP else _theirs(name)
    if theirs is None or name.removeprefix(_PACKAGE) in ELSEWHERE or not isinstance(module, ModuleType):
        return
    known = vars(module)
    for key in known if name == _PACKAGE or name.removeprefix(_PACKAGE) in _ROOMS else known.get("__all__", ()):
        value = known.get(key)
        if isinstance(value, FunctionType) and key[0] != "_" and _is_ours(value) and not _is_found(value) and (
                value.__globals__["__name__"] != name):
            _say(value, theirs, key)


def _find_methods():
    """The same of the methods of Tensor, also of those that are found in a file that torch has not."""
    rooms = ["torch", *["torch" + room for room in _ROOMS]]
    for key, value in list(vars(sys.modules[_PACKAGE].Tensor).items()):
        if isinstance(value, FunctionType) and _is_ours(value) and not (value.__module__ in rooms and _is_found(value)):
            _say(value, "torch", f"Tensor.{key}")


def _is_ours(function):
    return function.__globals__.get("__name__", "").partition(".")[0] == _PACKAGE


def _is_found(value):
    """Whether an object is where it says."""
    name, _, rest = value.__module__.partition(".")
    found = sys.modules.get(f"{_PACKAGE}.{rest}".rstrip(".")) if name == "torch" else None
    for part in value.__qualname__.split("."):
        found = getattr(found, "__dict__", {}).get(part)
    return found is value


def _say(value, module, name=None):
    line = vars(value).get("__firstlineno__")       # by which inspect finds a class; Python 3.13 forgets it below
    _changed.append((value, value.__module__, value.__qualname__))
    value.__module__ = module
    if name is not None:
        value.__qualname__ = name
    if line is not None:
        value.__firstlineno__ = line


def _place_of(value, module):
    if module in _AT_THE_TOP:
        return "torch"
    name = value.__name__
    lazily = vars(sys.modules[_PACKAGE])["_OF"].get(name)
    if isinstance(value, FunctionType) and module == f"{_PACKAGE}.{lazily}":
        return "torch"                         # which loads the module when it is asked for the name
    if isinstance(value, type) or not value.__module__.startswith(f"{_PACKAGE}.ops."):
        return torch_name(value)[0]
    for room in ("", *_ROOMS):
        if vars(sys.modules.get(_PACKAGE + room, sys)).get(name) is value:
            return "torch" + room
    return "torch" if name in vars(sys.modules[_PACKAGE]) else "torch.nn.functional"


def _connection(name):
    """What `multiprocessing` answers for a name that it has not."""
    if name != "connection":
        raise AttributeError(f"module 'multiprocessing' has no attribute {name!r}", name=name)
    return importlib.import_module("multiprocessing.connection")


def _load_connection_later(module):
    vars(module).setdefault("__getattr__", _connection)


class _Loader:
    """Loads a module as its own loader does, then has it looked through."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        if module.__name__ == "multiprocessing":
            _load_connection_later(module)
            return
        _show(module.__name__, module)
        _find_again(module.__name__, module)

    def __getattr__(self, name: str) -> Any:   # get_source, get_code, is_package ... for those who look
        return getattr(self._loader, name)


def found(name: str, path: Any) -> ModuleSpec | None:
    """The spec of a module of this package, which is looked through once it is loaded, or of `multiprocessing`; None
    for another module."""
    if not name.startswith(_PACKAGE + ".") and name != "multiprocessing":
        return None
    spec = PathFinder.find_spec(name, path)
    if spec is not None and spec.loader is not None:
        spec.loader = _Loader(spec.loader)
    return spec
