"""Calls in scripts. Each becomes a call of an operator, of a function or of a method of the program, or is refused."""
from __future__ import annotations

import ast
import importlib
import inspect
import math
import types
import typing
import warnings
from collections.abc import Callable
from typing import Any

from .._ops import OpOverload, OpOverloadPacket, _Namespace
from ..autograd.overridable import place
from ..capture.recorder import operators_of
from ..capture.schema import Misfit, fitted, forms_of, taker_of, texts_of
from ..nn import Module, ModuleDict, ModuleList, Sequential
from ..tensor import Tensor
from .declared import Unknown
from .frontend import FrontendError
from .known import MARK, Known, Method, literal, member, own_path
from .operators import method, of_numbers

__all__ = ["call", "is_namespace", "kind_of", "known", "statement"]

#: Python's built-in functions that scripts have under the same names.
_BUILTIN = frozenset((len, range, int, float, bool, str, complex, print, min, max, abs, sum, round, zip, enumerate,
                      list, sorted, reversed, all, any, divmod, ord, chr, hex, bin, oct, hash, dict, tuple))


def is_namespace(x: Any) -> bool:
    """Whether all attributes of an object are known when a script is compiled: torch.ops and what it holds."""
    return isinstance(x, (_Namespace, OpOverloadPacket)) or x is _ops()


def _ops():
    from .._ops import ops
    return ops


def _jit():
    from .. import jit
    return jit


# ------------------------------------------------------------------ calls whose value is known
def known(text, node: ast.Call, values: bool):
    """The value of a call that is known when the script is compiled; None for other calls."""
    function = text.known(node.func, values)
    if function is None:
        return None
    value, jit = function.value, _jit()
    if value is jit.is_scripting:
        return Known(True)
    if value is jit.is_tracing or getattr(value, "__name__", "").startswith("has_torch_function"):
        return Known(False)
    for builtin, counts, rule in _KNOWN_BUILTINS:
        if value is builtin and len(node.args) in counts:
            return rule(text, node, values)
    if isinstance(value, Method) and value.name == "_get_name":
        return Known(type(value.owner.value).__name__)
    return None


def _known_getattr(text, node, values):
    name = text.known(node.args[1], True)
    if name is None or type(name.value) is not str:
        raise text.refused(node, "getattr's second argument must be a string literal")
    owner = text.known(node.args[0], values)
    if owner is None or not isinstance(owner.value, (Module, types.ModuleType)):
        return None
    if len(node.args) == 3 and not hasattr(owner.value, name.value):
        return text.known(node.args[2], values)
    return text.known(ast.copy_location(ast.Attribute(node.args[0], name.value, ast.Load()), node), values)


def _known_hasattr(text, node, values):
    owner, name = text.known(node.args[0]), text.known(node.args[1])
    if owner is not None and name is not None and isinstance(owner.value, Module):
        return Known(hasattr(owner.value, name.value))
    return None


def _known_len(text, node, values):
    inner = text.known(node.args[0])
    if inner is not None and isinstance(inner.value, (ModuleList, Sequential, ModuleDict)):
        return Known(len(inner.value))
    return None


def _known_float(text, node, values):
    arg = node.args[0]
    if isinstance(arg, ast.Constant) and isinstance(arg.value, str):       # float("inf")
        return Known(float(arg.value))
    return None


def _known_isinstance(text, node, values):
    inner, kind = text.known(node.args[0]), text.known(node.args[1])
    is_constant = inner is not None and kind is not None and inner.node is None
    if is_constant or isinstance(getattr(inner, "value", None), Module):
        return Known(isinstance(inner.value, kind.value))
    return None


#: (function, numbers of arguments, rule)
_KNOWN_BUILTINS = ((getattr, (2, 3), _known_getattr), (hasattr, (2,), _known_hasattr), (len, (1,), _known_len),
                   (float, (1,), _known_float), (isinstance, (2,), _known_isinstance))


# ------------------------------------------------------------------ calls
def _made(function: str, args, keywords=()):
    return ast.Call(ast.parse(function, mode="eval").body, list(args), list(keywords))


def _arguments(text, node):
    """The arguments of a call in the language of the script."""
    for keyword in node.keywords:
        if keyword.arg is None:
            raise text.refused(node, "keyword-arg expansion is not supported")
    args = [made for x in node.args for made in (text.starred(x) if isinstance(x, ast.Starred) else [text.expr(x)])]
    return args, [ast.keyword(k.arg, text.expr(k.value)) for k in node.keywords]


def call(text, node: ast.Call) -> ast.expr:
    """A call in the language of the script."""
    function = text.known(node.func)
    if function is None:
        return _of_value(text, node)
    value = function.value
    if isinstance(value, Module):
        return _of_module(text, function, "forward", node)
    if isinstance(value, Method):
        return _of_module(text, value.owner, value.name, node)
    if getattr(value, "__name__", "") == "super" or value is super:
        raise text.refused(node, "super() is not supported in a script")
    try:
        hash(value)
    except TypeError:
        raise text.refused(node, f"an object of class {type(value).__name__} cannot be called in a script") from None
    if value in _BUILTIN:
        return _of_builtin(text, value, node)
    special = _special().get(value)
    if special is not None:
        return special(text, node)
    if isinstance(value, (OpOverload, OpOverloadPacket)):
        args, keywords = _arguments(text, node)
        name = value.overloadpacket.__name__ if isinstance(value, OpOverload) else value.__name__
        return _made(f"ops.{value.namespace}.{name}", args, keywords)
    if inspect.isclass(value):
        return _of_class(text, value, node)
    if getattr(value, "__module__", None) == "math" or value in _OF_MATH:
        return _of_math(text, value, node)
    if callable(value):
        return _of_function(text, value, node)
    raise text.refused(node, f"an object of class {type(value).__name__} cannot be called in a script")


_OF_MATH = frozenset([x for x in vars(math).values() if callable(x)])


def _of_math(text, value, node):
    if not of_numbers(value.__name__):
        raise text.refused(node, f"math.{value.__name__} is not supported in a script")
    args, keywords = _arguments(text, node)
    return _made(f"torch.{value.__name__}", args, keywords)


def _of_value(text, node):
    """A call of a method of a value, or of a variable."""
    if not isinstance(node.func, ast.Attribute):
        if isinstance(node.func, ast.Lambda):
            raise text.source.unsupported(node.func)
        text.expr(node.func)                   # this may raise a more precise error
        raise text.refused(node, f"{ast.unparse(node.func)} is not a function that is known when the script is "
                                 "compiled")
    args, keywords = _arguments(text, node)
    name = node.func.attr
    if name[:2] == "__" or method(name) is None and not text.program.is_method(name):
        raise text.source.failed(node, f"'Tensor' object has no attribute or method '{name}'.")
    return ast.Call(ast.Attribute(text.expr(node.func.value), node.func.attr, ast.Load()), args, keywords)


def _of_builtin(text, value, node):
    args, keywords = _arguments(text, node)
    if value is print and keywords:
        raise text.source.failed(node, "print doesn't accept any keyword arguments")
    if value in (dict, list) and not args and not keywords:
        return ast.Dict([], []) if value is dict else ast.List([], ast.Load())
    if value is reversed:
        raise text.refused(node, "a script can call reversed() only on modules")
    return _made(value.__name__, args, keywords)


def _of_module(text, owner, name, node):
    """A call of a method of a module; the method is compiled."""
    module = owner.value
    function = inspect.getattr_static(type(module), name, None)
    mark = getattr(function, MARK, None)
    args, keywords = _arguments(text, node)
    if mark == "ignore":
        made = text.program.python_function(getattr(module, name))
        return _python_call(text, function, made, args, keywords)
    if name == "forward" and type(module).forward is Module.forward and not text.program.has_method(module, name):
        raise text.refused(node, f"{type(module).__name__} cannot be called")
    compiled = text.program.module(module)
    if compiled.methods.get(name, name) is None:
        raise text.source.failed(node, f"method '{name}' is called recursively. Recursive calls are not supported")
    declared = _jit()._OVERLOADS.get((getattr(function, "__module__", ""), getattr(function, "__qualname__", "")))
    if declared:
        name = _overloaded(text, compiled, function, declared, node)
    else:
        compiled.method(name)
    return ast.Call(member(owner.node, name), args, keywords)


def _overloaded(text, compiled, function, declared, node):
    """The name of the overload of a method that takes these arguments; the overload is compiled."""
    given = {k.arg: k.value for k in node.keywords}
    for i, form in enumerate(declared):
        hints, names = typing.get_type_hints(form), [*inspect.signature(form).parameters][1:]
        arguments = {**dict(zip(names, node.args)), **given}
        kinds = {name: kind_of(text, x) or "Tensor" for name, x in arguments.items()}
        if set(arguments) <= set(names) and all([text.program.annotated(hints.get(name, Tensor)) == kind
                                                 for name, kind in kinds.items()]):
            return compiled.method(f"{function.__name__}__{i}", function, hints)
    raise text.source.failed(node, f"no overload of {function.__name__} takes arguments of these types")


def _python_call(text, function, name, args, keywords):
    """A call that Python runs. Its result has the type that the function declares."""
    hint = function.__annotations__.get("return", Tensor) if inspect.isfunction(function) else Tensor
    made = _made(f"ops.python.{name}", args, keywords)
    if hint is Tensor:
        return made
    try:
        kind = text.program.annotated(typing.get_type_hints(function).get("return", Tensor))
    except Unknown:
        return made
    return ast.Call(ast.Name("annotate", ast.Load()), [ast.parse(kind, mode="eval").body, made], [])


def _of_class(text, cls, node):
    if issubclass(cls, Module):
        raise FrontendError(text.source.place(node), f"Cannot instantiate class '{cls.__name__}' in a script function")
    if cls.__module__ == "builtins":
        raise text.source.failed(node, f"Python builtin {cls!r} is currently not supported in Torchscript")
    try:
        name = text.program.class_type(cls)
    except Unknown as error:
        raise text.refused(node, str(error)) from None
    args, keywords = _arguments(text, node)
    if issubclass(cls, tuple) and keywords:
        given = {k.arg: k.value for k in keywords}
        args += [given[field] for field in cls._fields[len(args):]]
        keywords = []
    return _made(name, args, keywords)


def _of_function(text, function, node):
    """A call of a function. A function of this library becomes an operator, or has a text in functional.py; any other
    function is compiled."""
    from .functional import FUNCTIONS
    from .modules import ScriptFunction
    if isinstance(function, ScriptFunction):
        if function._torchdynamo_inline is None:
            raise text.refused(node, "a function that was read from a file cannot be called in a script")
        function = function._torchdynamo_inline
    path = own_path(getattr(function, "__module__", None))
    if path is None:
        mark = getattr(function, MARK, None)
        if mark == "ignore":
            args, keywords = _arguments(text, node)
            return _python_call(text, function, text.program.python_function(function), args, keywords)
        if not inspect.isfunction(inspect.unwrap(function)):
            raise text.source.failed(node, f"Python builtin {function!r} is currently not supported in Torchscript")
        if id(function) in text.program.working:
            raise text.source.failed(node, f"function '{function.__name__}' is called recursively. Recursive calls are "
                                           "not supported")
        args, keywords = _arguments(text, node)
        try:
            return _made(text.program.function(function), args, keywords)
        except (RuntimeError, FrontendError) as error:
            error.args = (f"{error}\n'{function.__name__}' is being compiled since it was called from "
                          f"'{text.called}'\n{text.source.place(node)}",)
            raise
    space, name = place(function) if inspect.isfunction(function) else (None, function.__name__)
    name = name or function.__name__
    stands = FUNCTIONS.get(name) if space in ("nn.functional", "functional", "", None) else None
    if stands is not None and space != "":
        return _made(text.program.function(stands, function), *_fitted_arguments(text, stands, node))
    if path in ("jit.functional", "jit.layers"):
        args, keywords = _arguments(text, node)
        return _made(text.program.function(function), args, keywords)
    if space is None and not path.startswith("ops."):
        raise text.source.failed(node, f"torch.{path}.{name} is not supported in a script")
    return _operator(text, function, space or "", name, node)


def _fitted_arguments(text, stands, node):
    """The arguments of a call. A number becomes a list where the parameter is a list of numbers."""
    args, keywords = _arguments(text, node)
    names = [*inspect.signature(stands).parameters]

    def fitted_to(name, source, made):
        kind = stands.__annotations__.get(name, "")
        found = text.known(source, True) if "List[int]" in kind or "List[float]" in kind else None
        if found is None or isinstance(found.value, bool) or not isinstance(found.value, (int, float, tuple, list)):
            return made
        if isinstance(found.value, (int, float)):
            made = ast.parse(repr(float(found.value)), mode="eval").body if "float" in kind and found.node is None \
                else made
            return ast.List([made], ast.Load())
        if "float" in kind and found.node is None:
            return ast.parse(repr([float(x) for x in found.value]), mode="eval").body
        return made
    return ([fitted_to(name, source, made) for name, source, made in zip(names, node.args, args)],
            [ast.keyword(k.arg, fitted_to(k.arg, source.value, k.value)) for source, k in zip(node.keywords, keywords)])


# ------------------------------------------------------------------ operators
def _operator(text, function, space, name, node):
    """A call of a function of this library as a call of one of ATen's operators, with the arguments in its order."""
    taker = taker_of(function)
    given, rest = _bound(text, taker, name, node)
    constants = {key: text.known(x, True) for key, x in given.items()}
    switches = {key: found.value for key, found in constants.items() if found is not None}
    sizes = switches.get("output_size")
    if isinstance(sizes, (tuple, list)) and None in sizes:
        given["output_size"], constants["output_size"] = _sizes_of_input(sizes, given["input"]), None
    indices = given.pop("return_indices", None)
    if indices is not None and "return_indices" not in switches:
        raise text.refused(node, "return_indices has to be a constant in a script")
    for operator in operators_of(space, name, (), switches):
        if operator.endswith("_") and switches.get("inplace") is True:
            given = {key: x for key, x in given.items() if key != "inplace"}
        made = _first_form(text, operator, taker, given, rest, constants)
        if made is not None:
            if name.startswith("adaptive_max_pool") and switches.get("return_indices") is not True:
                made = ast.Subscript(made, ast.Constant(0), ast.Load())
            return made
    if not forms_of(operator):
        raise text.refused(node, f"torch.{space + '.' if space else ''}{name} is not an ATen operator, and is not "
                                 "supported in a script")
    raise text.refused(node, f"a call of {name} with these arguments is not an ATen operator: "
                             + ", ".join([f"aten::{form.text}" for form in forms_of(operator)][:3]))


def _bound(text, taker, name, node):
    """({parameter: argument}, the arguments for *args) of a call of a function of this library."""
    if None in [keyword.arg for keyword in node.keywords]:
        raise text.refused(node, "keyword-arg expansion is not supported")
    try:
        bound = taker.signature.bind(*node.args, **{k.arg: k.value for k in node.keywords})
    except TypeError as error:
        raise text.source.failed(node, f"Arguments for call are not valid: {name}: {error}") from None
    rest = list(bound.arguments.pop(taker.rest, ())) if taker.rest else []
    more = bound.arguments.pop(taker.more, {}) if taker.more else {}
    return {**bound.arguments, **more}, rest


def _sizes_of_input(sizes, source):
    """The expression of an output_size in which None stands for the size of the input."""
    sizes = [f"({ast.unparse(source)}).size({i - len(sizes)})" if n is None else str(n) for i, n in enumerate(sizes)]
    return ast.parse(f"[{', '.join(sizes)}]", mode="eval").body


def _first_form(text, operator, taker, given, rest, constants):
    """A call of the first form of an operator that takes the arguments; None if no form does."""
    for form in forms_of(operator):
        try:
            return _form(text, form, taker, given, rest, constants)
        except Misfit:
            pass
    return None


def _form(text, form, taker, given, rest, constants):
    """A call of a form of an operator. Misfit if it has no such argument, or a constant has another type."""
    left, args, keywords, rest = dict(given), [], [], list(rest)
    by_name = False
    for argument in form.arguments:
        name = taker.parameter(form, argument) or argument.name
        texts = texts_of(form.name, argument.name)
        if name in left:
            node = left.pop(name)
            value = _argument(text, node, constants.get(name), argument, texts, taker.defaults.get(name, ...))
        elif rest and not argument.by_name:
            inner = argument.kind.rstrip("?")
            if inner[-1] == "]" and not (len(rest) == 1):
                value, rest = ast.List([text.expr(x) for x in rest], ast.Load()), []
            else:
                node = rest.pop(0)
                value = _argument(text, node, text.known(node, True), argument, texts)
        else:
            default = taker.defaults.get(name, ...)
            if argument.default is not ... and (default is ... or default is None or _is_same(default, argument)):
                by_name = True                 # the following arguments are passed by name
                continue
            value = _by_default(default, argument, texts)
        if by_name or argument.by_name:
            keywords.append(ast.keyword(argument.name, value))
        else:
            args.append(value)
    if rest or not all([name in _DROPPED or _is_default(name, constants.get(name), taker) for name in left]):
        raise Misfit
    return _made(f"torch.{form.name}", args, keywords)


#: Arguments that have no meaning in a script.
_DROPPED = ("_stacklevel",)


def _is_default(name, found, taker):
    """Whether a constant argument has the value of its parameter's default, so that the operator need not take it."""
    if found is None or name not in taker.defaults:
        return False
    value, default = found.value, taker.defaults[name]
    return value is default or type(value) is type(default) and value == default


def _is_same(default, argument):
    try:
        return fitted(default, argument.kind) == argument.default
    except Misfit:
        return False


def _by_default(default, argument, texts):
    if default is ... and argument.name in ("cudnn_enabled", "cudnn_enable"):
        default = True
    if default is ... and argument.kind[-1] == "?":
        default = None
    if texts and default in texts:
        default = texts.index(default)
    if default is ...:
        raise Misfit
    made = literal(fitted(default, argument.kind))
    return ast.parse(made, mode="eval").body


def _argument(text, node, found, argument, texts, default=...):
    """The expression of an argument that the call passes."""
    if found is None or found.node is not None and not texts:
        if texts:
            raise text.refused(node, f"the argument {argument.name!r} has to be a constant in a script")
        return text.expr(node)
    value = found.value
    if texts and value in texts:
        value = texts.index(value)
    if value is None and argument.kind[-1] != "?":
        if argument.default is ... or default is not None:
            raise Misfit
        value = argument.default
    made = literal(fitted(value, argument.kind, True))
    if made is None:
        raise Misfit
    if isinstance(value, (list, tuple)) and not value:
        kind = argument.kind.rstrip("?")
        return ast.Call(ast.Name("annotate", ast.Load()), [ast.parse(
            f"List[{kind[:kind.rindex('[')]}]", mode="eval").body, ast.List([], ast.Load())], [])
    if found.closed and not text.library and isinstance(value, (bool, int, float, str)):
        return text.expr(node)                 # raises: the value of a global variable
    return ast.parse(made, mode="eval").body


# ------------------------------------------------------------------ functions that scripts treat specially
def _annotate(text, node):
    kind = text.type(text._evaluated(node.args[0]), node)
    return ast.Call(ast.Name("annotate", ast.Load()), [ast.parse(kind, mode="eval").body, text.expr(node.args[1])], [])


def _isinstance(text, node):
    kinds = node.args[1].elts if isinstance(node.args[1], (ast.Tuple, ast.List)) else [node.args[1]]
    kinds = [text.type(text._evaluated(x), node) for x in kinds]
    made = kinds[0] if len(kinds) == 1 else f"({', '.join(kinds)})"
    return _made("isinstance", [text.expr(node.args[0]), ast.parse(made, mode="eval").body])


def _getattr(text, node):
    name = text.known(node.args[1], True)
    owner = text.known(node.args[0])
    return _made("getattr", [text.expr(node.args[0], owner is not None), ast.Constant(name.value)])


def _hasattr(text, node):
    return _made("hasattr", [text.expr(node.args[0]), text.expr(node.args[1])])


def _warning(text, node):
    return _made("torch.warn", [text.expr(node.args[0]), ast.Constant(2)])


def _unwrapped(text, node):
    return _made("torch._unwrap_optional", [text.expr(node.args[0])])


def _is_tensor(text, node):
    return _made("isinstance", [text.expr(node.args[0]), ast.Name("Tensor", ast.Load())])


def _tensor_of(text, node):
    args, keywords = _arguments(text, node)
    return _made(f"torch.{ast.unparse(node.func).rpartition('.')[2]}", args, keywords)


def _assertion(text, node):
    raise text.refused(node, "torch._assert is a statement in a script")


_SPECIAL: dict[Callable, Callable] = {}


def _forked(text, node):
    """fork(f, ...): a function that calls f is defined before the statement, and this function is forked."""
    if not node.args:
        raise text.refused(node, "fork of nothing")
    made = call(text, ast.copy_location(ast.Call(node.args[0], node.args[1:], node.keywords), node))
    text.fresh += 1
    name = f"__forked_function{text.fresh}"
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    text.before.append(ast.FunctionDef(name, nothing, [ast.Return(made)], [], lineno=0))
    return _made("fork", [ast.Name(name, ast.Load())])


def _special():
    if not _SPECIAL:
        jit, root = _jit(), importlib.import_module(__package__.partition(".")[0])
        _SPECIAL.update({jit.annotate: _annotate, isinstance: _isinstance, jit.isinstance: _isinstance,
                         jit.fork: _forked, jit.wait: lambda text, node: _made("torch.wait", *_arguments(text, node)),
                         getattr: _getattr, hasattr: _hasattr, warnings.warn: _warning,
                         jit._unwrap_optional: _unwrapped, root.is_tensor: _is_tensor, root.tensor: _tensor_of,
                         root.as_tensor: _tensor_of, root._assert: _assertion, typing.cast: _annotate,
                         root.device: lambda text, node: _made("torch.device", _arguments(text, node)[0])})
    return _SPECIAL


def statement(text, node: ast.Call) -> list | None:
    """The statements of a call that is a statement in a script; None for other calls."""
    function = text.known(node.func)
    if function is None:
        return None
    if getattr(function.value, "__name__", "") == "_assert" and len(node.args) == 2:
        truth = text.truth(node.args[0])
        return [] if truth else [ast.Assert(text.expr(node.args[0]), text.expr(node.args[1]))]
    return None


# ------------------------------------------------------------------ the types of attributes of classes
def kind_of(text, node: ast.expr | None) -> str | None:
    """The type of an expression that `__init__` assigns to an attribute; None if the expression does not show it."""
    if isinstance(node, ast.Name) and node.id in text.locals:
        hint = text.hints.get(node.id, Tensor if text.assigned.get(node.id) is None else None)
        return None if hint is None else text.type(hint, node)
    found = text.known(node) if node is not None else None
    if found is not None:
        kind = type(found.value).__name__
        return kind if kind in ("int", "float", "bool", "str") else None
    if isinstance(node, ast.Call):
        return _kind_of_call(text, node)
    if isinstance(node, (ast.List, ast.Tuple)) and node.elts:
        kinds = [kind_of(text, x) for x in node.elts]
        if None in kinds:
            return None
        return f"Tuple[{', '.join(kinds)}]" if isinstance(node, ast.Tuple) else f"List[{kinds[0]}]"
    if isinstance(node, ast.BinOp):
        return _kind_of_operation(node.op, {kind_of(text, node.left), kind_of(text, node.right)})
    return None


def _kind_of_call(text, node):
    function = text.known(node.func)
    if function is None:
        return "Tensor"
    name = getattr(function.value, "__name__", "")
    if name in ("int", "float", "bool", "str", "len"):
        return "int" if name == "len" else name
    if inspect.isclass(function.value):
        return text.program.class_type(function.value)
    return "Tensor" if own_path(getattr(function.value, "__module__", None)) is not None else None


def _kind_of_operation(operation, kinds):
    if "Tensor" in kinds:
        return "Tensor"
    if "float" in kinds or isinstance(operation, ast.Div):
        return "float"
    return kinds.pop() if len(kinds) == 1 else None
