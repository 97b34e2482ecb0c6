"""Measures the memory that a run allocates, operation by operation, by Python's tracemalloc, which knows NumPy's
arrays."""
from __future__ import annotations

import functools
import gc
import sys
import tracemalloc
import weakref
from typing import Any, NamedTuple

from ..autograd.grad_mode import mode
from ..autograd.node import Node
from ..autograd.places import place
from ..optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from ..tensor import Tensor
from .recorder import Origin, Recorder
from .tape import Step, Storage, Tape, name_of

FORWARD, BACKWARD, AGAIN, OTHER = "forward", "backward", "forward in backward", "other"


class Event(NamedTuple):
    """A stretch of the run that ends with an operation.

    phase    "forward", "backward", "forward in backward" (of a checkpoint, or of gradients that are differentiated in
             turn) or "other"
    name     the name of the operation, or of its backward
    origin   the Origin of its forward, or None
    nbytes   the bytes allocated at its end, minus those before the run
    most     the largest number of bytes during the event
    """

    phase: str
    name: str
    origin: Origin | None
    nbytes: int
    most: int

    @property
    def module(self) -> str:
        """The path of the module to which the event belongs."""
        return self.origin.calls[-1].path if self.origin is not None and self.origin.calls else ""


class Life:
    """A storage that is kept from forward to backward: `storage`, and the numbers of the events between which it
    lived: `born` (the event that made it or, if that is not known, that kept it) and `freed` (None: it outlived the
    run)."""

    def __init__(self, storage: Storage, born: int) -> None:
        self.storage, self.born, self.freed = storage, born, None


class Meter(Recorder):
    """A Recorder that also notes the allocated bytes, in `events`, and at the start of each backward the storages that
    are kept, in `lives`. `again`: the number of operations whose forward ran in backward. Its own memory does not
    count."""

    def __init__(self, model: Any = None) -> None:
        super().__init__(model, hold=False)
        self.events: list[Event] = []
        self.lives: list[Life] = []
        self.again = 0
        self._numbers: dict[int, int] = {}     # numbers of events, by the ids of their origins
        self._seen: dict[int, Any] = {}        # storages that are in `lives`, by id of the memory
        self._depth = self._most = 0           # _most: the peak between the last event and the beginning of a node

    def __enter__(self) -> Meter:
        gc.collect()                           # makes equal runs collect garbage at equal places
        super().__enter__()
        self._optimizers = [register_optimizer_step_pre_hook(lambda *args: self._end_of(OTHER, "before the optimizer")),
                            register_optimizer_step_post_hook(self._after_optimizer)]
        self._own = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._end_of(OTHER, "the end")
        for handle in self._optimizers:
            handle.remove()
        super().__exit__(*exc_info)
        self._seen.clear()

    # ------------------------------------------------------------------ the events
    def _end_of(self, phase, name, origin=None):
        """An operation has ended."""
        current = self._in_use()
        self._add(phase, name, origin, current)
        self._leave_out(current)

    def _add(self, phase, name, origin, current):
        self.events.append(Event(phase, name, origin, current - self._own, self._most))
        self._most = 0

    def _in_use(self):
        """The bytes in use. Notes the peak."""
        current, most = tracemalloc.get_traced_memory()
        self._most = max(self._most, most - self._own)
        return current

    def _leave_out(self, before):
        """Leaves the memory that was allocated since `before` out, because it is not the program's."""
        self._own += tracemalloc.get_traced_memory()[0] - before
        tracemalloc.reset_peak()

    def _note(self, node, result, args):
        current = self._in_use()
        # Python makes objects of the frames that are looked at, and lets them go with the functions' ends, as the
        # program runs on: they are not left out, or less than nothing would be in use then.
        place(sys._getframe(1))
        before = tracemalloc.get_traced_memory()[0]
        super()._note(node, result, args)
        origin = self.origins[node]
        phase = FORWARD
        if mode.graph_task is not None:
            phase = AGAIN
            self.again += 1
        self._numbers[id(origin)] = len(self.events)
        self._add(phase, name_of(node), origin, current)
        # They must not hold the node: it would keep itself alive.
        node.register_prehook(functools.partial(self._begin_node, origin))
        node.register_hook(functools.partial(self._end_node, origin, node.name()))
        self._leave_out(before)

    def _begin_node(self, origin, grads):
        before = self._in_use()
        if not self._depth:                    # not inside of another node: a backward within the backward
            self._read(mode.graph_task)
        self._depth += 1
        self._leave_out(before)

    def _end_node(self, origin, name, inputs, grads):
        self._depth -= 1
        self._end_of(BACKWARD, name, origin)

    def _after_optimizer(self, optimizer, args, kwargs):
        self._end_of(OTHER, f"{type(optimizer).__name__}.step")

    # ------------------------------------------------------------------ what is kept
    def _read(self, task):
        if task is None or task is self._task():
            return
        self._task = weakref.ref(task)
        roots = [root._node if isinstance(root, Tensor) else root.edge() for root in task.roots]
        model = self.modules.get("")
        params = {} if model is None else dict(model.named_buffers()) | dict(model.named_parameters())
        Tape([root for root in roots if isinstance(root, Node)], params, origins=self.origins, before=self.before,
             watch=self._keep)

    _task = staticmethod(lambda: None)

    def _keep(self, memory, storage):
        if id(memory) in self._seen:
            return
        step = storage.maker if isinstance(storage.maker, Step) else storage.keepers[0]
        life = Life(storage, self._numbers.get(id(step.origin), 0))
        self.lives.append(life)
        self._seen[id(memory)] = weakref.ref(memory, functools.partial(self._freed, life, id(memory)))

    def _freed(self, life, key, reference):
        life.freed = len(self.events)
        self._seen.pop(key, None)
