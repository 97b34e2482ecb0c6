"""Backward inside of backward, as deep as there is memory: each `DEPTH` of them go on in a thread of their own, because
Python counts the calls that a thread is in and raises a RecursionError at 1,000."""
from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any

from ..kernels import errstate
from ..random import _here
from . import casts
from .grad_mode import all_threads, mode
from .torch_function import state

#: How many run in one thread.
DEPTH = 16

#: What is a thread's own, and to be the same where it goes on: objects of threading.local.
OWN: list[threading.local] = [state, casts.state, _here, errstate.outside]


def elsewhere(function: Callable, *args: Any) -> Any:
    """function(*args) in a new thread, in the modes of this one, which waits; its result, or its error raised."""
    found = [(local, dict(vars(local))) for local in (mode, *OWN)]
    outcome: list[tuple[Any, BaseException | None]] = []
    context = contextvars.copy_context()

    def run():
        for local, values in found:
            vars(local).update({name: value for name, value in values.items() if name != "_leaving"})
        grad, mode.grad_now = mode.grad_now, True
        mode.grad = grad                       # which other threads have to know of
        all_threads.note(bool(mode.places))
        try:
            outcome.append((context.run(function, *args), None))
        except BaseException as error:
            outcome.append((None, error))
        finally:
            mode.grad = True
            all_threads.note(False)

    thread = threading.Thread(target=run, name="tinytorch backward")
    thread.start()
    thread.join()
    result, error = outcome.pop()
    if error is not None:
        raise error
    return result
