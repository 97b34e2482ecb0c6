"""The names in the source of a script: modules, functions and constants, and conclusions from them before it runs."""
from __future__ import annotations

import ast
import inspect
import types
from enum import Enum

from ..nn import Module, ModuleDict, ModuleList, Sequential
from . import calls
from .known import CONSTANTS, Known, Method, Several, is_constant, member

__all__ = ["Resolver"]

_COMPARISONS = {ast.Eq: lambda a, b: a == b, ast.NotEq: lambda a, b: a != b, ast.In: lambda a, b: a in b,
                ast.NotIn: lambda a, b: a not in b, ast.Is: lambda a, b: a is b, ast.IsNot: lambda a, b: a is not b,
                ast.Lt: lambda a, b: a < b, ast.LtE: lambda a, b: a <= b, ast.Gt: lambda a, b: a > b,
                ast.GtE: lambda a, b: a >= b}


class Resolver:
    """Looks up names for a `FunctionText`, which has its program, source, variables and locals."""

    def known(self, node, values=False):
        """The value of an expression that is known when the script is compiled; None if the script computes it.
        `values`: whether attributes that may change count as known, with their present values."""
        method = getattr(self, f"_know_{type(node).__name__}", None)
        return None if method is None else method(node, values)

    def _know_Constant(self, node, values):
        return Known(node.value) if not isinstance(node.value, (bytes, complex)) and node.value is not ... else None

    def _know_Name(self, node, values):
        name = node.id
        if name in self.bound:
            return self.bound[name]
        if name in self.locals:
            return None
        if name in self.variables:
            return Known(self.variables[name], closed=True)
        builtins = self.variables.get("__builtins__") or {}
        if not isinstance(builtins, dict):
            builtins = vars(builtins)
        if name in builtins:
            return Known(builtins[name])
        raise self.source.failed(node, f"undefined value {name}")

    def _know_Attribute(self, node, values):
        owner = self.known(node.value, values)
        if owner is None:
            return None
        if isinstance(owner.value, Module):
            return self._member(owner, node.attr, node, values)
        if isinstance(owner.value, (types.ModuleType, type)) or calls.is_namespace(owner.value):
            found = getattr(owner.value, node.attr, self)
            if found is self:
                raise self.source.failed(node, f"{getattr(owner.value, '__name__', owner.value)} has no attribute "
                                               f"{node.attr!r}")
            return Known(found)
        if isinstance(owner.value, Enum) and owner.node is None and node.attr in ("name", "value"):
            return Known(getattr(owner.value, node.attr))
        if isinstance(owner.value, Method) or isinstance(owner.value, CONSTANTS) or owner.node is not None:
            return None
        if isinstance(owner.value, (tuple, list, dict)):
            return None
        raise self.refused(node, f"an attribute of an object of class {type(owner.value).__name__} is not known to a "
                                 "script")

    def _member(self, owner, name, node, values):
        module = owner.value
        if name in module._modules:
            found = module._modules[name]
            return Known(found, member(owner.node, name) if found is not None else None)
        if name in module._parameters or name in module._buffers:
            found = module._parameters.get(name, module._buffers.get(name))
            return Known(None) if found is None else None
        if name == "training":
            return None
        compiled = self.program.module(module)
        if name in compiled.values:
            value = compiled.values[name]
            if compiled.is_constant(name) and is_constant(value) or value is None or values and is_constant(value):
                return Known(value, None if compiled.is_constant(name) else member(owner.node, name))
            return Known(value) if inspect.isroutine(value) else None
        if name in vars(module):
            value = vars(module)[name]
            if inspect.isroutine(value) or isinstance(value, type):
                return Known(value)
            raise self.source.failed(node, f"Module '{type(module).__name__}' has no attribute '{name}' (This "
                                           "attribute exists on the Python module, but we failed to convert Python "
                                           f"type: '{type(value).__name__}' to a TorchScript type. "
                                           f"{compiled.failed.get(name, '')})")
        return self._class_member(owner, name, node)

    def _class_member(self, owner, name, node):
        """An attribute of a module that its class has: a method, a property or a constant."""
        module = owner.value
        found = inspect.getattr_static(type(module), name, self)
        if self.program.has_method(module, name):
            return Known(Method(owner, name))
        if found is self:
            raise self.source.failed(node, f"Module '{type(module).__name__}' has no attribute '{name}'")
        if isinstance(found, staticmethod):
            return Known(found.__func__)
        if inspect.isfunction(found):
            return Known(Method(owner, name))
        if isinstance(found, property):
            return None                        # its getter is called
        return Known(found) if is_constant(found) or inspect.isroutine(found) else None

    def _know_Subscript(self, node, values):
        owner = self.known(node.value, values)
        if owner is None:
            return None
        if isinstance(owner.value, (ModuleList, Sequential, ModuleDict)):
            if isinstance(node.slice, ast.Slice):
                parts = [None if x is None else self.known(x, True) for x in (
                    node.slice.lower, node.slice.upper, node.slice.step)]
                index = slice(*[None if x is None else x.value for x in parts])
                return Known(Several(self._children(owner)[index]))
            index = self.known(node.slice, True)
            if index is None:
                raise self.refused(node, "Enumerations of modules can be indexed by constants alone")
            if isinstance(owner.value, ModuleDict):
                found = dict(zip(owner.value._modules, self._children(owner)))
                return found[index.value]
            return self._children(owner)[index.value]
        if isinstance(owner.value, Several):
            index = self.known(node.slice, True)
            return None if index is None else owner.value.items[index.value]
        if isinstance(owner.value, (tuple, list)) and owner.node is None and self.library:
            index = self.known(node.slice, True)
            return None if index is None else Known(owner.value[index.value])
        return None

    def _know_UnaryOp(self, node, values):
        inner = self.known(node.operand, values)
        if inner is not None and isinstance(node.op, ast.USub) and type(inner.value) in (int, float):
            return Known(-inner.value)
        return None

    def _know_Call(self, node, values):
        return calls.known(self, node, values)

    def _know_IfExp(self, node, values):
        truth = self.truth(node.test)
        if truth is None:
            return None
        return self.known(node.body if truth else node.orelse, values)

    def _know_Tuple(self, node, values):
        parts = [self.known(x, values) for x in node.elts]
        if None in parts or not all([is_constant(p.value) and p.node is None for p in parts]):
            return None
        return Known(tuple([p.value for p in parts]))

    def truth(self, node):
        """Whether a condition holds; None if the script has to compute it."""
        if isinstance(node, ast.BoolOp):
            found = [self.truth(x) for x in node.values]
            short = isinstance(node.op, ast.Or)
            for value in found:
                if value is None:
                    return None
                if value is short:
                    return short
            return not short
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            found = self.truth(node.operand)
            return None if found is None else not found
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._truth_of_comparison(node)
        known = self.known(node)
        if known is None or isinstance(known.value, (Module, Method)) or known.node is not None:
            return None
        return bool(known.value) if isinstance(known.value, (bool, int, str, type(None), tuple)) else None

    def _truth_of_comparison(self, node):
        left, right, op = self.known(node.left), self.known(node.comparators[0]), node.ops[0]
        if isinstance(op, (ast.Is, ast.IsNot)) and right is not None and right.value is None:
            if left is None:
                return self._of_none(node.left, isinstance(op, ast.IsNot))
            return (left.value is None) is isinstance(op, ast.Is)
        if left is None or right is None or left.node is not None or right.node is not None or not (
                is_constant(left.value) and is_constant(right.value)):
            return None
        compare = _COMPARISONS.get(type(op))
        return None if compare is None else bool(compare(left.value, right.value))

    def _of_none(self, node, negated):
        """The truth of a comparison of a parameter or buffer with None: a parameter that is known is not None."""
        if isinstance(node, ast.Attribute):
            owner = self.known(node.value)
            if owner is not None and isinstance(owner.value, Module) and (
                    node.attr in owner.value._parameters or node.attr in owner.value._buffers):
                return negated
        return None

    # ------------------------------------------------------------- loops over modules
    def _children(self, owner):
        return [Known(child, member(owner.node, name)) for name, child in owner.value._modules.items()]

    def items(self, node):
        """The items of a loop that is to be unrolled; None for any other loop."""
        known = self.known(node)
        if known is not None:
            value = known.value
            if isinstance(value, (ModuleList, Sequential)):
                return self._children(known)
            if isinstance(value, ModuleDict):
                return [Known(name) for name in value._modules]
            if isinstance(value, Several):
                return value.items
            if self.library and known.node is None and isinstance(value, (tuple, list)):
                return [Known(x) for x in value]
        if not isinstance(node, ast.Call):
            return None
        if isinstance(node.func, ast.Attribute):
            owner = self.known(node.func.value)
            if owner is not None and isinstance(owner.value, Module):
                return self._named_items(owner, node.func)
            if isinstance(node.func.value, ast.Attribute) and node.func.value.attr == "_modules":
                owner = self.known(node.func.value.value)
                return self._named_items(owner, node.func)
        function = self.known(node.func)
        if function is None:
            return None
        return self._items_of_builtin(function.value, node.args)

    def _items_of_builtin(self, function, args):
        """The items of enumerate(...), reversed(...) or zip(...) over modules; None for any other call."""
        if function is zip:
            return self._zipped([self.items(x) for x in args], args)
        if function is not enumerate and function is not reversed or not args:
            return None
        inner = self.items(args[0])
        if inner is None:
            return None
        if function is reversed:
            return inner[::-1]
        return [[Known(i), x] for i, x in enumerate(inner)]

    def _zipped(self, inner, args):
        """The items of zip(...). An argument that is not a sequence of modules is indexed."""
        counts = [len(x) for x in inner if x is not None]
        if not counts:
            return None
        for k, arg in enumerate(args):
            if inner[k] is None:
                inner[k] = [ast.Subscript(self.expr(arg), ast.Constant(i), ast.Load()) for i in range(min(counts))]
        return [list(each) for each in zip(*inner)]

    def _named_items(self, owner, func):
        children = self._children(owner)
        if func.attr in ("values", "children"):
            return children
        if func.attr in ("items", "named_children"):
            return [[Known(name), child] for name, child in zip(owner.value._modules, children)]
        if func.attr == "keys":
            return [Known(name) for name in owner.value._modules]
        return None
