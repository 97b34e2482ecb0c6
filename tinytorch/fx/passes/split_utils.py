"""torch.fx.passes.split_utils: the split of a graph into parts by the tags of its nodes."""
from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from ...nn import ModuleList
from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node, map_arg
from ..proxy import Proxy
from .tools_common import CALLABLE_NODE_OPS, NodeList, is_node_output_tensor
from .utils import HolderModule, lift_subgraph_as_module

__all__ = ["Component", "getattr_recursive", "move_non_tensor_nodes_on_boundary", "setattr_recursive",
           "split_by_tags"]


def getattr_recursive(obj: object, name: str) -> Any:
    """obj.a.b for the name "a.b"; None if there is no such attribute."""
    for part in name.split("."):
        obj = obj._modules.get(part) if isinstance(obj, ModuleList) else getattr(obj, part, None)
        if obj is None:
            return None
    return obj


def setattr_recursive(obj: object, attr: str, value: object) -> None:
    """obj.a.b = value for the name "a.b"."""
    path, _, last = attr.rpartition(".")
    for part in path.split(".") if path else ():
        obj = getattr(obj, part)
    setattr(obj, last, value)


@dataclass
class Component:
    """One part: its graph, its number, and the nodes of the whole graph that are its inputs and outputs."""

    graph: Graph
    order: int
    name: str
    input_placeholders: list[Node] = field(default_factory=list)
    orig_inputs: list[Node] = field(default_factory=list)
    orig_outputs: list[Node] = field(default_factory=list)
    getattr_maps: dict[Node, Node] = field(default_factory=dict)
    constructor_args: list[str] = field(default_factory=list)
    gm: GraphModule | None = None


def _nodes_in(value):
    found = []
    map_arg(value, found.append)
    return found


class _Splitting:
    """The state of the split of a module's graph."""

    def __init__(self, gm, tags):
        self.gm, self.main, self.in_main = gm, Graph(), {}
        self.parts = {tag: Component(Graph(), i, str(tag)) for i, tag in enumerate(tags)}
        self.part_of, self.made, self.asked = {}, {}, {}

    def place(self, node):
        """Adds a node that calls a function, method or module to its part."""
        if not hasattr(node, "tag"):
            raise AssertionError(f"Node does not have tag: {node.format_node()}")
        part = self.part_of[node] = self.parts[node.tag]
        latest = max([self.part_of[x].order for x in node.all_input_nodes if x in self.part_of], default=0)
        if part.order < latest:
            raise AssertionError(f"Component {part.name} order must be >= max of its upstream components, "
                                 f"order={part.order} and max={latest}")
        made = self.made[node] = part.graph.node_copy(node, lambda x: self._within(part, x))
        made.tag = node.tag

    def _within(self, part, node):
        """The node of a part for a node of the whole graph."""
        if node.op == "get_attr":
            if node not in part.getattr_maps:
                part.getattr_maps[node] = part.graph.get_attr(node.target, type_expr=node.type)
                part.getattr_maps[node].meta = copy.copy(node.meta)
            return part.getattr_maps[node]
        if self.part_of.get(node) is part:
            return self.made[node]
        if node not in part.orig_inputs:
            made = part.graph.placeholder(node.name, type_expr=node.type)
            made.meta = copy.copy(node.meta)
            part.orig_inputs.append(node)
            part.input_placeholders.append(made)
            self.asked[node] = None
        return part.input_placeholders[part.orig_inputs.index(node)]

    def call(self, part, return_tuple):
        """Makes a module of a part, and adds its call to the main graph. Returns {name: name in the part}."""
        given = tuple([self.made[node] for node in part.orig_outputs])
        alone = len(given) == 1 and not return_tuple
        part.graph.output(given[0] if alone else given)
        part.gm, names = lift_subgraph_as_module(self.gm, part.graph, part.name)
        call = self.main.call_module(part.name, tuple([self.in_main[node] for node in part.orig_inputs]))
        for i, node in enumerate(part.orig_outputs):
            self.in_main[node] = call if alone else Proxy(call)[i].node
        return names


def split_by_tags(gm: GraphModule, tags: list[str], return_fqn_mapping: bool = False, return_tuple: bool = False,
                  GraphModuleCls: type[GraphModule] = GraphModule) -> Any:
    """A module that calls one module for each tag, in the order of the tags. Each has the nodes whose attribute `tag`
    is its tag. Every node that calls a function, method or module must have a tag; attributes go to the part that uses
    them.

    return_fqn_mapping  whether the result is (module, {old name: new name} of modules and attributes)
    return_tuple        whether a part with one result returns it in a tuple
    """
    work = _Splitting(gm, tags)
    for node in gm.graph.nodes:
        if node.op == "placeholder":
            work.in_main[node] = work.main.placeholder(node.name, type_expr=node.type)
            work.in_main[node].meta = copy.copy(node.meta)
        elif node.op in CALLABLE_NODE_OPS:
            work.place(node)
    output = gm.graph.output_node()
    for node in _nodes_in(output.args[0]):
        if node.op == "get_attr":
            work.in_main[node] = work.main.get_attr(node.name, type_expr=node.type)
        else:
            work.asked[node] = None
    for node in work.asked:
        if node.op != "placeholder":
            work.part_of[node].orig_outputs.append(node)
    names = {}
    for part in work.parts.values():
        names.update(work.call(part, return_tuple))
    work.main.output(map_arg(output.args[0], work.in_main.__getitem__))
    made = GraphModuleCls(HolderModule({part.name: part.gm for part in work.parts.values()}), work.main)
    return (made, names) if return_fqn_mapping else made


def move_non_tensor_nodes_on_boundary(subgraphs: list[Any]) -> None:
    """Moves nodes whose result is not a tensor to the next part, if only that part uses them. Parts have `nodes` and
    `is_acc`."""
    part_of = {node: part for part in subgraphs for node in part.nodes}
    for part in subgraphs:
        moved: NodeList = []
        for node in reversed(part.nodes):
            users = [user for user in node.users if user.op in CALLABLE_NODE_OPS and user not in moved]
            to = {id(part_of[user]) for user in users if user in part_of}
            if node.op in CALLABLE_NODE_OPS and not is_node_output_tensor(node) and users and len(to) == 1 and (
                    id(part) not in to):
                other = part_of[users[0]]
                other.nodes.insert(0, node)
                part_of[node] = other
                moved.append(node)
        part.nodes = [node for node in part.nodes if node not in moved]
