"""Finds parts of a graph that match another graph, and replaces them by a third graph."""
import copy
from collections import namedtuple

from ..nn import Module
from ._symbolic_trace import symbolic_trace
from .graph import Graph
from .graph_module import GraphModule
from .node import Node
from .passes.utils.matcher_utils import SubgraphMatcher

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]

#: `anchor`: the pattern's first result; `nodes_map`: {node of the pattern: node of the graph}.
Match = namedtuple("Match", "anchor nodes_map")


class ReplacedPatterns:
    """A match that was replaced: `anchor` and `nodes_map` as in Match; `replacements`: the new nodes."""

    def __init__(self, anchor, nodes_map, replacements):
        self.anchor, self.nodes_map, self.replacements = anchor, nodes_map, replacements


def _graph_of(x):
    if isinstance(x, GraphModule):
        return x.graph
    return x if isinstance(x, Graph) else symbolic_trace(x).graph


def _attribute(found, name):
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def replace_pattern(gm, pattern, replacement):
    """Replaces every part of the graph of the module `gm` that matches `pattern` by `replacement`. Both are functions
    or modules with the same number of arguments. Returns the list of matches.

    >>> import tinytorch as torch
    >>> traced = torch.fx.symbolic_trace(lambda x, y: torch.neg(x) + y)
    >>> found = torch.fx.replace_pattern(traced, lambda a, b: torch.neg(a) + b, lambda a, b: torch.sub(b, a))
    >>> print(len(found), traced.code.strip())
    1 def forward(self, x, y):
        sub = torch.sub(y, x);  y = x = None
        return sub
    """
    return [Match(x.anchor, x.nodes_map) for x in replace_pattern_with_filters(gm, pattern, replacement)]


def replace_pattern_with_filters(gm, pattern, replacement=None, match_filters=None, ignore_literals=False,
                                 replacement_callback=None, node_name_match=""):
    """Replaces as `replace_pattern` does, but only matches for which each of the functions `match_filters` (match,
    graph, pattern's graph) is true. Returns the list of ReplacedPatterns.

    ignore_literals       whether numbers and texts in the pattern match any number or text
    replacement_callback  returns the graph that replaces a match; it has the arguments of a filter
    node_name_match       nodes of the pattern whose names contain it match any node
    """
    graph, old = gm.graph, _graph_of(pattern)
    if replacement_callback is None and not callable(replacement) and not isinstance(replacement, Graph):
        raise AssertionError("Must provide either a replacement GraphModule or a replacement callback")
    common = None if replacement_callback is not None else _graph_of(replacement)
    made, changed = [], {}
    for match in SubgraphMatcher(old, ignore_literals=ignore_literals).match(graph, node_name_match):
        if all([allowed(match, graph, old) for allowed in match_filters or ()]):
            new = common if replacement_callback is None else replacement_callback(match, graph, old)
            made.append(_replaced(graph, old, new, match, changed))
    gm.recompile()
    if isinstance(replacement, Module):
        _take_modules(gm, replacement)
    return made


def _replaced(graph, old, new, match, changed):
    """Replaces a match by a copy of the graph `new`. changed: {replaced node: new node}."""
    arguments = [node for node in new.nodes if node.op == "placeholder"]
    if len(arguments) != len(match.placeholder_nodes):
        raise AssertionError(f"Placeholder count mismatch: {len(match.placeholder_nodes)} vs {len(arguments)}")

    def now(x):
        return changed.get(x, x) if isinstance(x, Node) else x
    match.placeholder_nodes = [now(x) for x in match.placeholder_nodes]
    match.nodes_map.update({p: now(x) for p, x in match.nodes_map.items() if p.op == "placeholder"})
    given = dict(zip(arguments, match.placeholder_nodes))
    with graph.inserting_before(_place(graph, match.returning_nodes)):
        returned = graph.graph_copy(new, given)
    returned = [returned] if isinstance(returned, Node) else list(returned)
    added = [x for x in given.values() if not any([x is y for y in match.placeholder_nodes])]
    if len(returned) != len(match.returning_nodes):
        raise AssertionError(f"Returning nodes count mismatch: {len(match.returning_nodes)} vs {len(returned)}")
    for node, other in zip(match.returning_nodes, returned):
        node.replace_all_uses_with(other)
        changed[node] = other
    for p in reversed(old.nodes):
        if p.op not in ("placeholder", "output"):
            graph.erase_node(match.nodes_map[p])
    return ReplacedPatterns(match.anchors[0], match.nodes_map, added)


def _place(graph, results):
    """The first node that uses one of the results; if there is none, the node after the last of them."""
    users = {user for node in results for user in node.users}
    if users:
        return next(node for node in graph.nodes if node in users)
    return [node for node in graph.nodes if node in results][-1].next


def _take_modules(gm, replacement):
    """Gives the module the attributes that the replacement's nodes use, and removes submodules that are no longer
    used."""
    gm.delete_all_unused_submodules()
    for node in gm.graph.nodes:
        if node.op in ("call_module", "get_attr") and _attribute(gm, node.target) is None:
            value = _attribute(replacement, node.target)
            if value is None:
                raise RuntimeError(f'Attempted to create a "{node.op}" node during subgraph rewriting with target '
                                   f"{node.target}, but the referenced attribute does not exist in the replacement "
                                   "GraphModule")
            if isinstance(value, Module):
                gm.add_submodule(node.target, copy.deepcopy(value))
            else:
                setattr(gm, node.target, copy.deepcopy(value))
    gm.graph.lint()
