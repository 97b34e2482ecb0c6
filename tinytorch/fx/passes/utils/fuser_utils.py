"""torch.fx.passes.utils.fuser_utils: parts of a graph become modules that it calls."""
from __future__ import annotations

import copy

from ...graph import Graph
from ...graph_module import GraphModule
from ...node import Node
from ...proxy import Proxy
from ..tools_common import NodeList, ordered, stable_topological_sort, validate_partition
from .common import lift_subgraph_as_module

__all__ = ["erase_nodes", "fuse_as_graphmodule", "fuse_by_partitions", "insert_subgm", "topo_sort",
           "validate_partition"]


def topo_sort(nodes: NodeList) -> NodeList:
    """The nodes, each after the nodes that it uses."""
    return ordered(nodes)


def fuse_as_graphmodule(gm: GraphModule, nodes: NodeList, module_name: str,
                        partition_lookup_table: dict[Node, int | None] | None = None, *,
                        always_return_tuple: bool = False) -> tuple[GraphModule, tuple, tuple]:
    """(a module of these nodes of gm in their order, the nodes that are its inputs, the nodes that it replaces)"""
    for node in nodes:
        if node.graph.owning_module is not gm:
            raise AssertionError(f"{node} doesn't belong to passed in graph module {gm._get_name()}")
        if node._erased:
            raise AssertionError(f"{node} has been removed from owning graph")
    if not validate_partition(nodes):
        raise AssertionError("Invalid partition, found dependency cycles")
    own, graph, inputs, made = set(nodes), Graph(), {}, {}

    def within(node):
        if node in own:
            return made[node]
        if node not in inputs:
            inputs[node] = graph.placeholder(node.name, type_expr=node.type)
            inputs[node].meta = copy.copy(node.meta)
        return inputs[node]

    for node in nodes:
        made[node] = graph.node_copy(node, within)
    outputs = tuple([node for node in nodes if any([user not in own for user in node.users])])
    given = tuple([made[node] for node in outputs])
    graph.output(given[0] if len(given) == 1 and not always_return_tuple else given)
    graph.lint()
    return lift_subgraph_as_module(gm, graph, class_name=module_name)[0], tuple(inputs), outputs


def insert_subgm(gm: GraphModule, sub_gm: GraphModule, orig_inputs: tuple[Node, ...], orig_outputs: tuple[Node, ...],
                 insertion_point: Node | None = None) -> GraphModule:
    """Adds a call of the module sub_gm to gm, after the last of the nodes that it replaces. Returns gm."""
    name, graph = type(sub_gm).__name__, gm.graph
    gm.add_submodule(name, sub_gm)
    if insertion_point is None:
        insertion_point = [node for node in graph.nodes if node in orig_outputs][-1]
    with graph.inserting_after(insertion_point):
        call = graph.call_module(name, orig_inputs)
    if len(orig_outputs) == 1 and not isinstance(sub_gm.graph.output_node().args[0], tuple):
        orig_outputs[0].replace_all_uses_with(call, propagate_meta=True)
        return gm
    with graph.inserting_before(call.next):
        for i, node in enumerate(orig_outputs):
            node.replace_all_uses_with(Proxy(call)[i].node, propagate_meta=True)
    if orig_outputs:
        call.meta["val"] = tuple([node.meta.get("val") for node in orig_outputs])
    return gm


def erase_nodes(gm: GraphModule, nodes: NodeList) -> None:
    """Removes nodes from the graph, beginning with the last."""
    for node in reversed(nodes):
        gm.graph.erase_node(node)


def fuse_by_partitions(gm: GraphModule, partitions: list[dict[Node, int | None]], prefix: str = "fused_",
                       always_return_tuple: bool = False) -> GraphModule:
    """Makes a module of each set of nodes, with the names prefix0, prefix1 ... Returns gm."""
    for number, partition in enumerate(partitions):
        nodes = topo_sort(list(partition))
        made, inputs, outputs = fuse_as_graphmodule(gm, nodes, f"{prefix}{number}",
                                                    always_return_tuple=always_return_tuple)
        insert_subgm(gm, made, inputs, outputs, nodes[-1])
        erase_nodes(gm, nodes)
    stable_topological_sort(gm)
    gm.graph.lint()
    return gm
