"""Modules of kernels that run when one of their attributes is first used. Without bytecode files, as on a read-only
file system, compiling the modules that a program does not use took a fifth of the time of the import."""
import sys
from collections.abc import Callable
from threading import RLock
from types import ModuleType

__all__ = ["Later", "namespace", "run"]


class Later(ModuleType):
    """A module that has not run yet. It runs, in one thread, when an attribute is used that Python's import system does
    not use itself. From then on it is an ordinary module and has no overhead. If the module raises, so does the use of
    the attribute."""

    def __getattribute__(self, name):
        if name[:2] != "__" or name in ("__all__", "__doc__", "__file__"):
            run(self)
        return ModuleType.__getattribute__(self, name)

    def __setattr__(self, name, value):
        if name[:2] != "__":                   # otherwise the module's code would overwrite the value when it runs
            run(self)
        ModuleType.__setattr__(self, name, value)


def run(module: ModuleType) -> None:
    """Runs a `Later` module if it has not run yet."""
    found = ModuleType.__getattribute__(module, "__dict__")
    name = found["__name__"]
    with found.setdefault("__lock__", RLock()):
        if type(module) is not Later or found["__spec__"] is not None:
            return                             # another thread has run it, or it is running and uses its own attribute
        path = sys.modules[name.rpartition(".")[0]].__path__
        spec = next(filter(None, (finder.find_spec(name, path) for finder in sys.meta_path)))
        found.update(__spec__=spec, __loader__=spec.loader, __package__=spec.parent, __file__=spec.origin)
        try:
            spec.loader.exec_module(module)
        except BaseException:
            found["__spec__"] = None
            raise
        module.__class__ = ModuleType


def namespace(package: str, names: str) -> Callable[[str], ModuleType]:
    """The `__getattr__` of a package that makes its modules `names`, a string separated by spaces, `Later`."""
    later = frozenset(names.split())

    def __getattr__(name):
        if name not in later:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = sys.modules.setdefault(f"{package}.{name}", Later(f"{package}.{name}"))
        setattr(sys.modules[package], name, module)
        return module
    return __getattr__
