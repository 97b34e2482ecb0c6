"""`__torch_function__`: classes, and modes, that see the calls of public functions before they run.

This module finds the arguments that override, holds the switches, and calls the handlers. `overridable.py` decides
which calls are looked at.
"""
from __future__ import annotations

import sys
import threading
import types as python_types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .. import dtypes as dt
from ..device import device
from ..errors import warn, warn_once
from ..memory_format import layout, memory_format
from ..seam import seam
from ..tensor import Size, Tensor
from . import late_bound

_PACKAGE = __name__.partition(".")[0]


# ------------------------------------------------------------------ the switches of each thread
class _State(threading.local):
    disabled = 0                               # 1: classes are not asked, 2: nor are modes
    skips = False                              # whether the next function does not look for overrides
    handling = 0                               # how many handlers of modes run; each one's mode is out of `modes`

    def __init__(self):
        self.modes = []


state = _State()


class _Switch:
    """A context manager that switches overrides off, or on again."""

    level = 0

    def __enter__(self) -> _Switch:
        self._before = state.disabled
        try:
            state.disabled = max(self._before, self.level) if self.level else 0
            return self
        except BaseException:                  # an interrupt: there will be no `__exit__`
            state.disabled = self._before
            raise

    def __exit__(self, *error: Any) -> None:
        state.disabled = self._before


def note_modes() -> None:
    """Notify the seam, after a change, whether this thread has active modes, now or when a running handler ends."""
    seam.watch("modes", bool(state.modes or state.handling))


def enabled(modes: bool = False) -> bool:
    """Whether classes are asked, or (`modes`) modes."""
    return state.disabled < (2 if modes else 1)


def modes(always: bool = False) -> list:
    """The active modes, the innermost last; none where they are switched off, unless `always`."""
    return state.modes if always or state.disabled < 2 else []


class DisableTorchFunctionSubclass(_Switch):
    """Inside, `__torch_function__` of classes is not called; that of modes is."""

    level = 1


class DisableTorchFunction(_Switch):
    """Inside, no `__torch_function__` is called, of classes or modes."""

    level = 2


def without_subclasses(function: Callable, *args: Any, **kwargs: Any) -> Any:
    """function(*args, **kwargs) with `__torch_function__` of classes switched off. An interrupt never leaves it
    switched off: it can come at the beginning of an `__exit__`, but not between a `finally` and its first line."""
    before = state.disabled
    try:
        state.disabled = max(before, DisableTorchFunctionSubclass.level)
        return function(*args, **kwargs)
    finally:
        state.disabled = before


class EnableTorchFunction(_Switch):
    """Inside, `__torch_function__` is called even if it was switched off outside."""


class _Disabled:
    """`__torch_function__` of a class that does not override."""

    __name__ = "_disabled_torch_function_impl"

    def __call__(self, func, types, args=(), kwargs=None):
        return without_subclasses(func, *args, **(kwargs or {}))

    def __repr__(self):
        return f"<built-in function {self.__name__}>"

    def __reduce__(self):
        return self.__name__


disabled = _disabled_torch_function_impl = _Disabled()


# ------------------------------------------------------------------ who overrides
#: Classes of arguments that never override.
PLAIN = frozenset((Tensor, type(None), bool, int, float, complex, str, bytes, slice, type(...), np.ndarray, Size,
                    device, dt.dtype, layout, memory_format, python_types.FunctionType))


def is_torchs(thing: Any) -> bool:
    """Whether PyTorch itself, beside this package, made a function, a method or a property of a class.

    PyTorch's tensors and the tensors of this package know nothing of each other. Each default `__torch_function__`
    calls the function again, which would ask the other one again, without end. So neither is asked about the other.
    """
    if sys.modules.get("torch") in (None, sys.modules[_PACKAGE]):
        return False                           # torch is not there, or `import torch` gives this package
    bound = getattr(thing, "__self__", None)
    for part in (thing, getattr(thing, "__objclass__", None), bound, getattr(bound, "__objclass__", None)):
        place = getattr(part, "__module__", None)
        if isinstance(place, str) and place.partition(".")[0] == "torch":
            return True
    return False


def overrides(x: Any) -> bool:
    """Whether the class of `x` has a `__torch_function__` that is to be asked."""
    if type(x) in PLAIN or isinstance(x, type):
        return False
    found = getattr(x, "__torch_function__", None)
    return found is not None and found is not disabled and not is_torchs(found)


def overloaded(values: Iterable[Any], in_python: bool = False) -> list:
    """The values that override, one of each class, in the order in which they are asked: from the left, subclasses
    before their bases.

    `in_python`: plain tensors are among them, which functions in Python ask last.
    """
    found: list[Any] = []
    for x in values:
        if (in_python and type(x) is Tensor or type(x) not in PLAIN and overrides(x)) and (
                type(x) not in [type(y) for y in found]):
            place = next((i for i, y in enumerate(found) if isinstance(x, type(y))), len(found))
            found.insert(place, x)
    return found


def arguments(args, kwargs):
    """The values among which overrides are looked for: arguments, and the members of tuples and lists."""
    for x in (*args, *kwargs.values()) if kwargs else args:
        if isinstance(x, (tuple, list)) and not isinstance(x, Size) and not hasattr(type(x), "__torch_function__"):
            yield from x
        else:
            yield x


def seen(args: tuple, kwargs: dict[str, Any]) -> list | None:
    """The arguments of a call that override it; None if neither they nor a mode do."""
    if state.skips:
        state.skips = False
        return None
    found = [] if state.disabled else overloaded(arguments(args, kwargs))
    return found if found or state.modes and state.disabled < 2 else None


# ------------------------------------------------------------------ the dispatch
def dispatch(func: Callable, found: list, args: tuple, kwargs: dict[str, Any], in_python: bool = False) -> Any:
    """The result of the innermost mode's handler, or of the first handler of `found` that answers the call.

    `in_python`: torch's function is written in Python, which passes on keywords even if there are none. TypeError if
    all handlers return NotImplemented.
    """
    types = tuple([type(x) for x in found])
    given = (func, types, args, kwargs) if kwargs or in_python else (func, types, args)
    mode = None
    if state.modes and state.disabled < 2:
        handling = state.handling
        mode = state.modes.pop()
        try:
            state.handling = handling + 1
            result = mode.__torch_function__(*given)
        finally:
            state.handling = handling          # at once: an interrupt may come with the next call
            state.modes.append(mode)
        if result is not NotImplemented:
            return result
    for x in found:
        handler = x.__torch_function__
        if getattr(handler, "__self__", None) is x:
            _warn_of_method(in_python)
        result = handler(*given)
        if result is not NotImplemented:
            return result
    raise TypeError(_nobody(func, types, mode, in_python))


def _warn_of_method(in_python):
    """Warn of a `__torch_function__` that is a plain method, as torch does: in C++ once, in Python each time."""
    if in_python:
        warn("Defining your `__torch_function__ as a plain method is deprecated and will be an error in "
             "future, please define it as a classmethod.", DeprecationWarning)
    else:
        warn_once("Defining your `__torch_function__` as a plain method is deprecated and will be an error in "
                  "future, please define it as a classmethod.")


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
    """The name of a function in torch's messages: torch.add, torch.Tensor.shape.__get__."""
    owner: Any = getattr(func, "__self__", None)
    if isinstance(owner, property):
        return f"torch.Tensor.{owner.fget.__name__}.{func.__name__}"        # type: ignore[union-attr]
    how = late_bound.about(func) if isinstance(func, python_types.FunctionType) else None
    return f"{func.__module__}.{func.__name__}" if how is None or how.label is None else how.label


def skip_one_hop(func: Callable, types: Iterable[type], args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
    """Run `func` itself for arguments that override it. If it is written in Python, the functions that it calls look
    for overrides again."""
    how = late_bound.about(func) if isinstance(func, python_types.FunctionType) else None
    if (how is None or how.in_python) and not isinstance(func, python_types.MethodWrapperType):
        try:
            state.skips = True
            return func(*args, **(kwargs or {}))
        finally:
            state.skips = False
    with DisableTorchFunction():
        return func(*args, **(kwargs or {}))
