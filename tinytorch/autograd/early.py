"""Leaves whose gradients are wanted as soon as they are complete, while the rest of backward still has to run.

What sends gradients to other processes asks for them here: then the sending overlaps the computing. The engine hands
gradients to leaves at its end; for a leaf that is watched, a Marker is put into its heap, right behind the last node
that reads the leaf. Where nothing is watched a backward costs one look at an empty dictionary more.
"""
from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ..tensor import Tensor
from .node import Node

__all__ = ["Receiver", "schedule", "unwatch", "watch", "watched"]


class Receiver(Protocol):
    """Who is told of gradients."""

    def gradient_ready(self, index: int) -> None:
        """The gradient of leaf `index` is in its `.grad`, or it gets none from this backward."""

    def backward_ended(self) -> None:
        """All watched leaves that this backward reaches have been reported."""


#: id(leaf) -> (receiver, index) of each who watches it. A receiver holds its leaves, so that the ids stay theirs, and
#: takes them out when it goes.
watched: dict[int, list[tuple[weakref.ref, int]]] = {}


def watch(receiver: Receiver, leaves: Sequence[Tensor]) -> Callable[[], None]:
    """From now on backwards tell `receiver` of its `leaves`, by their numbers. Returns what ends that; so does the end
    of the receiver."""
    reference, ids = weakref.ref(receiver), [id(leaf) for leaf in leaves]
    for i, key in enumerate(ids):
        watched.setdefault(key, []).append((reference, i))
    return weakref.finalize(receiver, unwatch, reference, ids)


def unwatch(reference: weakref.ref, ids: Sequence[int]) -> None:
    """Takes out what `watch` put in."""
    for key in ids:
        left = [entry for entry in watched.get(key, ()) if entry[0] is not reference]
        if left:
            watched[key] = left
        else:
            watched.pop(key, None)


class _Call:
    """The op of a Marker: its gradient is a function, or None, and it calls that."""

    decomposition, multi, converts, function = None, False, False, True      # gradients are taken as they are

    @staticmethod
    def run(g, saved, edges):
        if g is not None:
            g()
        return (None,)

    run_recorded = run


class Marker:
    """Stands in the engine's heap for something to be done in its place in the order. It has one edge, to nowhere."""

    __slots__ = ()
    op, hooks, versions, saved, edges = _Call, None, (), (), (None,)
    metadata: dict = {}

    def name(self) -> str:
        return "Marker"


def schedule(edges: Sequence[Node | Tensor | None], pending: dict, heap: list,
             finish: Callable[..., None], create_graph: bool) -> None:
    """Puts markers into `heap` for the watched leaves that a backward from `edges` reaches. `finish` is the engine's
    function that writes `.grad`."""
    last: dict[Tensor, Node | None] = {}       # leaf -> the node that reads it last, None for a root itself
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
        # A bias before its weight, as in torch.
        leaves = [leaf for leaf in last if last[leaf] is None] if reader is None else [
            edge for edge in dict.fromkeys(reversed(reader.edges)) if last.get(edge) is reader and edge is not None]
        number = 0 if reader is None else reader.sequence_nr
        # The first marker lets the engine drop the gradients it has just handed on, so that a leaf can take its over.
        put(number + 0.25)
        put(number + 0.5, lambda leaves=leaves: tell(leaves))
    put(1.0, end)
    heap.sort(key=lambda entry: entry[0])
