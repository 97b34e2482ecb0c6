"""torch.fx.experimental.rewriter: a tracer that records `assert` statements."""
from __future__ import annotations

import ast
import copy
import functools
import inspect
import textwrap
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ...nn import Module
from .._symbolic_trace import Tracer
from ..graph import Graph

__all__ = ["AST_Rewriter", "RewritingTracer"]


class AST_Rewriter(ast.NodeTransformer):
    """Replaces statements that a run on stand-ins does not show by calls."""

    def rewrite(self, fn: Callable) -> FunctionType:
        """The function with the replaced statements, and the same globals."""
        tree = ast.parse(textwrap.dedent("".join(inspect.getsourcelines(fn)[0])))
        scope = dict(inspect.unwrap(fn).__globals__)
        before = set(scope)
        exec(compile(ast.fix_missing_locations(self.visit(tree)), "", "exec"), scope)
        made, = [value for name, value in scope.items() if name not in before or name == tree.body[0].name]
        given = FunctionType(made.__code__, fn.__globals__, made.__name__, made.__defaults__, made.__closure__)
        given = functools.update_wrapper(given, made)
        given.__kwdefaults__ = copy.copy(made.__kwdefaults__)
        return given

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        """torch._assert(condition, message)"""
        asked = ast.parse("torch._assert", mode="eval").body
        return ast.copy_location(ast.Expr(ast.Call(asked, [node.test, node.msg or ast.Constant("")], [])), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """name = annotate(value, type)"""
        said = ast.Call(ast.Name("annotate", ast.Load()), [node.value, node.annotation], [])
        return ast.copy_location(ast.Assign([node.target], said), node)


class RewritingTracer(Tracer):
    """Traces a module or function whose assertions, and annotated assignments, are calls."""

    def trace(self, root: Any, concrete_args: dict[str, Any] | None = None) -> Graph:
        """The graph of the calls of a module or function."""
        return super().trace(_rewritten(root), concrete_args)


def _rewritten(fn):
    if not isinstance(fn, Module):
        return AST_Rewriter().rewrite(fn)

    class RewrittenModule(Module):
        def __init__(self):
            super().__init__()
            for name, value in vars(fn).items():
                self.__dict__[name] = copy.copy(_rewritten(value) if isinstance(value, Module) else value)

    RewrittenModule.forward = AST_Rewriter().rewrite(fn.forward)
    return RewrittenModule()
