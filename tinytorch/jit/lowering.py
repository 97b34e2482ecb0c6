"""The body of one function as a script: every name resolved, loops over modules unrolled, known conditions decided.

`FunctionText.lines` is the text. Values that are known when a function is compiled (modules, functions, constants) are
`Known`. Of other values there are only the expressions: PyTorch infers their types when it reads the text, and here
they are computed without types.
"""
from __future__ import annotations

import ast
import inspect
import types
import typing
from collections.abc import Callable
from enum import Enum
from typing import Any

from ..nn import Module
from ..tensor import Tensor
from . import calls
from .declared import Unknown, signature_of_comment
from .frontend import source_of
from .known import MARK, VARIABLE, Known, is_constant, literal, member, own_path, parsed
from .resolving import Resolver

__all__ = ["FunctionText"]


#: The body of a method that is marked as unused.
_UNUSED = "ops.prim.RaiseException('Cannot call @unused methods', 'builtins.RuntimeError')"


class FunctionText(Resolver):
    """The text of one function.

    program    the Program that it belongs to
    self_type  the type of `self` for a method
    owner      the ModuleClass for a method of a module
    plain      whether a function without `self` becomes a method
    fields     a dict that gets the types of the attributes that `self` is assigned
    hints      types of the arguments that replace the annotations in the source
    """

    def __init__(self, program, function: Callable, name: str, self_type: str | None = None, owner: Any = None,
                 plain: bool = False, fields: dict[str, str] | None = None,
                 hints: dict[str, Any] | None = None) -> None:
        if isinstance(function, types.MethodType):
            function = function.__func__
        self.program, self.name, self.owner, self.fields = program, name, owner, fields
        self.self_type = self_type
        self.source = source_of(function)
        self.variables = self.source.variables
        self.library = own_path(self.source.function.__module__) is not None
        node = self.source.node
        self.function = self.source.function
        if isinstance(node, ast.ClassDef):
            raise self.source.failed(node, "expected a function")
        self.bound, self.fresh, self.before = {}, 0, []        # before: statements to insert before this one
        parameters = [*node.args.posonlyargs, *node.args.args]
        self.self_name = parameters[0].arg if self_type and not plain and parameters else None
        if self.self_name and owner is not None:
            self.bound[self.self_name] = Known(owner.module, ast.Name(self.self_name, ast.Load()))
        self.assigned = _assignments(node)
        self.locals = {a.arg for a in (*parameters, *node.args.kwonlyargs)} | set(self.assigned)
        self.hints = self._hints(node, parameters) if hints is None else hints
        head = self._head(node, parameters, plain)
        if getattr(self.function, MARK, None) == "unused":
            body = [ast.Expr(parsed(_UNUSED))]
        else:
            body = self.block(node.body) or [ast.Pass()]
        body = self._ended(body, node)
        text = [line for part in body for line in ast.unparse(ast.fix_missing_locations(part)).split("\n")]
        self.lines = [head, *["  " + line for line in text]]

    @property
    def called(self) -> str:
        """The name of the function in errors: M.forward."""
        return f"{self.owner.kind}.{self.name}" if self.owner is not None else self.name

    def _ended(self, body, node):
        """The body with an exception at its end, so that PyTorch sees a result on every path."""
        if not _raises(body[-1]) or len(body) > 1 and isinstance(body[-2], ast.Return):
            return body
        hint = self.hints.get("return", Tensor if len(body) == 1 else None)
        if hint is not None and hint is not type(None):
            return [*body, ast.Return(parsed(f"uninitialized({self.type(hint, node)})"))]
        for i in reversed(range(len(body) - 1)):
            part = body[i]
            if isinstance(part, ast.If) and not part.orelse and isinstance(part.body[-1], ast.Return):
                return [*body[:i], ast.If(part.test, part.body, self._ended(body[i + 1:], node) if any(
                    [isinstance(x, ast.If) for x in body[i + 1:]]) else body[i + 1:])]
        return body

    def refused(self, node, reason):
        """The error for a construct of the source, which the caller raises."""
        return self.source.refused(node, reason)

    # ------------------------------------------------------------- the head
    def _hints(self, node, parameters):
        comment = node.type_comment
        first = node.body[0] if node.body else None
        if comment is None and first is not None:
            lines = self.source.lines[node.lineno - 1:first.lineno - 1]
            found = [line.partition("# type:")[2].strip() for line in lines if "# type: (" in line]
            comment = found[0] if found else None
        if comment is not None and not comment.startswith("ignore"):
            try:
                kinds, result = signature_of_comment(comment, self.variables)
            except (SyntaxError, NameError, AttributeError, TypeError) as error:
                raise self.source.failed(node, f"the comment of types cannot be read ({error})") from None
            names = [a.arg for a in parameters if a.arg != self.self_name]
            return {**dict(zip(names, kinds)), "return": result}
        found = {}
        for a in (*parameters, *node.args.kwonlyargs):
            if a.annotation is not None:
                found[a.arg] = self._declared(a.arg, a.annotation)
        if node.returns is not None:
            found["return"] = self._declared("return", node.returns)
        return found

    def _declared(self, name, annotation):
        """The annotation of a parameter: the object itself if the annotation is not text."""
        hint = self.function.__annotations__.get(name)
        return self._evaluated(annotation) if hint is None or isinstance(hint, (str, typing.ForwardRef)) else hint

    def _evaluated(self, annotation):
        """The object that an annotation names."""
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            annotation = ast.parse(annotation.value, mode="eval").body
        scope = {**vars(typing), "Tensor": Tensor, **self.variables}
        try:
            return eval(compile(ast.Expression(annotation), "<annotation>", "eval"), scope)
        except Exception as error:
            raise self.source.failed(annotation, f"Unknown type annotation: '{ast.unparse(annotation)}' "
                                                 f"({error})") from None

    def type(self, hint, node):
        """The type of an annotation in the program."""
        try:
            return self.program.annotated(hint)
        except Unknown as error:
            raise self.source.failed(node, str(error)) from None

    def _head(self, node, parameters, plain):
        arguments = node.args
        if arguments.vararg or arguments.kwarg:
            raise self.refused(arguments.vararg or arguments.kwarg,
                               "Compiled functions can't take variable number of arguments or use keyword-only "
                               "arguments with defaults")
        defaults = dict(zip([a.arg for a in parameters][len(parameters) - len(arguments.defaults):],
                            arguments.defaults))
        defaults |= {a.arg: d for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults) if d is not None}
        declared = []
        if plain:
            declared.append(f"self: {self.self_type}")
        for a in (*parameters, *arguments.kwonlyargs):
            if a.arg == self.self_name:
                declared.append(f"{a.arg}: {self.self_type}")
                continue
            kind = self.type(self.hints.get(a.arg, Tensor), a)
            if a.arg not in defaults:
                declared.append(f"{a.arg}: {kind}")
                continue
            default = self._default(a.arg, defaults[a.arg])
            if kind == "Tensor" and default == "None" or kind == "Tensor" and a.arg not in self.hints:
                raise self.source.failed(a, f'Expected a default value of type Tensor (inferred) on parameter '
                                            f'"{a.arg}".Because "{a.arg}" was not annotated with an explicit type it '
                                            "is assumed to be type 'Tensor'.")
            declared.append(f"{a.arg}: {kind}={default}")
        result = f" -> {self.type(self.hints['return'], node)}" if "return" in self.hints else ""
        if self.name == "__init__" and not result:
            result = " -> NoneType"
        return f"def {self.name}({', '.join(declared)}){result}:"

    def _default(self, name, node):
        value = inspect.signature(self.function).parameters[name].default
        text = literal(value)
        if text is None:
            raise self.source.failed(node, f"the default of {name!r} is a {type(value).__name__}, which a script "
                                           "cannot have")
        return text

    # ------------------------------------------------------------- statements
    def block(self, body):
        """The statements of a block in the language of the script."""
        made, outer = [], self.before
        for node in body:
            method = getattr(self, f"_do_{type(node).__name__}", None)
            if method is None:
                raise self.source.unsupported(node)
            self.before = []
            found = method(node)
            made += self.before + found
            if isinstance(node, ast.Raise) or found and isinstance(found[-1], (ast.Return, ast.Break, ast.Continue)):
                break                          # later statements never run
        self.before = outer
        return made

    def _do_Pass(self, node):
        return []

    def _do_Break(self, node):
        return [node]

    _do_Continue = _do_Break

    def _do_Return(self, node):
        if node.value is None:
            return [ast.Return(ast.Constant(None))]
        value = self.expr(node.value)
        result = self.hints.get("return")
        if isinstance(value, (ast.List, ast.Dict)) and not (value.elts if isinstance(value, ast.List) else value.keys) \
                and result is not None:
            value = _annotated(self.type(result, node), value)
        return [ast.Return(value)]

    def _do_Expr(self, node):
        if isinstance(node.value, ast.Constant):
            return []
        if isinstance(node.value, ast.Call):
            found = calls.statement(self, node.value)
            if found is not None:
                return found
        return [ast.Expr(self.expr(node.value))]

    def _do_Assign(self, node):
        if len(node.targets) != 1:
            self.fresh += 1
            name = f"_value_{self.fresh}"
            parts = [ast.Assign([self._target(x)], ast.Name(name, ast.Load()), lineno=0) for x in node.targets]
            return [ast.Assign([ast.Name(name, ast.Store())], self.expr(node.value), lineno=0), *parts]
        target = node.targets[0]
        if isinstance(target, ast.Name) and self.assigned.get(target.id) == 1:
            known = self.known(node.value)
            if known is not None and not is_constant(known.value):
                self.bound[target.id] = known
                return []
        value = self.expr(node.value)
        setter = self._setter(target)
        if setter is not None:
            return [ast.Expr(ast.Call(setter, [value], []))]
        self._field(target, node.value, None)
        return [ast.Assign([self._target(target)], value, lineno=0)]

    def _setter(self, target):
        """The method that sets a property of a module; None if the target is not a property."""
        owner = self.known(target.value) if isinstance(target, ast.Attribute) else None
        if owner is None or not isinstance(owner.value, Module):
            return None
        found = inspect.getattr_static(type(owner.value), target.attr, None)
        if not isinstance(found, property):
            return None
        if found.fset is None:
            raise self.source.failed(target, f"the property {target.attr!r} has no setter")
        name = self.program.module(owner.value).method(f"__{target.attr}_setter", found.fset)
        return ast.Attribute(owner.node, name, ast.Load())

    def _do_AnnAssign(self, node):
        hint = self._evaluated(node.annotation)
        kind = self.type(hint, node.annotation)
        self._field(node.target, node.value, kind)
        if node.value is None:
            return []
        value = self.expr(node.value)
        if kind not in ("int", "str", "bool", "Tensor"):
            value = _annotated(kind, value)
        return [ast.Assign([self._target(node.target)], value, lineno=0)]

    def _field(self, target, value, kind):
        """Notes the type of an attribute that is assigned to `self` in a class."""
        if self.fields is None or not isinstance(target, ast.Attribute) or not (
                isinstance(target.value, ast.Name) and target.value.id == self.self_name):
            return
        if target.attr not in self.fields:
            self.fields[target.attr] = kind or calls.kind_of(self, value)
        if self.fields[target.attr] is None:
            raise self.source.failed(target, f"the type of self.{target.attr} is not known: annotate it")

    def _target(self, node):
        if isinstance(node, ast.Name):
            self.bound.pop(node.id, None)
            return ast.Name(node.id, ast.Store())
        if isinstance(node, (ast.Tuple, ast.List)):
            return ast.Tuple([self._target(x) for x in node.elts], ast.Store())
        if isinstance(node, ast.Attribute):
            return ast.Attribute(self.expr(node.value, True), node.attr, ast.Store())
        if isinstance(node, ast.Subscript):
            return ast.Subscript(self.expr(node.value), self._index(node.slice), ast.Store())
        if isinstance(node, ast.Starred):
            raise self.source.unsupported(node)
        raise self.source.unsupported(node)

    def _do_AugAssign(self, node):
        if isinstance(node.op, (ast.FloorDiv, ast.MatMult)):
            raise self.refused(node, f"unsupported kind of augmented assignment: {type(node.op).__name__}")
        target, value = self._target(node.target), self.expr(node.value)
        if isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
            return [ast.AugAssign(target, node.op, value)]
        read = self.expr(_loaded(node.target))
        return [ast.Assign([target], ast.BinOp(read, node.op, value), lineno=0)]

    def _do_Delete(self, node):
        for target in node.targets:
            if not isinstance(target, (ast.Subscript, ast.Name)):
                raise self.refused(node, "del is only supported for names and for items of lists and dicts")
        return [ast.Delete([ast.Subscript(self.expr(t.value), self._index(t.slice), ast.Del())]) for t in node.targets
                if isinstance(t, ast.Subscript)]

    def _do_If(self, node):
        known = self.truth(node.test)
        if known is not None:
            return self.block(node.body if known else node.orelse)
        test = self.expr(node.test)
        before = dict(self.bound)
        body = self.block(node.body)
        self.bound = dict(before)
        orelse = self.block(node.orelse)
        self.bound = before
        return [ast.If(test, body or [ast.Pass()], orelse)]

    def _do_While(self, node):
        if node.orelse:
            raise self.refused(node.orelse[0], "else branches of while loops aren't supported")
        known = self.truth(node.test)
        if known is False:
            return []
        test = ast.Constant(True) if known else self.expr(node.test)
        return [ast.While(test, self.block(node.body) or [ast.Pass()], [])]

    def _do_For(self, node):
        if node.orelse:
            raise self.refused(node.orelse[0], "else branches of for loops aren't supported")
        items = self.items(node.iter)
        if items is None:
            return [ast.For(self._target(node.target), self.expr(node.iter), self.block(node.body) or [ast.Pass()], [],
                            lineno=0)]
        for inner in ast.walk(node):
            if isinstance(inner, (ast.Break, ast.Continue)) and not _is_within_loop(node, inner):
                raise self.refused(inner, "Because we emit iteration over Modulelists or Tuples as unrolled loops, we "
                                          "do not support break or continue inside the body of these loops")
        made = []
        for item in items:
            made += self._bind(node.target, item) + self.block(node.body)
        return made

    def _bind(self, target, item):
        """Binds a loop's variable to an item: a Known, an expression, or a tuple of items."""
        if isinstance(target, (ast.Tuple, ast.List)):
            if not isinstance(item, list) or len(item) != len(target.elts):
                raise self.refused(target, "the tuple of variables and the items of the loop have different lengths")
            return [made for part, x in zip(target.elts, item) for made in self._bind(part, x)]
        if isinstance(item, list):
            raise self.refused(target, "a pair of modules is not a value: give its parts names")
        if isinstance(item, Known):
            self.bound[target.id] = item
            return []
        self.bound.pop(target.id, None)
        return [ast.Assign([ast.Name(target.id, ast.Store())], item, lineno=0)]

    def _do_Assert(self, node):
        known = self.truth(node.test)
        if known is True:
            return []
        message = self.expr(node.msg) if node.msg is not None else ast.Constant("AssertionError: ")
        return [ast.Assert(self.expr(node.test), message)]

    def _do_Raise(self, node):
        if node.exc is None:
            raise self.refused(node, "raise without an exception isn't supported")
        call = node.exc
        kind = self.known(call.func if isinstance(call, ast.Call) else call)
        if kind is None or not (isinstance(kind.value, type) and issubclass(kind.value, BaseException)):
            raise self.refused(node, "only exceptions of Python's classes can be raised")
        text = ast.Constant("")
        if isinstance(call, ast.Call) and call.args:
            parts = [self.expr(x) for x in call.args]
            text = parts[0] if len(parts) == 1 else ast.Call(ast.Attribute(ast.Constant(
                "(" + ", ".join(["{}"] * len(parts)) + ")"), "format", ast.Load()), parts, [])
        name = ast.Constant(f"{kind.value.__module__}.{kind.value.__qualname__}")
        return [ast.Expr(ast.Call(parsed("ops.prim.RaiseException"), [text, name], []))]

    def _do_With(self, node):
        for item in node.items:
            known = self.known(item.context_expr.func) if isinstance(item.context_expr, ast.Call) else None
            if known is None or getattr(known.value, "__name__", "") != "no_grad" or item.optional_vars is not None:
                raise self.refused(node, "only torch.no_grad() is supported in a with statement")
        self.program.uses_no_grad()
        made = parsed("__torch__.torch.autograd.grad_mode.no_grad()")
        return [ast.With([ast.withitem(made)], self.block(node.body) or [ast.Pass()], lineno=0)]

    def _do_FunctionDef(self, node):
        raise self.source.unsupported(node)

    _do_ClassDef = _do_Try = _do_Import = _do_ImportFrom = _do_Global = _do_Nonlocal = _do_FunctionDef

    # ------------------------------------------------------------- expressions
    def expr(self, node, as_owner=False):
        """An expression in the language of the script."""
        known = self.known(node)
        if known is not None:
            return self._constant(node, known, as_owner)
        if isinstance(node, ast.Constant):
            raise self.source.failed(node, f"a constant of type {type(node.value).__name__} is not a value in a script")
        method = getattr(self, f"_of_{type(node).__name__}", None)
        if method is None:
            raise self.source.unsupported(node)
        return method(node)

    def _constant(self, node, known, as_owner):
        value = known.value
        if known.node is not None and (as_owner or not isinstance(value, Module)):
            return known.node
        if isinstance(value, Module):
            raise self.source.failed(node, f"a module ({type(value).__name__}) is not a value in a script: call it")
        if isinstance(value, Enum):
            return parsed(f"{self.program.class_type(type(value))}.{value.name}")
        closed = known.closed and not self.library and isinstance(value, (bool, int, float, str, tuple, list))
        text = None if closed else literal(value)
        if text is None:
            raise self.source.failed(node, f"python value of type '{type(value).__name__}' cannot be used as a value. "
                                           "Perhaps it is a closed over global variable? If so, please consider "
                                           "passing it in as an argument or use a local varible instead.")
        return parsed(text)

    def _of_Name(self, node):
        return ast.Name(node.id, ast.Load())

    def _of_Attribute(self, node):
        owner = self.known(node.value)
        if owner is not None and isinstance(owner.value, Module):
            found = inspect.getattr_static(type(owner.value), node.attr, None)
            if isinstance(found, property) and node.attr not in vars(owner.value):
                name = self.program.module(owner.value).method(f"__{node.attr}_getter", found.fget)
                return ast.Call(ast.Attribute(owner.node, name, ast.Load()), [], [])
            return member(owner.node, node.attr)
        if node.attr[:2] == "__":
            raise self.source.failed(node, f"'Tensor' object has no attribute or method '{node.attr}'.")
        return ast.Attribute(self.expr(node.value), node.attr, ast.Load())

    def _of_Subscript(self, node):
        return ast.Subscript(self.expr(node.value), self._index(node.slice), ast.Load())

    def _index(self, node):
        if isinstance(node, ast.Tuple):
            return ast.Tuple([self._index(x) for x in node.elts], ast.Load())
        if isinstance(node, ast.Slice):
            return ast.Slice(*[None if x is None else self.expr(x) for x in (node.lower, node.upper, node.step)])
        if isinstance(node, ast.Constant) and node.value is ...:
            return node
        return self.expr(node)

    def _of_BinOp(self, node):
        if isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
            return ast.BinOp(self.expr(node.left), node.op, self.expr(node.right))
        return ast.BinOp(self.expr(node.left), node.op, self.expr(node.right))

    def _of_BoolOp(self, node):
        return ast.BoolOp(node.op, [self.expr(x) for x in node.values])

    def _of_UnaryOp(self, node):
        return ast.UnaryOp(node.op, self.expr(node.operand))

    def _of_Compare(self, node):
        values = [self.expr(x) for x in (node.left, *node.comparators)]
        parts = [ast.Compare(a, [op], [b]) for a, op, b in zip(values, node.ops, values[1:])]
        return parts[0] if len(parts) == 1 else ast.BoolOp(ast.And(), parts)

    def _of_IfExp(self, node):
        known = self.truth(node.test)
        if known is not None:
            return self.expr(node.body if known else node.orelse)
        return ast.IfExp(self.expr(node.test), self.expr(node.body), self.expr(node.orelse))

    def _of_Tuple(self, node):
        return type(node)(self._elements(node.elts), ast.Load())

    _of_List = _of_Tuple

    def _elements(self, nodes):
        return [made for x in nodes for made in (self.starred(x) if isinstance(x, ast.Starred) else [self.expr(x)])]

    def starred(self, node):
        """The items of *x. x is a tuple, or a variable whose only value or whose type is a tuple."""
        value = node.value
        if isinstance(value, ast.Tuple):
            return self._elements(value.elts)
        count = self._count_of(value)
        if count is None:
            raise self.source.unsupported(node)
        items = self.expr(value)
        return [ast.Subscript(items, ast.Constant(i), ast.Load()) for i in range(count)]

    def _count_of(self, node):
        """The number of items of a variable that is a tuple; None if it is not known."""
        if not isinstance(node, ast.Name) or node.id not in self.locals:
            return None
        if node.id in self.hints and not self.assigned.get(node.id):
            parts = typing.get_args(self.hints[node.id])
            return len(parts) if typing.get_origin(self.hints[node.id]) is tuple and ... not in parts else None
        values = [part.value for part in ast.walk(self.source.node) if isinstance(part, ast.Assign)
                  and len(part.targets) == 1 and isinstance(part.targets[0], ast.Name)
                  and part.targets[0].id == node.id]
        if self.assigned.get(node.id) != 1 or len(values) != 1 or not isinstance(values[0], ast.Tuple):
            return None
        return None if any([isinstance(x, ast.Starred) for x in values[0].elts]) else len(values[0].elts)

    def _of_Dict(self, node):
        if None in node.keys:
            raise self.refused(node, "Dict expansion (e.g. `{**dict}`) is not supported")
        return ast.Dict(self._elements(node.keys), self._elements(node.values))

    def _of_ListComp(self, node):
        generator = self._generator(node)
        items = self.items(generator.iter)
        if items is None:
            target, before, iterated = self._own_variables(generator)
            made = ast.ListComp(self.expr(node.elt), [ast.comprehension(target, iterated, [], 0)])
            self.bound = before
            return made
        before, made = dict(self.bound), []
        for item in items:
            if self._bind(generator.target, item):
                raise self.refused(node, "a comprehension over modules together with other values isn't supported")
            made.append(self.expr(node.elt))
        self.bound = before
        return ast.List(made, ast.Load())

    def _of_DictComp(self, node):
        target, before, iterated = self._own_variables(self._generator(node))
        made = ast.DictComp(self.expr(node.key), self.expr(node.value), [ast.comprehension(target, iterated, [], 0)])
        self.bound = before
        return made

    def _of_GeneratorExp(self, node):
        return self._of_ListComp(ast.copy_location(ast.ListComp(node.elt, node.generators), node))

    def _generator(self, node):
        if len(node.generators) != 1:
            raise self.refused(node, "Only a single generator is currently supported")
        if node.generators[0].ifs:
            raise self.refused(node, "Comprehension ifs are not supported yet")
        return node.generators[0]

    def _own_variables(self, generator):
        """Renames the variables of a comprehension: in a script, they would be visible in the whole function."""
        before, iterated = dict(self.bound), self.expr(generator.iter)
        self.fresh += 1
        name = f"_item_{self.fresh}"
        self._parts(generator.target, ast.Name(name, ast.Load()))
        return ast.Name(name, ast.Store()), before, iterated

    def _parts(self, target, item):
        """Binds the names in the target of a comprehension to the parts of its item."""
        if isinstance(target, ast.Name):
            self.bound[target.id] = Known(VARIABLE, item)
            return
        for i, part in enumerate(target.elts):
            self._parts(part, ast.Subscript(item, ast.Constant(i), ast.Load()))

    def _of_JoinedStr(self, node):
        text, values = "", []
        for part in node.values:
            if isinstance(part, ast.Constant):
                text += part.value
                continue
            if part.conversion != -1:
                raise self.refused(node, "Don't support conversion in JoinedStr")
            if part.format_spec is not None:
                raise self.refused(node, "Don't support formatting in JoinedStr")
            text += "{}"
            values.append(self.expr(part.value))
        return ast.Call(ast.Attribute(ast.Constant(text), "format", ast.Load()), values, [])

    def _of_Call(self, node):
        return calls.call(self, node)


def _raises(node):
    """Whether a statement of a script raises an exception."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and ast.unparse(
        node.value.func) == "ops.prim.RaiseException"


def _annotated(kind, value):
    return ast.Call(ast.Name("annotate", ast.Load()), [parsed(kind), value], [])


def _loaded(node):
    """A target as an expression."""
    made = ast.parse(ast.unparse(node), mode="eval").body
    return ast.copy_location(made, node)


def _assignments(node):
    """The number of assignments to each name outside comprehensions: {name: count}."""
    counts, within = {}, set()
    for part in ast.walk(node):
        if isinstance(part, (ast.ListComp, ast.DictComp, ast.GeneratorExp, ast.SetComp)):
            within |= {id(x) for generator in part.generators for x in ast.walk(generator.target)}
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, (ast.Store, ast.Del)) and id(part) not in within:
            counts[part.id] = counts.get(part.id, 0) + 1
    return counts


def _is_within_loop(outer, node):
    """Whether a loop inside `outer` has the node."""
    return any([isinstance(loop, (ast.For, ast.While)) and loop is not outer and node in list(ast.walk(loop))
                for loop in ast.walk(outer)])
