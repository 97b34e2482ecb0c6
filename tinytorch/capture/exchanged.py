"""Replaces functions of the library while a thread records (steps.py), and puts them back afterwards.

Operations get a forward that notes a step (`Op.noted`), which is made when one is called. Functions that are one step
(kinds/one_step.py) get a form that notes it. The engine's walk over the tape is replaced by that of backward.py. A step
of an optimiser becomes one step of the program, and zero_grad one step for each parameter.
"""
from __future__ import annotations

from ..autograd import engine
from ..autograd.node import Op
from ..kinds.one_step import STEPS
from ..ops.random.samplers import Standing
from ..optim import optimizer as optimizers
from ..optim.array_optimizer import ArrayOptimizer
from ..seam import UNSEEN, seam
from .backward import eager_walk, walk
from .calls import here, lock
from .program import TENSOR, Step
from .traced import Traced, Unrecordable, has_traced, plain

__all__ = ["install", "uninstall", "update"]

_PACKAGE = __name__.partition(".")[0]


def _noted(o):
    """A forward of an operation that notes a step in the recording of its thread."""
    inner = o.batched or o.forward

    def compute(*args):
        recording = here.recording
        if recording is None or recording.depth:
            return inner(*plain(args)) if recording is None else inner(*args)
        return recording.forward(o, inner, args)
    return compute


def _as_one_step(function):
    def call(*args, **kwargs):
        recording = here.recording
        if recording is None or not recording.here() or not has_traced((args, kwargs)):
            return function(*plain(args), **plain(kwargs))
        return recording.step("numpy", function, args, kwargs)
    return call


def install() -> None:
    """Replaces operations, backward and optimisers by forms that note steps in the recording."""
    Op.noted[0] = _noted
    for function in STEPS:
        function.__globals__[function.__name__] = _as_one_step(function)
    engine._walk, Standing.made = walk, _standing
    ArrayOptimizer._step_group = _recorded_group
    optimizers.Optimizer.zero_grad = _recorded_zero_grad


def uninstall() -> None:
    """Puts the replaced functions back."""
    Op.noted[0] = None
    for function in STEPS:
        function.__globals__[function.__name__] = function
    engine._walk, Standing.made = eager_walk, None
    ArrayOptimizer._step_group = _step_group
    optimizers.Optimizer.zero_grad = _zero_grad


def _standing(array):
    return array if here.recording is None else here.recording.fresh(array)


_step_group = ArrayOptimizer._step_group
_zero_grad = optimizers.Optimizer.zero_grad


def update(optimiser: ArrayOptimizer, number: int) -> None:
    """Runs the optimiser's step for one of its parameter groups."""
    group = optimiser.param_groups[number]
    _step_group(optimiser, group)


def _recorded_zero_grad(self, set_to_none=True):
    recording = here.recording
    if recording is not None and not recording.depth:
        if not set_to_none:
            recording.stop("zero_grad(set_to_none=False)")
        else:
            try:
                recording.watch.quietly(lambda: [recording.reset(p) for g in self.param_groups for p in g["params"]])
            except Unrecordable as error:
                recording.stop(str(error))
    return _zero_grad(self, set_to_none)


def _recorded_group(self, group):
    recording = here.recording
    if recording is None or recording.depth:
        return _step_group(self, group)
    if group.get("differentiable") or group.get("capturable") or type(self).__module__.partition(".")[0] != _PACKAGE:
        recording.stop("an optimiser that is differentiable or capturable, or whose class is not the library's")
        return _step_group(self, group)
    return recording.watch.quietly(_group_as_step, recording, self, group)


def _group_as_step(recording, self, group):
    for p in group["params"]:
        for tensor in (p, p._grad):
            if tensor is not None and type(tensor._array) is Traced:
                tensor._array = tensor._array.value
    try:
        for p in group["params"]:
            if id(p) not in recording.external:
                recording.know(p, TENSOR)
    except Unrecordable as error:
        recording.stop(str(error))
        return _step_group(self, group)
    grads = [None if p._grad is None else recording.slot_of(p._grad._array) for p in group["params"]]
    versions = [p._version_counter[0] for p in group["params"]]
    recording.depth += 1
    try:
        result = _step_group(self, group)
    finally:
        recording.depth -= 1
    for p, before in zip(group["params"], versions):
        key = id(p._version_counter)
        recording.own_bumps[key] = recording.own_bumps.get(key, 0) + p._version_counter[0] - before
    recording.states += [(self.state, p, self.state[p]) for p in group["params"] if p in self.state]
    number = next(i for i, found in enumerate(self.param_groups) if found is group)
    written = tuple([recording.slot_of(p._array) for p, g in zip(group["params"], grads) if g is not None])
    recording.steps.append(Step("update", update, (self, number), {}, None, name=type(self).__name__,
                                reads=tuple([g for g in grads if g is not None]), writes=written))
    recording.effects = True
    return result


def _handler(function, args, kwargs):
    recording = here.recording
    if recording is not None:
        return recording.see(function, args, kwargs)
    if lock.acquire(timeout=_LONGEST):         # another thread records: tensors may hold its Traced arrays
        lock.release()
    return UNSEEN


#: A thread waits at most this many seconds for a thread that records, which may be waiting for the first one.
_LONGEST = 2.0


seam.handle("recording", _handler)
