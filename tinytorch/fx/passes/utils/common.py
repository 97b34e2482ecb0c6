"""torch.fx.passes.utils.common: modules made from graphs, and the comparison of graphs."""
from __future__ import annotations

from ....nn import Module
from ...graph import Graph
from ...graph_module import GraphModule
from .matcher_utils import SubgraphMatcher

__all__ = ["HolderModule", "compare_graphs", "lift_subgraph_as_module"]


class HolderModule(Module):
    """A module that holds others."""

    def __init__(self, d: dict[str, Module | None]) -> None:
        super().__init__()
        for name, module in d.items():
            self.add_module(name, module)


def lift_subgraph_as_module(gm: GraphModule, subgraph: Graph, comp_name: str = "",
                            class_name: str = "GraphModule") -> tuple[GraphModule, dict[str, str]]:
    """(a module of the graph with the attributes of gm that it uses, {name in gm: comp_name.name})"""
    holder, names = HolderModule({}), {}
    for node in subgraph.nodes:
        if node.op not in ("call_module", "get_attr"):
            continue
        *path, last = node.target.split(".")
        owner, source = holder, gm
        for part in path:
            if not hasattr(owner, part):
                owner.add_module(part, HolderModule({}))
            owner, source = getattr(owner, part), getattr(source, part)
        setattr(owner, last, getattr(source, last))
        names[node.target] = f"{comp_name}.{node.target}"
    return GraphModule(holder, subgraph, class_name), names


def compare_graphs(left: Graph, right: Graph) -> bool:
    """Whether the graphs make the same calls with the same arguments in the same order, apart from names."""
    return bool(SubgraphMatcher(left, match_output=True, match_placeholder=True).match(right))
