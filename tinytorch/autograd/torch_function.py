"""`__torch_function__`: classes, and modes, that see the calls of public functions before they run.

Nothing looks for them until there are some. `install` then puts an `Overridable` in the place of every public function,
wherever users and modules find it, and of every method, operator and property of Tensor. It is called when a class of
tensors is made that overrides, when a mode is entered, and when a function meets an argument of a foreign class that
overrides (`public.py`). The library's own functions go on calling each other as they are: a function runs when nothing
is left that could see what it calls.

A handler is given the function as its namespace shows it: `func is torch.add`. An `Overridable` equals the function
that it stands for, so that a table made before `install` finds it too.
"""
from __future__ import annotations

import functools
import sys
import threading
import types as python_types
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .. import dtypes as dt
from ..device import device
from ..memory_format import layout, memory_format
from ..tensor import Size, Tensor, blank

_PACKAGE = __name__.partition(".")[0]


# ------------------------------------------------------------------ what is switched on, in each thread
class _State(threading.local):
    disabled = 0                               # 1: classes are not asked, 2: nor are modes

    def __init__(self):
        self.modes = []


state = _State()


class _Switch:
    """A context in which overrides are not looked for, or are again."""

    level = 0

    def __enter__(self) -> _Switch:
        self._before = state.disabled
        state.disabled = max(self._before, self.level) if self.level else 0
        return self

    def __exit__(self, *error: Any) -> None:
        state.disabled = self._before


class DisableTorchFunctionSubclass(_Switch):
    """In it `__torch_function__` of classes is not called; that of modes is."""

    level = 1


class DisableTorchFunction(_Switch):
    """In it no `__torch_function__` is called, of classes or modes."""

    level = 2


class EnableTorchFunction(_Switch):
    """In it `__torch_function__` is called though it was switched off around it."""


class _Disabled:
    """`__torch_function__` of a class that does not override."""

    __name__ = "_disabled_torch_function_impl"

    def __call__(self, func, types, args=(), kwargs=None):
        with DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))

    def __repr__(self):
        return f"<built-in method {self.__name__} of type object>"

    def __reduce__(self):
        return self.__name__


disabled = _disabled_torch_function_impl = _Disabled()


# ------------------------------------------------------------------ who overrides
#: Classes of arguments that need not be looked at.
_PLAIN = frozenset((Tensor, type(None), bool, int, float, complex, str, bytes, slice, type(...), np.ndarray, Size,
                    device, dt.dtype, layout, memory_format, python_types.FunctionType))


def overrides(x: Any) -> bool:
    """Whether `x` has a `__torch_function__` of its class to be asked."""
    if type(x) in _PLAIN or isinstance(x, type):
        return False
    found = getattr(x, "__torch_function__", None)
    return found is not None and found is not disabled


def overloaded(values: Iterable[Any]) -> list:
    """Those of the values that override, one of each class, by turns: from the left, subclasses before their bases."""
    found = []
    for x in values:
        if type(x) not in _PLAIN and overrides(x) and type(x) not in [type(y) for y in found]:
            place = next((i for i, y in enumerate(found) if isinstance(x, type(y))), len(found))
            found.insert(place, x)
    return found


def _arguments(args, kwargs):
    """The values among which overrides are looked for: arguments, and the members of tuples and lists."""
    for x in (*args, *kwargs.values()) if kwargs else args:
        if type(x) in _PLAIN:
            continue
        if isinstance(x, (tuple, list)):
            yield from x
        else:
            yield x


def seen(args: tuple, kwargs: dict[str, Any]) -> list | None:
    """Those that override a call with these arguments; None if nobody does, modes included."""
    found = [] if state.disabled else overloaded(_arguments(args, kwargs))
    return found if found or state.modes and state.disabled < 2 else None


# ------------------------------------------------------------------ the dispatch
def dispatch(func: Callable, found: list, args: tuple, kwargs: dict[str, Any], in_python: bool = False) -> Any:
    """What the innermost mode, or the first of `found`, makes of the call.

    `in_python`: torch's function is written in Python, which hands on keywords even if there are none. TypeError if all
    return NotImplemented.
    """
    types = tuple([type(x) for x in found])
    given = (func, types, args, kwargs) if kwargs or in_python else (func, types, args)
    mode = None
    if state.modes and state.disabled < 2:
        mode = state.modes.pop()
        try:
            result = mode.__torch_function__(*given)
        finally:
            state.modes.append(mode)
        if result is not NotImplemented:
            return result
    for x in found:
        handler = x.__torch_function__
        if getattr(handler, "__self__", None) is x:
            warnings.warn("Defining your `__torch_function__ as a plain method is deprecated and will be an error in "
                          "future, please define it as a classmethod.", DeprecationWarning, stacklevel=3)
        result = handler(*given)
        if result is not NotImplemented:
            return result
    raise TypeError(_nobody(func, types, mode, in_python))


def _nobody(func, types, mode, in_python):
    name = label(func)
    if in_python:
        message = f"no implementation found for '{name}' on types that implement __torch_function__: {list(types)}"
        return message if mode is None else f"{message} nor in mode {mode}"
    lines = ([] if mode is None else [f"mode object {mode!r}"]) + [f"tensor subclass {kind!r}" for kind in types]
    return (f"Multiple dispatch failed for '{name}'; all __torch_function__ handlers returned NotImplemented:\n\n"
            + "".join([f"  - {line}\n" for line in lines])
            + "\nFor more information, try re-running with TORCH_LOGS=not_implemented")


def label(func: Callable) -> str:
    """A function as torch's messages name it: torch.add, torch.Tensor.shape.__get__."""
    if isinstance(func, Overridable):
        return func.label
    owner = getattr(func, "__self__", None)
    if isinstance(owner, property):
        return f"torch.Tensor.{owner.fget.__name__}.{func.__name__}"
    return f"{func.__module__}.{func.__name__}"


class Overridable:
    """A public function that lets arguments that override it step in, called as it is called itself."""

    def __init__(self, function: Callable, name: str, space: str, in_python: bool = False) -> None:
        functools.update_wrapper(self, function)
        self.__name__, self.label, self.in_python = name, f"{space}.{name}", in_python

    def __call__(self, *args, **kwargs):
        found = seen(args, kwargs)
        if found is None:
            return self.__wrapped__(*args, **kwargs)
        return dispatch(self, found, args, kwargs, self.in_python)

    def __eq__(self, other):
        return self is other or self.__wrapped__ is other

    def __hash__(self):
        return hash(self.__wrapped__)

    def __repr__(self):
        return f"<function {self.label}>"

    def __reduce__(self):
        return overridable, (self.__wrapped__,)


class _Method(Overridable):
    """The same of a method of Tensor."""

    def __get__(self, tensor, owner=None):
        return self if tensor is None else python_types.MethodType(self, tensor)

    def __reduce__(self):
        return getattr, (Tensor, self.__name__)


class _Operator(_Method):
    """The same of an operator: handlers see the method that it stands for, and a TypeError leaves the other operand
    to answer."""

    def __call__(self, *args):
        found = seen(args, {})
        if found is None:
            return self.__wrapped__(*args)
        func = vars(Tensor)[_SHOWN.get(self.__name__, self.__name__)]
        try:
            return dispatch(func, found, args, {}, func.in_python)
        except TypeError:
            return NotImplemented


#: The method that handlers are told of where an operator is used, if it is another.
_SHOWN = {"__add__": "add", "__radd__": "add", "__iadd__": "add_", "__sub__": "sub", "__isub__": "sub_",
          "__mul__": "mul", "__rmul__": "mul", "__imul__": "mul_", "__truediv__": "div", "__itruediv__": "div_",
          "__rtruediv__": "__rdiv__", "__ifloordiv__": "floor_divide_", "__mod__": "remainder",
          "__imod__": "remainder_", "__pow__": "pow", "__ipow__": "pow_", "__matmul__": "matmul",
          "__imatmul__": "matmul", "__ge__": "ge", "__gt__": "gt", "__le__": "le", "__lt__": "lt", "__ne__": "ne",
          "__rand__": "bitwise_and", "__ror__": "bitwise_or", "__rxor__": "bitwise_xor", "__neg__": "neg",
          "__pos__": "positive", "__abs__": "abs"}
_OPERATORS = {*_SHOWN, "__eq__", "__rsub__", "__floordiv__", "__rfloordiv__", "__rmod__", "__rpow__", "__rmatmul__",
              "__and__", "__iand__", "__or__", "__ior__", "__xor__", "__ixor__", "__lshift__", "__rlshift__",
              "__ilshift__", "__rshift__", "__rrshift__", "__irshift__", "__invert__"}


# ------------------------------------------------------------------ what tensors do by themselves
def _convert(result, cls):
    """A result, or those in a tuple or list, as tensors of a class."""
    if cls is Tensor:
        return result
    if isinstance(result, Tensor) and not isinstance(result, cls):
        return result.as_subclass(cls)
    if isinstance(result, (tuple, list)) and not isinstance(result, Size):
        values = [_convert(x, cls) for x in result]
        return type(result)(*values) if hasattr(result, "_fields") else type(result)(values)
    return result


def nowrap_functions() -> set[Callable]:
    """The functions whose results keep their class: `Tensor._base`, `Tensor.grad`."""
    return {Tensor._base.__get__, Tensor.grad.__get__}


def _of_class(cls, func, types, args=(), kwargs=None):
    """Runs `func` and makes tensors that it returns tensors of this class; for a subclass that overrides to end in."""
    if not all([issubclass(cls, kind) for kind in types]):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
        return result if func in nowrap_functions() else _convert(result, cls)


def _as_subclass(self, cls):
    """A tensor of class `cls` on the same memory, in the same graph."""
    alias = Tensor.alias(self)
    tensor = blank(cls)
    for name in ("array", "node", "_requires_grad", "version", "view_info"):
        setattr(tensor, name, getattr(alias, name))
    return tensor


def _init_subclass(cls, **kwargs):
    super(Tensor, cls).__init_subclass__(**kwargs)
    if cls.__torch_function__ is not disabled:
        install()


Tensor.__torch_function__ = classmethod(_of_class)
Tensor.__init_subclass__ = classmethod(_init_subclass)
Tensor.as_subclass = _as_subclass


# ------------------------------------------------------------------ installation
#: Public functions -> whether torch has them in Python.
PUBLIC = {}
#: {function: {name: Overridable}}; empty before `install`.
_MADE = {}
_LOCK = threading.RLock()


def installed() -> bool:
    """Whether public functions look for overrides."""
    return bool(_MADE)


def overridable(function: Callable, name: str | None = None) -> Overridable:
    """What stands for a public function, under one of its names."""
    made = _MADE[function]
    return made.get(name) or next(iter(made.values()))


def install() -> None:
    """Lets overrides step in wherever public functions are called, from now on. A second call does nothing."""
    with _LOCK:
        if _MADE:
            return
        for function, in_python in PUBLIC.items():
            name = function.__name__
            _MADE[function] = {name: Overridable(function, name, "torch", in_python)}
        _install_methods()
        enter_modules(list(sys.modules))


def _is_below(name, *rooms):
    return any([name == f"{_PACKAGE}.{room}" or name.startswith(f"{_PACKAGE}.{room}.") for room in rooms])


def enter_modules(names: Iterable[str]) -> None:
    """Puts what stands for the public functions in the place of their names in modules: not in those that they are
    made of."""
    for name in names:
        module = sys.modules.get(name)
        if not isinstance(module, python_types.ModuleType) or _is_below(name, "ops", "autograd", "kernels"):
            continue
        names = vars(module)
        for key, value in list(names.items()):
            if type(value) is python_types.FunctionType and value in _MADE:
                names[key] = overridable(value, key)


#: Attributes of Tensor that nobody overrides.
_OWN = {"__new__", "__init__", "__init_subclass__", "__torch_function__", "__hash__", "__delitem__", "as_subclass",
        "new", "new_tensor", "_make_subclass", "_make_wrapper_subclass", "alias", "__iter__", "__getattr__",
        "__getattribute__", "__setattr__", "__class_getitem__"}
#: Methods that torch has in Python.
_IN_PYTHON = set("""__array__ __array_wrap__ __contains__ __deepcopy__ __dir__ __dlpack__ __dlpack_device__ __floordiv__
    __format__ __ipow__ __len__ __pow__ __rdiv__ __reduce_ex__ __repr__ __reversed__ __rfloordiv__ __rlshift__
    __rmatmul__ __rmod__ __rpow__ __rrshift__ __rsub__ __setstate__ backward dim_order index is_shared istft lu
    module_load norm pow pow_ register_hook register_post_accumulate_grad_hook resize resize_as share_memory_ split stft
    storage storage_type unique unique_consecutive""".split())
#: Attributes below the public names that torch's tensors have too.
_PRIVATE = {"_base", "_version", "_is_view", "_backward_hooks", "_post_accumulate_grad_hooks", "_conj", "_neg_view"}


def _install_methods():
    if "__rdiv__" not in vars(Tensor):
        Tensor.__rdiv__ = Tensor.__rtruediv__
    for name, value in list(vars(Tensor).items()):
        private = name[0] == "_" and name[-2:] != "__"
        if name in _OWN or private and name not in _PRIVATE:
            continue
        if type(value) is python_types.FunctionType:
            kind = _Operator if name in _OPERATORS else _Method
            setattr(Tensor, name, kind(value, name, "torch.Tensor", name in _IN_PYTHON))
        elif isinstance(value, property):
            setattr(Tensor, name, _property(name, value.fget, value.fset, value.fdel))
        elif name[0] != "_":                   # the same of every tensor, unless one has its own
            setattr(Tensor, name, _property(name, _own_or(name, value), _setter_of_own(name)))


def _own_or(name, value):
    return lambda self: self.__dict__.get(name, value)


def _setter_of_own(name):
    def assign(self, value):
        self.__dict__[name] = value
    return assign


def _property(name, read, write=None, delete=None):
    """A property of Tensor that lets the tensor's class step in: handlers see `Tensor.name.__get__` and `__set__`."""
    def seen_as(form, plain):
        def call(self, *value):
            if type(self) is Tensor and not state.modes or (found := seen((self, *value), {})) is None:
                return plain(self, *value)
            return dispatch(getattr(vars(Tensor)[name], form), found, (self, *value), {})
        call.__name__, call.__doc__ = name, plain.__doc__
        return call
    return property(seen_as("__get__", read), write and seen_as("__set__", write),
                    delete and seen_as("__delete__", delete))
