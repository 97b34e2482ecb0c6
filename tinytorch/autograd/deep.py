"""Backward inside of backward, to any depth that memory allows. Python counts the nested calls of a thread and raises a
RecursionError at 1,000, so every `DEPTH` nested backwards continue in a new thread."""
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

#: The number of nested backwards in one thread.
DEPTH = 16

#: The thread-local objects whose values a new thread takes over.
OWN: list[threading.local] = [state, casts.state, _here, errstate.outside]


def elsewhere(function: Callable, *args: Any) -> Any:
    """function(*args) in a new thread, in the modes of this one, which waits. Returns its result, or raises its
    error."""
    found = [(local, dict(vars(local))) for local in (mode, *OWN)]
    outcome: list[tuple[Any, BaseException | None]] = []
    context = contextvars.copy_context()

    def run():
        for local, values in found:
            vars(local).update({name: value for name, value in values.items() if name != "_leaving"})
        grad, mode.grad_now = mode.grad_now, True
        mode.grad = grad                       # the setter enters this thread in `all_threads`
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
