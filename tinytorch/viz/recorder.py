"""The origins of operations: the modules and the line of the program that called each of them."""
from __future__ import annotations

import contextlib
import gc
import sys
import threading
import tracemalloc
import weakref
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any, NamedTuple

import numpy as np

from .. import dtypes as dt
from ..autograd.grad_mode import unwatch, watch
from ..autograd.node import Node
from ..autograd.places import Place, note_places, place, unnote_places
from ..kinds.lazy import raw, root_of
from ..nn.modules.module import Module, register_module_forward_hook, register_module_forward_pre_hook
from ..tensor import Tensor


class Call(NamedTuple):
    """One call of a module: its `path` in the model ("" is the model itself), the name of its class, and the number of
    the call, which counts from 0."""

    path: str
    cls: str
    number: int


class Origin(NamedTuple):
    """The origin of an operation: `calls`, the modules from the outermost inwards; `file`, `line`, `function` and
    `text` of the innermost line of the program outside this package; `dtypes` of its outputs; `given`: (number of the
    argument, id of the memory) of its tensors that get no gradient."""

    calls: tuple[Call, ...]
    file: str
    line: int
    function: str
    text: str
    dtypes: tuple
    given: tuple[tuple[int, int], ...]


class Recorder:
    """Context manager that notes the Origin of every node that this thread records, in `origins`. `model`: the module
    whose parts the paths name; by default the first called module that has parts.

    hold      whether it keeps the nodes, with all that they have saved; otherwise they end with their graph
    before    before(memory): whether an array existed at the start of the block; call it before the end of the block

    >>> import tinytorch as torch
    >>> model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh())
    >>> with Recorder(model) as recorder:
    ...     y = model(torch.ones(1, 2))
    >>> [(node.op.name, origin.calls[-1].path) for node, origin in recorder.origins.items()]
    [('addmm', '0'), ('tanh', '1')]
    """

    def __init__(self, model: Any = None, hold: bool = True) -> None:
        self.modules: dict[str, Module] = {}                   # all named modules, by path
        self._paths: dict[int, str] = {}
        self.origins: MutableMapping[Node, Origin] = {} if hold else weakref.WeakKeyDictionary()
        self._open: list[tuple[Module, Call]] = []             # the active calls
        self._count: dict[int, int] = {}
        if isinstance(model, Module):
            self._name_parts(model)

    def __enter__(self) -> Recorder:
        self._begin_to_trace()
        self._thread = threading.get_ident()
        self._handles = [register_module_forward_pre_hook(self._begin),
                         register_module_forward_hook(self._end, always_call=True)]
        watch(self._note)
        note_places(self._place_of)
        _at_work.append(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        _at_work.remove(self)
        unnote_places(self._place_of)
        unwatch(self._note)
        for handle in self._handles:
            handle.remove()
        self._open.clear()
        if self._started:
            tracemalloc.stop()

    def _begin_to_trace(self):
        """Prepares `before` to distinguish existing arrays from later ones: tracemalloc has traces of later arrays
        only, unless it was tracing before."""
        self._started = not tracemalloc.is_tracing()
        if self._started:
            tracemalloc.start()
            self.before: Callable[[np.ndarray], bool] = lambda memory: tracemalloc.get_object_traceback(memory) is None
        else:
            there = memory_of_arrays()
            self.before = lambda memory: id(memory) in there

    def _name_parts(self, model):
        for path, module in model.named_modules():
            self.modules[path] = module
            self._paths[id(module)] = path

    def _begin(self, module, args):
        if threading.get_ident() != self._thread:
            return
        if not self._open and not self.modules and next(module.children(), None) is not None:
            self._name_parts(module)
        number = self._count.get(id(module), 0)
        self._count[id(module)] = number + 1
        name = type(module).__name__
        self._open.append((module, Call(self._paths.get(id(module), f"({name})"), name, number)))

    def _end(self, module, args, result):
        if threading.get_ident() == self._thread and self._open and self._open[-1][0] is module:
            self._open.pop()

    def _note(self, node, result, args):
        results = result if isinstance(result, tuple) else (result,)
        dtypes = tuple([dt.of(r) if isinstance(r, np.ndarray) else None for r in results])
        calls = tuple([call for _, call in self._open])
        first = node.op.first
        given = tuple([(i, id(root_of(raw(x._array)))) for i, x in enumerate(args)
                       if isinstance(x, Tensor) and (i < first or node.edges[i - first] is None)])
        at = place(sys._getframe(2))
        self.origins[node] = Origin(calls, at.file, at.line, at.function, at.text, dtypes, given)

    def _place_of(self, node):
        origin = self.origins.get(node)
        return None if origin is None else Place(origin.file, origin.line, origin.function)


_at_work: list[Recorder] = []


@contextlib.contextmanager
def called(module: Module) -> Iterator[None]:
    """A context in which the active recorders know that a module runs, for code that does not use its `__call__`."""
    recorders = list(_at_work)
    for recorder in recorders:
        recorder._begin(module, ())
    try:
        yield
    finally:
        for recorder in recorders:
            recorder._end(module, (), None)


def memory_of_arrays() -> dict[int, np.ndarray]:
    """{id: memory} of all existing arrays, of tensors and others. Arrays that only a running function knows, or that
    `gc.freeze` has set aside, are not found."""
    referents = gc.get_referents(*gc.get_objects())
    # The garbage collector does not know containers that hold only arrays.
    plain = [x for x in referents if type(x) in (dict, tuple) and not gc.is_tracked(x)]
    referents += gc.get_referents(*plain)
    kinds = {kind for kind in set(map(type, referents)) if issubclass(kind, np.ndarray)}
    roots = [root_of(x) for x in referents if type(x) in kinds]
    return {id(root): root for root in roots}
