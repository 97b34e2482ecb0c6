"""torch.fx.passes.tools_common: the order of graphs, and the names of their nodes in tables."""
from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from typing import Any

from ..._refused import refused_class
from ...nn import Module
from ...tensor import Tensor
from ..graph import Graph
from ..graph_module import GraphModule
from ..names import qualified
from ..node import Node

__all__ = ["FxNetAccFusionsFinder", "get_acc_ops_name", "get_node_target", "is_node_output_tensor", "legalize_graph",
           "stable_topological_sort"]

Tensors = tuple[Tensor] | list[Tensor]
TensorOrTensors = Tensor | Tensors
NodeList, NodeSet, Names = list[Node], set[Node], list[str]
#: The kinds of nodes that compute.
CALLABLE_NODE_OPS = {"call_module", "call_function", "call_method"}

FxNetAccFusionsFinder = refused_class(__name__, "FxNetAccFusionsFinder", "there are no accelerators to split for here")


def get_acc_ops_name(k: Any) -> str:
    """The name of a function or class in a table of operators; a text is returned as it is."""
    if isinstance(k, str):
        return k
    return f"acc_ops.{k.__name__}" if "acc_ops" in (k.__module__ or "") else qualified(k)


def get_node_target(submodules: Mapping[str, Module], node: Node) -> str:
    """The name of a node's target: "torch.relu", the class of a module, the name of a method.

    >>> import tinytorch as torch
    >>> from tinytorch.fx.passes.tools_common import get_node_target
    >>> [get_node_target({}, node) for node in torch.fx.symbolic_trace(lambda x: torch.relu(x)).graph.nodes
    ...  if node.op == "call_function"]
    ['torch.relu']
    """
    if node.op not in CALLABLE_NODE_OPS:
        raise AssertionError(f"Expect op types of {', '.join(CALLABLE_NODE_OPS)}, but found {node.op}")
    if node.op == "call_module":
        module = submodules[node.target]
        return get_acc_ops_name(getattr(module, "_base_class_origin", type(module)))
    return node.target if node.op == "call_method" else get_acc_ops_name(node.target)


def is_node_output_tensor(node: Node) -> bool:
    """Whether the node's result is a tensor, according to ShapeProp."""
    kind = node.meta.get("type")
    return kind is not None and issubclass(kind, Tensor)


def ordered(nodes: Iterable[Node]) -> NodeList:
    """The nodes, each after the nodes that it uses, otherwise in the given order; AssertionError for a cycle."""
    nodes = list(nodes)
    place = {node: i for i, node in enumerate(nodes)}
    missing = {node: len([x for x in node.all_input_nodes if x in place]) for node in nodes}
    ready = [place[node] for node in nodes if not missing[node]]
    found = []
    while ready:
        node = nodes[heapq.heappop(ready)]
        found.append(node)
        for user in node.users:
            if user in place:
                missing[user] -= 1
                if not missing[user]:
                    heapq.heappush(ready, place[user])
    if len(found) < len(nodes):
        raise AssertionError(f"Input graph has cycles, unable to add {[x for x in nodes if missing[x]]}")
    return found


def validate_partition(partition: Iterable[Node]) -> bool:
    """Whether nodes could become one node: no path leads from them through other nodes back to them."""
    own = set(partition)
    todo, seen = [user for node in own for user in node.users if user not in own], set()
    while todo:
        node = todo.pop()
        if node in own:
            return False
        if node not in seen:
            seen.add(node)
            todo.extend(node.users)
    return True


def stable_topological_sort(gm: GraphModule) -> GraphModule:
    """Moves every node of a module's graph after the nodes that it uses; the order stays the same otherwise. Returns
    the module."""
    made, copies = Graph(), {}
    for node in ordered(gm.graph.nodes):
        copies[node] = made.node_copy(node, copies.__getitem__)
    made.set_codegen(gm.graph._codegen)
    gm.graph = made
    return gm


def legalize_graph(gm: GraphModule) -> GraphModule:
    """Sorts the graph as `stable_topological_sort` does; RuntimeError if it has a cycle."""
    try:
        return stable_topological_sort(gm)
    except AssertionError as error:
        raise RuntimeError(str(error)) from None
