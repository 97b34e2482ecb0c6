"""Leaves whose gradients are wanted as soon as they are complete, while the rest of backward still has to run.

DistributedDataParallel, which sends gradients to other processes, watches its parameters here, so that sending overlaps
computing. The engine writes gradients of leaves at its end; for a leaf that is watched, a Marker goes into its heap,
right behind the last node that reads the leaf. If no leaf is watched, a backward only looks at an empty dictionary.
"""
from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ..tensor import Tensor
from .node import Node

__all__ = ["Receiver", "schedule", "unwatch", "watch", "watched"]


class Receiver(Protocol):
    """An object that is notified of gradients."""

    def gradient_ready(self, index: int) -> None:
        """The gradient of leaf `index` is in its `.grad`, or it gets none from this backward."""

    def backward_ended(self) -> None:
        """All watched leaves that this backward reaches have been reported."""


#: id(leaf) -> (receiver, index) for each receiver that watches it. A receiver holds its leaves, so that no other object
#: gets their ids, and its finaliser removes them.
watched: dict[int, list[tuple[weakref.ref, int]]] = {}


def watch(receiver: Receiver, leaves: Sequence[Tensor]) -> Callable[[], None]:
    """Notify `receiver` in every backward from now on when the gradient of one of its `leaves` is ready. Returns a
    function that ends this; deletion of the receiver ends it too."""
    reference, ids = weakref.ref(receiver), [id(leaf) for leaf in leaves]
    for i, key in enumerate(ids):
        watched.setdefault(key, []).append((reference, i))
    return weakref.finalize(receiver, unwatch, reference, ids)


def unwatch(reference: weakref.ref, ids: Sequence[int]) -> None:
    """Remove the entries that `watch` added."""
    for key in ids:
        left = [entry for entry in watched.get(key, ()) if entry[0] is not reference]
        if left:
            watched[key] = left
        else:
            watched.pop(key, None)


class _Call:
    """The op of a Marker. The "gradient" of a Marker is a function, or None, and the op calls that function."""

    decomposition, multi, converts, function = None, False, False, True      # the engine must not convert the function

    @staticmethod
    def run(g, saved, edges):
        if g is not None:
            g()
        return (None,)

    run_recorded = run


class Marker:
    """An entry of the engine's heap that runs a function when its turn comes. It has one edge, to nowhere."""

    __slots__ = ()
    op, hooks, versions, saved, edges = _Call, None, (), (), (None,)
    metadata: dict = {}

    def name(self) -> str:
        return "Marker"


def schedule(edges: Sequence[Node | Tensor | None], pending: dict, heap: list,
             finish: Callable[..., None], create_graph: bool) -> None:
    """Put markers into `heap` for the watched leaves that a backward from `edges` reaches. `finish` is the engine's
    function that writes `.grad`."""
    last = _last_readers(edges)
    if not last:
        return
    receivers: dict[int, Any] = {}

    def tell(leaves):
        for leaf in leaves:
            if leaf in pending:
                finish({leaf: pending.pop(leaf)}, None, None, True, create_graph)
            for reference, i in watched.get(id(leaf), ()):
                receiver = reference()
                if receiver is not None:
                    receivers[id(receiver)] = receiver
                    receiver.gradient_ready(i)

    def end():
        for receiver in receivers.values():
            receiver.backward_ended()

    def put(number, function=None):
        marker = Marker()
        pending[marker] = function
        heap.append((number, marker))

    for reader in set(last.values()):
        if reader is None:
            leaves = [leaf for leaf in last if last[leaf] is None]
        else:                                  # reversed: a bias comes before its weight, as in torch
            leaves = [edge for edge in dict.fromkeys(reversed(reader.edges))
                      if last.get(edge) is reader and edge is not None]
        number = 0 if reader is None else reader.sequence_nr
        # The first marker lets the engine drop its references to the gradients of the node before, so that a leaf can
        # take its gradient over.
        put(number + 0.25)
        put(number + 0.5, lambda leaves=leaves: tell(leaves))
    put(1.0, end)
    heap.sort(key=lambda entry: entry[0])


def _last_readers(edges):
    """{watched leaf: the node that reads it last in a backward from `edges`, or None if the leaf is a root itself}."""
    last: dict[Tensor, Node | None] = {}
    seen, stack = set(), []
    for edge in edges:
        if isinstance(edge, Node):
            stack.append(edge)
        elif edge is not None and id(edge) in watched:
            last[edge] = None
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        for edge in node.edges:
            if isinstance(edge, Node):
                stack.append(edge)
            elif edge is not None and id(edge) in watched:
                other = last.get(edge)
                if other is None or other.sequence_nr < node.sequence_nr:
                    last[edge] = node
    return last
