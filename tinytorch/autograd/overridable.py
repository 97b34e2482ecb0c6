"""The handlers that see a public function before it runs: modes and classes with a `__torch_function__`
(torch_function.py), and autocast. The seam (seam.py) calls `see`. `complete` and `complete_tensor` run while the
package is loaded: they note torch's name of each public function, and let every method and property of Tensor look at
the seam.
"""
from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

import numpy as np

from ..errors import not_a_tensor
from ..seam import UNSEEN, VARIABLE, door, door_of_one, door_of_two, is_door, known_as, repeating_door, seam, twin
from ..tensor import Size, Tensor, instance_of, said
from . import late_bound
from .casts import cast_call
from .torch_function import (
    PLAIN,
    DisableTorchFunction,
    arguments,
    disabled,
    dispatch,
    is_torchs,
    overloaded,
    overrides,
    seen,
    state,
    without_subclasses,
)

_PACKAGE = __name__.partition(".")[0]

#: Every public function, in the form that is called -> its registration (`Public` in public.py).
TABLE: dict[Callable, Any] = {}


#: A function asks Python so often before it asks C for records, and is listened to so often at most.
_CALLS_IN_PYTHON, _MOST_HEARD = 16, 400


class Repeats:
    """What is kept of a function's calls: see repeats.py, which is loaded after the first of them.

    again    again(args) -> the result; True if the call should go to `learn`; None for every other call
    calls    how many calls asked Python
    heard    what calls that were listened to once pass to kernels, by their arguments
    left     how many calls may be listened to
    """

    __slots__ = ("again", "calls", "heard", "learned", "left", "table")

    def __init__(self) -> None:
        self.again: Callable[[tuple], Any] = self._first
        self.calls, self.left, self.table = 0, _MOST_HEARD, b""
        self.heard: dict[bytes, Any] = {}

    def _first(self, args):
        self.calls += 1
        if self.calls == _CALLS_IN_PYTHON:
            from .repeats import begin
            begin(self)

    def learn(self, key: tuple, call: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The result of call(*args, **kwargs)."""
        from .repeats import learn
        return learn(self, key, call, args, kwargs)

    def learn_checked(self, key: tuple, fallback: Callable, public: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The same for a door that has not checked the arguments yet, as `fallback` does."""
        return self.learn(key, lambda *args, **kwargs: fallback(public, args, kwargs), args, kwargs)


# ------------------------------------------------------------------ a call that is seen
def see(function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The result of a call of a public function if modes, classes or autocast answer it; UNSEEN if none does."""
    how = about(function)
    if how is None:
        return _see_below(function, args, kwargs)
    if how.kind == _MAKER:
        return _see_maker(function, args, kwargs)
    if how.kind == _OPERATOR:
        return _see_operator(function, how, args)
    if how.kind == _PROPERTY:
        return _see_property(function, how, args)
    if not kwargs and not state.modes and _are_plain(args):
        return cast_call(function, how, args, kwargs)
    found = seen(args, kwargs)
    if found is None:
        return cast_call(function, how, args, kwargs)
    if how.in_python:
        try:
            args, kwargs = _spelled_out(function, how, args, kwargs)
        except TypeError:
            return UNSEEN                      # the function itself raises for the arguments
        found = overloaded(arguments(args, kwargs), True)
    return dispatch(function, found, args, kwargs, how.in_python)


def _see_below(function, args, kwargs):
    """The answer to a call that the library makes itself: recorders see it, other handlers do not."""
    if not state.modes or not getattr(state.modes[-1], "sees_all", False):
        return UNSEEN
    if state.skips:
        state.skips = False
        return UNSEEN
    return dispatch(function, [], args, kwargs)


def _are_plain(args):
    for x in args:
        if type(x) not in PLAIN:
            return False
    return True


def _see_maker(function, args, kwargs):
    """The answer for a function that makes tensors of any data, tensors included: modes see it, classes do not."""
    if state.modes and state.disabled < 2 and seen((), {}) is not None:
        return dispatch(function, [], args, kwargs)
    return UNSEEN if state.disabled else without_subclasses(function, *args, **kwargs)


def _see_operator(function, how, args):
    """Handlers see the method that an operator stands for. After a TypeError the other operand may answer."""
    if not state.modes and type(args[0]) is Tensor and type(args[-1]) in PLAIN:
        return cast_call(function, how, args, {})
    name = how.operator
    found = seen(args[:1] if name == "__eq__" else args, {})       # __eq__ looks at its tensor alone
    if found is None or not (how.in_python or name == "__eq__" or overrides(args[-1])
                             or isinstance(args[-1], (Tensor, *NUMBERS))):
        return cast_call(function, how, args, {})
    shown = function if how.shown is True else vars(Tensor)[how.shown]
    try:
        return dispatch(shown, found, args, {}, how.in_python)
    except TypeError:
        return NotImplemented


def _see_property(function, how, args):
    """Handlers see `Tensor.name.__get__`, `__set__` or `__delete__`."""
    if not state.modes and type(args[0]) is Tensor or (found := seen(args, {})) is None:
        return UNSEEN
    return dispatch(getattr(vars(Tensor)[how.name], how.operator), found or [args[0]], args, {})


def _spelled_out(function, how, args, kwargs):
    """The arguments as functions in Python pass them on: all of them, and by keyword if they have a default."""
    if how.signature is None:
        how.signature = inspect.signature(function.__wrapped__)
    bound = how.signature.bind(*args, **kwargs)
    bound.apply_defaults()
    args, kwargs = [], {}
    for name, value in bound.arguments.items():
        parameter = how.signature.parameters[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            args += value
        elif parameter.kind is parameter.VAR_KEYWORD:
            kwargs.update(value)
        elif parameter.default is parameter.empty and parameter.kind is not parameter.KEYWORD_ONLY and (
                not how.label.startswith("torch.nn.init")):
            args.append(value)
        elif how.in_python != "alone":
            kwargs[name] = value
    record = TABLE.get(function)
    if record is not None and record.handed is not None:
        return record.handed(tuple(args)), kwargs
    return tuple(args), kwargs


def answer(function: Callable, args: tuple, kwargs: dict[str, Any] | None = None) -> Any:
    """The result of a call whose arguments override the function (`has_override` found them)."""
    result = see(function, args, kwargs or {})
    if result is UNSEEN:
        return function(*args, **(kwargs or {}))
    return result


class _About:
    """How handlers see a function.

    name       of the function, without the name of its module
    in_python  whether torch's is written in Python, which spells out its arguments; "alone": without keywords
    kind       _FUNCTION, _MAKER, _OPERATOR or _PROPERTY
    operator   the name of the operator, or of the property's method (`__get__`, `__set__`, `__delete__`)
    shown      the name of the method that handlers receive in place of an operator; True: the operator itself
    autocast   as in `Public`
    label      its name in torch's messages
    """

    in_python, kind = False, 0
    operator = shown = autocast = label = signature = None

    def __init__(self, name, **known):
        self.name = name
        vars(self).update(known)


_FUNCTION, _MAKER, _OPERATOR, _PROPERTY = range(4)


def is_operation(how: _About) -> bool:
    """Whether a function computes. Properties only read tensors, and makers of tensors take any data."""
    return how.kind == _FUNCTION or how.kind == _OPERATOR


def path_of(function: Callable) -> str:
    """The path of a function that handlers see: torch.nn.functional.linear, torch.Tensor.add."""
    space, name = place(function)
    return f"torch.{space}.{name}" if space else f"torch.{name}"


def place(function: Callable) -> tuple[str | None, str | None]:
    """(the namespace of a function that handlers see, its name there): ("nn.functional", "linear"), ("", "add"),
    ("Tensor", "add"); (None, None) for a function that they do not see."""
    return (function.__dict__.get("place") or _place_of(function))[:2]


def is_maker(function: Callable) -> bool:
    """Whether a function makes tensors of any data: torch.tensor."""
    how = about(function)
    return how is not None and how.kind == _MAKER


def is_property(how: _About) -> bool:
    """Whether a function reads, writes or deletes a property of a tensor."""
    return how.kind == _PROPERTY


#: Classes of numbers that arithmetic accepts beside a tensor.
NUMBERS = (bool, int, float, complex, np.generic)


# ------------------------------------------------------------------ methods of Tensor
def _convert(result, cls):
    """A result, or the tensors in a tuple or list, as tensors of a class."""
    if cls is Tensor:
        return result
    if isinstance(result, Tensor) and not isinstance(result, cls):
        return result.as_subclass(cls)
    if isinstance(result, (tuple, list)) and not isinstance(result, Size):
        values = [_convert(x, cls) for x in result]
        return type(result)(*values) if hasattr(result, "_fields") else type(result)(values)
    return result


def nowrap_functions() -> set[Callable]:
    """The functions whose results keep their class: the getters of `Tensor._base` and `Tensor.grad`."""
    return {Tensor._base.__get__, Tensor.grad.__get__}


def _torch_function(cls, func, types, args=(), kwargs=None):
    """Run `func` and make the tensors that it returns tensors of this class. Overrides of subclasses end by calling
    it."""
    if not all([issubclass(cls, kind) for kind in types]) or is_torchs(func):
        return NotImplemented

    def compute():
        result = func(*args, **(kwargs or {}))
        return result if func in nowrap_functions() else _convert(result, cls)
    return without_subclasses(compute)


def _of(cls, tensor):
    """A tensor of class `cls` with the attributes of the given one."""
    if not issubclass(cls, Tensor):
        raise TypeError("Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. "
                        "Make sure your class inherits from Tensor.")
    result = instance_of(cls)
    for name in ("_array", "_node", "_requires_grad", "_version_counter", "_view_info"):
        setattr(result, name, getattr(tensor, name))
    return result


def _as_subclass(self: Tensor, cls: type) -> Tensor:
    """A tensor of class `cls` on the same memory, in the same graph. TypeError if `cls` is no class of tensors.

    >>> import tinytorch as torch
    >>> class Marked(torch.Tensor):
    ...     pass
    >>> torch.ones(2).as_subclass(Marked) + 1
    Marked([2., 2.])
    """
    if not isinstance(cls, type):
        raise TypeError(f"cls must be a type (got {type(cls).__name__})")
    return _of(cls, Tensor._alias(self))


def _make_subclass(cls: type, data: Tensor, require_grad: bool = False) -> Tensor:
    """A leaf of class `cls` on the memory of `data`."""
    if not isinstance(data, Tensor):
        raise TypeError(f"_make_subclass(): argument 'data' (position 2) must be Tensor, not {type(data).__name__}")
    with DisableTorchFunction():
        return _of(cls, data.detach()).requires_grad_(require_grad)


def _make_wrapper_subclass(cls: type, size: tuple[int, ...], *args: Any, **kwargs: Any) -> Tensor:
    """Not supported: tensors without memory, whose operations `__torch_dispatch__` would answer."""
    if not hasattr(cls, "__torch_dispatch__"):
        raise TypeError(f"{cls.__name__} must define __torch_dispatch__")
    raise NotImplementedError("__torch_dispatch__ and with it tensors that wrap others are not supported; "
                              "__torch_function__ is")


def _init_subclass(cls, **kwargs):
    super(Tensor, cls).__init_subclass__(**kwargs)
    cls._overrides = cls.__torch_function__ is not disabled


_class: Any = Tensor                           # the stub of Tensor declares these methods as they are called
_class.__torch_function__ = classmethod(_torch_function)
_class.__init_subclass__ = classmethod(_init_subclass)
_class.as_subclass = said(seen=False)(_as_subclass)
_class._make_subclass = staticmethod(_make_subclass)
_class._make_wrapper_subclass = staticmethod(_make_wrapper_subclass)


# ------------------------------------------------------------------ the namespaces of functions
#: Namespace -> (in torch's messages: the module of functions in C++, the prefix of their names, the module of functions
#: in Python).
_SPACES = {"": ("torch", "", "torch.functional"), "functional": ("torch", "", "torch.functional"),
           "nn.functional": ("torch.nn", "", "torch.nn.functional"), "nn.init": ("", "", "torch.nn.init"),
           "autograd": ("", "", "torch.autograd"), "linalg": ("torch.linalg", "linalg_", ""),
           "fft": ("torch.fft", "fft_", ""), "special": ("torch.special", "special_", "")}


def complete(space: str, module: Any) -> None:
    """Note where the public functions of a module are found. Where torch has a separate function for one that has a
    place already, the module gets a twin of it."""
    functions: list[tuple[str, Any]] = [
        (key, x) for key, x in vars(module).items() if type(x) is FunctionType and key[0] != "_"]
    for key, function in sorted(functions, key=lambda item: item[0] != item[1].__name__):     # aliases last
        known = function.__dict__
        record = known.get("record")
        if not (is_door(function) if record is None else record.seen):
            continue
        place = known.get("place")
        if place is None and space and (place := _place_in_torch(key, function)) is not None:
            function.place = place
        in_python = space == "nn.functional" and _is_in_python(space, record)
        if place is not None and place[1] == key and (space == "functional" or space == "nn.functional"
                                                      and not in_python):
            continue                           # torch has the same function in both places
        if place is not None or in_python and function.__module__ != module.__name__:
            function = twin(function, key)
            function.__module__, function.__qualname__ = module.__name__, key
            setattr(module, key, function)
        elif record is None:                   # a function with a record was entered by its registration
            known_as(function)
        function.place = space, key


def about(function: Callable) -> _About | None:
    """How handlers see a function; None if they do not see it."""
    known = function.__dict__
    if "about" not in known:
        space, name, *form = known.get("place") or _place_of(function)
        record = known.get("record")
        if space == "Tensor":
            made = _about_method(name, record, known.get("said", {}))
        elif space == "property":
            made = _About(name, kind=_PROPERTY, operator=form[0])
        elif space is None:
            made = None
        else:
            made = _about_function(space, name, record, function)
        known["about"] = made
    return known["about"]


seam.begin(see)
late_bound.about = about


def _place_of(function):
    """(namespace, name) of a function that is loaded lazily; (None, None) if handlers do not see it."""
    record = function.__dict__.get("record")
    if not is_door(function) or function.__name__[0] == "_" or record is not None and not record.seen:
        return None, None
    return _place_in_torch(function.__name__, function) or (None, None)


def _place_in_torch(name, function):
    """("", name) of a function that the package loads when torch.<name> is read. It may have come here another way:
    torch.conv2d by nn.functional, torch.gru by nn.GRU."""
    part = vars(sys.modules[_PACKAGE])["_OF"].get(name)
    module = sys.modules.get(f"{_PACKAGE}.{part}")
    return ("", name) if module is not None and vars(module).get(name) is function else None


def _about_function(space, name, record, function):
    home, prefix, python_home = _SPACES[space]
    in_python = _is_in_python(space, record)
    is_maker = record is not None and record.seen == "modes"
    if record is None:
        autocast = function.__dict__.get("said", {}).get("autocast")
    else:
        autocast = record.autocast
    label = f"{python_home}.{name}" if in_python else f"{home}.{prefix}{name}"
    return _About(name, in_python=in_python, kind=_MAKER if is_maker else _FUNCTION, autocast=autocast, label=label)


def _about_method(name, record, said):
    if record is None:                         # an operator has the record of the function that it stands for
        record = getattr(vars(Tensor).get(_function_of(name)), "record", None)
    in_python = said.get("in_python", record is not None and record.in_python in (True, "Tensor"))
    home = "torch._tensor" if in_python else "torch.Tensor"
    return _About(name, in_python=in_python, kind=_OPERATOR if "shown" in said else _FUNCTION, operator=name,
                  autocast=said.get("autocast", record and record.autocast), shown=said.get("shown"),
                  label=f"{home}.{said.get('called', name)}")


def _is_in_python(space, record):
    if record is None or space in ("nn.init", "autograd"):
        return space in ("nn.init", "autograd")
    return record.in_python is True or space in ("nn.functional", "functional") and record.in_python == space


def spaces() -> list[tuple[str, Any]]:
    """(torch's name, module or class) of each namespace with overridable functions. Functions that are loaded lazily
    are loaded first."""
    root = sys.modules[_PACKAGE]
    for name, part in vars(root)["_OF"].items():
        if part == "_rare" or part.startswith("ops."):
            getattr(root, name)
    found = [(f"torch.{space}".rstrip("."), importlib.import_module(f"{_PACKAGE}.{space}".rstrip(".")))
             for space in _SPACES]
    return [*found[:4], ("torch.Tensor", Tensor), *found[4:]]


def _is_below(name, *rooms):
    return any([name == f"{_PACKAGE}.{room}" or name.startswith(f"{_PACKAGE}.{room}.") for room in rooms])


def complete_tensor() -> None:
    """Let every method, operator and property of Tensor look at the seam, and name it."""
    for name, value in list(vars(Tensor).items()):
        reads = value.fget if isinstance(value, property) else value
        said = getattr(reads, "said", {})
        if not said.get("seen", name[0] != "_" or name[-2:] == "__" or hasattr(reads, "record")):
            continue
        if type(value) is FunctionType:
            _complete_method(name, value, said)
        elif isinstance(value, property):
            setattr(Tensor, name, _property(name, value.fget, value.fset, value.fdel))
        elif name[0] != "_":                   # a constant of the class, which instances may override
            setattr(Tensor, name, _property(name, _own_or(name, value), _setter_of_own(name)))
    _class.__rdiv__, _class.ndimension, _class.nelement = _class.__rtruediv__, _class.dim, _class.numel


def _complete_method(name, value, said):
    known, made = value.__dict__, value
    if "place" in known:                       # it is a function of torch too
        made = twin(value)
    elif "record" not in known:                # a method with a record looks at the seam already
        made = known_as(value if is_door(value) else _with_door(value, said))
    made.place, made.said = ("Tensor", name), said
    made.__module__, made.__qualname__ = Tensor.__module__, f"Tensor.{name}"      # the path by which pickle finds it
    made.__name__ = said.get("called", name)
    if made is not value:
        setattr(Tensor, name, made)


def _function_of(name):
    """The function that an operator stands for: matmul of __matmul__, __rmatmul__, __imatmul__."""
    return re.fullmatch("__[ri]?(.+)__", name)[1] if name[:2] == "__" else name      # type: ignore[index]


def _with_door(function, said):
    if said.get("repeats"):
        return repeating_door(function, None, Repeats())
    code = function.__code__
    plain = not (function.__defaults__ or function.__kwdefaults__ or code.co_flags & VARIABLE)
    if plain and code.co_argcount == 1:
        return door_of_one(function)
    if plain and code.co_argcount == 2 and function.__name__[:2] == "__":
        return door_of_two(function)
    return door(function)


def _own_or(name, value):
    return lambda self: self.__dict__.get(name, value)


def _setter_of_own(name):
    def assign(self, value):
        self.__dict__[name] = value
    return assign


def _property(name, read, write=None, delete=None):
    """A property of Tensor that looks at the seam."""
    def seen_as(form, plain):
        call: Any = door_of_two(plain) if form == "__set__" else door_of_one(plain)
        call.place, call.__name__ = ("property", name, form), name
        return known_as(call)
    return property(seen_as("__get__", read), write and seen_as("__set__", write),
                    delete and seen_as("__delete__", delete))


# ------------------------------------------------------------------ arguments of other classes
def has_override(function: Callable | None, args: Iterable[Any], kwargs: dict[str, Any] | None = None) -> bool:
    """Whether an argument that a function does not accept overrides it: then `answer` gives the result of the call.

    It does not if the function was called by a function of the library: then that caller is the one to be overridden.
    `function` None: any caller counts.
    """
    if state.disabled or state.skips or not (found := overloaded(arguments(args, kwargs or {}))):
        return False
    for x in found:
        seam.watch_instance(type(x))           # later calls with an instance of the class go to the seam
    if function is None:
        return True
    frame: Any = sys._getframe(1)
    while frame.f_code is not function.__code__:
        frame = frame.f_back
    frame = frame.f_back
    while frame.f_globals.get("__name__") in _DOORS:
        frame = frame.f_back
    caller = frame.f_globals["__name__"]
    return not _is_below(caller, "ops", "autograd", "nn.functional", "special", "linalg", "fft", "sparse")


def not_an_operand(o: Any, position: int, *operands: Any) -> Any:
    """The result of a public op whose operand is no tensor, if the operand overrides it; else TypeError for the operand
    at `position`."""
    function = next((f for f in TABLE if getattr(f, "op", None) is o), None)
    if function is not None and has_override(function, operands):
        return answer(function, operands)
    raise not_a_tensor(o.name.removesuffix("_cpu"), o.params[position - 1], position, operands[position - 1])


def called_from_here(level: int, name: str) -> bool:
    """Whether the function `level` frames above this one is part of the package. Frames of a public function of that
    name, and of doors, do not count."""
    frame: Any = sys._getframe(level)
    while frame.f_code.co_name == name or frame.f_globals.get("__name__") in _BETWEEN:
        frame = frame.f_back
    return frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE


_DOORS = {door.__module__, f"{__package__}.public"}
_BETWEEN = {__name__, dispatch.__module__, *_DOORS}
