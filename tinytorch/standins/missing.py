"""The `__getattr__` of namespaces: it imports names at their first use, and raises errors for unknown names."""
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from opcode import opname
from typing import Any

from ._refused import refusing


def words(name: str) -> str:
    """The message for a missing name, with the place to look for it."""
    if "torchvision." in name:
        return f"tinytorch has no {name}; torchvision's own runs on it after pip install --no-deps torchvision pillow"
    return f"tinytorch has no {name}: see docs/coverage.md"


def _name(module):
    """The name of a module in torch or torchvision."""
    return module.replace("tinytorch", "torch", 1).replace("torch.vision", "torchvision", 1)


def namespace(module: str, later: Sequence[str] | Mapping[str, str] = (),
              of: Mapping[str, str] | None = None) -> Callable[[str], Any]:
    """The `__getattr__` of a module. It imports the submodules in `later` (or {name: path} of modules elsewhere) at
    their first use, and takes the names in `of`, {name: submodule}, from these submodules.

    For any other name it raises AttributeError, or ImportError in `from module import name`. The message says where to
    find the lists of torch's names that are supported, and of those that are not.
    """
    def __getattr__(name):
        if name in later:
            return importlib.import_module(later[name] if isinstance(later, Mapping) else f"{module}.{name}")
        if of and name == "__all__":           # `from module import *` reads it
            return [*filter(lambda known: not known.startswith("_"), vars(sys.modules[module])), *of]
        if of and name in of:
            value = getattr(importlib.import_module(f"{module}.{of[name]}"), name)
            setattr(sys.modules[module], name, value)
            return value
        value = refusing(_name(module), name)
        if value is not None:
            setattr(sys.modules[module], name, value)
            return value
        said = words(f"{_name(module)}.{name}")
        asking = sys._getframe(1)
        if asking.f_lasti >= 0 and opname[asking.f_code.co_code[asking.f_lasti]] == "IMPORT_FROM":
            raise ImportError(said, name=module)    # the import statement drops the message of an AttributeError
        raise AttributeError(said, name=name, obj=sys.modules.get(module))
    return __getattr__
