"""Functions for modules of devices that the machine does not have. They behave as in a torch built for CPUs."""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["answering", "dummies", "nothing_around", "refusing"]


def answering(module: str, names: Iterable[str], result: Callable[[], Any], text: str) -> dict[str, Callable]:
    """Functions that take any arguments and return result()."""
    def made(name):
        def function(*args, **kwargs):
            return result()
        function.__name__ = function.__qualname__ = name
        function.__module__, function.__doc__ = module, text
        return function
    return {name: made(name) for name in names}


def refusing(module: str, names: Iterable[str], error: type[Exception], message: str) -> dict[str, Callable]:
    """Functions that raise an error; {name} in the message stands for the name of the function."""
    def made(name):
        def function(*args, **kwargs):
            raise error(message.format(name=name))
        function.__name__ = function.__qualname__ = name
        function.__module__, function.__doc__ = module, f"{error.__name__}: there is no such device here."
        return function
    return {name: made(name) for name in names}


def dummies(module: str, names: Iterable[str], error: type[Exception] = RuntimeError,
            message: str = "Tried to instantiate dummy base class {name}") -> dict[str, type]:
    """Classes for isinstance, whose instances cannot be made."""
    def made(name):
        def refuse(cls, *args, **kwargs):
            raise error(message.format(name=name))
        return type(name, (), {"__new__": refuse, "__module__": module,
                               "__doc__": f"{error.__name__}, when one is made: there is no such device here."})
    return {name: made(name) for name in names}


def nothing_around(module: str, names: Iterable[str]) -> dict[str, Callable]:
    """Functions that return a context which changes nothing."""
    return answering(module, names, contextlib.nullcontext, "A context that changes nothing.")
