"""`__module__` and `__qualname__` of classes and functions, which are torch's while tinytorch stands in for torch.

Libraries test whether `type(x).__module__` begins with "torch". The classes and functions of all loaded modules are
renamed when tinytorch begins to stand in for torch, those of later modules when these are loaded. Each module is
entered in `sys.modules` under torch's name too, for code that looks for the source of a class there. Modules keep their
names, by which warnings and tracebacks tell them apart.

torch imports `multiprocessing.connection`, and some libraries use it after `import multiprocessing` alone. Here it is
imported when it is first used.
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
#: Modules here whose classes and functions torch defines in C, with `__module__` "torch".
_AT_THE_TOP = {f"{_PACKAGE}.{name}" for name in (
    "device", "dtypes", "memory_format", "kinds.record_dtypes", "tensor", "ops.creation.legacy", "_checks", "_rare",
    "_removed")}
#: Public modules whose functions are defined below `ops` here.
_ROOMS = (".nn.functional", ".linalg", ".fft", ".special")
#: (object, its `__module__` and `__qualname__` before), in order.
_changed: list[tuple[Any, str, str]] = []
_own: frozenset[str] = frozenset()
_aliases: dict[str, list[str]] = {}


def begin(own: frozenset[str], aliases: dict[str, list[str]]) -> None:
    """Gives the classes and functions of all loaded modules torch's names. `own`: the modules that torch has not, with
    torch in the place of tinytorch; `aliases`: torch's other names of modules."""
    global _own, _aliases
    _own, _aliases = own, aliases
    for name, module in list(sys.modules.items()):
        if name == _PACKAGE or name.startswith(_PACKAGE + "."):
            _show(name, module)
    for room in ("", *_ROOMS):                 # first, because a pickle names one place of a function
        if _PACKAGE + room in sys.modules:
            _find_again(_PACKAGE + room, sys.modules[_PACKAGE + room])
    for name, module in list(sys.modules.items()):
        if name.startswith(_PACKAGE + "."):
            _find_again(name, module)
    _find_methods()
    if "multiprocessing" in sys.modules:
        _load_connection_later(sys.modules["multiprocessing"])


def end() -> None:
    """Undoes all changes of `begin`."""
    global _own
    _own = frozenset()
    while _changed:
        _say(*_changed.pop())
        _changed.pop()                         # the entry that `_say` has just made
    if vars(sys.modules.get("multiprocessing", sys)).get("__getattr__") is _connection:
        del sys.modules["multiprocessing"].__getattr__


def made_since(value: type) -> None:
    """Gives a class that was made after its module was loaded torch's name too."""
    if _own:
        _say(value, torch_name(value)[0])


def _theirs(name):
    """torch's name of a module; None for a module that torch has not."""
    theirs = "torch" + name.removeprefix(_PACKAGE)
    return None if ".".join(theirs.split(".")[:2]) in _own or theirs.startswith("torch.ops") else theirs


def _show(name, module):
    theirs = _theirs(name)
    for alias in _aliases.get(name, ()):   # a later import would replace a function of that name
        sys.modules.setdefault(alias, module)
        room, _, part = alias.rpartition(".")
        vars(sys.modules.get(_PACKAGE + room.removeprefix("torch"), module)).setdefault(part, module)
    if theirs is None and name not in _AT_THE_TOP and not name.startswith(f"{_PACKAGE}.ops") or (
            not isinstance(module, ModuleType)):
        return
    if theirs is not None:
        sys.modules.setdefault(theirs, module)
    for value in list(vars(module).values()):
        if not isinstance(value, (type, FunctionType)) and not hasattr(value, "__wrapped__"):    # wrapped ones too
            continue
        before = getattr(value, "__module__", None)
        if before == name or name == _PACKAGE and str(before).startswith(f"{_PACKAGE}.ops."):
            _say(value, _place_of(value, name))


def _find_again(name, module):
    """Moves the public functions of a module to this module by name, unless pickle finds them under their present
    names."""
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
    """Moves the methods of Tensor to torch.Tensor by name, also those that are found in a module that torch has not."""
    rooms = ["torch", *["torch" + room for room in _ROOMS]]
    for key, value in list(vars(sys.modules[_PACKAGE].Tensor).items()):
        if isinstance(value, FunctionType) and _is_ours(value) and not (value.__module__ in rooms and _is_found(value)):
            _say(value, "torch", f"Tensor.{key}")


def _is_ours(function):
    return function.__globals__.get("__name__", "").partition(".")[0] == _PACKAGE


def _is_found(value):
    """Whether `__module__` and `__qualname__` of an object lead to it."""
    name, _, rest = value.__module__.partition(".")
    found = sys.modules.get(f"{_PACKAGE}.{rest}".rstrip(".")) if name == "torch" else None
    for part in value.__qualname__.split("."):
        found = getattr(found, "__dict__", {}).get(part)
    return found is value


def _say(value, module, name=None):
    line = vars(value).get("__firstlineno__")       # for inspect; Python 3.13 drops it below
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
        return "torch"                         # torch imports the module when the name is used
    if isinstance(value, type) or not value.__module__.startswith(f"{_PACKAGE}.ops."):
        return torch_name(value)[0]
    for room in ("", *_ROOMS):
        if vars(sys.modules.get(_PACKAGE + room, sys)).get(name) is value:
            return "torch" + room
    return "torch" if name in vars(sys.modules[_PACKAGE]) else "torch.nn.functional"


def _connection(name):
    """`__getattr__` of `multiprocessing`: imports `multiprocessing.connection`."""
    if name != "connection":
        raise AttributeError(f"module 'multiprocessing' has no attribute {name!r}", name=name)
    return importlib.import_module("multiprocessing.connection")


def _load_connection_later(module):
    vars(module).setdefault("__getattr__", _connection)


class _Loader:
    """Loads a module by its own loader, then gives its classes and functions torch's names."""

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

    def __getattr__(self, name: str) -> Any:   # get_source, get_code, is_package ...
        return getattr(self._loader, name)


def found(name: str, path: Any) -> ModuleSpec | None:
    """The spec of a module of this package, whose classes and functions get torch's names once it is loaded, or of
    `multiprocessing`; None for any other module."""
    if not name.startswith(_PACKAGE + ".") and name != "multiprocessing":
        return None
    spec = PathFinder.find_spec(name, path)
    if spec is not None and spec.loader is not None:
        spec.loader = _Loader(spec.loader)
    return spec
