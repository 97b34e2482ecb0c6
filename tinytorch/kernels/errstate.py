"""NumPy's error state while the library computes: always "ignore", whatever `numpy.seterr` and `numpy.errstate` say
outside. torch knows no such state: what overflows is inf, and what is undefined is NaN.

NumPy keeps its state in a variable of the context (`contextvars`). To set it and to set it back around an addition
takes half as long as the addition; to run the addition in a context where it was set once takes a twentieth. So
operations have contexts of their own (`quiet`), and what calls many (backward, an optimizer step) sets the variable
(`ignored`).
"""
from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np


def _found():
    """(NumPy's variable, its value for "ignore"): all that the context holds that this is called in."""
    np.seterr(all="ignore")
    (found,) = contextvars.copy_context().items()
    return found


_QUIET = contextvars.Context()
_STATE, _IGNORE = _QUIET.run(_found)


class _Outside(threading.local):
    """`state`: that outside the outermost `ignored` of this thread, which the functions of users see."""

    state = None


outside = _Outside()


def quiet() -> Callable[..., Any]:
    """A function that calls run(function, *args) where NumPy ignores errors.

    It is for functions on arrays that call nothing of a user's, for they see none of the variables of the caller's
    context. RuntimeError if it is at work already: see `another`.
    """
    return _QUIET.copy().run


def another(error: RuntimeError) -> Callable[..., Any]:
    """What to use instead of what `quiet` made if `error` says that it is at work: in another thread, or further out.
    Any other error is raised."""
    if not str(error).startswith("cannot enter context"):
        raise error
    return quiet()


def ignore() -> None:
    """Has NumPy ignore errors in this thread, which works for the library alone."""
    _STATE.set(_IGNORE)


def begin() -> contextvars.Token | None:
    """From now on NumPy ignores errors, except in `as_outside`; returns what `end` wants to have."""
    state = _STATE.get()
    if state is _IGNORE:
        return None
    outside.state = state
    return _STATE.set(_IGNORE)


def end(begun: contextvars.Token | None) -> None:
    """NumPy's state is again what it was before `begin`."""
    if begun is not None:
        _STATE.reset(begun)


class ignored:
    """Context manager: `begin` and `end`."""

    __slots__ = ("_begun",)

    def __enter__(self) -> None:
        self._begun = begin()

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        end(self._begun)


class as_outside:
    """Context manager for the functions of users that the library calls: the state is that outside `ignored`."""

    __slots__ = ("_token", "_state")

    def __enter__(self) -> None:
        self._token = None
        if _STATE.get() is _IGNORE and outside.state is not None:
            self._state = outside.state
            self._token = _STATE.set(self._state)

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self._token is not None:
            _STATE.reset(self._token)
            outside.state = self._state       # a function that computed gradients itself may have set another
