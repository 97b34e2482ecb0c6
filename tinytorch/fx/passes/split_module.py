"""torch.fx.passes.split_module: the split of a graph into parts by a number for each of its nodes."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...nn import Module
from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node, map_arg
from ..proxy import Proxy

__all__ = ["Partition", "split_module"]


class Partition:
    """One part: the names of its nodes, of its inputs and outputs, and of the parts that it depends on or that depend
    on it."""

    def __init__(self, name: str) -> None:
        self.name, self.submod_name, self.node_names = name, f"submod_{name}", []
        self.inputs: dict[str, None] = {}
        self.outputs: dict[str, None] = {}
        self.dependencies: dict[str, None] = {}
        self.dependents: dict[str, None] = {}
        self.graph = Graph()
        self.environment: dict[Node, Node] = {}
        self.targets: dict[str, Any] = {}

    def __repr__(self) -> str:
        return (f"name: {self.name},\n nodes: {self.node_names},\n inputs: {self.inputs},\n outputs: {self.outputs},\n"
                f" partitions depended on: {self.dependencies},\n partition dependents: {self.dependents}")


def _attribute(module, name):
    for part in name.split("."):
        if not hasattr(module, part):
            raise AttributeError(f"Node target {name} not found!")
        module = getattr(module, part)
    return module


def _used(parts, part_of, node, user):
    """Notes in the parts of both nodes that `user` uses `node`; `user` None stands for the result."""
    source, target = part_of.get(node), part_of.get(user)
    if source == target:
        return
    if source is not None:
        parts[source].outputs.setdefault(node.name)
        if target is not None:
            parts[source].dependents.setdefault(target)
            parts[target].dependencies.setdefault(source)
    if target is not None:
        parts[target].inputs.setdefault(node.name)


def _sorted(parts):
    """The names of the parts, each after the parts that it depends on."""
    missing = {name: set(part.dependencies) for name, part in parts.items()}
    ready, found = [name for name in parts if not missing[name]], []
    while ready:
        name = ready.pop()
        found.append(name)
        for other in parts[name].dependents:
            missing[other].discard(name)
            if not missing[other]:
                ready.append(other)
    if len(found) != len(parts):
        raise RuntimeError("cycle exists between partitions!")
    return found


def split_module(m: GraphModule, root_m: Module | None, split_callback: Callable[[Node], int],
                 qualname_map: dict[str, str] | None = None, keep_original_order: bool | None = False,
                 keep_original_node_name: bool | None = False, keep_original_input_name: bool = True, *,
                 partition_affix: str | None = None, tuple_return: bool = False) -> GraphModule:
    """A module that calls the modules submod_0, submod_1 ...; `split_callback` gives the number of the module for each
    node. RuntimeError if parts depend on each other.

    root_m                    changes nothing
    qualname_map              a dict that gets {name in a part: name in m} for the called modules
    keep_original_order       whether parts are called in the order of m's nodes
    keep_original_node_name   whether the parts' nodes have the names of m's nodes
    keep_original_input_name  whether the parts' arguments have the names of m's nodes, or else arg_0, arg_1 ...
    partition_affix           a text before the numbers
    tuple_return              whether a part with one result returns it in a tuple
    """
    parts, part_of = {}, {}
    named = {node.name: node for node in m.graph.nodes}
    for node in m.graph.nodes:
        if node.op not in ("placeholder", "get_attr", "output"):
            name = "_".join([*([partition_affix] if partition_affix is not None else []), str(split_callback(node))])
            part_of[node] = name
            parts.setdefault(name, Partition(name)).node_names.append(node.name)
    for node in m.graph.nodes:
        for used in node.all_input_nodes:
            _used(parts, part_of, used, node)
    order = _sorted(parts)
    for part in parts.values():
        _arguments(m, part, named, keep_original_input_name)
    for node, name in part_of.items():
        _copied(m, parts[name], node, keep_original_node_name, qualname_map)
    return _whole(m, [parts[name] for name in (parts if keep_original_order else order)], named, tuple_return)


def _arguments(m, part, named, keep_name):
    inputs = list(part.inputs)
    modules = [name for name in inputs if named[name].op == "get_attr"
               and isinstance(_attribute(m, named[name].target), Module)]
    part.inputs = dict.fromkeys([name for name in inputs if name not in modules])
    for i, name in enumerate(part.inputs):
        made = part.graph.placeholder(name if keep_name else f"arg_{i}", type_expr=named[name].type)
        made.meta = named[name].meta.copy()
        part.environment[named[name]] = made
    for name in modules:
        target = named[name].target
        part.environment[named[name]] = part.graph.get_attr(target)
        part.targets[target] = _attribute(m, target)


def _copied(m, part, node, keep_name, names):
    target = node.target
    if node.op == "call_module":
        target = node.target.replace(".", "_")
        part.targets[target] = _attribute(m, node.target)
        if names is not None:
            names[f"{part.submod_name}.{target}"] = node.target
    args, kwargs = map_arg((node.args, node.kwargs), part.environment.__getitem__)
    made = part.graph.create_node(node.op, target, args, kwargs, node.name if keep_name else None, node.type)
    made.meta = node.meta.copy()
    part.environment[node] = made


def _whole(m, parts, named, tuple_return):
    """The module that calls the parts."""
    graph, seen, root = Graph(), {}, {}
    for node in m.graph.nodes:
        if node.op == "placeholder":
            seen[node.name] = graph.placeholder(node.target, node.type, *node.args[:1])
            seen[node.name].meta = node.meta.copy()

    def known(name):
        if name not in seen and named[name].op == "get_attr":
            seen[name] = graph.get_attr(named[name].target)
            seen[name].meta = named[name].meta.copy()
            root[named[name].target] = _attribute(m, named[name].target)
        return seen[name]

    for node in m.graph.nodes:
        if node.op == "get_attr" and not isinstance(_attribute(m, node.target), Module):
            known(node.name)
    for part in parts:
        given = tuple([part.environment[named[name]] for name in part.outputs])
        alone = len(given) == 1 and not tuple_return
        part.graph.output(given[0] if alone else given)
        root[part.submod_name] = GraphModule(part.targets, part.graph)
        call = graph.call_module(part.submod_name, tuple([known(name) for name in part.inputs]))
        for i, name in enumerate(part.outputs):
            seen[name] = call if alone else Proxy(call)[i].node
    output = m.graph.output_node()
    graph.output(map_arg(output.args[0], lambda node: known(node.name)), output.type).meta = output.meta.copy()
    made = GraphModule(root, graph)
    made.meta = dict(m.meta)
    return made
