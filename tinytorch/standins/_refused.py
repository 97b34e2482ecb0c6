"""Names that can be imported, and raise an error with a reason when they are used.

refused.txt lists the names of torch that are not supported, by their modules in torch: `name` is a function, `name*` a
class, `name=` another object. A line "# ..." has the reason for the names below it.
"""
import functools
import os
from collections.abc import Callable
from types import ModuleType
from typing import Any


def refused(module: str, name: str, reason: str) -> Callable[..., Any]:
    """A function with this name that raises NotImplementedError."""
    def function(*args, **kwargs):
        raise NotImplementedError(f"{module.replace('tinytorch', 'torch', 1)}.{name} is not supported: {reason}")
    function.__name__ = function.__qualname__ = name
    function.__module__, function.__doc__ = module, f"NotImplementedError: {reason}."
    return function


def refused_class(module: str, name: str, reason: str, bases: tuple[type, ...] = ()) -> type:
    """A class with this name, for subclasses and isinstance. Its instances cannot be made."""
    return type(name, bases, {"__init__": refused(module, name, reason), "__module__": module,
                              "__doc__": f"NotImplementedError, when one is made: {reason}."})


def refused_names(module: str, reason: str, functions: str = "", classes: str = "") -> dict[str, Any]:
    """{name: function or class} for names in texts."""
    found: dict[str, Any] = {name: refused(module, name, reason) for name in functions.split()}
    return found | {name: refused_class(module, name, reason) for name in classes.split()}


class _Object:
    """Stands for an object of torch that is neither a function nor a class. Every use of it raises an error."""

    def __init__(self, refuse):
        self._refuse = refuse

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._refuse()

    def __getitem__(self, key):
        return self._refuse()

    def __call__(self, *args, **kwargs):
        return self._refuse()

    def __iter__(self):
        return self._refuse()


#: The imported modules of torch that contain only refusing names.
_MODULES: dict[str, ModuleType] = {}


@functools.cache
def table() -> dict[str, dict[str, tuple[str, str]]]:
    """{module: {name: (kind, reason)}}, the kind "", "*" or "=" as in refused.txt."""
    found: dict[str, dict[str, tuple[str, str]]] = {}
    reason = ""
    for line in __spec__.loader.get_data(os.path.join(os.path.dirname(__file__), "refused.txt")).decode().splitlines():
        if line.startswith("# "):
            reason = line[2:]
            continue
        module, _, names = line.partition(":")
        for name in names.split():
            kind = name[-1] if name[-1] in "*=" else ""
            found.setdefault(module, {})[name.rstrip("*=")] = (kind, reason)
        found.setdefault(module, {})
    return found


def named(module: str, name: str) -> Any:
    """The refusing object for a name in a module of torch. AttributeError if refused.txt does not have it."""
    kind, reason = table().get(module, {}).get(name, (None, ""))
    if kind is None:
        raise AttributeError(name)
    if kind == "*":
        return refused_class(module, name, reason)
    function = refused(module, name, reason)
    return _Object(function) if kind == "=" else function


def refusing(module: str, name: str) -> Any:
    """The refusing object for a name in a module of torch, or the module of this name below it; None if the table has
    neither."""
    if name[:2] == "__":
        return None
    try:
        return named(module, name)
    except AttributeError:
        return named_module(f"{module}.{name}")


def named_module(name: str) -> ModuleType | None:
    """A module of torch with only refusing names; None if the table has no module of this name or below it."""
    if name not in table() and not any([module.startswith(name + ".") for module in table()]):
        return None
    if name in _MODULES:
        return _MODULES[name]
    module = _MODULES[name] = ModuleType(name, f"{name}: names to import, which raise errors when they are used.")
    module.__path__ = []                       # the finder has the modules below it

    def __getattr__(key):
        value = refusing(name, key)
        if value is None:
            raise AttributeError(f"module '{name}' has no attribute '{key}'", name=key, obj=module)
        setattr(module, key, value)
        return value
    module.__getattr__ = __getattr__
    return module
