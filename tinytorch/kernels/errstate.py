"""NumPy's error state while the library computes: always "ignore", whatever `numpy.seterr` and `numpy.errstate` say
outside. torch knows no such state: what overflows is inf, and what is undefined is NaN.

NumPy keeps its state in a variable of the context (`contextvars`). To set it and to set it back around an addition
takes half as long as the addition; to run the addition in a context where it was set once takes a twentieth. So
operations have contexts of their own (`quiet`), and what calls many (backward, an optimizer step) sets the variable
(`ignored`).
"""
from __future__ import annotations

import contextvars
from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np


def _found():
    """(NumPy's variable, its value for "ignore"): all that a new context holds when it was set there."""
    np.seterr(all="ignore")
    (found,) = contextvars.copy_context().items()
    return found


_STATE, _IGNORE = contextvars.Context().run(_found)
#: The state outside the outermost `ignored`, which the functions of users see.
_OUTSIDE = contextvars.ContextVar("tinytorch.errstate", default=None)


def quiet() -> Callable[..., Any]:
    """A function that calls run(function, *args) where NumPy ignores errors.

    It is for functions on arrays that call nothing of a user's, for they see none of the variables of the caller's
    context. RuntimeError if it is at work already: see `another`.
    """
    context = contextvars.Context()
    context.run(_STATE.set, _IGNORE)
    return context.run


def another(error: RuntimeError) -> Callable[..., Any]:
    """What to use instead of what `quiet` made if `error` says that it is at work: in another thread, or further out.
    Any other error is raised."""
    if not str(error).startswith("cannot enter context"):
        raise error
    return quiet()


def ignore() -> None:
    """Has NumPy ignore errors in this thread, which works for the library alone."""
    _STATE.set(_IGNORE)


def begin() -> tuple[contextvars.Token, contextvars.Token] | None:
    """From now on NumPy ignores errors, except in `as_outside`; returns what `end` wants to have."""
    state = _STATE.get()
    return None if state is _IGNORE else (_OUTSIDE.set(state), _STATE.set(_IGNORE))


def end(begun: tuple[contextvars.Token, contextvars.Token] | None) -> None:
    """NumPy's state is again what it was before `begin`."""
    if begun is not None:
        _OUTSIDE.reset(begun[0])
        _STATE.reset(begun[1])


class ignored:
    """Context manager: `begin` and `end`."""

    __slots__ = ("_begun",)

    def __enter__(self) -> None:
        self._begun = begin()

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        end(self._begun)


class as_outside:
    """Context manager for the functions of users that the library calls: the state is that outside `ignored`."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        state = _OUTSIDE.get()
        self._token = None if state is None or _STATE.get() is not _IGNORE else _STATE.set(state)

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self._token is not None:
            _STATE.reset(self._token)
