"""Expressions that programs written by hand have, and that PyTorch's printer does not write: operators, slices,
comprehensions, methods of values. Each becomes a call of an operator in the table (operators.py), as other expressions
do.
"""
from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..tensor import Tensor
from . import operators
from .objects import attribute_of, set_attribute

__all__ = ["EXPRESSIONS", "assign_in_place", "delete", "index_of", "put_item"]

_BINARY = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv",
           ast.Mod: "remainder", ast.Pow: "pow", ast.MatMult: "matmul", ast.BitAnd: "__and__", ast.BitOr: "__or__",
           ast.BitXor: "__xor__", ast.LShift: "__lshift__", ast.RShift: "__rshift__"}
_COMPARED = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
             ast.Is: "__is__", ast.IsNot: "__isnot__"}


def _binary(machine, node, owner):
    left, right = machine.expression(node.left, owner), machine.expression(node.right, owner)
    compute = _operation(type(node.op), "")
    return lambda scope: compute(left(scope), right(scope))


def _operation(kind, suffix):
    """The function of two operands that an operator of this kind computes."""
    name = _BINARY[kind]
    plain = operators.found(f"torch.{name}{suffix}")
    if kind is ast.Mod:
        format_text = operators.found("torch.percentFormat")

        def remainder(a, b):
            if type(a) is str:
                return format_text(a, *b) if isinstance(b, tuple) else format_text(a, b)
            return plain(a, b)
        return remainder
    if kind is ast.Add:
        return lambda a, b: operators.joined(a, b) if isinstance(a, tuple) and isinstance(b, tuple) else plain(a, b)
    return plain


def _both(machine, node, owner):
    values = [machine.expression(x, owner) for x in node.values]
    ends = isinstance(node.op, ast.Or)

    def run(scope):
        result = ends
        for value in values:
            result = bool(value(scope))
            if result is ends:
                return result
        return result
    return run


def _compared(machine, node, owner):
    if len(node.ops) != 1:
        raise machine.refused(node, owner)
    left, right = machine.expression(node.left, owner), machine.expression(node.comparators[0], owner)
    kind = type(node.ops[0])
    if kind in (ast.In, ast.NotIn):
        contains, wanted = operators.found("torch.__contains__"), kind is ast.In
        return lambda scope: contains(right(scope), left(scope)) is wanted
    compute = operators.found(f"torch.{_COMPARED[kind]}")
    return lambda scope: compute(left(scope), right(scope))


def _unary(machine, node, owner):
    value = machine.expression(node.operand, owner)
    if isinstance(node.op, ast.USub):
        return lambda scope: -value(scope)
    if isinstance(node.op, ast.Not):
        return lambda scope: not value(scope)
    if isinstance(node.op, ast.Invert):
        invert = operators.found("torch.bitwise_not")
        return lambda scope: invert(value(scope))
    return value


def _slice(machine, node, owner):
    parts = [machine.expression(x, owner) if x is not None else lambda scope: None for x in (
        node.lower, node.upper, node.step)]
    return lambda scope: slice(*[_bound(x(scope)) for x in parts])


def _bound(x):
    if x is None or type(x) is int:
        return x
    if isinstance(x, Tensor):
        return int(x)
    raise RuntimeError(f"a slice cannot end at {type(x).__name__}")


def _subscript(machine, node, owner):
    value, index = machine.expression(node.value, owner), index_of(machine, node.slice, owner)
    return lambda scope: item(value(scope), index(scope))


def index_of(machine, node: ast.expr, owner) -> Callable:
    """A function of the variables that returns an index. Only in an index `...` is an expression."""
    if isinstance(node, ast.Constant) and node.value is ...:
        return lambda scope: ...
    if isinstance(node, ast.Tuple):
        parts = [index_of(machine, x, owner) for x in node.elts]
        return lambda scope: tuple([x(scope) for x in parts])
    return machine.expression(node, owner)


def item(x: Any, index: Any) -> Any:
    """x[index] in a program."""
    kind = type(index)
    if isinstance(x, Tensor) and kind is not int:
        return x[_checked(index)]
    if kind is slice and isinstance(x, (list, tuple, str)):
        return x[index]
    return operators.item(x, index)


def _checked(index):
    """An index of a tensor. RuntimeError for a value that cannot be one."""
    for x in index if isinstance(index, tuple) else (index,):
        if not (x is None or x is ... or isinstance(x, (int, slice, Tensor)) or isinstance(x, list) and all(
                [isinstance(y, (int, Tensor)) for y in x])):
            raise RuntimeError(f"a tensor cannot be indexed by {type(x).__name__}")
    return index


def put_item(x: Any, index: Any, value: Any) -> None:
    """x[index] = value in a program."""
    if isinstance(x, Tensor):
        x[_checked(index)] = value
    elif isinstance(x, (list, dict)) and type(index) is not slice:
        operators.put(x, index, value)
    else:
        raise RuntimeError(f"{type(x).__name__} has no items that can be set")


def delete(x: Any, index: Any) -> None:
    """del x[index] in a program."""
    if not isinstance(x, (list, dict)):
        raise RuntimeError(f"{type(x).__name__} has no items that can be deleted")
    operators.item(x, index)
    del x[index]


def assign_in_place(machine, node: ast.AugAssign, owner) -> Callable:
    """A statement x += y. Tensors and lists are changed in place; for other values, x gets a new value."""
    value, target = machine.expression(node.value, owner), node.target
    kind = type(node.op)
    if kind not in (ast.Add, ast.Sub, ast.Mult, ast.Div):
        raise machine.refused(node, owner)
    plain, in_place = _operation(kind, ""), _operation(kind, "_")

    def computed(x, y):
        if isinstance(x, (Tensor, list)):
            return in_place(x, y)
        return plain(x, y)
    if isinstance(target, ast.Name):
        name = target.id

        def run(scope):
            scope[name] = computed(machine.variable(scope, name, owner), value(scope))
        return run
    held = machine.expression(target.value, owner)
    if isinstance(target, ast.Attribute):
        name = target.attr

        def run(scope):
            x = held(scope)
            set_attribute(x, name, computed(attribute_of(x, name), value(scope)))
        return run
    if not isinstance(target, ast.Subscript):
        raise machine.refused(node, owner)
    index = index_of(machine, target.slice, owner)

    def run(scope):
        x, i, y = held(scope), index(scope), value(scope)
        put_item(x, i, computed(item(x, i), y))
    return run


def _comprehension(machine, node, owner):
    if len(node.generators) != 1 or node.generators[0].ifs or node.generators[0].is_async:
        raise machine.refused(node, owner)
    generator = node.generators[0]
    items, put, step = machine.expression(generator.iter, owner), machine.target(generator.target, owner), machine.step
    if isinstance(node, ast.ListComp):
        value = machine.expression(node.elt, owner)

        def run(scope):
            made = []
            for x in operators.iterated(items(scope)):
                step()
                put(scope, x)
                made.append(value(scope))
            return made
        return run
    key, value = machine.expression(node.key, owner), machine.expression(node.value, owner)

    def run(scope):
        made = {}
        for x in operators.iterated(items(scope)):
            step()
            put(scope, x)
            made[operators.key(key(scope))] = value(scope)
        return made
    return run


EXPRESSIONS: dict[type, Callable] = {
    ast.BinOp: _binary, ast.BoolOp: _both, ast.Compare: _compared, ast.UnaryOp: _unary, ast.Slice: _slice,
    ast.Subscript: _subscript, ast.ListComp: _comprehension, ast.DictComp: _comprehension}
