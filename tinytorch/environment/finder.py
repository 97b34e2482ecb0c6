"""tinytorch under the name `torch`, for programs and libraries that import torch.

    python -m tinytorch script.py              one program, and the processes of the same Python that it starts
    tinytorch.install()                        this process from here on, and those of the same Python
    python -m tinytorch.environment install    every process of this environment of Python (uninstall, status)

All three lead to one finder at the head of `sys.meta_path`. It answers for `torch`, `torch.nn` ... with the modules of
tinytorch themselves (`torch.nn is tinytorch.nn`). Other processes get the finder from a package `torch` of one file,
`_installed/torch`, with the metadata of a distribution of that name. The package is copied to the environment's
packages, or put on the path by `_children/sitecustomize.py`, which processes of the same interpreter find on
PYTHONPATH.
"""
from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from .._refused import named_module
from ..missing import words
from . import likeness

__all__ = ["DIRECTORY", "METADATA", "become", "install", "uninstall"]

_PACKAGE = __package__.partition(".")[0]
#: The directory with the package `torch` and its metadata, for sys.path.
DIRECTORY = Path(__file__).parent / "_installed"
METADATA = "torch-2.13.0+tinytorch.dist-info"

#: Modules that tinytorch has and torch has not. Under some of these names torch has functions or classes.
_OWN = frozenset([f"torch.{name}" for name in """
    __main__ _checks _rare _refused _removed arguments checkpoint device dtypes environment errors kernels
    kinds memory_format missing printing runtime standins tensor vision viz""".split()])
_BELOW_OWN = (*[name + "." for name in _OWN], "torch.ops.")
#: torch's names for modules that have other names here.
_ALIASES = {"functorch": "_functorch.public", "torchvision": "vision", "torch.ops": "_ops",
            "torch._C._functorch": "_functorch._C",
            "functorch.experimental": "_functorch.experimental",
            "functorch.experimental.control_flow": "_higher_order_ops",
            **{f"torch.onnx.symbolic_opset{version}": "onnx.symbolic_opset11" for version in range(7, 21)},
            "torch._higher_order_ops.inline_asm_elementwise": "_higher_order_ops",
            "torch.masked._ops": "masked", "torch.masked.maskedtensor": "masked",
            **{f"torch.masked.maskedtensor.{part}": "masked" for part in ("core", "creation")},
            "torch.signal.windows.windows": "signal.windows",
            "torch.testing._comparison": "testing.comparison", "torch.testing._creation": "testing.creation",
            "torch.profiler.profiler": "profiler",
            "torch.utils.data.datapipes._decorator": "utils.data.datapipes.datapipe",
            "torch.accelerator.memory": "accelerator",
            **{f"torch.jit.{part}": "jit" for part in ("_async", "_freeze", "_script", "_serialization", "_trace")},
            **{f"torch.{room}quantization.{part}": "ao.quantization" for room in ("", "ao.") for part in (
                "fake_quantize", "fuse_modules", "observer", "qconfig", "quantize", "stubs")}}


# ------------------------------------------------------------------ the finder
def _module(name: str) -> ModuleType | None:
    """The module that stands for torch's module `name`, or None."""
    if name in _OWN or name.startswith(_BELOW_OWN):
        return None
    if name in _ALIASES:
        found = importlib.import_module(f"{_PACKAGE}.{_ALIASES[name]}")
        return found.ops if name == "torch.ops" else found
    room, _, rest = name.partition(".")
    if room in _ALIASES:
        return None if room == "functorch" else _below(f"{_PACKAGE}.{_ALIASES[room]}.{rest}")
    return _below(f"{_PACKAGE}.{rest}".rstrip(".")) or (named_module(name) if room == "torch" else None)


def _below(own: str) -> ModuleType | None:
    try:
        return importlib.import_module(own)
    except ModuleNotFoundError as error:
        if error.name and own.startswith(error.name):
            return None
        raise


class _Loader:
    """A loader of a module that is loaded already: it enters the module in sys.modules under the imported name."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = self._module

    def __getattr__(self, name: str) -> Any:       # get_source, get_code, is_package ...
        return getattr(self._module.__spec__.loader, name)


class _Finder:
    """Finds torch and functorch, and the modules of torchvision if torchvision is that of tinytorch."""

    def knows(self, name: str) -> bool:
        room = name.partition(".")[0]
        return room in ("torch", "functorch") or (
            room == "torchvision" != name and sys.modules.get(room) is sys.modules.get(f"{_PACKAGE}.vision", self))

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if not self.knows(name):
            return likeness.found(name, path) if self is _FIRST else None
        module = _module(name)
        if module is None:
            if sys._getframe(1).f_back.f_code.co_name == "find_spec":      # importlib.util only asks
                if PathFinder.find_spec(name, path) is None:
                    return None
            raise ModuleNotFoundError(words(f"module {name}"), name=name)
        # When the module was loaded, likeness entered it under torch's name. The import statement would take that entry
        # for another module, and execute the module a second time.
        if sys.modules.get(name) is module:
            del sys.modules[name]
        spec = ModuleSpec(name, _Loader(module), origin=getattr(module, "__file__", None),
                          is_package=hasattr(module, "__path__"))
        spec.submodule_search_locations = getattr(module, "__path__", None)
        return spec

    def find_distributions(self, context: Any) -> Iterator[Any]:
        if context.name in (None, "torch") and str(DIRECTORY) not in context.path:
            from importlib.metadata import Distribution
            yield Distribution.at(DIRECTORY / METADATA)

    def invalidate_caches(self) -> None:
        """Does nothing: this finder has no caches."""


class _LastFinder(_Finder):
    """Finds torchvision if no other finder does. importlib.util.find_spec does not find it, so that it counts as not
    installed."""

    def knows(self, name: str) -> bool:
        return name == "torchvision" and sys._getframe(2).f_back.f_code.co_name != "find_spec"

    def find_distributions(self, context: Any) -> Iterator[Any]:
        return iter(())


_FIRST, _LAST = _Finder(), _LastFinder()


# ------------------------------------------------------------------ in this process
#: The changes of `install`: PYTHONPATH before and after, and whether DIRECTORY was added to sys.path.
_changed: dict[str, Any] = {}


def install(children: bool = True) -> None:
    """From now on `import torch` imports tinytorch, in this process and, with `children`, in processes that it starts
    with this interpreter. Processes of other interpreters, which may have PyTorch, do not change.

    RuntimeError if PyTorch itself was imported before, because modules that hold its functions and classes would go on
    using them. A second call does nothing.

    >>> import subprocess, sys
    >>> program = "import tinytorch; tinytorch.install(); import torch.nn as nn; print(nn is tinytorch.nn)"
    >>> subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout
    'True\\n'
    """
    root = sys.modules[_PACKAGE]
    if sys.modules.get("torch", root) is not root:
        raise RuntimeError("PyTorch was imported before tinytorch.install(): call it before the first `import torch`")
    if _FIRST not in sys.meta_path:
        sys.meta_path.insert(0, _FIRST)
    if _LAST not in sys.meta_path:
        sys.meta_path.append(_LAST)
    root.__name__ = "torch"                    # libraries check this name
    aliases: dict[str, list[str]] = {}
    for alias, part in _ALIASES.items():
        if "." in alias and alias != "torch.ops":
            aliases.setdefault(f"{_PACKAGE}.{part}", []).append(alias)
    likeness.begin(_OWN, aliases)
    if children:
        _change_pythonpath()
        if str(DIRECTORY) not in sys.path:     # for spawned processes and pkg_resources
            _changed["sys.path"] = True
            sys.path.insert(1, str(DIRECTORY))


def uninstall() -> None:
    """Undoes the changes of `install` in this process, and nothing else: other entries of PYTHONPATH and sys.path stay.
    Modules that have imported torch meanwhile keep it.

    >>> import tinytorch
    >>> tinytorch.uninstall()
    """
    for finder in list(sys.meta_path):
        begun = type(finder).__module__ == "sitecustomize" and getattr(finder, "directory", None) == str(DIRECTORY)
        if begun:                              # this process was started by one with `install`
            _changed["sys.path"] = True
        if begun or finder in (_FIRST, _LAST):
            sys.meta_path.remove(finder)
    root = sys.modules[_PACKAGE]
    root.__name__ = _PACKAGE
    likeness.end()
    ours = [name for name, module in list(sys.modules.items()) if name.partition(".")[0] in (
        "torch", "functorch", "torchvision") and (getattr(module, "__name__", "") + ".").startswith(_PACKAGE + ".")]
    for name in ours:
        sys.modules.pop(name, None)
    if _changed.get("sys.path") and str(DIRECTORY) in sys.path:
        sys.path.remove(str(DIRECTORY))
    _changed.pop("sys.path", None)
    _restore_pythonpath()


def _entries():
    """The entries on PYTHONPATH for children: the folder of their sitecustomize, and the name of its interpreter."""
    from ._children.sitecustomize import FOLDER, OWN
    return [FOLDER, OWN]


def _change_pythonpath():
    before = os.environ.get("PYTHONPATH")
    if not {*_entries()} <= {*(before or "").split(os.pathsep)}:
        after = os.pathsep.join([*_entries(), *filter(None, [before])])
        _changed["PYTHONPATH"] = before, after  # first, so that it can be undone after an interrupt
        os.environ["PYTHONPATH"] = after


def _restore_pythonpath():
    """Restores PYTHONPATH from before `_change_pythonpath`, but keeps later changes of the program."""
    before, after = _changed.get("PYTHONPATH", (None, None))
    now = os.environ.get("PYTHONPATH")
    if after is not None and now not in (None, before):
        left = now.split(os.pathsep)
        for entry in _entries():
            if entry in left:
                left.remove(entry)
        restored = before if now == after else os.pathsep.join(left) or None
        if restored is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = restored
    _changed.pop("PYTHONPATH", None)


def become(name: str) -> None:
    """Replaces the package `name` (torch or functorch), which is being imported, by the module of tinytorch."""
    sys.modules.pop(name)
    install(children=False)
    importlib.import_module(name)
