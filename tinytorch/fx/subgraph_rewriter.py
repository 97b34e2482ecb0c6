"""Finds parts of a graph that look like another graph, and puts a third in their place."""
import copy
from collections import namedtuple

from ..nn import Module
from ._symbolic_trace import symbolic_trace
from .graph import Graph
from .graph_module import GraphModule
from .node import Node

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]

#: `anchor`: the pattern's first result; `nodes_map`: nodes of the graph by those of the pattern.
Match = namedtuple("Match", "anchor nodes_map")


class ReplacedPatterns:
    """What was replaced: `anchor` and `nodes_map` as in Match, `replacements`: the new nodes."""

    def __init__(self, anchor, nodes_map, replacements):
        self.anchor, self.nodes_map, self.replacements = anchor, nodes_map, replacements


def _graph_of(x):
    if isinstance(x, GraphModule):
        return x.graph
    return x if isinstance(x, Graph) else symbolic_trace(x).graph


def _attribute(graph, name):
    found = graph.owning_module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


class _Matcher:
    """Compares a pattern with the graph, from the nodes that the pattern returns backwards."""

    def __init__(self, pattern, graph):
        self.pattern, self.graph = pattern, graph
        returned = pattern.output_node().args[0]
        self.anchors = [x for x in (returned if isinstance(returned, (tuple, list)) else [returned])
                        if isinstance(x, Node)]

    def matches(self):
        """The dicts of nodes by pattern's nodes, none of which share a node."""
        taken, found = set(), []
        for node in self.graph.nodes:
            known = {}
            if self._same(self.anchors[0], node, known) and self._rest(known) and self._closed(known):
                own = {x for p, x in known.items() if p.op != "placeholder"}
                if not own & taken:
                    taken |= own
                    found.append(known)
        return found

    def _rest(self, known):
        """Whether the pattern's other results are in the graph too."""
        for anchor in self.anchors[1:]:
            if anchor not in known and not any([self._tried(anchor, node, known) for node in self.graph.nodes]):
                return False
        return True

    def _tried(self, anchor, node, known):
        trial = dict(known)
        if not self._same(anchor, node, trial):
            return False
        known.update(trial)
        return True

    def _closed(self, known):
        """Whether nobody else uses what the pattern computes on the way."""
        own = set(known.values())
        return all([p.op in ("placeholder", "get_attr") or p in self.anchors or all([user in own for user in x.users])
                    for p, x in known.items()])

    def _same(self, p, x, known):
        if not isinstance(p, Node) or not isinstance(x, Node):
            return not isinstance(p, Node) and not isinstance(x, Node) and type(p) is type(x) and p == x
        if p in known:
            return known[p] is x
        if p.op == "placeholder":
            known[p] = x
            return True
        if p.op != x.op or x in known.values() or not self._same_target(p, x):
            return False
        if p.op == "output":
            return False
        known[p] = x
        ours, theirs = [], []
        for node, into in ((p, ours), (x, theirs)):
            self._flat((node.args, node.kwargs), into)
        if len(ours) == len(theirs) and all([self._same(a, b, known) for a, b in zip(ours, theirs)]):
            return True
        known.pop(p, None)
        return False

    def _same_target(self, p, x):
        if p.op == "get_attr":
            return p.target == x.target or _attribute(self.pattern, p.target) is _attribute(self.graph, x.target)
        if p.op == "call_module":
            return type(_attribute(self.pattern, p.target)) is type(_attribute(self.graph, x.target))
        return p.target == x.target

    def _flat(self, value, into):
        """The values in tuples, lists, dicts and slices, with a mark for each of these."""
        if isinstance(value, (tuple, list)):
            into.append(("of", len(value)))
            for x in value:
                self._flat(x, into)
        elif isinstance(value, dict):
            into.append(("by", tuple(sorted(value))))
            for key in sorted(value):
                self._flat(value[key], into)
        elif isinstance(value, slice):
            self._flat((value.start, value.stop, value.step), into)
        else:
            into.append(value)


def replace_pattern(gm, pattern, replacement):
    """Puts `replacement` wherever the graph of the module `gm` has what `pattern` computes; both functions, or modules,
    of as many arguments. The list of what was found, as Match.

    >>> import tinytorch as torch
    >>> traced = torch.fx.symbolic_trace(lambda x, y: torch.neg(x) + y)
    >>> found = torch.fx.replace_pattern(traced, lambda a, b: torch.neg(a) + b, lambda a, b: torch.sub(b, a))
    >>> print(len(found), traced.code.strip())
    1 def forward(self, x, y):
        sub = torch.sub(y, x);  y = x = None
        return sub
    """
    return [Match(x.anchor, x.nodes_map) for x in replace_pattern_with_filters(gm, pattern, replacement)]


def replace_pattern_with_filters(gm, pattern, replacement, match_filters=None):
    """The same, only where each of the functions `match_filters` (match, graph, pattern's graph) is true; the list of
    ReplacedPatterns."""
    graph, old, new = gm.graph, _graph_of(pattern), _graph_of(replacement)
    arguments = [node for node in new.nodes if node.op == "placeholder"]
    wanted = [node for node in old.nodes if node.op == "placeholder"]
    if len(arguments) != len(wanted):
        raise AssertionError(f"{len(wanted)} arguments of the pattern, {len(arguments)} of the replacement")
    matcher, made, changed = _Matcher(old, graph), [], {}
    for known in matcher.matches():
        match = Match(matcher.anchors[0], known)
        if match_filters and not all([allowed(match, graph, old) for allowed in match_filters]):
            continue
        given = {node: changed.get(known[p], known[p]) for node, p in zip(arguments, wanted) if p in known}
        results = [known[anchor] for anchor in matcher.anchors]
        users = {user for node in results for user in node.users} - set(known.values())
        first = next(node for node in graph.nodes if node in users or node.op == "output")
        before = set(graph.nodes)
        with graph.inserting_before(first):
            returned = graph.graph_copy(new, given)
        added = [node for node in graph.nodes if node not in before]
        returned = list(returned) if isinstance(returned, (tuple, list)) else [returned]
        for node, other in zip(results, returned):
            node.replace_all_uses_with(other)
            changed[node] = other
        for node in reversed([x for x in graph.nodes if x in {y for p, y in known.items() if p.op != "placeholder"}]):
            if not node.users:
                graph.erase_node(node)
        made.append(ReplacedPatterns(match.anchor, match.nodes_map, added))
    _take_modules(gm, replacement)
    gm.recompile()
    return made


def _take_modules(gm, replacement):
    """Gives the module what the replacement's nodes ask for, and takes away what nobody asks for any more."""
    gm.delete_all_unused_submodules()
    if not isinstance(replacement, Module):
        return
    for node in gm.graph.nodes:
        if node.op in ("call_module", "get_attr") and _attribute(gm.graph, node.target) is None:
            value = replacement
            for part in node.target.split("."):
                value = getattr(value, part)
            if isinstance(value, Module):
                gm.add_submodule(node.target, copy.deepcopy(value))
            else:
                setattr(gm, node.target, copy.deepcopy(value))
