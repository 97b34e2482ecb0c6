"""NumPy's error state while the library computes: always "ignore", whatever `numpy.seterr` and `numpy.errstate` have
set outside. torch has no such state: an overflow is inf, and an undefined result is NaN.

NumPy keeps its state in a context variable (`contextvars`). Setting it and resetting it around an addition takes half
as long as the addition; running the addition in a context where it was set once takes a twentieth. So single operations
run in contexts of their own (`quiet`, except on some Pythons), and callers of many operations (backward, an optimizer
step) set the variable (`ignored`). """
from __future__ import annotations

import contextvars
import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np


def _found():
    """(NumPy's variable, its value for "ignore"). It runs in an empty context, which then holds that variable alone."""
    np.seterr(all="ignore")
    (found,) = contextvars.copy_context().items()
    return found


_QUIET = contextvars.Context()
_STATE, _IGNORE = _QUIET.run(_found)


class _Outside(threading.local):
    """`state`: NumPy's state outside the outermost `ignored` of this thread. Users' functions run in it."""

    state = None


outside = _Outside()


# Free-threaded Pythons enter a context from two threads at once, and then fail on leaving it. From 3.14 on they keep
# the filters of `warnings.catch_warnings` in a context variable, as others do with `-X context_aware_warnings=1`: a
# warning that is given in a context of its own escapes them.
_OWN_CONTEXTS = not getattr(sys.flags, "context_aware_warnings", False) and "t" not in getattr(sys, "abiflags", "")


def _in_callers_context(function, *args):
    """function(*args), where NumPy ignores errors."""
    if _STATE.get() is _IGNORE:
        return function(*args)
    begun = _STATE.set(_IGNORE)
    try:
        return function(*args)
    finally:
        _STATE.reset(begun)


def quiet() -> Callable[..., Any]:
    """A function run(function, *args) that calls `function` where NumPy ignores errors.

    It is for functions on arrays that call no function of a user, because they do not see the caller's context
    variables. RuntimeError if it is running already: see `another`. Where `_OWN_CONTEXTS` is false it sets and resets
    the variable instead, in the caller's context.
    """
    return _QUIET.copy().run if _OWN_CONTEXTS else _in_callers_context


def another(error: RuntimeError) -> Callable[..., Any]:
    """A new function as `quiet` makes it, if `error` says that the old one is running already, in another thread or
    further out. Raises any other error."""
    if not str(error).startswith("cannot enter context"):
        raise error
    return quiet()


def ignore() -> None:
    """Sets NumPy's state to "ignore" in this thread, which must belong to the library."""
    _STATE.set(_IGNORE)


def begin() -> contextvars.Token | None:
    """From now on NumPy ignores errors, except in `as_outside`. Returns the argument for `end`."""
    state = _STATE.get()
    if state is _IGNORE:
        return None
    outside.state = state
    return _STATE.set(_IGNORE)


def end(begun: contextvars.Token | None) -> None:
    """Restores NumPy's state from before `begin`."""
    if begun is not None:
        _STATE.reset(begun)


class ignored:
    """Context manager in which NumPy ignores errors: `begin` and `end`."""

    __slots__ = ("_begun",)

    def __enter__(self) -> None:
        self._begun = begin()

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        end(self._begun)


class as_outside:
    """Context manager in which the library calls users' functions: NumPy's state is that outside `ignored`."""

    __slots__ = ("_token", "_state")

    def __enter__(self) -> None:
        self._token = None
        if _STATE.get() is _IGNORE and outside.state is not None:
            self._state = outside.state
            self._token = _STATE.set(self._state)

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self._token is not None:
            _STATE.reset(self._token)
            outside.state = self._state       # a backward inside the function may have replaced it
