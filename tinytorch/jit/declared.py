"""The types of annotations, type comments and values in the notation of an archive."""
from __future__ import annotations

import ast
import types
import typing
from collections.abc import Callable
from enum import Enum
from typing import Any

from .. import dtypes as dt
from ..device import device
from ..futures import Future
from ..memory_format import layout, memory_format
from ..random import Generator
from ..tensor import Size, Tensor

__all__ = ["Unknown", "type_of_annotation", "type_of_value"]


class Unknown(Exception):
    """An annotation or a value has no type in a script."""


_PLAIN = {int: "int", float: "float", bool: "bool", str: "str", complex: "complex", type(None): "NoneType",
          None: "NoneType", device: "Device", dt.dtype: "int", layout: "int", memory_format: "int",
          Size: "List[int]", typing.Any: "Any", Generator: "Generator"}


def type_of_annotation(x: Any, class_type: Callable[[type], str]) -> str:
    """The type of an annotation. class_type(cls) returns the name of a class in the program."""
    if x in (list, dict, tuple, typing.List, typing.Dict, typing.Tuple):       # noqa: UP006
        raise Unknown(f"Attempted to use {getattr(x, '__name__', x)} without a contained type. Please add a contained "
                      f"type, e.g. {getattr(x, '__name__', 'List').capitalize()}[int]")
    try:
        if x in _PLAIN:
            return _PLAIN[x]
    except TypeError:
        raise Unknown(f"Unknown type annotation: '{x}'") from None
    origin = typing.get_origin(x) or x
    if origin in _GENERIC:
        return _generic(origin, [type_of_annotation(a, class_type) for a in typing.get_args(x) if a != ()])
    if isinstance(x, type):
        return "Tensor" if issubclass(x, Tensor) else class_type(x)
    raise Unknown(f"Unknown type annotation: '{x}'")


_GENERIC = (Future, typing.Final, list, dict, tuple, typing.Union, types.UnionType)


def _generic(origin, inner):
    """The type of a generic annotation whose arguments have the types `inner`."""
    if origin is Future:
        return f"Future[{inner[0] if inner else 'Tensor'}]"
    if origin is typing.Final:
        return inner[0] if inner else "Any"
    if origin in (list, dict, tuple):
        return f"{origin.__name__.capitalize()}[{', '.join(inner)}]"
    if len(inner) == 2 and "NoneType" in inner:
        inner.remove("NoneType")
        return f"Optional[{inner[0]}]"
    return f"Union[{', '.join(inner)}]"


def type_of_value(x: Any, class_type: Callable[[type], str]) -> str:
    """The type of a value that is an attribute of a module."""
    if isinstance(x, Tensor):
        return "Tensor"
    if type(x) in _PLAIN:
        return _PLAIN[type(x)]
    if isinstance(x, Enum) or isinstance(x, tuple) and hasattr(x, "_fields"):
        return class_type(type(x))
    if isinstance(x, tuple):
        return f"Tuple[{', '.join([type_of_value(y, class_type) for y in x])}]"
    if isinstance(x, list):
        return f"List[{_one([type_of_value(y, class_type) for y in x])}]"
    if isinstance(x, dict):
        return (f"Dict[{_one([type_of_value(y, class_type) for y in x])}, "
                f"{_one([type_of_value(y, class_type) for y in x.values()])}]")
    raise Unknown(f"a value of type {type(x).__name__}")


def _one(kinds):
    if len(set(kinds)) != 1:
        raise Unknown("elements of several types" if kinds else "a container without elements")
    return kinds[0]


def signature_of_comment(text: str, names: dict[str, Any]) -> tuple[list, Any]:
    """(types of the arguments, type of the result) of a comment such as "(Tensor, int) -> Tensor". `...` in place of
    the arguments means that each argument has a comment with its type."""
    tree = ast.parse(text.strip(), mode="func_type")
    scope = {**vars(typing), "Tensor": Tensor, **names}
    made = [eval(compile(ast.Expression(x), "<type comment>", "eval"), scope) for x in (*tree.argtypes, tree.returns)]
    return made[:-1], made[-1]
