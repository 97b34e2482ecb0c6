"""The errors of `torch.jit.script` for Python that it does not support: they name the construct, the file and the
line."""
from __future__ import annotations

import ast
import inspect
import textwrap
import weakref
from collections.abc import Callable
from typing import Any

__all__ = ["FrontendError", "NotSupportedError", "Source", "UnsupportedNodeError", "source_of"]


class FrontendError(Exception):
    """A script has a construct that is not supported; the message names it and its place."""

    def __init__(self, where: str, reason: str) -> None:
        self.source_range, self.msg = where, reason
        super().__init__(f"{reason}:\n{where}")


class NotSupportedError(FrontendError):
    """A construct of Python that is not in the language of scripts."""


class UnsupportedNodeError(NotSupportedError):
    """A statement or expression of a kind that is not in the language."""


#: torch's names of the statements that it refuses.
_CALLED = {"FunctionDef": "function definitions", "For": "for loops", "Delete": "del statements",
           "ClassDef": "class definitions", "With": "with statements", "Raise": "raise statements",
           "Assert": "assertions", "Import": "import statements", "ImportFrom": "import statements",
           "Global": "global variables", "Nonlocal": "nonlocal variables", "Try": "try blocks",
           "AsyncFunctionDef": "async function definitions", "AsyncFor": "async for loops",
           "AsyncWith": "async with statements"}


_READ: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def source_of(function: Callable) -> Source:
    """The source of a function, read once."""
    found = _READ.get(function)
    if found is None:
        found = _READ[function] = Source(function)
    return found


class Source:
    """The text of a function, its tree and its place. OSError if there is no source."""

    def __init__(self, function: Callable) -> None:
        self._function = weakref.ref(inspect.unwrap(function))
        function = self.function
        try:
            lines, self.first = inspect.getsourcelines(function)
            self.file = inspect.getsourcefile(function) or "<unknown>"
        except (OSError, TypeError):
            raise OSError(f"Can't get source for {function}. TorchScript requires source access in order to carry out "
                          "compilation, make sure original .py files are available.") from None
        self.lines = textwrap.dedent("".join(lines)).split("\n")
        self.first = max(self.first, 1)
        body = ast.parse("\n".join(self.lines), type_comments=True).body
        if len(body) != 1 or not isinstance(body[0], (ast.FunctionDef, ast.ClassDef)):
            raise RuntimeError("Expected a single top-level function")
        self.node = body[0]

    @property
    def function(self) -> Callable:
        """The function, without its wrappers."""
        return self._function()

    def place(self, node: ast.AST) -> str:
        """The line of a node, with an arrow."""
        line = getattr(node, "lineno", 1)
        column = getattr(node, "col_offset", 0)
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        width = max(getattr(node, "end_col_offset", column + 1) - column, 1) if (
            getattr(node, "end_lineno", line) == line) else max(len(text) - column, 1)
        return (f'  File "{self.file}", line {self.first + line - 1}\n    {text}\n    {" " * column}{"~" * width} '
                "<--- HERE")

    def refused(self, node: ast.AST, reason: str) -> NotSupportedError:
        """The error for a construct, with the reason."""
        return NotSupportedError(self.place(node), reason)

    def unsupported(self, node: ast.AST) -> UnsupportedNodeError:
        """The error for a statement or expression of a kind that is not in the language."""
        name = _CALLED.get(type(node).__name__, type(node).__name__)
        return UnsupportedNodeError(self.place(node), f"{name} aren't supported")

    def failed(self, node: ast.AST, reason: str) -> RuntimeError:
        """The error for a name or a type that does not fit."""
        return RuntimeError(f"\n{reason}:\n{self.place(node)}")

    @property
    def variables(self) -> dict[str, Any]:
        """The globals and the variables of enclosing functions that the function sees: {name: value}."""
        found = dict(getattr(self.function, "__globals__", {}))
        code = getattr(self.function, "__code__", None)
        if code is not None:
            for name, cell in zip(code.co_freevars, self.function.__closure__ or ()):
                try:
                    found[name] = cell.cell_contents
                except ValueError:             # it is not set yet
                    pass
        return found
