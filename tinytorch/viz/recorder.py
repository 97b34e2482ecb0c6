"""Where operations come from: the modules and the line of the program that each was called in, as it runs."""
from __future__ import annotations

import linecache
import sys
from typing import Any, NamedTuple

import numpy as np

from .. import dtypes as dt
from ..autograd.grad_mode import unwatch, watch
from ..autograd.node import Node
from ..nn.modules.module import Module

_PACKAGE = __name__.split(".")[0]


class Call(NamedTuple):
    """One call of a module: its `path` in the model ("" is the model itself), the name of its class, and the how
    manieth call of it this is, from 0."""

    path: str
    cls: str
    number: int


class Origin(NamedTuple):
    """Where an operation was called: `calls`, the modules from the outermost in; `file`, `line` and `text` of the
    innermost line of the program outside this package; `dtypes` of its outputs."""

    calls: tuple[Call, ...]
    file: str
    line: int
    text: str
    dtypes: tuple


class Recorder:
    """Context manager: notes the Origin of every node that is recorded by this thread, in `origins`, and keeps the
    nodes. `model`: the module whose parts the paths name.

    >>> import tinytorch as torch
    >>> model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh())
    >>> with Recorder(model) as recorder:
    ...     y = model(torch.ones(1, 2))
    >>> [(node.op.name, origin.calls[-1].path) for node, origin in recorder.origins.items()]
    [('addmm', '0'), ('tanh', '1')]
    """

    def __init__(self, model: Any = None) -> None:
        modules = model.named_modules() if isinstance(model, Module) else ()
        self._paths = {id(module): path for path, module in modules}
        self.origins: dict[Node, Origin] = {}
        self._open: dict[int, tuple[Any, Call]] = {}           # the frames of the calls that were running last
        self._count: dict[tuple[str, int], int] = {}

    def __enter__(self) -> Recorder:
        watch(self._note)
        return self

    def __exit__(self, *exc_info: object) -> None:
        unwatch(self._note)
        self._open.clear()

    def _note(self, node, result):
        results = result if isinstance(result, tuple) else (result,)
        dtypes = tuple([dt.of(r) if isinstance(r, np.ndarray) else None for r in results])
        self.origins[node] = Origin(*self._place(sys._getframe(2)), dtypes)

    def _place(self, frame):
        """The calls, and the line of the program, that a frame is in."""
        where, found = None, {}
        while frame is not None:
            code = frame.f_code
            if where is None and frame.f_globals.get("__name__", "").split(".")[0] != _PACKAGE:
                where = code.co_filename, frame.f_lineno, linecache.getline(code.co_filename, frame.f_lineno).strip()
            if code.co_argcount and code.co_name == "forward":
                module = frame.f_locals.get(code.co_varnames[0])
                if isinstance(module, Module):
                    found[id(frame)] = frame, module
            frame = frame.f_back
        calls = {key: (frame, self._call(key, frame, module)) for key, (frame, module) in reversed(found.items())}
        self._open = calls
        return tuple([call for _, call in calls.values()]), *(where or ("", 0, ""))

    def _call(self, key, frame, module):
        if key in self._open and self._open[key][0] is frame:
            return self._open[key][1]          # still the same call
        path = self._paths.get(id(module), f"({type(module).__name__})")
        number = self._count.get((path, id(module)), 0)
        self._count[path, id(module)] = number + 1
        return Call(path, type(module).__name__, number)
