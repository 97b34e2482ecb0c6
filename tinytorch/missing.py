"""What a namespace says when it is asked for a name that it has not, or has not loaded yet.

`nn.functional` goes without: looking up a name in a module with a `__getattr__` takes twice as long, and layers look
their functions up there.
"""
import importlib
import sys
from collections.abc import Callable, Collection, Mapping
from opcode import opname
from typing import Any


def namespace(module: str, later: Collection[str] = ()) -> Callable[[str], Any]:
    """The `__getattr__` of the module of that name, which loads its parts `later` when they are first asked for:
    modules, or the names of a mapping from the modules that have them.

    For any other name it raises AttributeError, or ImportError in `from module import name`, whose words say where
    there is a list of torch's names that are here and of those that are not.
    """
    def __getattr__(name):
        if name in later:
            if not isinstance(later, Mapping):
                return importlib.import_module(f"{module}.{name}")
            found = getattr(importlib.import_module(f"{module}.{later[name]}"), name)
            setattr(sys.modules[module], name, found)
            return found
        said = f"tinytorch has no {module.replace('tinytorch', 'torch', 1)}.{name}: see docs/coverage.md"
        asking = sys._getframe(1)
        if asking.f_lasti >= 0 and opname[asking.f_code.co_code[asking.f_lasti]] == "IMPORT_FROM":
            raise ImportError(said, name=module)    # of an AttributeError the import statement keeps no words
        raise AttributeError(said, name=name, obj=sys.modules.get(module))
    return __getattr__
