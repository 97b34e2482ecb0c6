"""Types, as scripts have them: of annotations, of comments and of values, in the words of an archive."""
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
    """What it is said of has no type in a script."""


_PLAIN = {int: "int", float: "float", bool: "bool", str: "str", complex: "complex", type(None): "NoneType",
          None: "NoneType", device: "Device", dt.dtype: "int", layout: "int", memory_format: "int",
          Size: "List[int]", typing.Any: "Any", Generator: "Generator"}


def type_of_annotation(x: Any, class_type: Callable[[type], str]) -> str:
    """The type that an annotation says. class_type(cls) gives the name of a class of the program."""
    if x in (list, dict, tuple, typing.List, typing.Dict, typing.Tuple):       # noqa: UP006
        raise Unknown(f"Attempted to use {getattr(x, '__name__', x)} without a contained type. Please add a contained "
                      f"type, e.g. {getattr(x, '__name__', 'List').capitalize()}[int]")
    try:
        if x in _PLAIN:
            return _PLAIN[x]
    except TypeError:
        raise Unknown(f"Unknown type annotation: '{x}'") from None
    origin, args = typing.get_origin(x), typing.get_args(x)
    if x is Future or origin is Future:
        return f"Future[{type_of_annotation(args[0], class_type) if args else 'Tensor'}]"
    if origin is list:
        return f"List[{type_of_annotation(args[0], class_type)}]"
    if origin is dict:
        return f"Dict[{', '.join([type_of_annotation(a, class_type) for a in args])}]"
    if origin is tuple:
        return f"Tuple[{', '.join([type_of_annotation(a, class_type) for a in args if a != ()])}]"
    if origin in (typing.Union, types.UnionType):
        inner = [a for a in args if a is not type(None)]
        if len(inner) == 1 and len(args) == 2:
            return f"Optional[{type_of_annotation(inner[0], class_type)}]"
        return f"Union[{', '.join([type_of_annotation(a, class_type) for a in args])}]"
    if origin is typing.Final or x is typing.Final:
        return type_of_annotation(args[0], class_type) if args else "Any"
    if isinstance(x, type) and issubclass(x, Tensor):
        return "Tensor"
    if isinstance(x, type):
        return class_type(x)
    raise Unknown(f"Unknown type annotation: '{x}'")


def type_of_value(x: Any, class_type: Callable[[type], str]) -> str:
    """The type of a value that a module has as its attribute."""
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
    """(the types of arguments, that of the result) of a comment: "(Tensor, int) -> Tensor". `...` for arguments: they
    are said of each alone."""
    tree = ast.parse(text.strip(), mode="func_type")
    scope = {**vars(typing), "Tensor": Tensor, **names}
    made = [eval(compile(ast.Expression(x), "<type comment>", "eval"), scope) for x in (*tree.argtypes, tree.returns)]
    return made[:-1], made[-1]
