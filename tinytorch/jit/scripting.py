"""torch.jit.script: functions, modules and classes as programs in the language of archives (language.py).

A script is compiled to text. Names are resolved to operators, to functions and classes of the program, and to modules;
loops over modules are unrolled, and known conditions are decided (lowering.py). This file decides which functions,
methods and classes are compiled, to which file of the program each belongs, and which attributes modules have.
"""
from __future__ import annotations

import inspect
import json
import re
import typing
import weakref
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

from ..nn import Module
from ..tensor import Tensor
from . import archive  # noqa: F401  (registers the writer of archives in modules.py)
from .declared import Unknown, type_of_annotation, type_of_value
from .known import MARK, literal, own_path
from .language import Script
from .lowering import FunctionText
from .modules import RecursiveScriptModule, ScriptFunction
from .writer import _is_word

__all__ = ["compiled_class", "script"]

_NO_GRAD = '''class no_grad:
  prev : bool
  def __init__(self: __torch__.torch.autograd.grad_mode.no_grad) -> NoneType:
    self.prev = torch.is_grad_enabled()
    return None
  def __enter__(self: __torch__.torch.autograd.grad_mode.no_grad) -> NoneType:
    self.prev = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    return None
  def __exit__(self: __torch__.torch.autograd.grad_mode.no_grad,
    exc_type: Any,
    exc_value: Any,
    traceback: Any) -> NoneType:
    torch.set_grad_enabled(self.prev)
    return None
'''


class Program:
    """A program: functions, classes, and the classes of modules, which are compiled together."""

    def __init__(self) -> None:
        self.files, self.names, self.held = {}, {}, []         # {id: full name}, and the objects with these ids
        self.classes, self.python, self.taken, self.working = {}, {}, set(), set()

    # ------------------------------------------------------------- functions
    def function(self, function: Callable, called: Callable | None = None) -> str:
        """The full name of a function, which is compiled at its first use. `called`: the function of the user that it
        replaces."""
        key = id(function)
        if key in self.names:
            return self.names[key]
        shown = called or function
        name = self.names[key] = self.name(shown.__module__, getattr(shown, "__name__", "f"))
        self.held.append(function)
        self.working.add(key)
        try:
            self.add(name, FunctionText(self, function, name.rpartition(".")[2]).lines)
        finally:
            self.working.discard(key)
        return name

    def name(self, module: str | None, name: str) -> str:
        """A full name that is not in use."""
        parts = [re.sub(r"\W", "_", part) for part in (module or "").split(".") if part and part != "__main__"]
        if own_path(module) is not None:
            parts[0] = "torch"
        wanted = ".".join(["__torch__", *parts, name])
        made, n = wanted, 0
        while made in self.taken:
            made, n = ".".join(["__torch__", *parts, f"___torch_mangle_{n}", name]), n + 1
        self.taken.add(made)
        return made

    def add(self, name: str, lines: Iterable[str]) -> None:
        """Adds the text of a function or class to its file."""
        self.files.setdefault(name.rpartition(".")[0], []).append("\n".join(lines) + "\n")

    def python_function(self, function: Callable) -> str:
        """The name by which the program calls a function that Python runs."""
        name = f"{getattr(function, '__name__', 'f')}_{len(self.python)}"
        self.python[name] = function
        return name

    def uses_no_grad(self) -> None:
        """Adds the class of torch.no_grad to the program."""
        self.files.setdefault("__torch__.torch.autograd.grad_mode", [_NO_GRAD])

    # ------------------------------------------------------------- classes
    def class_type(self, cls: type) -> str:
        """The full name of a class, which is compiled at its first use. Unknown if a program cannot have it."""
        if id(cls) in self.names:
            return self.names[id(cls)]
        if issubclass(cls, Module):
            raise Unknown(f"a module of class {cls.__name__} is not a value in a script")
        if cls.__module__ == "builtins" or not inspect.isclass(cls):
            raise Unknown(f"Unknown type annotation: '{cls.__name__}'")
        name = self.names[id(cls)] = self.name(cls.__module__, cls.__name__)
        self.held.append(cls)
        self.classes[name] = cls
        if issubclass(cls, Enum):
            kinds = {type(member.value) for member in cls}
            if len(kinds) != 1 or not kinds <= {int, float, str}:
                raise Unknown(f"Enum {cls.__name__}: its values must be of one type, int, float or str")
            lines = [f"class {cls.__name__}(Enum):",
                     *[f"  {member.name} = {literal(member.value)}" for member in cls]]
        elif issubclass(cls, tuple) and hasattr(cls, "_fields"):
            hints = hints_of(cls)
            lines = [f"class {cls.__name__}(NamedTuple):"]
            lines += [f"  {field} : {self.annotated(hints.get(field, Tensor))}" for field in cls._fields]
        else:
            lines = self._class(cls, name)
        self.add(name, lines)
        return name

    def _class(self, cls, name):
        if [base for base in cls.__mro__[1:] if base is not object]:
            raise Unknown(f"Class {cls.__name__}: TorchScript does not support class inheritance")
        hints, methods, fields = hints_of(cls), [], {}
        for key, function in vars(cls).items():
            function = function.__func__ if isinstance(function, staticmethod) else function
            if inspect.isfunction(function) and (key == "__init__" or key[:2] != "__" or key in (
                    "__call__", "__len__", "__getitem__", "__contains__")):
                methods.append((key, FunctionText(self, function, key, self_type=name, fields=fields)))
        fields = {**fields, **{key: self.annotated(hint) for key, hint in hints.items()}}
        return [f"class {cls.__name__}:", *[f"  {key} : {kind}" for key, kind in fields.items()],
                *[f"  {line}" for _, text in methods for line in text.lines]]

    def is_method(self, name: str) -> bool:
        """Whether a class of the program has a method of this name."""
        return any([name in vars(cls) for cls in self.classes.values()])

    def annotated(self, hint: Any) -> str:
        """The type of an annotation in the program."""
        return type_of_annotation(hint, self.class_type)

    # ------------------------------------------------------------- modules
    def module(self, module: Module) -> ModuleClass:
        """The class of a module."""
        if id(module) not in self.names:
            self.names[id(module)] = ModuleClass(self, module)
            self.held.append(module)
        return self.names[id(module)]

    @staticmethod
    def has_method(module: Module, name: str) -> bool:
        """Whether a layer of the library has a method of this name for scripts."""
        return layer_method(type(module), name) is not None

    def script(self) -> Script:
        """The program as a Script, which can run."""
        enums = {cls: name for name, cls in self.classes.items() if issubclass(cls, Enum)}
        return Script({name: "".join(parts) for name, parts in self.files.items()}, [], self.python, enums)


#: What every module has.
_USUAL = frozenset(vars(Module()))


class ModuleClass:
    """The class of one module: its attributes, and the methods that the program uses."""

    def __init__(self, program: Program, module: Module) -> None:
        self.program, self.module, self.methods, self.failed = program, module, {}, {}
        kind = type(module).__name__
        place = f"__torch__.___torch_mangle_{len(program.held)}"
        self.kind = kind if _is_word(kind) else "Module"
        self.name = f"{place}.{self.kind}"
        self.values, self.types = {}, {}
        self.constants = {*getattr(module, "__constants__", ())}
        self.hints = hints_of(type(module))
        self.library = is_layer(type(module))
        self.constants |= {key for key, hint in self.hints.items() if typing.get_origin(hint) is typing.Final or
                           hint is typing.Final}
        self._attributes()

    def _attributes(self):
        module, program = self.module, self.program
        for key, x in vars(module).items():
            if key in _USUAL or key.startswith("__"):
                continue
            if self.library:                   # its methods use only what is known here
                self.values[key] = x
                continue
            try:
                declared = self.hints.get(key)
                self.types[key] = type_of_value(x, program.class_type) if declared is None or isinstance(
                    declared, str) or self.is_constant(key) else program.annotated(declared)
                if isinstance(x, tuple) and hasattr(x, "_fields"):
                    raise Unknown("a named tuple")
                self.values[key] = x
            except Unknown as error:
                self.types.pop(key, None)
                self.failed[key] = error

    def is_constant(self, key: str) -> bool:
        """Whether an attribute keeps its value: it is declared constant, or belongs to a layer of this library."""
        return key in self.constants or self.library

    def method(self, name: str, function: Callable | None = None, hints: dict[str, Any] | None = None) -> str:
        """Compiles a method at its first use, and returns its name. function: the function of a property's getter or
        setter; hints: the types of the arguments of an overload."""
        if name not in self.methods:
            self.methods[name] = None          # while it is being compiled
            function = function or layer_method(type(self.module), name) or getattr(type(self.module), name, None)
            if name in vars(self.module):
                function = vars(self.module)[name]
                function = getattr(function, "__func__", function)
            self.methods[name] = FunctionText(self.program, function, name, self_type=self.name, owner=self,
                                              hints=hints)
        return name

    def text(self) -> str:
        """The text of the class."""
        module = self.module
        own = [(key, "Tensor" if x is not None else "NoneType") for key, x in module._parameters.items()]
        buffers = [(key, "Tensor" if x is not None else "NoneType") for key, x in module._buffers.items()]
        buffers = [(key, self.program.annotated(self.hints[key]) if key in self.hints else kind)
                   for key, kind in buffers]
        children = [(key, self.program.module(child).name) for key, child in module._modules.items()
                    if child is not None]
        lines = [f"class {self.kind}(Module):",
                 "  __parameters__ = [" + "".join([f"{json.dumps(k)}, " for k, t in own if t == "Tensor"]) + "]",
                 "  __buffers__ = [" + "".join([f"{json.dumps(k)}, " for k, t in buffers if t != "NoneType"]) + "]"]
        values = []
        if not self.library:
            values = [(key, f"Final[{self.types[key]}] = {literal(x)}" if key in self.constants else self.types[key])
                      for key, x in self.values.items()]
        for key, declared in [*own, *buffers, ("training", "bool"), *values, *children]:
            lines.append(f"  {key} : {declared}" if _is_word(key) else
                         f"  __annotations__[{json.dumps(key)}] = {declared}")
        for made in self.methods.values():
            lines += [f"  {line}" for line in made.lines]
        return "\n".join(lines) + "\n"


_HINTS: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
_MARKS: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def hints_of(cls: type) -> dict[str, Any]:
    """The annotations of a class, as far as they can be resolved. Those of a layer of this library are not needed."""
    if cls not in _HINTS:
        try:
            _HINTS[cls] = {} if is_layer(cls) else typing.get_type_hints(cls)
        except Exception:
            _HINTS[cls] = dict(getattr(cls, "__annotations__", {}))
    return _HINTS[cls]


def _marks(cls):
    """The methods of a class that decorators have marked: {name: (function, mark)}."""
    if cls not in _MARKS:
        functions = {name: function for base in reversed(cls.__mro__) for name, function in vars(base).items()}
        _MARKS[cls] = {name: (function, getattr(function, MARK)) for name, function in functions.items()
                       if inspect.isfunction(function) and hasattr(function, MARK)}
    return _MARKS[cls]


def is_layer(cls: type) -> bool:
    """Whether a class of modules belongs to this library."""
    return (own_path(cls.__module__) or "").startswith("nn.")


def layer_method(cls: type, name: str) -> Callable | None:
    """The text in layers.py for a method of a layer of this library that is not in the language; None if there is
    none."""
    from .layers import METHODS
    for base in cls.__mro__:
        if (base.__name__, name) in METHODS and is_layer(base):
            return METHODS[base.__name__, name]
        if name in vars(base):
            return None
    return None


# ------------------------------------------------------------------ to compile
def _exported(module):
    """The names of the methods that the program of a module has: `forward` and the methods that are marked."""
    names = [name for name, (_, mark) in _marks(type(module)).items() if mark == "export"]
    forward = type(module).forward is not Module.forward or "forward" in vars(module)
    if forward and getattr(type(module).forward, MARK, None) not in ("ignore", "unused"):
        names.insert(0, "forward")
    return list(dict.fromkeys(names))


def script_module(module: Module) -> RecursiveScriptModule:
    """A module that runs the program of a module on its parameters and buffers."""
    program = Program()
    top = program.module(module)
    for each in module.modules():
        compiled = program.module(each)
        for name in _exported(each) if each is module else [n for n in _exported(each) if n != "forward"]:
            compiled.method(name)
    for each in module.modules():              # a submodule that is never called gets a program too, if possible
        _try_forward(program, each)
    for each in module.modules():
        made = program.module(each)
        program.files[made.name.rpartition(".")[0]] = [made.text()]
    built = _build(program, program.script(), module, {})
    assert built.script_class.name == top.name
    return built


def _try_forward(program, module):
    made = program.module(module)
    if "forward" in made.methods or "forward" not in _exported(module):
        return
    made.method("forward")


def _build(program, script, source, made):
    if id(source) in made:
        return made[id(source)]
    compiled = program.module(source)
    script_class = script.classes[compiled.name]
    built = made[id(source)] = RecursiveScriptModule(script_class, script.machine)
    for key, x in source._parameters.items():
        (built._values if x is None else built._parameters)[key] = x
    for key, x in source._buffers.items():
        (built._values if x is None else built._buffers)[key] = x
    built._non_persistent_buffers_set |= source._non_persistent_buffers_set
    for key, child in source._modules.items():
        if child is None:
            built._modules[key] = None
        else:
            built._modules[key] = _build(program, script, child, made)
    for key, x in compiled.values.items():
        if not isinstance(x, Tensor) or not compiled.library:
            built._values[key] = x
    for name, (function, mark) in _marks(type(source)).items():
        if mark != "export":
            built.__dict__[name] = function.__get__(built)
    built.training = source.training
    built.__dict__["_python_class"] = type(source)
    for hooks in ("_forward_hooks", "_forward_pre_hooks"):
        built.__dict__[hooks] = getattr(source, hooks).copy()
    return built


def script(obj: Any) -> Any:
    """See torch.jit.script."""
    if isinstance(obj, (RecursiveScriptModule, ScriptFunction)):
        return obj
    if isinstance(obj, Module):
        return script_module(obj)
    if isinstance(obj, (dict, list)):
        return obj
    if inspect.isclass(obj):
        return compiled_class(obj)
    if inspect.ismethod(obj) and isinstance(obj.__self__, Module):
        compiled = Program()
        compiled.module(obj.__self__).method(obj.__name__)
        return script_module(obj.__self__)
    if not callable(obj):
        raise RuntimeError(f"{obj} cannot be compiled")
    if not inspect.isroutine(obj):             # a callable object
        raise RuntimeError(f"an object of class {type(obj).__name__} cannot be compiled: a function, a module or a "
                           "class can")
    return _script_function(obj)


def _script_function(function):
    cached = getattr(function, "__script_if_tracing_wrapper", None) or getattr(function, "_scripted", None)
    if isinstance(cached, ScriptFunction):
        return cached
    program = Program()
    name = program.name(function.__module__, function.__name__)
    module = Module()
    compiled = program.module(module)
    program.working.add(id(function))
    text = FunctionText(program, function, "forward", self_type=compiled.name, plain=True)
    compiled.methods["forward"] = text
    program.files[compiled.name.rpartition(".")[0]] = [compiled.text()]
    built = _build(program, program.script(), module, {})
    made = ScriptFunction(built, function.__name__, function, name)
    made.__module__, made.__wrapped__ = function.__module__, function
    return made


def compiled_class(cls: type) -> type:
    """The class itself, after a check that a program can have it."""
    if issubclass(cls, Module):
        raise RuntimeError(f"Type '{cls}' cannot be compiled since it inherits from nn.Module, consider passing an "
                           "instance instead")
    if len(cls.__mro__) > 2 and not hasattr(cls, "_fields"):
        raise RuntimeError("TorchScript classes does not support inheritance yet. Please directly inherit from "
                           "'object'")
    try:
        Program().class_type(cls)
    except Unknown as error:
        raise RuntimeError(str(error)) from None
    return cls
