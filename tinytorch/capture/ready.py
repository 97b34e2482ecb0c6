"""A recorded program that can be replayed: its guards, its replay, and the tensors made of its results."""
from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Iterable
from operator import is_
from typing import Any

import numpy as np

from .. import dtypes as dt
from ..autograd.engine import GraphTask
from ..autograd.grad_mode import mode
from ..autograd.identity import Same, same
from ..autograd.node import FREED, SELECT, Op, new_node
from ..autograd.views import refresh, track_view
from ..kernels import errstate
from ..nn import Module
from ..nn.modules.hooks import changes
from ..nn.parameter import Buffer, Parameter
from ..optim import optimizer as optimizers
from ..tensor import Tensor, wrap
from . import replay
from .effects import Watch, holds
from .program import TENSOR, Earlier, Output, Program, refs
from .reads import Reads
from .steps import Recording

__all__ = ["Ready", "SPENT", "TENSORS", "settings"]


class _Settings:
    """The settings behind `torch._dynamo.config`."""

    __slots__ = ("cache_size_limit", "self_check", "disable", "stance", "backend", "replays", "patience",
                 "longer", "resets")

    def __init__(self):
        object.__setattr__(self, "cache_size_limit", 16)       # most programs of one callable
        object.__setattr__(self, "self_check", True)           # whether some replays are compared with eager
        object.__setattr__(self, "disable", False)             # whether all callables run eagerly
        object.__setattr__(self, "stance", "default")          # see torch.compiler.set_stance
        object.__setattr__(self, "backend", "inductor")        # default of torch.compile
        object.__setattr__(self, "replays", True)              # not `disable`, and the stance allows it
        object.__setattr__(self, "patience", 3)                # replays in Python before a program is lowered to C
        object.__setattr__(self, "resets", 0)                  # number of calls of torch._dynamo.reset()
        # `patience` is multiplied by this if the program in C keeps the bits of eager, as it saves less time then.
        object.__setattr__(self, "longer", 5)

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)
        object.__setattr__(self, "replays", not self.disable and self.stance != "force_eager")


settings = _Settings()
#: The kinds of steps that a backward takes.
_IN_BACKWARD = frozenset(("rule", "joint", "node", "sum"))
#: The numbers of the replays of a program that are compared with eager execution.
CHECKED = 1, 10, 100, 1000
#: The classes that tensors among the arguments may have.
TENSORS = frozenset((Tensor, Parameter, Buffer))


class Ready:
    """A program, its guards and its replay."""

    def __init__(self, program: Program, recording: Recording, watch: Watch, reads: Reads, native: bool) -> None:
        # `count`: number of replays; `since`: the value of `count` when the program was
        # lowered; `special`: the number of the next replay that is checked.
        self.program, self.count, self.since, self.special = program, 0, 0, 1
        tensors = {}
        for source in (program, program.backward):
            for slot in () if source is None else source.tensors:
                tensors[id(slot.value)] = slot.value, slot.array
        for tensor, array, *_, origin in recording.external.values():
            if origin == TENSOR:
                tensors[id(tensor)] = tensor, array
        self.tensors = [t for t, _ in tensors.values()]
        self.flags = [t._requires_grad for t in self.tensors]
        self.arrays = [a for _, a in tensors.values()]
        self.without_grad = list(recording.needs_none)
        self.with_grad = [(slot.value, slot.shape, slot.strides, slot.dtype) for slot in program.grads]
        self.optimisers = {id(s.args[0]): s.args[0] for s in program.steps if s.kind == "update"}
        self.groups = [(o, [len(g["params"]) for g in o.param_groups]) for o in self.optimisers.values()]
        self.modules = [(x, before) for x, before in watch.objects.values() if isinstance(x, Module)]
        self.contents = _contents([x for x, _ in self.modules])
        self.reads = reads
        self.epoch = changes[0]
        # Code is generated when it first runs, because many signatures come twice and never again.
        self.holds: Callable[[], bool] = self._first_guard
        self.matched = False                   # whether `Compiled.quick` has been tried for its arguments
        self.results = list(dict.fromkeys(refs(program.outputs)))
        self.wanted = self.results + program.saved
        self.in_backward = any([s.kind in _IN_BACKWARD for s in program.steps])
        self.run_steps: Callable = self._first_run
        self.native = native                   # whether it may be replayed in C with other rounding
        self.lock: threading.Lock | None = None        # held in a replay in C, which reuses one memory
        self.finish = _finisher(program, self.results)
        # The place of the result in `values`, if it is one new tensor without a history and no other work is left.
        self.single = None if program.backward is not None or program.spent or program.bumps else self.finish.single
        self.back: list | None = None          # [replay of the backward, slots of its results]
        if program.backward is not None:
            _attach(program, self)
        elif program.spent:
            self.finish.ways["attach"] = attach_spent
        self.waits = True                      # whether it still waits to be lowered to C
        self.in_c = False                      # whether it was lowered with other rounding
        self.direct = self.stale = None        # the replay in C; its exception if it must be lowered again
        self.patience = settings.patience * (1 if native else settings.longer)
        if not settings.patience:
            self.lower()

    def lower(self) -> None:
        """Lowers the program and its backward to C. Each of them stays in Python if it cannot be lowered."""
        self.waits = False
        try:
            from .lowered import Stale, lower
        except ImportError:
            return
        for program, wanted in (self.program, self.wanted), (self.program.backward, self.back and self.back[1]):
            if program is None:
                continue
            try:
                run = lower(program, wanted, not self.native)
            except NotImplementedError:
                continue
            self.in_c, self.since = self.native, self.count    # the first replay in C is checked too
            self.look_again()
            self.lock = self.lock or threading.Lock()
            if program is self.program:
                self.run_steps = self.direct = run
                self.stale = Stale
            else:
                self.back[0] = run

    def look_again(self) -> None:
        """Sets the number of the next replay that is checked."""
        self.special = min([self.since + n for n in CHECKED if self.since + n > self.count], default=sys.maxsize)

    def _first_run(self, arrays):
        self.run_steps = run = replay.python(self.program, self.wanted)
        return run(arrays)

    # -------------------------------------------------------------- guards
    def _first_guard(self):
        self.holds = holds = self._guard()
        return holds()

    def _guard(self):
        """A function that says whether everything is as it was when the program was recorded. Its code is generated
        without loops, which takes a quarter of the time."""
        scope, terms = self.guards()
        scope["ready"] = weakref.proxy(self)   # the function is an attribute of this object
        room = {}
        exec(f"def make({', '.join(scope)}):\n    def holds():\n        try:\n            return "
             f"{' and '.join(terms)}\n        except ValueError:\n            return False\n    return holds", room)
        return room["make"](**scope)

    def guards(self) -> tuple[dict[str, Any], list[str]]:
        """The guards as conditions in Python, and the values of their names. The name `ready` stands for this object. A
        guard that raises ValueError does not hold."""
        scope = {"ndarray": np.ndarray, "optimizers": optimizers, "changes": changes, "ready": self}
        known, terms, objects = {}, [], None if same is None else Same()
        # whether hooks of leaves would run
        hooks = self.program.backward is not None or self.in_backward or any(
            [s.kind == "accumulate" for s in self.program.steps])

        def name(x):
            made = known.setdefault(id(x), f"k{len(known)}")
            scope[made] = x
            return made
        for tensor, array, flag in zip(self.tensors, self.arrays, self.flags):
            t = name(tensor)
            if objects is not None:
                objects.tensor(tensor, array, flag)
            else:
                terms.append(f"{t}._array is {name(array)} and {t}._requires_grad is {flag}")
            if flag and hooks and objects is not None:
                objects.no_item(tensor.__dict__, "_hooks")
                objects.no_item(tensor.__dict__, "_accumulating")
            elif flag and hooks:
                terms.append(f"{t}._hooks is None and {t}._accumulating is None")
        terms += [f"{name(leaf)}._grad is None" for leaf in self.without_grad]
        for leaf, shape, strides, dtype in self.with_grad:
            terms.append(f"(g := {name(leaf)}._grad) is not None and type(a := g._array) is ndarray and "
                         f"a.shape == {name(shape)} and a.strides == {name(strides)} and a.dtype == {name(dtype)}")
        for optimiser, counts in self.groups:
            o = name(optimiser)
            terms.append(f"len(groups := {o}.param_groups) == {len(counts)}")
            terms += [f"len(groups[{i}]['params']) == {count}" for i, count in enumerate(counts)]
            terms.append(f"not {o}._optimizer_step_pre_hooks and not {o}._optimizer_step_post_hooks")
        if self.groups:
            terms.append("not optimizers._global_optimizer_pre_hooks and not optimizers._global_optimizer_post_hooks")
        terms.append("(ready.epoch == changes[0] or ready.same_modules())")
        terms.append(self.reads.condition(scope, objects))
        if objects is not None:
            scope.update(same=same, objects=objects, words=objects.packed())
            terms.insert(0, "same(words)")
        return scope, terms

    def same_modules(self) -> bool:
        """Whether modules have the same attributes and contents as before; called if `changes[0]` has increased."""
        if not holds(self.modules) or not _same_contents(self.contents):
            return False
        self.epoch = changes[0]
        return True

    # -------------------------------------------------------------- replay
    def run(self, inputs: list[Tensor]) -> Any:
        """The result of a replay with these tensors as inputs."""
        values = self.compute([t._array for t in inputs])
        if self.single is not None:
            return wrap(values[self.single])
        program = self.program
        for cell, count in program.bumps:
            (inputs[cell]._version_counter if cell.__class__ is int else cell)[0] += count
        if program.backward is not None:
            return self.finish(values, inputs, self._outputs_of_node(values, inputs))
        if program.spent:
            return self.finish(values, inputs, ())
        return self.finish(values, inputs, None)

    def compute(self, arrays):
        direct = self.direct
        if direct is not None and direct.plain and not direct.in_numpy:
            try:
                return direct.replay(arrays)
            except self.stale:                 # raised before it has done anything
                pass
        if not self.in_backward:
            begun = errstate.begin()
            try:
                return self.run_steps(arrays)
            finally:
                errstate.end(begun)
        return _as_backward(self.run_steps, arrays)

    def _outputs_of_node(self, values, inputs):
        """(edges, (saved arrays, version cells)) of the node that stands for the program on the tape."""
        program, edges = self.program, []
        for edge in program.edges:
            if edge.__class__ is int:
                edge = inputs[edge]
                if edge._view_info is not None:
                    refresh(edge)
                edge = edge._node or edge
            edges.append(edge)
        saved = values[len(self.results):]
        cells = [(t._version_counter, t._version_counter[0], t._array.shape) for t in self.tensors] + [
            (t._version_counter, t._version_counter[0], t._array.shape) for t in inputs]
        return edges, (saved, cells)


def _as_backward(run, arrays):
    """run(arrays) in the state in which the engine runs derivative rules."""
    before, begun = mode.graph_task, None
    try:
        begun = errstate.begin()
        mode.graph_task = _TASK                # operations in derivative rules then work on arrays
        return run(arrays)
    finally:
        mode.graph_task = before
        errstate.end(begun)


_TASK = GraphTask((), None, False)


def _finisher(program, results):
    """function(values, inputs, node) -> the result of the call."""
    place = {slot: i for i, slot in enumerate(results)}
    outputs = program.outputs
    ways = {}
    fixed = {slot.index for slot in program.slots if program.slots[slot.root].origin in ("constant",)}

    def single(x, values, inputs, made, made_all):
        known = x.known
        if known is not None:
            if known.__class__ is Earlier:
                return made_all[known.number]
            return inputs[known] if known.__class__ is int else known
        array = values[place[x.slot]]
        if x.slot in fixed:
            array = array.copy("K")
        tensor = wrap(array)
        if made is not None and x.requires_grad:
            made.append(tensor)
        if x.base is not None:
            track_view(tensor, made_all[x.base])
        made_all.append(tensor)
        return tensor

    def filled(x, values, inputs, made, made_all):
        if x.__class__ is Output:
            return single(x, values, inputs, made, made_all)
        if x.__class__ in (list, tuple):
            return x.__class__([filled(y, values, inputs, made, made_all) for y in x])
        if isinstance(x, tuple):
            return type(x)(*[filled(y, values, inputs, made, made_all) for y in x])
        if x.__class__ is dict:
            return {key: filled(y, values, inputs, made, made_all) for key, y in x.items()}
        return x

    def finish(values, inputs, node):
        if node is None:
            if outputs.__class__ is Output:
                return single(outputs, values, inputs, None, [])
            return filled(outputs, values, inputs, None, [])
        made = []
        result = filled(outputs, values, inputs, made, [])
        ways["attach"](made, *node)
        return result
    finish.ways = ways
    finish.single = place[outputs.slot] if outputs.__class__ is Output and outputs.known is None and (
        outputs.slot not in fixed) else None
    return finish


def attach_spent(made: Iterable[Tensor]) -> None:
    """Gives each result a node whose graph has been freed by a backward."""
    for tensor in made:
        tensor._requires_grad = True
        tensor._node = new_node(SPENT, (), None, FREED, tensor._array.shape)


SPENT = Op(lambda: None, name="compiled_function", backward_name="CompiledFunctionBackward")


def _attach(program, ready):
    """Makes the function that gives results the node that stands for a program with a backward."""
    backward = program.backward
    results = list(dict.fromkeys(refs(backward.outputs)))

    def first(arrays):
        run = replay.python(backward, results)
        if back[0] is first:
            back[0] = run
        return run(arrays)
    ready.back = back = [first, results]
    lock = threading.Lock()
    order = [results.index(x.slot) for x in backward.outputs]
    count = sum([_requiring(x) for x in _flat(program.outputs)])
    many = count > 1
    layouts = [(backward.slots[i].shape, backward.slots[i].dtype) for i in backward.inputs[:count]]

    def joint(g, wanted, aux):
        if isinstance(g, Tensor) or many and any([isinstance(d, Tensor) for d in g]):
            raise RuntimeError("torch.compile with aot_autograd does not currently support double backward")
        saved, cells = aux
        for cell, version, shape in cells:
            if cell[0] != version:
                raise RuntimeError(
                    "one of the variables needed for gradient computation has been modified by an inplace operation: "
                    f"[{list(shape)}] is at version {cell[0]}; expected version {version} instead. Hint: enable "
                    "anomaly detection to find the operation that failed to compute its gradient, with "
                    "torch.autograd.set_detect_anomaly(True).")
        given = g if many else (g,)
        grads = [np.zeros(shape, dtype) if d is None else d for d, (shape, dtype) in zip(given, layouts)]
        grads = [d if d.flags.c_contiguous else np.ascontiguousarray(d).reshape(d.shape) for d in grads]
        # A lowered backward has one memory. While another thread runs it, this thread replays in Python.
        alone = lock.acquire(False)
        try:
            run = back[0] if alone else replay.python(backward, results)
            found = _as_backward(run, [*grads, *saved])
        finally:
            if alone:
                lock.release()
        return [found[i] for i in order]

    def forward():
        raise NotImplementedError
    # It takes gradients of records as they are, and makes backward check whether the gradients are records.
    op = Op(forward, name="compiled_function", multi=many, joint=joint, backward_name="CompiledFunctionBackward",
            converts=True)
    records = any([backward.slots[i].dtype.kind == dt.WIDENED for i in (*backward.inputs[:count], *results)])

    def attach(made, edges, aux):
        if not made:
            return
        shapes = [t._array.shape for t in made]
        node = new_node(op, edges, (None, aux), ([0], 0), tuple(shapes) if many else shapes[0])
        if records:
            node.extras()
        for k, tensor in enumerate(made):
            tensor._requires_grad = True
            tensor._node = node if not many else new_node(SELECT, (node,), (k, None, None), (), shapes[k])
    ready.finish.ways["attach"] = attach


def _flat(x):
    if x.__class__ is Output:
        return [x]
    if isinstance(x, (list, tuple)):
        return [z for y in x for z in _flat(y)]
    return [z for y in x.values() for z in _flat(y)] if x.__class__ is dict else []


def _requiring(x):
    return x.known is None and x.requires_grad


def _contents(found):
    return [(d, dict(d)) for m in found for d in (
        m._parameters, m._buffers, m._modules, m._forward_hooks, m._forward_pre_hooks, m._backward_hooks,
        m._backward_pre_hooks)]


def _same_contents(contents):
    for d, before in contents:
        if len(d) != len(before) or not all(map(is_, d.values(), before.values())):
            return False
    return True
