"""torch.fx.passes.utils.matcher_with_name_node_map_utils: patterns whose nodes have names."""
from __future__ import annotations

import copy

from ...graph import Graph
from ...graph_module import GraphModule
from ...node import Node
from .matcher_utils import InternalMatch, SubgraphMatcher

__all__ = ["SubgraphMatcherWithNameNodeMap"]


def _split_to_graph_and_name_node_map(gm: GraphModule) -> tuple[GraphModule, dict[str, Node]]:
    """(module without the names, {name: node}) for a module that returns (results, {name: node})."""
    gm = copy.deepcopy(gm)
    output = gm.graph.output_node()
    *results, names = output.args[0]
    if not isinstance(names, dict):
        raise AssertionError("Expecting the input graph to have a dict output as the last element")
    output.args = (tuple(results),)
    if len(results) == 1:
        output.args = (results[0],)
    gm.recompile()
    return gm, dict(names)


class SubgraphMatcherWithNameNodeMap(SubgraphMatcher):
    """A SubgraphMatcher of a module that returns (results, {name: node}); matches have `name_node_map`."""

    def __init__(self, pattern_gm: GraphModule, match_output: bool = False, match_placeholder: bool = False,
                 remove_overlapping_matches: bool = True, ignore_literals: bool = False) -> None:
        pattern, self.name_node_map = _split_to_graph_and_name_node_map(pattern_gm)
        self.pattern_gm = pattern
        super().__init__(pattern.graph, match_output, match_placeholder, remove_overlapping_matches, ignore_literals)

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """The parts that match the pattern, with their nodes by name."""
        found = super().match(graph, node_name_match)
        for match in found:
            match.name_node_map = {name: match.nodes_map[node] for name, node in self.name_node_map.items()}
        return found
