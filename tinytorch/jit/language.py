"""An interpreter of the language of TorchScript archives: a small Python in which every name comes from a table.

The text is parsed by `ast` and turned into closures, statement by statement. A name is a local variable, a word of the
language, a function or class of the archive, or an operator (operators.py); an attribute is one that the class of the
archive declares. Everything else is refused by name when the archive is read. Running is bounded: `Machine.steps`
statements and iterations a call, and no list or text longer than `LONGEST`.
"""
from __future__ import annotations

import ast
import textwrap
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from ..autograd.grad_mode import is_grad_enabled, set_grad_enabled
from . import expressions, operators
from .objects import Member, Object, ScriptObject, Tuple, attribute_of, set_attribute

__all__ = ["LONGEST", "Machine", "Refused", "Script"]

LONGEST = operators.LONGEST
#: How many bytes of text an archive may have, and how deep expressions may nest.
_MOST_TEXT = 32 << 20
_DEEPEST = 200


class Refused(RuntimeError):
    """The archive has a construct that is not in the language, or a name that is in no table."""


class _Return:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class _Closure:
    __slots__ = ("body",)

    def __init__(self, body):
        self.body = body


_BREAK, _CONTINUE = object(), object()


class Class:
    """A class of the archive: its `methods`, `fields` in order and `constants`, and whether it is the class of a
    module."""

    def __init__(self, name: str) -> None:
        self.name, self.methods, self.fields, self.constants = name, {}, {}, {}
        self.parameters, self.buffers, self.kind = (), (), "object"

    def __repr__(self):
        return self.name


class Function:
    """A function or method of the archive."""

    def __init__(self, machine, node, where, source):
        self.machine, self.name, self.where, self.node, self.source = machine, node.name, where, node, source
        arguments = node.args
        if arguments.vararg or arguments.kwarg or arguments.posonlyargs:
            raise Refused(f"{where}.{node.name}: arguments of any number")
        self.parameters = [a.arg for a in (*arguments.args, *arguments.kwonlyargs)]
        defaults = dict(zip(self.parameters[len(arguments.args) - len(arguments.defaults):], arguments.defaults))
        defaults |= {a.arg: d for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults) if d is not None}
        self.defaults = {name: machine.expression(value, self) for name, value in defaults.items()}
        self.annotations = {a.arg: a.annotation for a in (*arguments.args, *arguments.kwonlyargs)}
        self._body = None

    @property
    def text(self):
        """The text of the function in the file."""
        lines = self.source.split("\n")[self.node.lineno - 1:self.node.end_lineno]
        return textwrap.dedent("\n".join(lines)) + "\n"

    @property
    def body(self):
        """The statements, compiled at the first call."""
        if self._body is None:
            self._body = self.machine.block(self.node.body, self)
        return self._body

    def __call__(self, args, kwargs):
        if len(args) > len(self.parameters):
            raise RuntimeError(f"{self.name}() expected at most {len(self.parameters)} argument(s) but received "
                               f"{len(args)} argument(s).")
        scope = dict(zip(self.parameters, args))
        for name, value in kwargs.items():
            if name not in self.parameters or name in scope:
                raise RuntimeError(f"Unknown keyword argument '{name}' for operator '{self.name}'.")
            scope[name] = value
        for name in self.parameters:
            if name not in scope:
                if name not in self.defaults:
                    raise RuntimeError(f"{self.name}() is missing value for argument '{name}'.")
                scope[name] = self.defaults[name](scope)
        result = self.body(scope)
        return result.value if type(result) is _Return else None


class Script:
    """The classes and functions in the files of an archive: {full name: Class or Function}. `python` has functions that
    Python runs: a program that was compiled here may have some, an archive has none."""

    def __init__(self, files: dict[str, str], constants: list, python: dict[str, Callable] | None = None,
                 enums: dict[type, str] | None = None) -> None:
        self.enums = enums or {}
        self.machine, self.files, self.python = Machine(self, constants), files, python or {}
        self.classes, self.functions = {}, {}
        if sum(map(len, files.values())) > _MOST_TEXT:
            raise Refused(f"more than {_MOST_TEXT} bytes of code")
        for module, text in files.items():
            for node in parse(text, module).body:
                name = f"{module}.{getattr(node, 'name', '')}"
                if isinstance(node, ast.ClassDef):
                    self.classes[name] = self._class(node, name, text)
                elif isinstance(node, ast.FunctionDef):
                    self.functions[name] = Function(self.machine, node, module, text)
                else:
                    raise Refused(f"{module}: {_shown(node)}")

    def _class(self, node, name, text):
        made = Class(name)
        bases = [_dotted(base) for base in node.bases]
        if bases not in ([], ["Module"], ["NamedTuple"], ["Enum"]) or node.keywords or node.decorator_list:
            raise Refused(f"{name}: a class of {', '.join(map(str, bases))}")
        kinds = {"Module": "module", "NamedTuple": "tuple", "Enum": "enum"}
        made.kind = kinds[bases[0]] if bases else "object"
        for part in node.body:
            if isinstance(part, ast.FunctionDef):
                made.methods[part.name] = Function(self.machine, part, name, text)
            elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                made.fields[part.target.id] = part.annotation
                if part.value is not None:
                    made.constants[part.target.id] = self.machine.expression(part.value, made)({})
            elif isinstance(part, ast.Assign) and len(part.targets) == 1:
                self._told(made, part)
            elif not isinstance(part, ast.Pass):
                raise Refused(f"{name}: {_shown(part)}")
        return made

    def _told(self, made, part):
        target = part.targets[0]
        if made.kind == "enum" and isinstance(target, ast.Name) and not target.id.startswith("_"):
            value = self.machine.expression(part.value, made)({})
            if type(value) not in (int, float, str):
                raise Refused(f"{made.name}: {_shown(part)}")
            made.constants[target.id] = Member(made, target.id, value)
        elif isinstance(target, ast.Subscript) and _dotted(target.value) == "__annotations__" and isinstance(
                target.slice, ast.Constant) and isinstance(target.slice.value, str):
            made.fields[target.slice.value] = part.value
        elif isinstance(target, ast.Name) and target.id in ("__parameters__", "__buffers__"):
            try:
                names = tuple([str(x) for x in ast.literal_eval(part.value)])
            except (ValueError, TypeError):
                raise Refused(f"{made.name}: {target.id}") from None
            setattr(made, target.id.strip("_"), names)
        elif not (isinstance(target, ast.Name) and target.id.startswith("__") and target.id.endswith("__")):
            raise Refused(f"{made.name}: {_shown(part)}")


def parse(text: str, name: str) -> ast.Module:
    """The text of a file as a tree. Refused if the text is not Python, or nests too deeply."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise Refused(f"{name}: this is not code ({type(error).__name__})") from None
    level, depth = [tree], 0
    while level:                               # without recursion: the tree may be deeper than Python's stack
        depth += 1
        if depth > _DEEPEST:
            raise Refused(f"{name}: expressions nest more than {_DEEPEST} deep")
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return tree


def _dotted(node):
    """The text of a name such as a.b.c; None for other expressions."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def _shown(node):
    try:
        text = ast.unparse(node)
    except Exception:
        text = type(node).__name__
    return f"{type(node).__name__} ({text:.60})"


# ------------------------------------------------------------------ the machine
class _Here(threading.local):
    left = depth = 0                           # the steps that the call has left, and the number of running calls


def line_of(frame: FrameType) -> tuple[str, str] | None:
    """(function, statement) of the program that a Python frame runs; None for other frames."""
    if frame.f_globals.get("__name__") != __name__:
        return None
    owner, node = getattr(frame.f_locals.get("statement"), "written", (None, None))
    return None if owner is None else (owner.name, ast.unparse(node).partition("\n")[0])


class Machine:
    """Runs the functions of a script. `steps`: the number of statements and iterations that one outer call may take."""

    steps = 20_000_000

    def __init__(self, script: Script, constants: list) -> None:
        self.script, self.constants, self.here = script, constants, _Here()

    def call(self, function: Function, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The result of a function that the user calls."""
        here = self.here
        before = is_grad_enabled()
        if not here.depth:
            here.left = self.steps
        here.depth += 1
        try:
            return function(args, kwargs)
        except RecursionError:
            raise RuntimeError(f"{function.name}: calls nest too deeply") from None
        finally:
            here.depth -= 1
            if is_grad_enabled() is not before:            # a program may change grad mode only for itself
                set_grad_enabled(before)

    def step(self):
        """Counts a statement."""
        here = self.here
        here.left -= 1
        if here.left < 0:
            raise RuntimeError(f"the program takes more than {self.steps} steps (torch.jit.language.Machine.steps)")

    # ------------------------------------------------------------- statements
    def block(self, body, owner):
        """A function of the variables that runs the statements."""
        statements = []
        for node in body:
            if not isinstance(node, ast.Pass):
                statements.append(self.statement(node, owner))
                statements[-1].written = owner, node
        step = self.step

        def run(scope):
            for statement in statements:
                step()
                result = statement(scope)
                if result is not None:
                    return result
            return None
        return run

    def statement(self, node, owner):
        """A function of the variables that runs one statement."""
        kind = _STATEMENTS.get(type(node))
        if kind is None:
            raise Refused(f"{owner.name}: {_shown(node)}")
        return kind(self, node, owner)

    def _assign(self, node, owner):
        if len(node.targets) != 1:
            raise Refused(f"{owner.name}: {_shown(node)}")
        return self._store(node.targets[0], self.expression(node.value, owner), owner)

    def _annotated(self, node, owner):
        if node.value is None:
            return lambda scope: None
        return self._store(node.target, self.expression(node.value, owner), owner)

    def _store(self, target, value, owner):
        if isinstance(target, ast.Name):
            name = target.id

            def store(scope):
                scope[name] = value(scope)
            return store
        put = self.target(target, owner)
        return lambda scope: put(scope, value(scope))

    def target(self, target: ast.expr, owner: Any) -> Callable:
        """A function of the variables and a value, which assigns the value to the target."""
        if isinstance(target, ast.Name):
            name = target.id
            return lambda scope, x: scope.__setitem__(name, x)
        if isinstance(target, (ast.Tuple, ast.List)):
            parts = [self.target(part, owner) for part in target.elts]

            def unpack(scope, x):
                if not isinstance(x, (tuple, list)) or len(x) != len(parts):
                    count = len(x) if isinstance(x, (tuple, list)) else 1
                    raise RuntimeError(f"Expected {len(parts)} elements in a list but found {count}")
                for part, y in zip(parts, x):
                    part(scope, y)
            return unpack
        if isinstance(target, ast.Attribute):
            value, name = self.expression(target.value, owner), target.attr
            return lambda scope, x: set_attribute(value(scope), name, x)
        if isinstance(target, ast.Subscript):
            value, index = self.expression(target.value, owner), expressions.index_of(self, target.slice, owner)
            return lambda scope, x: expressions.put_item(value(scope), index(scope), x)
        raise self.refused(target, owner)

    @staticmethod
    def refused(node: ast.AST, owner: Any) -> Refused:
        """The error for a construct that is not in the language."""
        return Refused(f"{owner.name}: {_shown(node)}")

    @staticmethod
    def variable(scope: dict[str, Any], name: str, owner: Any) -> Any:
        """The value of a variable."""
        if name not in scope:
            raise Refused(f"{owner.name}: the name {name!r} is not known")
        return scope[name]

    def _delete(self, node, owner):
        parts = []
        for target in node.targets:
            if not isinstance(target, ast.Subscript):
                raise self.refused(node, owner)
            parts.append((self.expression(target.value, owner), self.expression(target.slice, owner)))

        def run(scope):
            for value, index in parts:
                expressions.delete(value(scope), index(scope))
        return run

    def _return(self, node, owner):
        if node.value is None:
            return lambda scope: _Return(None)
        value = self.expression(node.value, owner)
        return lambda scope: _Return(value(scope))

    def _if(self, node, owner):
        test = self.expression(node.test, owner)
        yes, no = self.block(node.body, owner), self.block(node.orelse, owner)
        return lambda scope: yes(scope) if test(scope) else no(scope)

    def _for(self, node, owner):
        items, put, body = self.expression(node.iter, owner), self.target(node.target, owner), self.block(
            node.body, owner)
        if node.orelse:
            raise Refused(f"{owner.name}: for with else")
        step = self.step

        def loop(scope):
            for x in operators.iterated(items(scope)):
                step()
                put(scope, x)
                result = body(scope)
                if result is _BREAK:
                    break
                if result is not None and result is not _CONTINUE:
                    return result
            return None
        return loop

    def _while(self, node, owner):
        test, body, step = self.expression(node.test, owner), self.block(node.body, owner), self.step
        if node.orelse:
            raise Refused(f"{owner.name}: while with else")

        def loop(scope):
            while test(scope):
                step()
                result = body(scope)
                if result is _BREAK:
                    break
                if result is not None and result is not _CONTINUE:
                    return result
            return None
        return loop

    def _expression_alone(self, node, owner):
        value = self.expression(node.value, owner)

        def run(scope):
            value(scope)
        return run

    def _with(self, node, owner):
        if any([item.optional_vars is not None for item in node.items]):
            raise self.refused(node, owner)
        contexts = [self._context(item.context_expr, owner) for item in node.items]
        body = self.block(node.body, owner)

        def run(scope):
            opened = []
            try:
                for context in contexts:
                    opened.append(context(scope))
                return body(scope)
            finally:
                for close in reversed(opened):
                    close()
        return run

    def _context(self, node, owner):
        """A function of the variables that enters a context and returns a function that leaves it."""
        known = operators.CONTEXTS.get(_dotted(node.func)) if isinstance(node, ast.Call) and not node.args else None
        if known is not None:
            def enter(scope):
                context = known()
                context.__enter__()
                return lambda: context.__exit__(None, None, None)
            return enter
        value = self.expression(node, owner)

        def enter(scope):
            instance = value(scope)
            methods = instance.script_class.methods if type(instance) is ScriptObject else {}
            if "__enter__" not in methods or "__exit__" not in methods:
                raise self.refused(node, owner)
            methods["__enter__"]((instance,), {})
            return lambda: methods["__exit__"]((instance, None, None, None), {})
        return enter

    def _assert(self, node, owner):
        test = self.expression(node.test, owner)
        message = self.expression(node.msg, owner) if node.msg is not None else lambda scope: ""

        def check(scope):
            if not test(scope):
                raise operators.failed(f"AssertionError: {message(scope)}", None)
        return check

    # ------------------------------------------------------------- expressions
    def expression(self, node, owner):
        """A function of the variables that gives the value of an expression."""
        kind = _EXPRESSIONS.get(type(node))
        if kind is None:
            raise Refused(f"{owner.name}: {_shown(node)}")
        return kind(self, node, owner)

    def _constant(self, node, owner):
        value = node.value
        if not isinstance(value, (int, float, str, bool, type(None), complex)):
            raise Refused(f"{owner.name}: {_shown(node)}")
        return lambda scope: value

    def _name(self, node, owner):
        name = node.id
        if name in ("inf", "nan"):
            value = float(name)
            return lambda scope: scope.get(name, value)

        def load(scope):
            if name not in scope:
                raise Refused(f"{owner.name}: the name {name!r} is not known")
            return scope[name]
        return load

    def _sequence(self, node, owner):
        items = [self.expression(x, owner) for x in node.elts]
        if isinstance(node, ast.List):
            return lambda scope: [x(scope) for x in items]
        return lambda scope: tuple([x(scope) for x in items])

    def _dict(self, node, owner):
        if None in node.keys:
            raise Refused(f"{owner.name}: {_shown(node)}")
        keys, values = [[self.expression(x, owner) for x in part] for part in (node.keys, node.values)]
        return lambda scope: {operators.key(k(scope)): v(scope) for k, v in zip(keys, values)}

    def _either(self, node, owner):
        test, yes, no = [self.expression(x, owner) for x in (node.test, node.body, node.orelse)]
        return lambda scope: yes(scope) if test(scope) else no(scope)

    def _attribute(self, node, owner):
        name = node.attr
        if isinstance(node.value, ast.Name) and node.value.id == "CONSTANTS":
            if not (name[:1] == "c" and name[1:].isdecimal() and int(name[1:]) < len(self.constants)):
                raise Refused(f"{owner.name}: there is no CONSTANTS.{name:.20}")
            value = self.constants[int(name[1:])]
            return lambda scope: value
        path = _dotted(node)
        if path is not None and path.startswith("__torch__."):
            return lambda scope: self._function(path, owner)
        value = self.expression(node.value, owner)
        return lambda scope: attribute_of(value(scope), name)

    def _function(self, path, owner):
        found = self.script.functions.get(path)
        room, _, name = path.rpartition(".")
        if found is None and room in self.script.classes and self.script.classes[room].kind == "enum":
            found = self.script.classes[room].constants.get(name)
        if found is None:
            raise Refused(f"{owner.name}: there is no function {path:.60} in the archive")
        return found

    # ------------------------------------------------------------- calls
    def _call(self, node, owner):
        path = _dotted(node.func)
        if path is not None:
            head = path.partition(".")[0]
            if head in ("torch", "ops", "__torch__") or "." not in path:
                return self._named_call(path, node, owner)
        if not isinstance(node.func, ast.Attribute):
            raise Refused(f"{owner.name}: {_shown(node)}")
        value, name = self.expression(node.func.value, owner), node.func.attr
        args, kwargs = self._arguments(node, owner)
        of_value = operators.method(name)

        def run(scope):
            target = value(scope)
            if isinstance(target, Object):
                method = target.script_class.methods.get(name)
                if method is not None:
                    return method((target, *[x(scope) for x in args]), {k: x(scope) for k, x in kwargs.items()})
            elif of_value is not None:
                return of_value(target, *[x(scope) for x in args], **{k: x(scope) for k, x in kwargs.items()})
            raise Refused(f"{owner.name}: {type(target).__name__} has no method {name!r:.60}")
        return run

    def _arguments(self, node, owner):
        if any([isinstance(x, ast.Starred) for x in node.args]) or any([k.arg is None for k in node.keywords]):
            raise Refused(f"{owner.name}: {_shown(node)}")
        return ([self.expression(x, owner) for x in node.args],
                {k.arg: self.expression(k.value, owner) for k in node.keywords})

    def _named_call(self, path, node, owner):
        if path in ("annotate", "unchecked_cast", "uninitialized", "isinstance"):
            return self._typed(path, node, owner)
        if path.startswith("__torch__."):
            return self._call_of_archive(path, node, owner)
        args, kwargs = self._arguments(node, owner)
        if path == "fork" and len(node.args) == 1 and isinstance(node.args[0], ast.Name) and not node.keywords:
            return self._forked(node.args[0].id, owner)
        if path in ("getattr", "hasattr"):
            return self._by_text(path, node, args, owner)
        run = operators.found(path)
        if path.startswith("ops.python."):
            run = self.script.python.get(path[len("ops.python."):])
        if run is None and "." not in path:
            return self._call_of_variable(path, args, kwargs, owner)
        if run is None:                        # an error where it is called: not all that is written is run
            def run(*args, **kwargs):
                raise Refused(f"{owner.name}: {path:.60} is not an operator that is known here")
        if kwargs:
            return lambda scope: run(*[x(scope) for x in args], **{k: x(scope) for k, x in kwargs.items()})
        if len(args) == 1:
            only = args[0]
            return lambda scope: run(only(scope))
        if len(args) == 2:
            first, second = args
            return lambda scope: run(first(scope), second(scope))
        return lambda scope: run(*[x(scope) for x in args])

    @staticmethod
    def _call_of_variable(name, args, kwargs, owner):
        """A call of a variable whose value is a function of the archive."""
        def run(scope):
            function = scope.get(name)
            if type(function) is not Function:
                raise Refused(f"{owner.name}: {name:.60} is not a function that is known here")
            return function([x(scope) for x in args], {k: x(scope) for k, x in kwargs.items()})
        return run

    def _by_text(self, path, node, args, owner):
        """getattr(module, "0"): reads an attribute that the class declares, and whose name is not a Python
        identifier."""
        if len(args) != 2 or not isinstance(node.args[1], ast.Constant) or not isinstance(node.args[1].value, str):
            raise Refused(f"{owner.name}: {_shown(node)}")
        value, name = args[0], node.args[1].value
        if path == "hasattr":
            return lambda scope: name in getattr(value(scope).script_class, "fields", ())
        return lambda scope: attribute_of(value(scope), name)

    def _typed(self, path, node, owner):
        if path == "uninitialized":
            return lambda scope: None
        if len(node.args) != 2 or node.keywords:
            raise Refused(f"{owner.name}: {_shown(node)}")
        if path == "isinstance":
            value, kinds = self.expression(node.args[0], owner), node.args[1]
            kinds = kinds.elts if isinstance(kinds, (ast.Tuple, ast.List)) else [kinds]
            tests = [self._kind(x, owner) for x in kinds]
            return lambda scope: any([test(value(scope)) for test in tests])
        value = self.expression(node.args[1], owner)
        if path == "annotate" and _dotted(node.args[0]) == "float":
            return lambda scope: operators.as_float(value(scope))
        return value

    def _closure(self, node, owner):
        """A function without arguments, which sees the variables around it. Only `fork` takes it."""
        arguments = node.args
        if arguments.args or arguments.posonlyargs or arguments.kwonlyargs or arguments.vararg or arguments.kwarg or (
                node.decorator_list) or not node.name.startswith("__forked_function"):
            raise Refused(f"{owner.name}: {_shown(node)}")
        body, name = self.block(node.body, owner), node.name

        def define(scope):
            scope[name] = _Closure(body)
        return define

    def _forked(self, name, owner):
        """A call of fork: the function runs at once, and `wait` returns its result."""
        def run(scope):
            found = scope.get(name)
            if type(found) is not _Closure:
                raise Refused(f"{owner.name}: fork of {name:.60}, which is not a function inside this one")
            self.step()
            result = found.body(dict(scope))
            return result.value if type(result) is _Return else None
        return run

    def _kind(self, node, owner):
        """A function that says whether a value has an annotated type."""
        if isinstance(node, ast.Subscript):
            make = _CONTAINER_TESTS.get(_dotted(node.value))
            if make is not None:
                inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                return make(*[self._kind(x, owner) for x in inner])
        path = _dotted(node)
        if path in operators.KINDS:
            kind = operators.KINDS[path]
            return lambda x: isinstance(x, kind) and (path not in ("int", "float") or type(x) is not bool)
        if isinstance(node, ast.Constant) and node.value is None or path == "NoneType":
            return lambda x: x is None
        if path is not None and path.startswith("__torch__."):
            return lambda x: isinstance(x, (Object, Tuple, Member)) and x.script_class.name == path
        raise Refused(f"{owner.name}: the type {_shown(node)}")

    def _call_of_archive(self, path, node, owner):
        script = self.script
        if path.endswith(".__new__"):
            name = path.removesuffix(".__new__")

            def make(scope):
                if name not in script.classes or script.classes[name].kind != "object":
                    raise Refused(f"{owner.name}: there is no class {name:.60}")
                return ScriptObject(script.classes[name])
            return make
        args, kwargs = self._arguments(node, owner)

        def run(scope):
            values = [x(scope) for x in args]
            named = {k: x(scope) for k, x in kwargs.items()}
            function = script.functions.get(path)
            if function is not None:
                return function(values, named)
            made = script.classes.get(path)
            if made is not None and made.kind == "tuple" and not named and len(values) == len(made.fields):
                return Tuple(made, values)
            if made is not None and made.kind == "object" and "__init__" in made.methods:
                instance = ScriptObject(made)
                made.methods["__init__"]((instance, *values), named)
                return instance
            raise Refused(f"{owner.name}: there is no function {path:.60} in the archive")
        return run


def _is_list(test):
    return lambda x: type(x) is list and all([test(y) for y in x])


def _is_dict(of_key, of_value):
    return lambda x: type(x) is dict and all([of_key(k) and of_value(v) for k, v in x.items()])


def _is_tuple(*tests):
    return lambda x: isinstance(x, tuple) and len(x) == len(tests) and all([test(y) for test, y in zip(tests, x)])


#: {type of a container in annotations: makes the test of a value from the tests of its elements}
_CONTAINER_TESTS: dict[str | None, Callable] = {
    "List": _is_list, "Dict": _is_dict, "Tuple": _is_tuple,
    "Optional": lambda test: lambda x: x is None or test(x),
    "Union": lambda *tests: lambda x: any([test(x) for test in tests])}

_STATEMENTS = {ast.Assign: Machine._assign, ast.AnnAssign: Machine._annotated, ast.Return: Machine._return,
               ast.If: Machine._if, ast.For: Machine._for, ast.While: Machine._while, ast.With: Machine._with,
               ast.Expr: Machine._expression_alone, ast.Assert: Machine._assert,
               ast.FunctionDef: Machine._closure, ast.AugAssign: expressions.assign_in_place,
               ast.Delete: Machine._delete,
               ast.Pass: lambda machine, node, owner: lambda scope: None,
               ast.Break: lambda machine, node, owner: lambda scope: _BREAK,
               ast.Continue: lambda machine, node, owner: lambda scope: _CONTINUE}
_EXPRESSIONS: dict[type, Callable] = {
    ast.Constant: Machine._constant, ast.Name: Machine._name, ast.Tuple: Machine._sequence,
    ast.List: Machine._sequence, ast.Dict: Machine._dict, ast.IfExp: Machine._either,
    ast.Attribute: Machine._attribute, ast.Call: Machine._call, **expressions.EXPRESSIONS}
