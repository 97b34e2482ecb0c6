"""Backward: walk the tape from the youngest node down, handing each gradient to its inputs.

The engine needs no other order than a heap of the nodes that have received a gradient, youngest
first: when a node is on top, everything that reads its output is younger and has been done. There
is no recursion, so the depth of the graph does not matter. On a plain backward the gradients are
ndarrays and nothing is recorded; with `create_graph` they are Tensors, the same rules are called
with Tensors, and the operations of the rules are recorded.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from .. import dtypes as dt
from ..kernels import errstate
from ..kernels.arithmetic import total
from ..kernels.sums import add_up, of_batch
from ..seam import seam
from ..tensor import Tensor, wrap
from . import accumulate as accumulation, early
from .accumulate import accumulate_grad, accumulate_with_hooks, is_widened, plus
from .deep import DEPTH, elsewhere
from .grad_mode import for_tangents, for_tangents_alone, mode
from .hooks import as_tensor, through_node_hooks, through_tensor_hooks
from .node import ANS, AUX, FREED, NOWHERE, SELECT, GradientEdge, Node, run_by_steps, shape_of
from .paths import edge_of, leading_to, reached_by
from .record_dtypes import rounded
from .saved import checked, saved_tensor, with_history
from .torch_function import state, without_subclasses


class GraphTask:
    """A backward that is running: the value of `mode.graph_task`."""

    __slots__ = ("roots", "inputs", "retain_graph", "depth", "callbacks", "__weakref__")

    def __init__(self, roots: Sequence[Tensor | GradientEdge], inputs: Sequence[Tensor | GradientEdge] | None,
                 retain_graph: bool) -> None:
        self.roots, self.inputs, self.retain_graph = roots, inputs, retain_graph
        self.depth = 0                         # the number of backwards of this thread that this one runs inside of
        self.callbacks: list[Callable[[], object]] = []        # called at its end


def run_backward(roots: Sequence[Tensor | GradientEdge], grads: Sequence[Tensor], retain_graph: bool,
                 create_graph: bool, inputs: Sequence[Tensor | GradientEdge] | None = None,
                 accumulate: bool = True, beyond: bool = True) -> Any:
    """Propagate `grads` (Tensors) from `roots` (Tensors or GradientEdges).

    With `inputs`, only the nodes between them and the roots are run. `accumulate` adds into `.grad`
    of the leaves (of the leaves among `inputs`, if given; other tensors keep theirs by
    `retain_grad`); otherwise the gradients of `inputs` are returned, None for an input that no
    gradient reaches. Without `beyond` gradients stop at `inputs`: an input gets no gradient through
    another one.
    """
    if create_graph and not state.disabled:    # derivative rules compute with the tensors, whatever their classes
        return without_subclasses(run_backward, roots, grads, retain_graph, create_graph, inputs, accumulate)
    before = mode.graph_task, mode.grad_now    # in this order: an interrupt may come where grad mode is set
    begun = None
    try:
        begun = errstate.begin()
        task = GraphTask(roots, inputs, retain_graph)
        mode.graph_task, mode.grad = task, create_graph and mode.recorder
        walk = _walk
        if before[0] is not None:
            task.depth = (before[0].depth + 1) % DEPTH
            if not task.depth:
                walk = functools.partial(elsewhere, _walk)
        found = walk(roots, grads, retain_graph, create_graph, inputs, accumulate, beyond)
        for callback in task.callbacks:        # a callback may append others
            callback()
        return found
    except ValueError as error:                # NumPy's, for tensors whose memory was given another shape since
        if not any([text in str(error) for text in ("cannot reshape array", "non-broadcastable output operand")]):
            raise
        raise RuntimeError("a function returned an invalid gradient of another shape than that of its input") from None
    finally:
        try:
            errstate.end(begun)
        finally:
            mode.graph_task, mode.grad = before


def queue_callback(callback: Callable[[], object]) -> None:
    """Have `callback` called at the end of the running backward, when all gradients are there. RuntimeError if no
    backward is running."""
    if mode.graph_task is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    mode.graph_task.callbacks.append(callback)


def _walk(roots, grads, retain_graph, create_graph, inputs, accumulate, beyond):
    # One function, because each helper would be called once for every node. One turn of the loop:
    #   1. each gradient that the last node gave is added to `pending`, under the node or leaf that it goes to
    #   2. the youngest node comes off the heap, with its gradient; hooks of its output run
    #   3. with `inputs`: edges outside of the wanted part are dropped, and a wanted node's gradient is noted
    #   4. a node of one output of many hands its gradient to a slot of the node of all outputs
    #   5. the node's rules run: by `op.run` on arrays, or by `step` with hooks, `create_graph`, records or watchers
    pending: dict[Any, Any] = {}               # Node or leaf Tensor -> gradient so far
    owned = set()                              # keys of `pending` whose gradient is a fresh sum, free to add into
    heap: list[tuple[float, Node]] = []
    saved: Any
    targets: dict[Any, Any] | None = None if inputs is None else {edge_of(t): None for t in inputs}
    useful: Any = None if targets is None else leading_to(targets, roots)
    step, steppers = _step, mode.steppers
    if steppers:
        for stepper in steppers:
            step = stepper(step)
    edges: Sequence[Any] = [edge_of(root) for root in roots]
    if for_tangents_alone.data and not mode.pushing:
        useful = (reached_by(roots, None) if targets is None else useful).difference(for_tangents_alone)
        edges = [edge if edge in useful or edge not in for_tangents_alone else None for edge in edges]
    grads = [g if create_graph else g._array for g in grads]
    careful = create_graph or steppers or seam.up and mode.vmap_levels
    for g in grads:                            # gradients of records and of batches cannot be added in place
        if g.__class__ is not np.ndarray or g.dtype.kind == dt.WIDENED:
            careful = True
    if early.watched and accumulate and inputs is None:
        early.schedule(edges, pending, heap, _finish, create_graph)
    while True:
        for edge, d in zip(edges, grads):      # add each gradient to the sum so far
            if d is None or edge is None:
                continue
            is_node = isinstance(edge, Node)
            shape = edge.shape if is_node else edge._array.shape
            if d.shape != shape:
                d = _sum_to(d, shape)
            if edge not in pending:
                pending[edge] = d
                if is_node:
                    heappush(heap, (edge.sequence_nr, edge))
            elif careful:
                pending[edge] = plus(pending[edge], d)
            elif edge in owned:
                pending[edge] += d
            else:
                pending[edge] = total(pending[edge], d)
                if shape:
                    owned.add(edge)
        if not heap:
            break
        node = heappop(heap)[1]
        g = pending.pop(node)
        op, edges, extras = node.op, node.edges, node.hooks
        if extras is not None:
            g = _run_tensor_hooks(extras, g)
        if useful is not None:
            edges = [edge if edge in useful else None for edge in edges]
            if targets is not None and node in targets:
                targets[node] = g
                if accumulate and extras is not None and (extras.pre or extras.post):
                    step(node, g, [None] * len(edges), create_graph)       # for its hooks
                if not (beyond and any([edge is not None for edge in edges])):
                    grads = ()                 # no gradient is wanted beyond this node: it does not run
                    continue
        if op is SELECT:
            if edges[0] is not None:
                _fill_slot(edges[0], node.saved[0], g, pending, heap)
            grads = ()
            continue
        if careful or extras is not None:
            grads = step(node, g, edges, create_graph)
            careful = careful or any([is_widened(d) for d in grads])     # gradients may be records from here on
        else:
            versions = node.versions
            if not versions or (n := len(versions)) == 2 and versions[0][0] == versions[1] \
                    or n == 4 and versions[0][0] == versions[1] and versions[2][0] == versions[3]:
                saved = node.saved             # one or two saved tensors, not written to since
            else:
                saved = checked(node)
            grads = op.run(g, saved, edges)
        if node.versions and not retain_graph:
            node.saved, node.versions = None, FREED
    g = d = grads = saved = None               # now `pending` alone holds the last gradients
    return _finish(pending, targets, inputs, accumulate, create_graph)


def _fill_slot(source, k, g, pending, heap):
    """Put a gradient into slot `k` of a node of many outputs, which receives the gradients of all of them at once."""
    if source not in pending:
        pending[source] = [None] * len(source.shape)
        heappush(heap, (source.sequence_nr, source))
    slots = pending[source]
    slots[k] = g if slots[k] is None else plus(slots[k], g)


def _finish(pending, targets, inputs, accumulate, create_graph):
    """Write the gradients of leaves, or return the gradients that were asked for."""
    for leaf in pending:
        if leaf._hooks or leaf._accumulating is not None:
            _finish_hooked(pending, targets, accumulate, create_graph)
            break
    else:
        with accumulation.lock:
            for leaf in list(pending):
                g = pending.pop(leaf)          # drops this reference, so that .grad can take the array over
                if leaf._node is not None or leaf._view_info is not None:
                    _check_leaf(leaf)
                if targets is not None and leaf in targets:
                    targets[leaf] = g
                    if not accumulate:
                        continue
                accumulate_grad(leaf, g, create_graph)
    if not accumulate:
        # The edge of a view that was made without grad mode is a NOWHERE node: no gradient reaches it.
        edges = map(edge_of, inputs)
        return [None if isinstance(e, Node) and e.op is NOWHERE else as_tensor(targets[e]) for e in edges]


def _finish_hooked(pending, targets, accumulate, create_graph):
    """`_finish` for leaves with hooks. Hooks run without the lock, so it is taken for each leaf."""
    for leaf in list(pending):
        g = pending.pop(leaf)
        if leaf._node is not None or leaf._view_info is not None:
            _check_leaf(leaf)
        if leaf._hooks:
            g = through_tensor_hooks(leaf._hooks, g)
        if targets is not None and leaf in targets:
            targets[leaf] = g
            if not accumulate:
                continue
        if leaf._accumulating is not None:
            accumulate_with_hooks(leaf, g, create_graph)
        else:
            with accumulation.lock:
                accumulate_grad(leaf, g, create_graph)


def _check_leaf(leaf):
    """RuntimeError for a leaf that has got a node since, or that is a view written to since."""
    if leaf.grad_fn is not None:
        raise RuntimeError("leaf variable has been moved into the graph interior")


def _step(node, g, edges, create_graph):
    """One node's gradients, in the cases that the loop in `_walk` leaves out: the node has hooks, gradients are
    records, somebody watches each step, or gradients are Tensors so that the rules are recorded (for tangents alone, if
    the node was recorded for tangents alone)."""
    if create_graph and for_tangents_alone.data and mode.grad_now is not for_tangents and node in for_tangents_alone:
        return _step_for_tangents(node, g, edges)
    op, extras = node.op, node.hooks
    if extras is not None and extras.pre:
        g = through_node_hooks(extras.pre, g if op.multi else (g,))
        g = list(g) if op.multi else g[0]
    saved: Any = checked(node) if node.versions else node.saved
    if create_graph:
        saved = [saved_tensor(node, i, s) for i, s in enumerate(saved)]
    outputs: Any = g if op.multi else (g,)
    records: Sequence[Any] = ()
    if op.function is None and not op.converts:
        records = [(d._array if isinstance(d, Tensor) else d).dtype for d in outputs if is_widened(d)]
    narrow = dt.BFLOAT16 in records
    if create_graph and op.decomposition is not None:
        for i, make in op.stand_ins.items():
            array = make(saved[AUX])
            saved[i] = array if array is None else with_history(node.edges[i - op.first], array)
        grads = _through_decomposition(op, g, [edge is not None for edge in edges], saved)
    elif records and not create_graph:         # rules on arrays compute with float32
        run = op.run_of_batches or op.run
        grads = (run_by_steps(run, g, saved, edges) if op.steps or not narrow else
                 run(dt.widened(g), dt.widened(saved), edges))
    else:
        grads = (op.run_recorded if create_graph else op.run_of_batches or op.run)(g, saved, edges)
    if narrow:
        grads = [rounded(d) if isinstance(d, Tensor) else dt.narrowed(d) for d in grads]
    grads = [None if edge is None else d for d, edge in zip(grads, edges)]
    if create_graph:
        grads = [as_tensor(d) for d in grads]
    if extras is not None and extras.post:
        _run_post_hooks(node, grads, edges, outputs)
    return grads


def _step_for_tangents(node, g, edges):
    """The gradients of a node that was recorded for tangents alone: they are recorded for tangents alone too."""
    before, mode.grad = mode.grad, for_tangents
    try:                                       # a gradient that a rule returns unchanged gets a node here too
        return [d if d is None else d._alias() for d in _step(node, g, edges, True)]
    finally:
        mode.grad = before


def _run_post_hooks(node, grads, edges, outputs):
    """Replace the items of `grads` by the results of the node's post hooks."""
    grads[:] = [d if d is None else _sum_to(d, shape_of(edge)) for d, edge in zip(grads, edges)]
    at = node.inputs()
    changed = through_node_hooks(node.hooks.post, [grads[i] for i in at], outputs)
    for i, d in zip(at, changed):
        grads[i] = d


def run_node(node: Node, *grads: Tensor | None) -> Any:
    """The gradients of the inputs from the gradients of the outputs (tensors or None). Hooks do not run, the rules are
    recorded in grad mode, and saved tensors are kept."""
    op, taped = node.op, bool(mode.grad_now)
    count = len(node.shape) if op.multi else 1
    if op.function is not None:
        raise TypeError(f"'{op.backward_name}' object is not callable")
    if len(grads) != count:
        raise TypeError(f"expected {count} arguments, got {len(grads)} instead")
    for i, g in enumerate(grads):
        if g is not None and not isinstance(g, Tensor):
            raise TypeError(f"argument {i} is not a Variable")
    if all([g is None for g in grads]):
        results = [None] * len(node.edges)
    else:
        given = [g if g is None or taped else g._array for g in grads]
        hooks, node.hooks = node.hooks, None
        try:
            results = _step(node, given if op.multi else given[0], node.edges, taped)
        finally:
            node.hooks = hooks
    found = tuple([as_tensor(results[i]) for i in node.inputs()])
    return found[0] if len(found) == 1 else found


Node.__call__ = run_node                       # type: ignore[method-assign]


def _run_tensor_hooks(extras, g):
    """Run the hooks of a node's output on its gradient, keep the result for tensors with `retain_grad`, return it."""
    if extras.tensor_hooks:
        g = through_tensor_hooks(extras.tensor_hooks, g)
    for reference in extras.kept:
        tensor = reference()
        if tensor is not None:
            mine = as_tensor(g).clone()
            with accumulation.lock:
                tensor._grad = mine if tensor._grad is None else tensor._grad + mine
    return g


def _through_decomposition(op, g, wanted, saved):
    """Gradients of a fused op through its decomposition, computed again from the saved arguments.

    The decomposition runs on aliases of the arguments. The gradients that its graph yields are
    functions of these aliases; each alias is recorded, so they are functions of the arguments too.
    """
    args = [s._alias() if isinstance(s, Tensor) and s._requires_grad else s for s in saved[:ANS]]
    result = op.decomposition(*args)
    roots = result if op.multi else (result,)
    grads = list(g) if op.multi else [g]
    pairs = [(r, d) for r, d in zip(roots, grads) if d is not None and r._requires_grad]
    asked = [a for a, w in zip(args[op.first:], wanted) if w]
    found = iter(run_backward([r for r, _ in pairs], [d for _, d in pairs], True, True, asked, False))
    return [next(found) if w else None for w in wanted]


def _sum_to(g, shape):
    """Sum a gradient down to the shape of the input, which was broadcast."""
    if type(g) is np.ndarray and shape and g.shape[1:] == shape and g.dtype.char in "fd":     # a real array of floats
        return of_batch(g)
    if g.shape == shape:
        return g
    is_tensor = isinstance(g, Tensor)
    if not is_tensor and g.dtype.kind == dt.WIDENED:
        return dt.to_bfloat16(_sum_to(dt.from_bfloat16(g), shape)) if g.dtype == dt.BFLOAT16 else _sum_to(
            wrap(g), shape)._array
    lead = len(g.shape) - len(shape)
    if lead < 0:
        return g.expand(shape) if is_tensor else np.broadcast_to(g, shape)
    dims = tuple(range(lead)) + tuple([i + lead for i, n in enumerate(shape) if n == 1 and g.shape[i + lead] != 1])
    if is_tensor:
        if dims:
            g = g.sum(dims, keepdim=True)
        return g.reshape(shape) if lead else g
    if g.dtype.char == "e":                    # half precision is added up in float32
        return np.add.reduce(g, axis=dims, dtype=np.float32, keepdims=True).astype(np.float16).reshape(shape)
    return add_up(g, dims, True).reshape(shape)
