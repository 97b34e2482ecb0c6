"""`viz.suggest`: finds modules to checkpoint so that a training step fits into a given memory."""
from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..autograd.engine import run_backward
from ..nn.modules.module import Module, register_module_forward_hook, register_module_forward_pre_hook
from ..tensor import Tensor
from .captions import size
from .checkpoints import Checkpointed, Run, kept_inside, unchanged
from .comparison import without_numbers
from .graph import named_tensors
from .meter import Life, Meter
from .recorder import Call
from .table import Table
from .tape import ACTIVATION


class Suggestion(Table):
    """The modules to checkpoint. The rows of the table are their paths and classes.

    paths     the paths of the modules
    peak      the measured peak of a step with these checkpoints, in bytes; `before`: the peak without them
    fits      whether the peak is within the budget; if not, these are the checkpoints that came closest to it
    """

    def __init__(self, module: Module, paths: list[str], budget: int, before: int, peak: int) -> None:
        parts = dict(module.named_modules())
        self.paths = [path for path in parts if path in paths]
        self.budget, self.before, self.peak = budget, before, peak
        self._modules = [parts[path] for path in self.paths]
        fit = "" if self.fits else f": more than the {size(budget)} that are asked for, no checkpoints bring it there"
        super().__init__("checkpoint these modules", ("module", "class"),
                         [(path, type(parts[path]).__name__) for path in self.paths],
                         f"a step allocates at most {size(peak)} with them, {size(before)} without{fit}")

    @property
    def fits(self) -> bool:
        """Whether a step with these checkpoints fits into the budget."""
        return self.peak <= self.budget

    def apply(self) -> Checkpointed:
        """Makes every call of these modules a checkpoint, until `remove()` of the returned object is called, or until
        the end of its `with` block."""
        return Checkpointed(self._modules)


#: The number of runs that measure the time of a step.
_REPEATS = 3


class _Candidate(NamedTuple):
    """A module that could be checkpointed: the memory that only its calls keep, the first event of each call, and the
    time of its forward."""

    path: str
    inside: Mapping[Call, list[Life]]
    begins: Mapping[Call, int]
    seconds: float


def suggest(module: Module, inputs: Tensor | tuple | list, budget: int, loss: Callable[[Any], Tensor] | None = None
            ) -> Suggestion:
    """Finds modules to checkpoint so that forward and backward of `module(*inputs)` allocate at most `budget` further
    bytes, and cost as little time as possible. The step is run with the proposed checkpoints, so the peak in the
    Suggestion is measured. Parameters, buffers, gradients and random numbers are restored.

    loss    of the module's output, a scalar; by default the sum of all of it

    >>> import tinytorch as torch
    >>> block = lambda: torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Linear(256, 64))
    >>> model, x = torch.nn.Sequential(*[block() for _ in range(4)]), torch.ones(256, 64)
    >>> before = suggest(model, x, 1 << 30).peak
    >>> suggestion = suggest(model, x, before * 2 // 3)
    >>> suggestion.fits, len(suggestion.paths) > 0
    (True, True)
    >>> with suggestion.apply():
    ...     model(x).sum().backward()
    """
    inputs = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)

    def step():
        output = module(*inputs)
        roots = [output if loss is None else loss(output)]
        roots = [t.sum() for _, t in named_tensors(roots, "") if t.requires_grad]
        run_backward(roots, [t.new_ones(()) for t in roots], False, False)
    parts = dict(module.named_modules())

    def measured(paths):
        with Checkpointed([parts[path] for path in paths]), unchanged([module]), Meter(module) as meter:
            step()
        return meter

    def peak_with(paths):
        return max([Run.of(measured(paths)).peak for _ in range(2)])           # runs differ by a few objects
    measured([])                               # a first run, for objects that are made only once
    meter = measured([])
    before = peak = Run.of(meter).peak
    search = _Search(meter, _candidates(meter, module, step))
    best: list[str] = []
    chosen: list[str] = []
    while peak > budget:
        chosen = search.next(chosen, budget)
        if chosen is None:
            break
        found = peak_with(chosen)
        search.correct(chosen, found)
        if found < peak:
            best, peak = chosen, found
    for path in search.perhaps_too_many(best, budget):
        fewer = [p for p in best if p != path]
        if (found := peak_with(fewer)) <= budget:
            best, peak = fewer, found
    return Suggestion(module, best, budget, before, peak)


def _candidates(meter, module, step):
    lives = {life.storage: life for life in meter.lives if life.storage.kind == ACTIVATION}
    seconds = _seconds(module, step)
    found = []
    for path in meter.modules:
        inside = {call: [lives[s] for s in storages] for call, storages in kept_inside(lives, path).items()}
        if path and inside:
            begins = {call: next(k for k, event in enumerate(meter.events) if event.origin and call in
                                 event.origin.calls) for call in inside}
            found.append(_Candidate(path, inside, begins, seconds.get(path, 0)))
    return found


def _seconds(module, step):
    """{path: seconds that the forwards of a module take in a step}. Equal modules, whose paths differ only by numbers,
    get their median."""
    paths = {id(m): path for path, m in module.named_modules()}
    kinds = {path: (type(m), without_numbers(path)) for path, m in module.named_modules()}
    started: list[float] = []
    found: dict[tuple, list[float]] = {}

    def begin(m, args):
        started.append(time.perf_counter())

    def end(m, args, output):
        taken = time.perf_counter() - started.pop()
        if id(m) in paths:
            found.setdefault(kinds[paths[id(m)]], []).append(taken)
    handles = [register_module_forward_pre_hook(begin), register_module_forward_hook(end)]
    try:
        for _ in range(_REPEATS):
            with unchanged([module]):
                step()
    finally:
        for handle in handles:
            handle.remove()
    calls = {kind: len(times) / _REPEATS / list(kinds.values()).count(kind) for kind, times in found.items()}
    return {path: statistics.median(found[kind]) * calls[kind] for path, kind in kinds.items() if kind in found}


class _Search:
    """Chooses modules by a model of the peak. `correct` gives it the measured peak."""

    def __init__(self, meter, candidates):
        self._lives = [life for life in meter.lives if life.storage.kind == ACTIVATION]
        self._candidates = {c.path: c for c in candidates}
        self._besides = 0
        self._tried: set[tuple[str, ...]] = {()}
        self.correct([], Run.of(meter).peak)
        self._at_first = self._besides

    def correct(self, chosen, peak):
        """Corrects the model, from the peak measured with `chosen`: it learns the bytes besides the activations."""
        self._besides = max(self._besides, peak - self._activations(chosen))

    def _activations(self, chosen):
        """The largest number of bytes of activations: at the end of the forward, or after a checkpoint has run again.
        At that time all younger activations are freed."""
        inside = {id(life) for path in chosen for lives in self._candidates[path].inside.values() for life in lives}
        kept = [life for life in self._lives if id(life) not in inside]
        most = sum([life.storage.nbytes for life in kept])
        for path in chosen:
            candidate = self._candidates[path]
            for call, lives in candidate.inside.items():
                older = sum([life.storage.nbytes for life in kept if life.born < candidate.begins[call]])
                most = max(most, older + sum([life.storage.nbytes for life in lives]))
        return most

    def _cost(self, chosen):
        return sum([self._candidates[path].seconds for path in chosen])

    def perhaps_too_many(self, chosen, budget):
        """The chosen modules that might not be needed, in the order of their cost, the most expensive first."""
        found = [path for path in chosen
                 if self._activations([p for p in chosen if p != path]) + self._at_first <= budget]
        return sorted(found, key=lambda path: -self._cost([path]))

    def next(self, chosen, budget):
        """The next modules to try. Modules are added to `chosen` one at a time, until the step should fit or no module
        helps. None if this choice has been tried."""
        while True:
            now, cost, options = self._activations(chosen), self._cost(chosen), []
            for path in self._candidates:
                if any([path == p or path.startswith(p + ".") for p in chosen]):
                    continue
                wider = sorted([p for p in chosen if not p.startswith(path + ".")] + [path])
                less = now - self._activations(wider)
                if less > 0 and tuple(wider) not in self._tried:
                    enough = self._activations(wider) + self._besides <= budget
                    price = max(self._cost(wider) - cost, 1e-9)
                    options.append((not enough, price if enough else price / less, wider))
            if not options:
                break
            missing, _, chosen = min(options)
            if not missing:
                break
        if tuple(chosen) in self._tried:
            return None
        self._tried.add(tuple(chosen))
        return chosen
