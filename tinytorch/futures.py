"""torch.futures: results that other threads compute, and that are available later."""
from __future__ import annotations

import concurrent.futures
from collections.abc import Callable
from typing import Any

__all__ = ["Future", "collect_all", "wait_all"]


class Future:
    """A result, or an exception, that another part of the program sets.

    >>> import tinytorch as torch
    >>> future = torch.futures.Future()
    >>> doubled = future.then(lambda f: f.value() * 2)
    >>> future.set_result(4)
    >>> doubled.wait()
    8
    """

    def __init__(self, *, devices: Any = None) -> None:
        self._future: concurrent.futures.Future = concurrent.futures.Future()

    def __class_getitem__(cls, kind: Any) -> type:
        return cls

    def done(self) -> bool:
        """Whether a result or an exception is set."""
        return self._future.done()

    def wait(self) -> Any:
        """Wait for the result and return it, or raise the exception."""
        return self._future.result()

    def value(self) -> Any:
        """The result, or the exception raised. RuntimeError before either is set."""
        if not self.done():
            raise RuntimeError("value() was called on a future that is not done")
        return self._future.result()

    def then(self, callback: Callable) -> Future:
        """A Future of the result of callback(self), which is called when this one is done."""
        later = Future()

        def call(_):
            try:
                later.set_result(callback(self))
            except Exception as error:
                later.set_exception(error)
        self._future.add_done_callback(call)
        return later

    def add_done_callback(self, callback: Callable) -> None:
        """Call callback(self) when this one is done."""
        self._future.add_done_callback(lambda _: callback(self))

    def set_result(self, result: Any) -> None:
        """Set the result. RuntimeError if this one is done."""
        if self.done():
            raise RuntimeError("Future can only be marked completed once")
        self._future.set_result(result)

    def set_exception(self, result: BaseException) -> None:
        """Set an exception. AssertionError for another object, RuntimeError if this one is done."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        if self.done():
            raise RuntimeError("Future can only be marked completed once")
        self._future.set_exception(result)


def collect_all(futures: list[Future]) -> Future:
    """A Future whose result is the given list. It is done when they all are."""
    result, left = Future(), [len(futures)]

    def count(_):
        left[0] -= 1
        if not left[0]:
            result.set_result(futures)
    for future in futures:
        future.add_done_callback(count)
    if not futures:
        result.set_result(futures)
    return result


def wait_all(futures: list[Future]) -> list:
    """The results of all. If one has an exception, the first of these is raised."""
    return [future.wait() for future in collect_all(futures).wait()]
