"""An operation as it is written: its forward and its derivative rules, each with file and line."""
from __future__ import annotations

import ast
import functools
import inspect
import os
import textwrap
from collections.abc import Callable
from typing import NamedTuple

from ..autograd.node import Op


class Text(NamedTuple):
    """A piece of source: `text` without the indentation and the docstring, `file` below the package, `line`."""

    text: str
    file: str
    line: int


@functools.lru_cache(None)
def formula(op: Op) -> Text:
    """The forward function of an operation: its body.

    >>> import tinytorch as torch
    >>> formula(torch.tanh.op).text
    'return np.tanh(input)'
    """
    return _text(op.forward)


@functools.lru_cache(None)
def rules(op: Op) -> dict[str, Text]:
    """The derivative rules of an operation by argument; "joint" is one for all of them.

    >>> import tinytorch as torch
    >>> {argument: rule.text for argument, rule in rules(torch.mul.op).items()}
    {'input': 'lambda g, other: g * conj(other)', 'other': 'lambda g, input: g * conj(input)'}
    """
    return {argument: _text(rule) for argument, rule in op.rules.items()}


def _text(function: Callable) -> Text:
    function = inspect.unwrap(function)
    code = function.__code__
    file = os.path.join(*code.co_filename.split(os.sep)[-3:])
    found = _definition(code)
    if found is None:                          # made by exec, or of a file that is gone
        return Text(function.__qualname__, file, code.co_firstlineno)
    source, tree = found
    if isinstance(tree, ast.Lambda):
        return Text(ast.get_source_segment(source, tree), file, tree.lineno)
    body = tree.body[1:] if ast.get_docstring(tree) is not None and len(tree.body) > 1 else tree.body
    lines = source.splitlines()[body[0].lineno - 1:body[-1].end_lineno]
    return Text(textwrap.dedent("\n".join(lines)), file, tree.lineno)


def _definition(code):
    """(the source of its file, the syntax tree of the function) that a code object belongs to, or None."""
    try:
        source, functions = _functions(code.co_filename)
    except (OSError, SyntaxError):
        return None
    arguments = code.co_varnames[:code.co_argcount]
    for tree in functions:
        first = min([tree.lineno, *[d.lineno for d in getattr(tree, "decorator_list", ())]])
        names = [a.arg for a in tree.args.posonlyargs + tree.args.args]
        if first == code.co_firstlineno and tuple(names) == arguments and (
                isinstance(tree, ast.Lambda) == (code.co_name == "<lambda>")):
            return source, tree
    return None


@functools.lru_cache(None)
def _functions(file):
    with open(file, encoding="utf-8") as f:
        source = f.read()
    return source, [n for n in ast.walk(ast.parse(source)) if isinstance(n, (ast.Lambda, ast.FunctionDef))]
