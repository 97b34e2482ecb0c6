"""torch.overrides: the tools for classes and modes that override torch's functions."""
from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType, ModuleType
from typing import Any

from .autograd.overridable import about, nowrap_functions, spaces
from .autograd.torch_function import (
    EnableTorchFunction,
    dispatch,
    enabled,
    modes,
    note_modes,
    overloaded,
    seen,
    skip_one_hop,
)
from .errors import warn
from .tensor import Tensor

__all__ = ["BaseTorchFunctionMode", "TorchFunctionMode", "enable_reentrant_dispatch", "get_ignored_functions",
           "get_overridable_functions", "get_testing_overrides", "handle_torch_function", "has_torch_function",
           "has_torch_function_unary", "has_torch_function_variadic", "is_tensor_like",
           "is_tensor_method_or_property", "redispatch_function", "resolve_name", "wrap_torch_function"]


# ------------------------------------------------------------------ for functions of other packages
def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether an argument overrides, or a mode is active: then call `handle_torch_function`.

    >>> import tinytorch as torch
    >>> torch.overrides.has_torch_function((torch.ones(2), 3))
    False
    """
    return has_torch_function_variadic(*relevant_args)


def has_torch_function_unary(tensor: Any) -> bool:
    """`has_torch_function` for a single argument."""
    return seen((tensor,), {}) is not None


def has_torch_function_variadic(*args: Any) -> bool:
    """`has_torch_function` with the arguments given separately."""
    return seen((args,), {}) is not None


def handle_torch_function(public_api: Callable, relevant_args: Iterable[Any], /, *args: Any, **kwargs: Any) -> Any:
    """The result of a call of `public_api`, from the innermost mode, or from those of `relevant_args` that override.

    TypeError if all of them return NotImplemented.

    >>> import tinytorch as torch
    >>> class Counted(torch.Tensor):
    ...     @classmethod
    ...     def __torch_function__(cls, func, types, args=(), kwargs=None):
    ...         return func.__name__
    >>> def double(x):
    ...     if torch.overrides.has_torch_function_unary(x):
    ...         return torch.overrides.handle_torch_function(double, (x,), x)
    ...     return x + x
    >>> double(torch.ones(1)), double(torch.ones(1).as_subclass(Counted))
    (tensor([2.]), 'double')
    """
    return dispatch(public_api, overloaded(relevant_args, True) if enabled() else [], args, kwargs, True)


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[[Callable], Callable]:
    """Decorator for a function that `__torch_function__` shall see. `dispatcher`, called with the same arguments,
    returns those that may override it.

    >>> import tinytorch as torch
    >>> @torch.overrides.wrap_torch_function(lambda x: (x,))
    ... def double(x):
    ...     return x + x
    >>> double(torch.ones(1))
    tensor([2.])
    """
    def inner(func):
        @functools.wraps(func)
        def wrapped(*args, **kwargs):
            relevant_args = dispatcher(*args, **kwargs)
            if has_torch_function(relevant_args):
                return handle_torch_function(wrapped, relevant_args, *args, **kwargs)
            return func(*args, **kwargs)
        return wrapped
    return inner


def redispatch_function(func: Callable, types: Iterable[type], args: tuple = (), kwargs: dict | None = None) -> Any:
    """Run `func` itself for arguments that override it; functions that it calls look for overrides again."""
    return skip_one_hop(func, types, args, kwargs)


def is_tensor_like(inp: Any) -> bool:
    """Whether an object is a Tensor or has a `__torch_function__`.

    >>> import tinytorch as torch
    >>> torch.overrides.is_tensor_like(torch.ones(1)), torch.overrides.is_tensor_like(1)
    (True, False)
    """
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


# ------------------------------------------------------------------ modes
class TorchFunctionMode:
    """A context that sees every public function, with or without tensors, before it runs.

    In a subclass, `__torch_function__(self, func, types, args=(), kwargs=None)` returns the result of the call. The
    functions that it calls are seen by the mode around this one.

    >>> import tinytorch as torch
    >>> class Log(torch.overrides.TorchFunctionMode):
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         print(torch.overrides.resolve_name(func))
    ...         return func(*args, **(kwargs or {}))
    >>> with Log():
    ...     x = torch.ones(2) * 3
    torch.ones
    torch.Tensor.mul
    """

    inner: TorchFunctionMode

    def __init__(self) -> None:
        """Nothing to set up."""

    def __torch_function__(self, func: Callable, types: tuple[type, ...], args: tuple = (),
                           kwargs: dict | None = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> TorchFunctionMode:
        vars(self).setdefault("_around", []).append(list(modes(always=True)))
        try:
            modes(always=True).append(self)
            note_modes()
            return self
        except BaseException:                  # an interrupt: there will be no `__exit__`
            self.__exit__(None, None, None)
            raise

    def __exit__(self, exc_type: type | None, exc_val: BaseException | None, exc_tb: Any) -> None:
        modes(always=True)[:] = vars(self)["_around"].pop()    # also puts right what an interrupt has left
        note_modes()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> TorchFunctionMode:
        """A new mode, not entered; deprecated."""
        warn("`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`")
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that changes nothing."""

    def __torch_function__(self, func: Callable, types: tuple[type, ...], args: tuple = (),
                           kwargs: dict | None = None) -> Any:
        return func(*args, **(kwargs or {}))


def _get_current_function_mode():
    stack = modes(always=True)
    return stack[-1] if stack else None


def _get_current_function_mode_stack():
    return list(modes(always=True))


def _push_mode(mode):
    modes(always=True).append(mode)
    note_modes()


def _pop_mode():
    mode = modes(always=True).pop()
    note_modes()
    return mode


@contextlib.contextmanager
def _pop_mode_temporarily():
    old = _pop_mode()
    try:
        yield old
    finally:
        _push_mode(old)


@contextlib.contextmanager
def _enable_torch_function():
    with EnableTorchFunction():
        yield


@contextlib.contextmanager
def enable_reentrant_dispatch() -> Iterator[None]:
    """Changes nothing: it is a context for handlers below `__torch_dispatch__`, which is not supported."""
    yield


# ------------------------------------------------------------------ lists of functions
def get_default_nowrap_functions() -> set[Callable]:
    """The functions whose results `Tensor.__torch_function__` leaves unchanged: fields that hold a tensor."""
    return nowrap_functions()


def get_overridable_functions() -> dict[Any, list[Callable]]:
    """{namespace: the functions in it that can be overridden}; for a property its `__get__`.

    >>> import tinytorch as torch
    >>> functions = torch.overrides.get_overridable_functions()
    >>> torch.add in functions[torch], torch.Tensor.add in functions[torch.Tensor]
    (True, True)
    """
    found = {}
    for _, space in spaces():
        for name, value in sorted(vars(space).items()):
            if isinstance(value, property):
                found[value] = [value.__get__]
            elif type(value) is FunctionType and about(value) is not None and (space is Tensor or name[-1] != "_"):
                found.setdefault(space, []).append(value)
    return found


@functools.cache
def _names():
    names = {}
    for space_name, space in spaces():
        for name, value in sorted(vars(space).items()):
            if isinstance(value, property):
                names[value.__get__], names[value.__set__] = [f"{space_name}.{name}.{form}"
                                                              for form in ("__get__", "__set__")]
            elif callable(value) and (space is Tensor or name[0] != "_"):
                if name not in ("ndimension", "nelement"):     # aliases of dim and numel
                    names[value] = f"{space_name}.{name}"
    return names


def resolve_name(f: Callable) -> str | None:
    """The name of a function that a handler received, as an expression for that function. None: it is not public.

    >>> import tinytorch as torch
    >>> torch.overrides.resolve_name(torch.Tensor.shape.__get__)
    'torch.Tensor.shape.__get__'
    """
    return _names().get(f)


def is_tensor_method_or_property(func: Callable) -> bool:
    """Whether a function that a handler received is a method of Tensor, or the `__get__` of a property.

    >>> import tinytorch as torch
    >>> torch.overrides.is_tensor_method_or_property(torch.Tensor.add)
    True
    >>> torch.overrides.is_tensor_method_or_property(torch.add)
    False
    """
    return func.__name__ == "__get__" or any([func is value for value in get_overridable_functions()[Tensor]])


@functools.cache
def get_testing_overrides() -> dict[Callable, Callable]:
    """{function that can be overridden: a function of the same signature that returns -1}."""
    return {func: _dummy(func) for functions in get_overridable_functions().values() for func in functions}


def _dummy(func):
    def override(*args, **kwargs):
        return -1
    override.__name__ = func.__name__
    with contextlib.suppress(TypeError, ValueError):
        override.__signature__ = inspect.signature(func)
    return override


@functools.cache
def get_ignored_functions() -> set[Callable]:
    """The public functions that classes cannot override."""
    overridable = {func for functions in get_overridable_functions().values() for func in functions}
    found = set()
    for _, space in spaces():
        if isinstance(space, ModuleType):      # some of its names are loaded when they are first used
            names = {*vars(space), *getattr(space, "__all__", ())}
            found |= {value for value in [getattr(space, name) for name in names if name[0] != "_"]
                      if isinstance(value, FunctionType) and value not in overridable}
    return found
