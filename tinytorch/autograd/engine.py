"""Backward: walk the tape from the youngest node down, handing each gradient to its inputs.

A heap of nodes that have received a gradient, youngest first, is all the order that is needed: when
a node is on top, everything that reads its output is younger and has been done. No recursion, so
depth does not matter. On a plain backward the gradients are ndarrays and nothing is recorded; with
`create_graph` they are Tensors, the same rules are called with Tensors, and what they do is taped.
"""
from heapq import heappop, heappush
from sys import getrefcount

import numpy as np

from .. import dtypes as dt
from ..tensor import Tensor, wrap
from .grad_mode import mode
from .node import ANS, AUX, FREED, SELECT, Node

_FREED_ERROR = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have "
    "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
    "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if "
    "you need to access saved tensors after calling backward.")


def run_backward(roots, grads, retain_graph, create_graph, inputs=None, accumulate=True):
    """Propagate `grads` (Tensors) from tensors `roots`.

    With `inputs`, only what lies between is computed. `accumulate` adds into `.grad` of the leaves
    (of `inputs`, if given); otherwise the gradients of `inputs` are returned, None where unreached.
    """
    before, mode.grad = mode.grad, create_graph
    try:
        return _walk(roots, grads, retain_graph, create_graph, inputs, accumulate)
    finally:
        mode.grad = before


def _walk(roots, grads, retain_graph, create_graph, inputs, accumulate):
    pending = {}                               # Node or leaf Tensor -> gradient so far
    owned = set()                              # those whose gradient is a fresh sum, free to add into
    heap = []
    targets = None if inputs is None else {t.node or t: None for t in inputs}
    useful = None if targets is None else _leading_to(targets, roots)

    def send(edge, g):
        """Add `g` to what has arrived at `edge`."""
        shape = edge.shape if edge.__class__ is Node else edge.array.shape
        if g.shape != shape:
            g = _sum_to(g, shape)
        if edge not in pending:
            pending[edge] = g
            if edge.__class__ is Node:
                heappush(heap, (edge.order, edge))
        elif edge in owned:
            pending[edge] += g
        else:
            pending[edge] = pending[edge] + g
            if shape and not create_graph:
                owned.add(edge)

    for root, g in zip(roots, grads):
        send(root.node or root, g if create_graph else g.array)
    while heap:
        node = heappop(heap)[1]
        g = pending.pop(node)
        op, edges = node.op, node.edges
        if node.hooks is not None:
            g = _run_hooks(node.hooks, g)
        if targets is not None:
            if node in targets:
                targets[node] = g
            edges = [edge if edge in useful else None for edge in edges]
        if op is SELECT:
            if edges[0] is not None:
                _fill_slot(edges[0], node.saved[0], g, pending, heap)
            continue
        if node.versions:
            _check_saved(node)
        if create_graph:
            _with_graph(node, g, edges, send)
        elif op.joint is None:
            saved = node.saved
            for edge, back in zip(edges, op.backs):
                if edge is not None and back is not None:
                    d = back(g, saved, edge)
                    if d is not None:
                        send(edge, d)
        else:
            wanted = [edge is not None for edge in edges]
            for edge, d in zip(edges, op.joint(g, wanted, node.saved)):
                if edge is not None and d is not None:
                    send(edge, d)
        if node.versions and not retain_graph:
            node.saved, node.versions = None, FREED
    g = d = saved = None                       # the last gradients are held by `pending` alone now
    return _finish(pending, targets, inputs, accumulate, create_graph)


def _fill_slot(source, k, g, pending, heap):
    """The gradient of output `k` of a many-output node, which gets them all at once."""
    if source not in pending:
        pending[source] = [None] * len(source.shape)
        heappush(heap, (source.order, source))
    slots = pending[source]
    slots[k] = g if slots[k] is None else slots[k] + g


def _finish(pending, targets, inputs, accumulate, create_graph):
    """Write the gradients of leaves, or hand back those asked for."""
    for leaf in list(pending):
        g = pending.pop(leaf)                  # let go of it, so that .grad can take it over
        if leaf._hooks:
            g = _run_hooks(leaf._hooks.values(), g)
        if targets is not None and leaf in targets:
            targets[leaf] = g
            if not accumulate:
                continue
        accumulate_grad(leaf, g, create_graph)
    if accumulate and inputs is not None:
        for t in inputs:                       # leaves have theirs; backward(inputs=[non-leaf]) too
            if t.node is not None and targets[t.node] is not None:
                accumulate_grad(t, targets[t.node], create_graph)
    if not accumulate:
        return [_as_tensor(targets[t.node or t]) for t in inputs]


def accumulate_grad(leaf, g, create_graph=False):
    """Add `g` to leaf.grad: taken over if nobody else holds it, else copied; later ones in place."""
    array = g.array if isinstance(g, Tensor) else np.asarray(g)
    if array.dtype != leaf.array.dtype:
        g = array = array.real.astype(leaf.array.dtype) if leaf.array.dtype.kind != "c" else array.astype(leaf.array.dtype)
    grad = leaf._grad
    if create_graph:
        g = g if isinstance(g, Tensor) else wrap(array)
        leaf._grad = g.clone() if grad is None else grad + g
    elif grad is None:
        # References: the caller's `g`, ours, `array`, the call itself. Any more, or a view: it is shared.
        if array.base is not None or getrefcount(array) > 4 or array.strides != leaf.array.strides:
            fresh = np.empty_like(leaf.array)
            fresh[...] = array
            array = fresh
        leaf._grad = wrap(array)
    else:
        np.add(grad.array, array, out=grad.array)
        grad.version[0] += 1
    for hook in leaf.__dict__.get("_post_accumulate_hooks", {}).values():
        hook(leaf)


def _check_saved(node):
    """RuntimeError if the saved arrays are gone, or have been written to since."""
    versions = node.versions
    if versions is FREED:
        raise RuntimeError(_FREED_ERROR)
    for i in range(0, len(versions), 2):
        if versions[i][0] != versions[i + 1]:
            _raise_modified(node, i)


def _raise_modified(node, i):
    cell, version = node.versions[i:i + 2]
    raise RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{_describe(node, i // 2)} is at version {cell[0]}; expected version {version} instead. "
        "Hint: enable anomaly detection to find the operation that failed to compute its gradient, "
        "with torch.autograd.set_detect_anomaly(True).")


def _describe(node, number):
    """The saved tensor of that number as torch names it: type, shape, and who made it."""
    places = [(i, s) for i, s in enumerate(node.saved[:AUX]) if isinstance(s, np.ndarray)]
    place, array = places[min(number, len(places) - 1)]
    text = f"torch.{dt.of(array).tensor_type} {list(array.shape)}]"
    k = place - node.op.first
    maker = node if place == len(node.saved) + ANS else node.edges[k] if 0 <= k < len(node.edges) else None
    if maker.__class__ is not Node:
        return text + ("," if maker is None else "")
    return f"{text}, which is output 0 of {maker.name()},"


def _with_graph(node, g, edges, send):
    """One node's step with Tensors, so that what it does is recorded."""
    op = node.op
    saved = [_saved_tensor(node, i, s) for i, s in enumerate(node.saved)]
    if op.joint is None:
        for edge, back in zip(edges, op.backs):
            if edge is not None and back is not None:
                d = back(g, saved, edge)
                if d is not None:
                    send(edge, _as_tensor(d))
        return
    wanted = [edge is not None for edge in edges]
    if op.twin is None:
        grads = op.joint(g, wanted, saved)
    else:
        grads = _through_twin(op, g, wanted, saved)
    for edge, w, d in zip(edges, wanted, grads):
        if w and d is not None:
            send(edge, _as_tensor(d))


def _through_twin(op, g, wanted, saved):
    """Gradients of a fused op through its composite twin, computed anew from the saved arguments.

    The twin runs on stand-ins of the arguments; the gradients that its graph yields are functions of
    them, and since each stand-in is a recorded alias of its argument, of the arguments too.
    """
    args = [s.alias() if isinstance(s, Tensor) and s.tracked else s for s in saved[:ANS]]
    result = op.twin(*args)
    roots = [r for r in (result if op.multi else (result,))]
    grads = list(g) if op.multi else [g]
    pairs = [(r, d) for r, d in zip(roots, grads) if d is not None and r.tracked]
    asked = [a for a, w in zip(args[op.first:], wanted) if w]
    found = iter(run_backward([r for r, _ in pairs], [d for _, d in pairs], True, True, asked, False))
    return [next(found) if w else None for w in wanted]


def _saved_tensor(node, i, s):
    """What node.saved[i] is as a Tensor with its history."""
    count = len(node.saved)
    if i == count + AUX:
        return s if not isinstance(s, np.ndarray) else wrap(s)
    if i == count + ANS and node.op.multi and s is not None:
        return tuple([_saved_output(node, k, array) for k, array in enumerate(s)])
    if not isinstance(s, np.ndarray):
        return s
    t = wrap(s)
    if i == count + ANS:
        t.node, t.tracked = node, True
        return t
    k = i - node.op.first
    edge = node.edges[k] if 0 <= k < len(node.edges) else None
    if edge is None:
        return t
    if edge.__class__ is not Node:
        return edge
    t.node, t.tracked = edge, True
    return t


def _saved_output(node, k, array):
    """Output `k` of a many-output node as a Tensor with its history."""
    t = wrap(array)
    if array.dtype.kind in "fcV":
        t.node, t.tracked = Node(SELECT, (node,), (k, None, None), (), array.shape), True
    return t


def _leading_to(targets, roots):
    """All nodes and leaves on a path from `roots` to one of `targets`."""
    parents, stack, seen = {}, [r.node or r for r in roots], set()
    while stack:
        node = stack.pop()
        if node in seen or node.__class__ is not Node:
            continue
        seen.add(node)
        for edge in node.edges:
            if edge is not None:
                parents.setdefault(edge, []).append(node)
                stack.append(edge)
    useful, stack = set(targets), list(targets)
    while stack:
        for parent in parents.get(stack.pop(), ()):
            if parent not in useful:
                useful.add(parent)
                stack.append(parent)
    return useful


def _run_hooks(hooks, g):
    """Pass a gradient through hooks; one that returns something replaces it."""
    tensor = _as_tensor(g)
    for hook in list(hooks):
        result = hook(tensor)
        if result is not None:
            tensor = result
    return tensor if isinstance(g, Tensor) else tensor.array


def _sum_to(g, shape):
    """Sum a gradient down to the shape that was broadcast."""
    lead = len(g.shape) - len(shape)
    dims = tuple(range(lead)) + tuple(
        i + lead for i, n in enumerate(shape) if n == 1 and g.shape[i + lead] != 1)
    if lead < 0:
        return g.expand(shape) if isinstance(g, Tensor) else np.broadcast_to(g, shape)
    if isinstance(g, Tensor):
        if dims:
            g = g.sum(dims, keepdim=True)
        return g.reshape(shape) if lead else g
    return np.add.reduce(g, axis=dims, keepdims=True).reshape(shape)


def _as_tensor(g):
    return g if g is None or isinstance(g, Tensor) else wrap(np.asarray(g))
