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
    """What was found: the pattern's last nodes; its nodes with those of the graph; the graph's nodes that stand for
    the pattern's arguments and for what it returns; nodes of the graph by name, where the pattern has names."""

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
    return [node.kwargs[x.name] if x.name in node.kwargs else
            node.args[i] if not x.by_name and i < len(node.args) else x.default for i, x in enumerate(declared)]


class SubgraphMatcher:
    """Finds parts of graphs.

    pattern            the graph of what is looked for; its arguments stand for anything
    match_output       whether what it returns must be what the graph returns
    match_placeholder  whether its arguments must be arguments
    remove_overlapping_matches  whether of parts that share nodes only the first is given
    ignore_literals    whether numbers and texts stand for any
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
        """The parts that look like the pattern, in the graph's order. Nobody else uses what they compute on the way.
        node_name_match: nodes whose name holds it stand for any node."""
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
        """Whether nobody else uses what is computed on the way."""
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
        """Whether a node calls what the pattern's does."""
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
        """Whether a node and those that it uses look like the pattern's; `known` gets them."""
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
