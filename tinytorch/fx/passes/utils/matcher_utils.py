"""torch.fx.passes.utils.matcher_utils: finds the parts of a graph that look like another graph."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...._ops import OpOverload
from ....tensor import Tensor
from ...graph import Graph
from ...node import Node
from ..tools_common import validate_partition

__all__ = ["InternalMatch", "SubgraphMatcher"]


@dataclass
class InternalMatch:
    """A match: the pattern's last nodes; {node of the pattern: node of the graph}; the graph's nodes for the pattern's
    arguments and for its results; and, if the pattern has names, {name: node of the graph}."""

    anchors: list[Node]
    nodes_map: dict[Node, Any] = field(default_factory=dict)
    placeholder_nodes: list[Any] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)
    name_node_map: dict[str, Node] = field(default_factory=dict)


def _attribute(node):
    found = node.graph.owning_module
    for part in node.target.split("."):
        found = getattr(found, part, None)
    return found


def _in_order(node, declared):
    """All arguments of a call of an operator, in the order of its declaration."""
    by_position = dict(zip([x.name for x in declared if not x.by_name], node.args))
    return [node.kwargs.get(x.name, by_position.get(x.name, x.default)) for x in declared]


class SubgraphMatcher:
    """Finds parts of graphs.

    pattern            the graph to look for; its arguments match any node
    match_output       whether its results must be results of the graph
    match_placeholder  whether its arguments match only arguments
    remove_overlapping_matches  whether only the first of several parts that share nodes is returned
    ignore_literals    whether numbers and texts match any number or text
    """

    def __init__(self, pattern: Graph, match_output: bool = False, match_placeholder: bool = False,
                 remove_overlapping_matches: bool = True, ignore_literals: bool = False) -> None:
        self.pattern, self.match_output, self.match_placeholder = pattern, match_output, match_placeholder
        self.remove_overlapping_matches, self.ignore_literals = remove_overlapping_matches, ignore_literals
        if not len(pattern.nodes):
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        if any([node.op != "output" and not node.is_impure() and not node.users for node in pattern.nodes]):
            raise AssertionError("SubgraphMatcher cannot be initialized with an pattern with dead code")
        output = pattern.output_node()
        self.pattern_placeholder_nodes = [node for node in pattern.nodes if node.op == "placeholder"]
        self.pattern_returning_nodes = output.all_input_nodes
        self.pattern_anchors = [output] if match_output else [
            node for node in self.pattern_returning_nodes if len(node.users) == 1]

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """The parts that match the pattern, in the graph's order. No other node uses their intermediate results.
        node_name_match: nodes of the pattern whose names contain it match any node."""
        self._name = node_name_match
        found = []
        candidates = [(anchor, [node for node in graph.nodes if self._same(anchor, node)])
                      for anchor in self.pattern_anchors]
        candidates = [(anchor, nodes) for anchor, nodes in candidates if nodes]

        def search(i, known):
            if i == len(candidates):
                found.append(known)
                return
            anchor, nodes = candidates[i]
            for node in nodes:
                trial = dict(known)
                if self._match(anchor, node, trial):
                    search(i + 1, trial)

        if candidates:
            search(0, {})
        matches = [self._told(known) for known in found if self._closed(known)]
        matches = [x for x in matches if validate_partition(self._computed(x))]
        return self._first_of_each(matches) if self.remove_overlapping_matches else matches

    def _told(self, known):
        return InternalMatch(self.pattern_anchors, known, [known[p] for p in self.pattern_placeholder_nodes],
                             [known[p] for p in self.pattern_returning_nodes])

    @staticmethod
    def _computed(match):
        return [node for p, node in match.nodes_map.items() if p.op not in ("placeholder", "output")]

    def _closed(self, known):
        """Whether no other node uses the intermediate results."""
        own = {node for p, node in known.items() if p.op != "placeholder"}
        return all([user in own for p, node in known.items() if p.op != "placeholder"
                    and p not in self.pattern_returning_nodes for user in node.users])

    def _first_of_each(self, matches):
        taken, kept = set(), []
        for match in matches:
            nodes = set(self._computed(match))
            if not nodes & taken:
                taken |= nodes
                kept.append(match)
        return kept

    # ------------------------------------------------------------- nodes
    def _same(self, p, node):
        """Whether a node makes the same call as a node of the pattern."""
        if p.op == "placeholder" and not self.match_placeholder or self._name and self._name in node.name:
            return True
        if p.op != node.op:
            return False
        if p.op == "get_attr":
            return self._same_attribute(p, node)
        return p.op in ("placeholder", "output") or p.target == node.target

    @staticmethod
    def _same_attribute(p, node):
        if p.graph.owning_module is None or node.graph.owning_module is None:
            raise AssertionError("pn.graph.owning_module must not be None")
        wanted, found = _attribute(p), _attribute(node)
        if type(wanted) is type(found) and not isinstance(wanted, Tensor):
            raise RuntimeError(f"Unsupported type {wanted} when matching attributes")
        return type(wanted) is type(found)

    def _match(self, p, node, known):
        """Whether a node and the nodes that it uses match those of the pattern, which are then added to `known`."""
        if p in known:
            return known[p] is node
        if any([x is node for x in known.values()]) or not self._same(p, node):
            return False
        known[p] = node
        if p.op == "placeholder":
            return True
        places = len(p.args) == len(node.args) and list(p.kwargs) == list(node.kwargs)
        declared = getattr(p.target, "_schema", None) if isinstance(p.target, OpOverload) else None
        if places:
            return self._all((*p.args, *p.kwargs.values()), (*node.args, *node.kwargs.values()), known)
        return declared is not None and self._all(
            _in_order(p, declared.arguments), _in_order(node, declared.arguments), known)

    def _all(self, wanted, found, known):
        return len(wanted) == len(found) and all([self._argument(a, b, known) for a, b in zip(wanted, found)])

    def _argument(self, a, b, known):
        if isinstance(a, Node) and isinstance(b, Node):
            return self._match(a, b, known)
        if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            return self._all(a, b, known)
        if isinstance(a, Node):
            if a.op == "placeholder" and known.setdefault(a, b) == b:
                return True
            return self.ignore_literals
        return self.ignore_literals or not isinstance(b, Node) and type(a) is type(b) and a == b
