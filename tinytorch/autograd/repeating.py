"""What is kept of the calls of a function, so that C can answer a call like earlier ones (repeats.py)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
