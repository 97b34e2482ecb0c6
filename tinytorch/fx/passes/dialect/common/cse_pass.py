"""torch.fx.passes.dialect.common.cse_pass: the elimination of common subexpressions."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ....._ops import OpOverload, ops
from .....capture import schema
from ....graph import Graph
from ....graph_module import GraphModule
from ....node import Node
from ...infra.pass_base import PassBase, PassResult

__all__ = ["CSEPass", "get_CSE_banned_ops"]


def get_CSE_banned_ops() -> set:
    """The operators that draw random numbers or write to memory. Each of their calls must stay."""
    return {getattr(ops.aten, name) for name in schema.names() if hasattr(ops.aten, name)
            and any([form.is_impure for form in schema.forms_of(name)])}


def _key(value, seen):
    """A key that is equal for equal arguments. `seen`: {old node: new node}."""
    if isinstance(value, Node):
        return "node", id(seen[value])
    if isinstance(value, (tuple, list)):
        return type(value).__name__, *[_key(x, seen) for x in value]
    if isinstance(value, dict):
        return "dict", *[(name, _key(x, seen)) for name, x in value.items()]
    if isinstance(value, slice):
        return "slice", *[_key(x, seen) for x in (value.start, value.stop, value.step)]
    return type(value).__name__, value


class CSEPass(PassBase):
    """Keeps one of several nodes that make the same call with the same arguments. banned_ops: operators whose calls all
    stay; pass `get_CSE_banned_ops()` for graphs that draw random numbers or write to memory.

    >>> import tinytorch as torch
    >>> from tinytorch.fx.passes.dialect.common.cse_pass import CSEPass
    >>> found = CSEPass()(torch.fx.symbolic_trace(lambda x: torch.sin(x) + torch.sin(x)))
    >>> len(found.graph_module.graph.find_nodes(op="call_function", target=torch.sin))
    1
    """

    def __init__(self, banned_ops: Iterable[Any] | None = None) -> None:
        self.banned_ops = set(banned_ops or ())

    def call(self, graph_module: GraphModule) -> PassResult:
        """(a module whose graph has every call once, True), or (the module, False)."""
        made, seen, known = Graph(), {}, {}
        for node in graph_module.graph.nodes:
            target = node.target.overloadpacket if isinstance(node.target, OpOverload) else node.target
            key = None
            if node.op not in ("placeholder", "output", "get_attr") and target not in self.banned_ops:
                key = node.op, node.target, _key(node.args, seen), _key(node.kwargs, seen)
                if key in known:
                    seen[node] = known[key]
                    continue
            seen[node] = made.node_copy(node, seen.__getitem__)
            if key is not None:
                known[key] = seen[node]
        if len(made.nodes) == len(graph_module.graph.nodes):
            return PassResult(graph_module, False)
        return PassResult(GraphModule(graph_module, made), True)
