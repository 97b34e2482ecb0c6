"""The savings and costs of `checkpoint` on a module, measured by runs with it."""
from __future__ import annotations

import contextlib
import functools
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..autograd.grad_mode import mode
from ..nn.modules.module import Module
from ..random import get_rng_state, set_rng_state
from ..utils.checkpoint import checkpoint
from .comparison import without_numbers
from .meter import Life, Meter
from .recorder import Call, called
from .table import Table
from .tape import ACTIVATION, Step, Storage


class Measured(NamedTuple):
    """A module under `checkpoint`: its path and class, the number of equal modules (the other numbers are for one of
    them), the bytes by which the kept activations and the peak are smaller, the operations that run again, and the
    seconds by which a step is slower, also as a part of its time."""

    path: str
    cls: str
    count: int
    saves: int
    lowers_peak: int
    again: int
    seconds: float
    slower: float


class Checkpoints(Table):
    """A table of modules under checkpoint: `measured` has the rows."""

    def __init__(self, step: Callable[[], Any], modules: Mapping[str, Module], lives: Sequence[Life],
                 repeats: int) -> None:
        kept = [life.storage for life in lives]
        groups: dict[tuple, list[str]] = {}
        for path, module in modules.items():
            expected = sum([s.nbytes for inside in kept_inside(kept, path).values() for s in inside])
            if path and expected:
                groups.setdefault((type(module).__name__, without_numbers(path), expected), []).append(path)
        everything = list(modules.values())
        with unchanged(everything):
            base = measure(step)
        self.measured: list[Measured] = []
        for (cls, _, _), paths in groups.items():
            with Checkpointed([modules[paths[0]]]), unchanged(everything):
                run = measure(step)
            usual, longer = _seconds(step, modules[paths[0]], everything, repeats)
            self.measured.append(Measured(paths[0], cls, len(paths), base.kept - run.kept, base.peak - run.peak,
                                          run.again, longer - usual, (longer - usual) / usual))
        super().__init__("modules under checkpoint", ("module", "class", "saves", "lowers peak", "operations again",
                                                      "seconds", "slower"),
                         [(m.path, m.cls + (f" x{m.count}" if m.count > 1 else ""), m.saves, m.lowers_peak, m.again,
                           m.seconds, f"{m.slower:+.0%}") for m in self.measured],
                         f"without: {base.kept} bytes kept, {base.peak} at most")

    def data(self) -> list[dict[str, Any]]:
        """The rows as plain dicts."""
        return [m._asdict() for m in self.measured]


class Run(NamedTuple):
    """Bytes of activations that are kept, the peak of allocated bytes, and the operations that ran again."""

    kept: int
    peak: int
    again: int

    @classmethod
    def of(cls, meter: Meter) -> Run:
        """The Run that a meter has measured."""
        kept = sum([life.storage.nbytes for life in meter.lives if life.storage.kind == ACTIVATION])
        return cls(kept, max([event.most for event in meter.events]), meter.again)


def measure(step: Callable[[], Any]) -> Run:
    """Runs a step and measures its memory."""
    with Meter() as meter:
        step()
    return Run.of(meter)


def kept_inside(storages: Iterable[Storage], path: str) -> dict[Call, list[Storage]]:
    """The activations that are made in a call of a module and kept by that call alone, for each call of the module with
    this path. A checkpoint on the module would not keep them."""
    found: dict[Call, list[Storage]] = {}
    for s in storages:
        steps = [*s.keepers, *([] if s.maker is None else [s.maker])]
        calls = [{call for call in _calls(step) if call.path == path} for step in steps]
        for call in set.intersection(*calls):
            found.setdefault(call, []).append(s)
    return found


def _calls(step):
    return step.origin.calls if isinstance(step, Step) and step.origin is not None else ()


class Checkpointed:
    """Makes each call of some modules a checkpoint, until `remove()` or the end of a `with` block."""

    def __init__(self, modules: Iterable[Module]) -> None:
        self._modules = list(modules)
        if any(["forward" in module.__dict__ for module in self._modules]):
            raise RuntimeError("the forward of one of these modules has been replaced already")
        for module in self._modules:
            module.__dict__["forward"] = functools.partial(_through_checkpoint, module, module.forward)

    def remove(self) -> None:
        """Makes calls of the modules ordinary calls again."""
        for module in self._modules:
            module.__dict__.pop("forward", None)

    def __enter__(self) -> Checkpointed:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.remove()


def _through_checkpoint(module, forward, *args, **kwargs):
    def run(*args, **kwargs):
        if mode.graph_task is None:
            return forward(*args, **kwargs)
        with called(module):                   # it runs again in backward
            return forward(*args, **kwargs)
    return checkpoint(run, *args, use_reentrant=False, **kwargs)


@contextlib.contextmanager
def unchanged(modules: Iterable[Module]) -> Iterator[None]:
    """A context that restores parameters, buffers, gradients and random numbers at the end."""
    tensors = {id(t): t for module in modules for t in [*module.parameters(), *module.buffers()]}
    before = [(t, t._array.copy(), t.grad, None if t.grad is None else t.grad._array.copy()) for t in tensors.values()]
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
        for t, array, grad, numbers in before:
            t._array[...] = array
            t.grad = grad
            if grad is not None:
                np.copyto(grad._array, numbers)


def _seconds(step, module, everything, repeats):
    """The median times of a step without and with the module under checkpoint. The steps run in alternation."""
    times: tuple[list[float], list[float]] = [], []
    for _ in range(repeats):
        for found, wrapped in zip(times, ([], [module])):
            with Checkpointed(wrapped), unchanged(everything):
                start = time.perf_counter()
                step()
                found.append(time.perf_counter() - start)
    return statistics.median(times[0]), statistics.median(times[1])
