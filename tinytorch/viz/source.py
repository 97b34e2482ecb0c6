"""The source of an operation: its name, its forward and its derivative rules, with file and line."""
from __future__ import annotations

import ast
import functools
import inspect
import os
import textwrap
from collections.abc import Callable
from typing import NamedTuple

from ..autograd.node import ANS, AUX, Op


class Text(NamedTuple):
    """A piece of source: `text` without the indentation and the docstring, `file` below the package, `line`."""

    text: str
    file: str
    line: int


@functools.lru_cache(None)
def formula(op: Op) -> Text:
    """The body of the forward function of an operation.

    >>> import tinytorch as torch
    >>> formula(torch.sin.op).text
    'return shared(fine.sin, input)'
    """
    return _text(op.forward)


@functools.lru_cache(None)
def rules(op: Op) -> dict[str, Text]:
    """The derivative rules of an operation by argument. "joint" is one rule for all arguments.

    >>> import tinytorch as torch
    >>> {argument: rule.text for argument, rule in rules(torch.mul.op).items()}
    {'input': 'lambda g, other: g * conj(other)', 'other': 'lambda g, input: g * conj(input)'}
    """
    return {argument: _text(rule) for argument, rule in op.rules.items()}


@functools.lru_cache(None)
def name(op: Op) -> str:
    """torch's name of an operation. If torch ends a computation with a view and names the node after the view, this is
    the name of the computation.

    >>> import tinytorch as torch
    >>> x = torch.ones(2, 3, 3, requires_grad=True)
    >>> [(y.grad_fn.name(), name(y._node.op)) for y in (x.view(18), x @ x, torch.nn.Linear(3, 2)(x))]
    [('ViewBackward0', 'view'), ('UnsafeViewBackward0', 'bmm'), ('ViewBackward0', 'linear')]
    """
    if op.original is None or not _reads_arrays(op):
        return op.name
    views = [other for other in Op.registry if other.name == op.name and not other.kept(-1)]
    return op.original.name if views else op.name


def _reads_arrays(op):
    """Whether the derivative rules read an argument that has a derivative, or the result."""
    differentiable = [op.first + k for k, rule in enumerate(op.backs) if rule is not None or op.joint is not None]
    return bool(op.kept(-1) & {ANS, AUX, *differentiable})


def _text(function: Callable) -> Text:
    function = inspect.unwrap(function)
    code = function.__code__
    file = os.path.join(*code.co_filename.split(os.sep)[-3:])
    found = _definition(code)
    if found is None:                          # code made by exec, or from a file that is gone
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
