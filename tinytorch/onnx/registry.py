"""The functions that write ATen's operators as nodes of ONNX.

A translation takes the writer and the arguments in the schema's order: values (writer.Value) for tensors, numbers or
values without dimensions for sizes, and Python's objects for other arguments. It returns the result, as a name or a
value, or a tuple of them. The modules of aten/ register their translations when the first model is exported.
"""
from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterable
from typing import Any

from .errors import OnnxExporterError

__all__ = ["Refusal", "Unwritable", "entered", "put_of", "register", "translation", "translation_of", "unregister"]

#: {name or name.form: function}, and the functions that programs register: {(domain::name, opset): function}.
_KNOWN: dict[str, Callable] = {}
#: {name of an operator that returns a view: how a write to the view changes the whole} (see `translation`).
_PUT: dict[str, str] = {}
_REGISTERED: dict[tuple[str, int], Callable] = {}


class Refusal(OnnxExporterError):
    """An operator that is supported, but not with these arguments. `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Unwritable(OnnxExporterError):
    """An operator that ONNX has only from a later opset on."""

    def __init__(self, opset: int) -> None:
        super().__init__(opset)
        self.opset = opset


def translation(*names: str, put: str | None = None) -> Callable[[Callable], Callable]:
    """Registers a function for these operators: "add" for all forms or "add.Tensor" for one.

    put  for operators that return views, how a write to a view changes the whole: "same" for a view of everything as it
         is, "shape" for a view in another shape, "order" for a view with the dimensions in another order, "scatter" if
         the operator name_scatter does the write, "parts" for several views that make up the whole. None: by the places
         of the view's elements
    """
    def enter(function):
        for name in names:
            assert name not in _KNOWN, name
            _KNOWN[name] = function
            if put is not None:
                _PUT[name.partition(".")[0]] = put
        return function
    return enter


def put_of(name: str) -> str | None:
    """How a write to a view of this operator changes the whole (see `translation`); None: by the places of elements."""
    return _PUT.get(name)


def entered(functions: Iterable[tuple[str, Callable]]) -> None:
    """Registers functions under their names."""
    for name, function in functions:
        translation(name)(function)


@functools.cache
def _load():
    """Imports all modules that register functions, once."""
    folder = importlib.import_module(f"{__package__}.aten")
    for family in pkgutil.iter_modules(folder.__path__):
        importlib.import_module(f"{folder.__name__}.{family.name}")


def translation_of(name: str, form: str, opset: int) -> tuple[Callable | None, bool]:
    """(the function for an operator or None, whether a program registered it)."""
    _load()
    registered = [(version, function) for (known, version), function in _REGISTERED.items()
                  if known == f"aten::{name}" and version <= opset]
    if registered:
        return max(registered, key=lambda item: item[0])[1], True
    name = name.removesuffix("_copy") if f"{name}.{form}" not in _KNOWN and name not in _KNOWN else name
    return _KNOWN.get(f"{name}.{form}") or _KNOWN.get(name), False


def register(name: str, function: Callable[..., Any], opset: int) -> None:
    """Makes exports to this opset and later ones call function(g, *arguments) for the operator domain::name."""
    _REGISTERED[name, opset] = function


def unregister(name: str, opset: int) -> None:
    """Removes the function that `register` added, if there is one."""
    _REGISTERED.pop((name, opset), None)
