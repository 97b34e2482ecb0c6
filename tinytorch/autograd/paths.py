"""The parts of the graph that a backward reaches."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..tensor import Tensor
from .node import GradientEdge, Node


def edge_of(x: Tensor | GradientEdge) -> Node | Tensor:
    """The edge along which the gradient of a Tensor or GradientEdge goes: a node, or a leaf itself."""
    return x._node or x if isinstance(x, Tensor) else x.edge()


def reached_by(roots: Sequence[Tensor | GradientEdge],
               inputs: Sequence[Tensor | GradientEdge] | None) -> set[Node | Tensor]:
    """The nodes and leaves that receive a gradient in a backward from `roots`."""
    if inputs is not None:
        return leading_to({edge_of(t) for t in inputs}, roots)
    seen, stack = set(), [edge_of(r) for r in roots]
    while stack:
        node = stack.pop()
        if node is not None and node not in seen:
            seen.add(node)
            if isinstance(node, Node):
                stack.extend(node.edges)
    return seen


def leading_to(targets: Iterable[Node | Tensor], roots: Sequence[Tensor | GradientEdge]) -> set[Node | Tensor]:
    """All nodes and leaves on a path from `roots` to one of `targets`."""
    parents: dict[Node | Tensor, list[Node]] = {}
    stack, seen = [edge_of(r) for r in roots], set()
    while stack:
        node = stack.pop()
        if node in seen or not isinstance(node, Node):
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
