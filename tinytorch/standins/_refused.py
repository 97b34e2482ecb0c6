"""Names that are there to be imported, and say what they cannot do when they are used."""
from collections.abc import Callable
from typing import Any


def refused(module: str, name: str, reason: str) -> Callable[..., Any]:
    """A function of that name that raises NotImplementedError."""
    def function(*args, **kwargs):
        raise NotImplementedError(f"{module.replace('tinytorch', 'torch', 1)}.{name} is not supported: {reason}")
    function.__name__ = function.__qualname__ = name
    function.__module__, function.__doc__ = module, f"NotImplementedError: {reason}."
    return function


def refused_class(module: str, name: str, reason: str, bases: tuple[type, ...] = ()) -> type:
    """A class of that name, to derive from and to ask isinstance of, whose instances cannot be made."""
    return type(name, bases, {"__init__": refused(module, name, reason), "__module__": module,
                              "__doc__": f"NotImplementedError, when one is made: {reason}."})


def refused_names(module: str, reason: str, functions: str = "", classes: str = "") -> dict[str, Any]:
    """Functions and classes of those names (words of a text), by name."""
    found: dict[str, Any] = {name: refused(module, name, reason) for name in functions.split()}
    return found | {name: refused_class(module, name, reason) for name in classes.split()}
