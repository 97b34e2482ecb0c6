"""Turns a recording into a program: checks the recording, and compares its program with that of another call."""
from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np

from .. import dtypes as dt
from ..autograd.engine import GraphTask
from ..autograd.grad_mode import mode
from ..autograd.node import FREED, Node
from ..autograd.paths import edge_of
from ..autograd.views import refresh
from ..kernels.errstate import ignored
from ..tensor import Tensor
from . import steps
from .backward import Walk, unrecorded
from .calls import drawn, here
from .program import CONSTANT, GRAD, INPUT, TENSOR, Earlier, Output, Program, Slot, refs
from .references import OF_A_NAME
from .steps import Recording
from .traced import Unrecordable, plain

__all__ = ["difference", "program_of"]

_WORDS = (bool, int, float, complex, str, bytes, type(None))


class _OfBackward(Recording):
    """The recording of the backward of a recorded forward.

    An array that the forward made becomes an input of the backward when a step of the backward first needs it.
    """

    is_of_a_call = False

    def __init__(self, forward: Recording) -> None:
        super().__init__()
        self.forward_recording, self.saved = forward, []
        self.from_there: list[int] = []        # the slots of this recording for `saved`
        self.leaves: list[tuple[Tensor, int]] = []

    def slot_of(self, array):
        found = self.ids.get(id(array))
        if found is not None:
            return found
        there = self.forward_recording.ids.get(id(array))
        if there is None:
            root = steps.root_of(array)
            if self.forward_recording.roots.get(id(root)) is not None and id(root) not in self.roots:
                there = self.forward_recording.slot_of(array)
        if there is None:
            return super().slot_of(array)
        slot = self.forward_recording.slots[there]
        if slot.origin == TENSOR:
            index = self.enter(array, TENSOR, slot.value, slot.array)
        elif slot.origin == CONSTANT:
            index = self.enter(array, CONSTANT, held=slot.array)
        else:
            index = self.enter(array, INPUT)
            self._take(there, index)
        return index

    def _take(self, there, index):
        self.saved.append(there)
        self.from_there.append(index)

    def template(self, x, read):
        if not isinstance(x, np.ndarray) and id(x) not in self.ids and type(x) not in steps._KEPT and not isinstance(
                x, steps._LITERALS):
            there = self.forward_recording.ids.get(id(x))
            if there is not None:
                index = len(self.slots)
                self.slots.append(Slot(index, INPUT, root=index))
                self.ids[id(x)] = index
                self.held.append(x)
                self._take(there, index)
        return super().template(x, read)


class _ToEdges(Walk):
    """A walk that collects the gradients of leaves and of the nodes at which the walk ends."""

    def add_leaf(self, leaf, g):
        self.recording.leaves.append((leaf, self.recording.slot_of(g)))


def program_of(recording: Recording, inputs: list[Tensor], result: Any) -> Program:
    """The program of a recording whose call has just returned and which is still open.

    Raises Unrecordable if the call cannot be replayed.
    """
    if drawn() != recording.position:
        raise Unrecordable("random numbers that are drawn unseen by the recording")
    program = Program(recording.slots, recording.steps)
    slots = recording.slots
    program.inputs = [recording.ids.get(id(plain(t._array))) for t in inputs]
    outputs: list[Tensor] = []
    program.outputs = _outputs(recording, inputs, result, outputs)
    _drop_temporaries(recording)
    _check_tensors(recording, inputs)
    roots = [t for t in outputs if t._requires_grad and id(t) not in recording.external]
    for t in roots:
        if t._view_info is not None:
            refresh(t)
    spent = [t for t in roots if _is_spent(t)]
    if spent:
        if len(spent) < len(roots):
            raise Unrecordable("results where backward has run for some of them alone")
        program.spent = True
    elif roots:
        program.backward, program.saved, program.edges = _backward(recording, inputs, roots)
        for slot in program.saved:
            slots[slot].leaves = True
    _name_constants(recording)
    for slot in slots:
        if slot.origin == CONSTANT and slot.leaves:
            raise Unrecordable("a write to an array that was created unseen by the recording")
    for index in refs(program.outputs):
        slots[slots[index].root].leaves = slots[index].leaves = True
    for step in recording.steps:
        if step.kind == "accumulate":
            for index in (*step.makes, step.args[1].slot):
                slots[slots[index].root].leaves = True
    program.bumps = _bumps(recording, inputs)
    program.steps = _useful(recording.steps)
    return program


def _useful(steps):
    """The steps that have an effect. Two kinds of steps are left out: a rule that returns the gradient unchanged, and a
    set_grad whose None is replaced before any step reads it."""
    found, set_again = [], set()
    for step in reversed(steps):
        if _does_nothing(step):
            continue
        if step.kind == "accumulate" and step.fresh:
            set_again.add(id(step.args[0]))
        elif step.kind == "set_grad":
            if id(step.args[0]) in set_again:
                continue
            set_again.add(id(step.args[0]))
        elif step.kind in ("update", "accumulate"):
            set_again.clear()
        found.append(step)
    return found[::-1]


def _does_nothing(step):
    """Whether a step is a rule or sum that makes no new array and writes to none: it returned its argument."""
    return step.kind in ("rule", "sum") and not step.makes and not step.writes


def _is_spent(tensor):
    """Whether a backward has freed a part of the graph of a tensor, so that another backward is an error."""
    stack, seen = [tensor._node], set()
    while stack:
        node = stack.pop()
        if isinstance(node, Node) and id(node) not in seen:
            if node.versions is FREED:
                return True
            seen.add(id(node))
            stack += node.edges
    return False


def _outputs(recording, inputs, x, found):
    if isinstance(x, Tensor):
        if type(x) not in steps._PLAIN:
            raise Unrecordable(f"a result of class {type(x).__name__}")
        for i, t in enumerate(inputs):
            if x is t:
                return Output(recording.ids[id(plain(x._array))], known=i)
        if id(x) in recording.external:
            return Output(recording.ids[id(plain(x._array))], known=x)
        for i, t in enumerate(found):
            if x is t:
                return Output(recording.ids[id(plain(x._array))], known=Earlier(i))
        slot = recording.slot_of(plain(x._array))
        root = recording.slots[recording.slots[slot].root]
        if root.origin in (INPUT, TENSOR, GRAD):
            raise Unrecordable("a result that is a view of an argument or of a tensor from outside of the call")
        if x._requires_grad and x._node is None:
            raise Unrecordable("a leaf that was created in the call")
        base = _base_of(recording, slot, x, found)
        found.append(x)
        return Output(slot, base=base, requires_grad=x._requires_grad)
    if isinstance(x, _WORDS):
        return x
    if x.__class__ in (list, tuple):
        return x.__class__([_outputs(recording, inputs, y, found) for y in x])
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*[_outputs(recording, inputs, y, found) for y in x])
    if x.__class__ is dict:
        return {key: _outputs(recording, inputs, y, found) for key, y in x.items()}
    raise Unrecordable(f"a result of class {type(x).__name__}")


def _base_of(recording, slot, x, found):
    """The number of an earlier output that the output `x` is a view of, or None. A write to one of them counts for
    both; that is not so for x.data. Raises Unrecordable if a replay could not make one a view of the other."""
    root = recording.slots[slot].root
    array, overlaps = plain(x._array), None
    for i, t in enumerate(found):
        other = plain(t._array)
        place = recording.ids[id(other)]
        counted = x._version_counter is t._version_counter     # also for arrays without elements, which never overlap
        if recording.slots[place].root == root and (counted or _overlap(array, other)):
            if x._requires_grad or t._requires_grad or counted and place != root and overlaps is None:
                raise Unrecordable("results that share memory")
            if counted and overlaps is None:
                overlaps = i
    return overlaps


def _overlap(a, b):
    if not np.may_share_memory(a, b):
        return False
    try:
        return np.shares_memory(a, b, max_work=1000)
    except Exception:                          # the exact answer would take too long
        return True


def _drop_temporaries(recording):
    """Makes constants of the tensors that public functions made of numbers within themselves, and that are gone by now:
    nobody can write to them between calls, and the next call makes others."""
    written = {recording.slots[i].root for step in recording.steps for i in step.writes}
    users: dict[int, int] = {}                 # root -> the number of tensors from outside that lie in it
    for slot in recording.slots:
        if slot.value is not None:
            users[slot.root] = users.get(slot.root, 0) + 1
    for key in recording.met:
        tensor, array = recording.external[key][:2]
        slot = recording.slots[recording.ids[id(array)]]
        if slot.origin != TENSOR or slot.value is not tensor or slot.root in written or users[slot.root] > 1:
            continue
        if sys.getrefcount(tensor) <= OF_A_NAME + 2:           # `tensor`, `external`, the slot
            slot.origin, slot.value = CONSTANT, None
            del recording.external[key]


def _check_tensors(recording, inputs):
    """Raises Unrecordable if the call changed more of a tensor from outside than its elements and gradient, or more of
    an optimiser than its steps do."""
    for states, p, state in recording.states:
        if states.get(p) is not state:
            raise Unrecordable("the state of an optimiser is taken away")
    for tensor, array, node, requires_grad, grad, cell, *_ in recording.external.values():
        if plain(tensor._array) is not array:
            raise Unrecordable("a tensor is given new memory")
        if tensor._node is not node or tensor._requires_grad != requires_grad or tensor._version_counter is not cell:
            raise Unrecordable("a change of the history of a tensor from outside of the call")
        if tensor._grad is not grad and id(tensor) not in recording.resets:
            raise Unrecordable("a gradient is set in a way that the recording does not see")


def _backward(recording, inputs, roots):
    """(the program that computes the gradients, the slots of the forward that it reads, the edges that get the
    gradients)."""
    for t in inputs:
        if t._requires_grad and t._view_info is not None:
            raise Unrecordable("an argument that is a view and requires gradients")
    reason = _unrecorded_graph(recording, inputs, roots)
    if reason is not None:
        raise Unrecordable(reason)
    found = _OfBackward(recording)
    found.open = True
    before, here.recording = here.recording, found
    grads = [dt.cast(np.ones(t._array.shape), t._array.dtype) for t in roots]
    walk = _ToEdges(found)
    given = [found.enter(g, INPUT) for g in grads]
    ends = {t._node: i for i, t in enumerate(inputs) if t._node is not None}
    walk.ends = ends
    task, recorded = mode.graph_task, mode.grad_now
    try:
        mode.graph_task, mode.grad = GraphTask(roots, None, True), False
        with ignored():
            walk.run_arrays([edge_of(t) for t in roots], grads, ends)
    except Exception as error:
        raise Unrecordable(str(error)) from None
    finally:
        mode.graph_task, mode.grad = task, recorded
        here.recording = before
    if found.reason is not None:
        raise Unrecordable(found.reason)
    program = Program(found.slots, [step for step in found.steps if not _does_nothing(step)])
    program.inputs = given + found.from_there
    edges = []
    for leaf, _ in found.leaves:
        if isinstance(leaf, Node):
            edges.append(ends[leaf])
        else:
            place = next((i for i, t in enumerate(inputs) if t is leaf), None)
            edges.append(leaf if place is None else place)
    program.outputs = [Output(slot) for _, slot in found.leaves]
    _name_constants(found)
    for slot in found.slots:
        if slot.origin == CONSTANT and slot.leaves:
            raise Unrecordable("a write to an array that was created unseen by the recording")
    for _, slot in found.leaves:
        found.slots[found.slots[slot].root].leaves = True
    return program, found.saved, edges


def _unrecorded_graph(recording, inputs, roots):
    before = mode.graph_task
    if before is None:
        mode.graph_task = GraphTask(roots, None, True)
    try:
        return unrecorded(roots, False, recording, {id(t._node) for t in inputs if t._node is not None})
    finally:
        mode.graph_task = before


def _name_constants(recording):
    """Finds the tensors whose arrays were taken for constants because no public function got the tensors. Their origin
    becomes TENSOR, as the program may write to them between calls."""
    shared = {}                                # id of an array: its slot
    for index in recording.unknown:
        slot = recording.slots[index]
        array = slot.array
        if slot.origin == CONSTANT and sys.getrefcount(array) > OF_A_NAME + 3:     # `array`, `held`, `arrays`, the slot
            shared[id(array)] = slot
    if shared:                                 # one search for all: it looks at every object of the process
        for owner in gc.get_referrers(*[slot.array for slot in shared.values()]):
            if isinstance(owner, Tensor) and (slot := shared.pop(id(owner._array), None)) is not None:
                slot.origin, slot.value = TENSOR, owner


def _bumps(recording, inputs):
    """For each tensor that was written to: (its version cell, or its number if it is an argument; the number of writes
    that the steps do not count themselves)."""
    found, cells = [], {}
    for tensor, _, _, _, _, cell, version, _ in recording.external.values():
        if cell.__class__ is list:
            place = next((i for i, t in enumerate(inputs) if t is tensor), cell)
            cells.setdefault(id(cell), (cell, version, place))
    for key, (cell, version, place) in cells.items():
        count = cell[0] - version - recording.own_bumps.get(key, 0)
        if count:
            found.append((place, count))
    return found


# ------------------------------------------------------------------ comparison
def difference(a: Program, b: Program) -> str | None:
    """A description of the first difference between two programs, or None if they are the same."""
    if len(a.slots) != len(b.slots) or len(a.steps) != len(b.steps):
        return f"{len(a.steps)} steps on {len(a.slots)} arrays, and then {len(b.steps)} on {len(b.slots)}"
    for x, y in zip(a.slots, b.slots):
        if (x.origin, x.shape, x.dtype, x.strides, x.root) != (y.origin, y.shape, y.dtype, y.strides, y.root):
            return f"an array of shape {x.shape}, and then one of shape {y.shape}"
        if x.offset != y.offset or x.value is not y.value:
            return "an array at a different place in memory"
        if x.origin == CONSTANT and x.array is not y.array and not _same_numbers(x.array, y.array):
            return f"a constant of shape {x.shape}, and then a different constant"
    for x, y in zip(a.steps, b.steps):
        if x.kind != y.kind or x.op is not y.op or x.argument != y.argument or x.fresh is not y.fresh or not (
                _same(x.call, y.call) and _same(x.args, y.args) and _same(x.kwargs, y.kwargs) and
                _same(x.results, y.results)):
            return f"{x.name or x.kind}, and then {y.name or y.kind}, or different arguments"
    if not _same((a.inputs, a.outputs, a.saved, a.edges), (b.inputs, b.outputs, b.saved, b.edges)):
        return "a different result"
    if [n for _, n in a.bumps] != [n for _, n in b.bumps] or any([x is not y for (x, _), (y, _) in zip(
            a.bumps, b.bumps) if x.__class__ is not int or x != y]):
        return "different writes"
    if (a.backward is None) != (b.backward is None) or a.spent != b.spent:
        return "a different backward"
    return None if a.backward is None else difference(a.backward, b.backward)


def _same_numbers(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def _same(a, b):
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, (tuple, list)):
        if len(a) != len(b):
            return False
        for x, y in zip(a, b):
            if x is not y and not _same(x, y):
                return False
        return True
    if a.__class__ is dict:
        return list(a) == list(b) and all([_same(a[key], b[key]) for key in a])
    if a.__class__ is slice:
        return _same((a.start, a.stop, a.step), (b.start, b.stop, b.step))
    if isinstance(a, Tensor):
        return False
    if isinstance(a, np.generic) or isinstance(a, (int, float, complex, str, bytes, np.dtype)):
        return a == b and str(a) == str(b) or a != a and b != b
    if isinstance(a, np.ndarray):
        return _same_numbers(a, b)
    try:
        return bool(a == b)
    except Exception:
        return False
