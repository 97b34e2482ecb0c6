"""What is known when a script is compiled, and how a script writes it."""
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
#: What stands for a variable that was given another name.
VARIABLE = type("Variable", (), {})()


class Known(NamedTuple):
    """A value that is known when a script is compiled. node: how the script names it, if it does; closed: it is a
    variable from outside."""

    value: Any
    node: ast.AST | None = None
    closed: bool = False


class Method(NamedTuple):
    """A method of a module, or of what else is known."""

    owner: Known
    name: str


CONSTANTS = (bool, int, float, str, type(None), dt.dtype, device, layout, memory_format)


def own_path(module: str | None) -> str | None:
    """The path of a module of the library below the package, "" for the package; None of another. Under the name of
    PyTorch, which programs may import it by, it is the same."""
    room, _, rest = (module or "").partition(".")
    return rest if room in (_PACKAGE, "torch") else None


def parsed(text: str) -> ast.expr:
    """The tree of an expression."""
    return ast.parse(text, mode="eval").body


def literal(value: Any) -> str | None:
    """How a script writes a constant; None for what is none."""
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
    """owner.name, for names too that are none of Python's."""
    if name.isidentifier():
        return ast.Attribute(owner, name, ast.Load())
    return ast.Call(ast.Name("getattr", ast.Load()), [owner, ast.Constant(name)], [])


class Several(NamedTuple):
    """Modules, of a slice of a list of them."""

    items: list
