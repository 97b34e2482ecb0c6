"""torch.fx.passes.utils.source_matcher_utils: nodes by the function or module that they come from."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...graph import Graph
from ...node import Node

__all__ = ["SourcePartition", "check_subgraphs_connected", "get_source_partitions"]


@dataclass
class SourcePartition:
    """The nodes that come from one call of `source`: its inputs, the nodes that are used elsewhere, and its
    parameters."""

    nodes: list[Node]
    source: Any
    input_nodes: list[Node] = field(default_factory=list)
    output_nodes: list[Node] = field(default_factory=list)
    params: list[Node] = field(default_factory=list)


def _origin(node, wanted):
    """(source, name of the call) of a node, or None."""
    stack = node.meta.get("source_fn_stack")
    if stack:
        name, source = stack[-1]
        return (source, name) if source in wanted else None
    modules = node.meta.get("nn_module_stack")
    if not modules or node.op != "call_function":
        return None
    name, kind = list(modules.values())[-1]
    for source in wanted:
        known = isinstance(source, type) and (isinstance(kind, type) and issubclass(kind, source)
                                              or kind == f"{source.__module__}.{source.__qualname__}")
        if known or kind == source:
            return source, name
    return None


def get_source_partitions(graph: Graph, wanted_sources: list[Any],
                          filter_fn: Callable[[Node], bool] | None = None) -> dict[Any, list[SourcePartition]]:
    """{source: [a SourcePartition for each of its calls]} for functions and module classes that nodes come from
    (`node.meta["source_fn_stack"]` or `["nn_module_stack"]`). filter_fn: a condition that all nodes must satisfy."""
    found: dict[Any, dict[str, list[Node]]] = {}
    for node in graph.nodes:
        origin = _origin(node, wanted_sources)
        if origin is not None:
            found.setdefault(origin[0], {}).setdefault(origin[1], []).append(node)
    return {source: [_partition(nodes, source) for nodes in calls.values()
                     if filter_fn is None or all([filter_fn(node) for node in nodes])]
            for source, calls in found.items()}


def _partition(nodes, source):
    own = set(nodes)
    inputs = {x: None for node in nodes for x in node.args if isinstance(x, Node) and x not in own
              and x.op != "get_attr"}
    outputs = [node for node in nodes if node.op != "get_attr" and any([user not in own for user in node.users])]
    return SourcePartition(nodes, source, list(inputs), outputs, [node for node in nodes if node.op == "get_attr"])


def check_subgraphs_connected(subgraph1: SourcePartition, subgraph2: SourcePartition) -> bool:
    """Whether a node of the second partition uses a node of the first."""
    return any([user in subgraph2.nodes for node in subgraph1.nodes for user in node.users])
