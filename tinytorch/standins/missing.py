"""What a namespace says when it is asked for a name that it has not, or has not loaded yet."""
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from opcode import opname
from typing import Any

from ._refused import refusing


def words(name: str) -> str:
    """That there is none of this name, and where to look for it."""
    if "torchvision." in name:
        return f"tinytorch has no {name}; torchvision's own runs on it after pip install --no-deps torchvision pillow"
    return f"tinytorch has no {name}: see docs/coverage.md"


def _name(module):
    """What torch or torchvision calls a module of this name."""
    return module.replace("tinytorch", "torch", 1).replace("torch.vision", "torchvision", 1)


def namespace(module: str, later: Sequence[str] | Mapping[str, str] = (),
              of: Mapping[str, str] | None = None) -> Callable[[str], Any]:
    """The `__getattr__` of the module of that name, which loads its parts `later` (or, by name, modules that lie
    elsewhere) when they are first asked for, and takes the names `of` parts (name -> part) from there.

    For any other name it raises AttributeError, or ImportError in `from module import name`, whose words say where
    there is a list of torch's names that are here and of those that are not.
    """
    def __getattr__(name):
        if name in later:
            return importlib.import_module(later[name] if isinstance(later, Mapping) else f"{module}.{name}")
        if of and name == "__all__":           # what `from module import *` gives
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
            raise ImportError(said, name=module)    # of an AttributeError the import statement keeps no words
        raise AttributeError(said, name=name, obj=sys.modules.get(module))
    return __getattr__
