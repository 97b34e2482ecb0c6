"""Values that are known when a script is compiled, and their notation in a script."""
from __future__ import annotations

import ast
from typing import Any, NamedTuple

from .. import dtypes as dt
from ..capture.schema import LAYOUTS, MEMORY_FORMATS, SCALAR_TYPES
from ..device import device
from ..memory_format import layout, memory_format
from .writer import _float

__all__ = ["CONSTANTS", "MARK", "VARIABLE", "Known", "Method", "Several", "is_constant", "literal", "member",
           "own_path", "parsed"]

#: The attribute that `export`, `ignore` and `unused` leave on a function.
MARK = "_torchscript_modifier"
_PACKAGE = __name__.partition(".")[0]
#: Stands for a variable that got another name.
VARIABLE = type("Variable", (), {})()


class Known(NamedTuple):
    """A value that is known when a script is compiled. node: the script's expression for it, if there is one; closed:
    whether it is a variable from outside the function."""

    value: Any
    node: ast.AST | None = None
    closed: bool = False


class Method(NamedTuple):
    """A method of a module, or of another known value."""

    owner: Known
    name: str


CONSTANTS = (bool, int, float, str, type(None), dt.dtype, device, layout, memory_format)


def own_path(module: str | None) -> str | None:
    """The path of a module of this library inside the package, "" for the package itself; None for other modules. The
    name `torch`, under which programs may import the package, gives the same path."""
    room, _, rest = (module or "").partition(".")
    return rest if room in (_PACKAGE, "torch") else None


def parsed(text: str) -> ast.expr:
    """The tree of an expression."""
    return ast.parse(text, mode="eval").body


def literal(value: Any) -> str | None:
    """The text of a constant in a script; None for a value that is not a constant."""
    if isinstance(value, float):
        return _float(value)
    if value is None or isinstance(value, (bool, int, str)):
        return repr(value)
    if isinstance(value, dt.dtype):
        return str(SCALAR_TYPES.index(value))
    if isinstance(value, layout):
        return str(LAYOUTS.index(value))
    if isinstance(value, memory_format):
        return str(MEMORY_FORMATS.index(value))
    if isinstance(value, device):
        return f"torch.device({str(value)!r})"
    if type(value) in (tuple, list):
        inner = [literal(x) for x in value]
        if None in inner:
            return None
        comma = "," * (len(inner) == 1 and isinstance(value, tuple))
        return f"({', '.join(inner)}{comma})" if isinstance(value, tuple) else f"[{', '.join(inner)}]"
    return None


def is_constant(x: Any) -> bool:
    """Whether a script can write the value."""
    return literal(x) is not None


def member(owner: ast.AST, name: str) -> ast.expr:
    """The expression owner.name, also for names that are not Python identifiers."""
    if name.isidentifier():
        return ast.Attribute(owner, name, ast.Load())
    return ast.Call(ast.Name("getattr", ast.Load()), [owner, ast.Constant(name)], [])


class Several(NamedTuple):
    """The modules in a slice of a ModuleList."""

    items: list
