"""Backward in a recording: the walk of autograd/engine.py again, but with every call on arrays noted as a step."""
from __future__ import annotations

import functools
from heapq import heappop, heappush
from typing import Any

import numpy as np

from .. import dtypes as dt
from ..autograd import accumulate as accumulation, early, engine
from ..autograd.accumulate import accumulate_grad, is_widened, plus
from ..autograd.grad_mode import mode
from ..autograd.hooks import as_tensor
from ..autograd.node import _ARGS, _SHAPE, ANS, NOWHERE, SELECT, Node, Op, shape_of
from ..autograd.paths import edge_of, leading_to
from ..autograd.saved import checked
from ..kernels.sums import of_batch
from ..tensor import Tensor, wrap
from .calls import here
from .program import TENSOR, Step, ref
from .traced import Traced, Unrecordable, plain

__all__ = ["Walk", "walk"]


def walk(roots, grads, retain_graph, create_graph, inputs, accumulate, beyond):
    """Takes the place of `engine._walk` while a thread records."""
    recording = here.recording
    if recording is not None and not recording.depth:
        reason = recording.watch.quietly(unrecorded, roots, create_graph, recording)
        if reason is None:
            return recording.watch.quietly(Walk(recording).run, roots, grads, retain_graph, inputs, accumulate, beyond)
        recording.stop(reason)
    return eager_walk(roots, [g if type(g._array) is not Traced else _real(g) for g in grads], retain_graph,
                      create_graph, inputs, accumulate, beyond)


eager_walk = engine._walk


def _real(tensor):
    tensor._array = tensor._array.value
    return tensor


def unrecorded(roots: Any, create_graph: bool, recording: Any, ends: Any = ()) -> str | None:
    """The reason why a backward from these roots cannot be recorded; None if it can be recorded."""
    if create_graph:
        return "gradients that are to be differentiated"
    if mode.steppers or early.watched or mode.graph_task.depth:
        return "a backward that is watched or runs within another"
    stack, seen = [edge_of(root) for root in roots], set()
    while stack:
        node = stack.pop()
        if node is None or id(node) in seen or id(node) in ends:
            continue
        seen.add(id(node))
        if id(node) in recording.outside:
            return "a backward that continues into a graph from outside of the call"
        if not isinstance(node, Node):
            if node._hooks or node._accumulating is not None:
                return "a hook of a leaf"
            if not isinstance(node._array, np.ndarray) or node._node is not None or node._view_info is not None:
                return "a leaf that is a view"
            continue
        op = node.op
        if op.function is not None:
            return "a torch.autograd.Function"
        if node.hooks is not None and _runs_hooks(node.hooks):
            return "a hook of a tensor or node, or retain_grad"
        stack += node.edges
    return None


def _runs_hooks(extras):
    return bool(extras.tensor_hooks or extras.kept or extras.pre or extras.post)


class Walk:
    """One backward. At the end it calls `add_leaf` with each leaf and its gradient."""

    def __init__(self, recording: Any) -> None:
        self.recording = recording
        self.numbers: set[int] = set()         # ids of complex gradients that are NumPy's scalars in eager

    def run(self, roots, grads, retain_graph, inputs, accumulate, beyond):
        targets = None if inputs is None else {edge_of(t): None for t in inputs}
        useful = None if targets is None else leading_to(targets, roots)
        edges = [edge_of(root) for root in roots]
        pending = self.go(edges, [plain(g._array) for g in grads], retain_graph, targets, useful, beyond)
        return self.finish(pending, targets, inputs, accumulate)

    def run_arrays(self, edges, grads, ends):
        """Walks back from `edges` and calls `add_leaf` with each leaf, and each node of `ends`, and its gradient."""
        pending = self.go(edges, grads, True, None, None, True, ends)
        for leaf in list(pending):
            self.add_leaf(leaf, pending.pop(leaf))

    def go(self, edges, grads, retain_graph, targets, useful, beyond, ends=()):
        pending, owned, heap = {}, set(), []
        while True:
            for edge, d in zip(edges, grads):
                if d is None or edge is None:
                    continue
                is_node = isinstance(edge, Node)
                shape = edge.shape if is_node else edge._array.shape
                if d.shape != shape:
                    d = self.sum_to(d, shape)
                if edge not in pending:
                    pending[edge] = d
                    if is_node and edge not in ends:
                        heappush(heap, (edge.sequence_nr, edge))
                else:
                    pending[edge] = self.plus(pending[edge], d, edge in owned)
                    if shape:
                        owned.add(edge)
            if not heap:
                break
            node = heappop(heap)[1]
            g = pending.pop(node)
            op, edges = node.op, node.edges
            if useful is not None:
                edges = [edge if edge in useful else None for edge in edges]
                if targets is not None and node in targets:
                    targets[node] = g
                    if not (beyond and any([edge is not None for edge in edges])):
                        grads = ()
                        continue
            if op is SELECT:
                if edges[0] is not None:
                    self.fill_slot(edges[0], node.saved[0], g, pending, heap)
                grads = ()
                continue
            saved = checked(node) if node.versions else node.saved
            grads = self.rules(node, g, plain(list(saved)) if saved is not None else saved, edges)
            if node.versions and not retain_graph:
                node.saved, node.versions = None, engine.FREED
        return pending

    # -------------------------------------------------------------- single steps
    def does(self, kind, call, args, kwargs=None, **known):
        """The result of call(*args, **kwargs). The call is noted as a step if the recording is still open."""
        recording = self.recording
        if not recording.open:
            return call(*args, **(kwargs or {}))
        try:
            found = recording.run(kind, call, args, kwargs or {}, **known)
        except Unrecordable as error:
            recording.stop(str(error))
            return call(*args, **(kwargs or {}))
        if recording.open and recording.steps[-1].scalar and type(found) is np.ndarray and found.dtype.kind == "c":
            self.numbers.add(id(found))        # the recording keeps the array alive
        return found

    def sum_to(self, d, shape):
        if type(d) is np.ndarray and shape and d.shape[1:] == shape and d.dtype.char in "fd":
            return self.does("sum", of_batch, (d,), name="sum")
        return self.does("sum", engine._sum_to, (d, shape), name="sum")

    def plus(self, a, b, owned):
        if type(a) is not np.ndarray or type(b) is not np.ndarray:
            self.recording.stop("a sum of gradients that are no plain arrays")
            return plus(a, b)
        if a.dtype.kind == dt.WIDENED or b.dtype.kind == dt.WIDENED:
            return np.asarray(self.does("node", plus, (a, b), name="add"))
        if owned:
            self.does("add_", np.add, (a, b), {"out": a}, name="add_")
            return a
        return self.does("add", _add, (a, b), name="add")

    def fill_slot(self, source, k, g, pending, heap):
        if source not in pending:
            pending[source] = [None] * len(source.shape)
            heappush(heap, (source.sequence_nr, source))
        slots = pending[source]
        slots[k] = g if slots[k] is None else self.plus(slots[k], g, False)

    def rules(self, node, g, saved, edges):
        """The gradients of the arguments of a node, computed by the rules of its operation."""
        op = node.op
        arrays = g if op.multi else (g,)
        if self.recording.open and any([d is not None and type(d) is not np.ndarray for d in arrays]):
            self.recording.stop(f"the derivative of {op.name} of something else than plain arrays")
        if not self.recording.open:
            return engine._step(node, g, edges, False)
        if op.of_wide_scalar or any([is_widened(d) for d in arrays]):
            shapes = [None if edge is None else shape_of(edge) for edge in edges]
            grads = self.does("node", gradients_of, (op, g, saved, shapes), op=op, name=f"{op.name} backward")
            return [self.array(d) for d in grads]
        if op.joint is not None:
            rule = op.rules["joint"]
            wanted = [edge is not None for edge in edges]
            named = [saved[:ANS] if i is _ARGS else saved[i] for i in op._places(rule, 2)]
            grads = self.does("joint", self.taking(rule, g), (g, wanted, *named), op=op, name=f"{op.name} backward")
            return [None if edge is None else self.array(d) for edge, d in zip(edges, grads)]
        grads = [None] * len(edges)
        for i, edge in enumerate(edges[:len(op.backs)]):
            if edge is None or op.backs[i] is None:
                continue
            argument = op.params[op.first + i]
            rule = op.rules[argument]
            named = []
            for j in op._places(rule, 1):
                if j is _SHAPE:
                    named.append(tuple(shape_of(edge)))
                elif j is _ARGS:
                    named.append(saved[:ANS])
                else:
                    named.append(saved[j])
            d = self.does("rule", self.taking(rule, g), (g, *named), op=op, argument=argument,
                          name=f"{op.name} backward")
            grads[i] = self.array(d)
        return grads

    def taking(self, rule, g):
        """The rule as it is called with the gradient `g`, which may be NumPy's scalar in eager."""
        return _of_scalar(rule) if id(g) in self.numbers else rule

    def array(self, d):
        """The gradient `d` that a rule returned. The recording stops if it is no plain array."""
        if d is None or type(d) is np.ndarray:
            return d
        self.recording.stop("a gradient that is no plain array")
        return np.asarray(d) if isinstance(d, np.generic) else d

    # -------------------------------------------------------------- the end
    def finish(self, pending, targets, inputs, accumulate):
        with accumulation.lock:
            for leaf in list(pending):
                g = pending.pop(leaf)
                if targets is not None and leaf in targets:
                    targets[leaf] = g
                    if not accumulate:
                        continue
                self.add_leaf(leaf, g)
        if not accumulate:
            found = []
            for edge in map(edge_of, inputs):
                g = None if isinstance(edge, Node) and edge.op is NOWHERE else targets[edge]
                if g is not None and self.recording.open:
                    tensor = wrap(self.recording.standing(g))
                    self.recording.note(tensor)
                    found.append(tensor)
                else:
                    found.append(as_tensor(g))
            return found

    def add_leaf(self, leaf, g):
        """Adds the gradient `g` to the .grad of a leaf, and notes this as a step."""
        recording = self.recording
        if recording.open:
            try:
                self.note_leaf(leaf, g)
            except Unrecordable as error:
                recording.stop(str(error))
        if type(leaf._array) is Traced:
            leaf._array = leaf._array.value
        grad = leaf._grad
        if grad is not None and type(grad._array) is Traced:
            grad._array = grad._array.value
        cell = None if grad is None else grad._version_counter
        accumulate_grad(leaf, g)
        if cell is not None:
            recording.own_bumps[id(cell)] = recording.own_bumps.get(id(cell), 0) + 1
        if recording.open and grad is None and leaf._grad is not None:
            array = leaf._grad._array          # `g` itself or a copy
            if id(array) not in recording.ids:
                step = recording.steps[-1]
                step.results = recording.results(array, made := [], len(recording.steps) - 1)
                step.makes = tuple(made)
            recording.living.append(_reference(leaf._grad))

    def note_leaf(self, leaf, g):
        recording = self.recording
        if not leaf._requires_grad:
            return
        if id(leaf) not in recording.external:
            array = leaf._array
            if recording.ids.get(id(plain(array))) is not None:
                raise Unrecordable("a leaf that was created in the call")
            recording.know(leaf, TENSOR)
        if recording.external[id(leaf)][-1] != TENSOR:
            raise Unrecordable("the gradient of an argument is set")
        given = ref(recording.slot_of(plain(g)))
        grad, before = leaf._grad, recording.external[id(leaf)][4]
        if plain(leaf._array).dtype != g.dtype or leaf._grad_dtype != "own":
            raise Unrecordable("a gradient whose dtype differs from that of its leaf")
        reads, writes = [given.slot], ()
        if grad is not None:
            if type(plain(grad._array)) is not np.ndarray:
                raise Unrecordable("a gradient that is no plain array")
            if grad is before and id(leaf) not in recording.resets:
                slot = recording.grad_of(leaf)
            else:
                slot = recording.slot_of(plain(grad._array))
            reads.append(slot)
            writes = (slot,)
        elif id(leaf) not in recording.resets:
            recording.needs_none.append(leaf)
            recording.resets.add(id(leaf))     # from here on the program has set its .grad
        recording.steps.append(Step("accumulate", accumulate_into, (leaf, given), {}, None, name="accumulate",
                                    reads=tuple(reads), writes=writes, fresh=grad is None))
        recording.effects = True


@functools.lru_cache(4096)
def _of_scalar(rule):
    """A rule that is called with NumPy's scalar for an array of one complex number: NumPy's product of two scalars
    differs in the last digit from that of arrays."""
    def of_scalar(g, *rest):
        return rule(g[()], *rest)
    return of_scalar


def _add(a, b):
    return a + b


def gradients_of(op: Op, g: Any, saved: Any, shapes: list[tuple | None]) -> list[np.ndarray | None]:
    """The gradients that the engine computes for a node of `op` with these saved values: its rules, with the rounding
    of half precision. `shapes`: the shapes of the arguments, None for those that get no gradient."""
    node = Node()
    node.op, node.saved, node.versions, node.hooks = op, saved, (), None
    edges = [None if shape is None else _of_shape(shape) for shape in shapes]
    return [d if d is None or isinstance(d, np.ndarray) else np.asarray(d)
            for d in engine._step(node, g, edges, False)]


@functools.lru_cache(1024)
def _of_shape(shape):
    """A node whose output has this shape, for rules that ask for the shape of an argument."""
    node = Node()
    node.shape = shape
    return node


def accumulate_into(leaf: Tensor, g: np.ndarray) -> None:
    """Adds the gradient `g` to leaf.grad."""
    with accumulation.lock:
        accumulate_grad(leaf, g)


def _reference(tensor):
    import weakref
    return weakref.ref(tensor)
