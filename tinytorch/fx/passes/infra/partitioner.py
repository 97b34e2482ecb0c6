"""torch.fx.passes.infra.partitioner: the parts of a graph that a backend can run."""
from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence

from ...graph_module import GraphModule
from ...names import qualified
from ...node import Node
from ..operator_support import OperatorSupportBase
from ..utils.fuser_utils import fuse_by_partitions

__all__ = ["CapabilityBasedPartitioner", "Partition"]

_VIEWS = {"torch.ops.aten.view", "_operator.getitem"}


class Partition:
    """A set of nodes, in order."""

    def __init__(self, id: int | None = None, nodes: Iterable[Node] | None = None,
                 node_orders: Iterable[int] | None = None) -> None:
        nodes = list(nodes or ())
        orders = [None] * len(nodes) if node_orders is None else list(node_orders)
        if len(orders) != len(nodes):
            raise AssertionError("nodes and node_orders must have the same length")
        self.id, self.nodes = id, dict(zip(nodes, orders))

    def __repr__(self) -> str:
        return str(self.nodes)

    def add_node(self, node: Node, node_order: int | None = None) -> None:
        """Adds a node."""
        self.nodes[node] = node_order

    def remove_node(self, node: Node) -> None:
        """Removes a node."""
        del self.nodes[node]

    def size(self) -> int:
        """The number of nodes."""
        return len(self.nodes)


class _Parts:
    """The part of each node, and the nodes that come after it. Parts are numbered by their last node."""

    def __init__(self, graph):
        self.after, self.of, self.nodes = {}, {}, {}
        for node in reversed(graph.nodes):
            behind = self.after[node] = set(node.users)
            for user in node.users:
                behind |= self.after[user]

    def reached(self, nodes, own):
        """The nodes that come after a set of nodes, also through other parts: all nodes of a part wait for each of its
        inputs."""
        seen, todo = set(), [user for node in nodes for user in node.users if user not in own]
        parts = set()
        while todo:
            node = todo.pop()
            for x in (node, *self.after[node]):
                if x in seen:
                    continue
                seen.add(x)
                part = self.of.get(x)
                if part is not None and part not in parts and x not in own:
                    parts.add(part)
                    todo.extend(self.nodes[part])
        return seen

    def join(self, a, b):
        """Joins two parts, unless the joined part would wait for itself. Returns the number of the part of a."""
        own = self.nodes[a].keys() | self.nodes[b].keys()
        if self.reached(own, own) & own:
            return a
        if len(self.nodes[a]) < len(self.nodes[b]):
            a, b = b, a
        self.nodes[a].update(self.nodes.pop(b))
        for node in self.nodes[a]:
            self.of[node] = a
        return a


class CapabilityBasedPartitioner:
    """Finds the largest parts of a graph whose nodes `operator_support` can run, and makes modules of them.

    allows_single_node_partition  whether a part may have only one node that computes
    non_compute_ops               names of functions that do not count as computing
    allowed_single_node_partition_ops  names of functions that may form a part alone
    skip_horizontal_fusion        whether a part has only nodes that use each other
    """

    def __init__(self, graph_module: GraphModule, operator_support: OperatorSupportBase,
                 allows_single_node_partition: bool = False, non_compute_ops: Sequence[str] | None = None,
                 allowed_single_node_partition_ops: Sequence[str] | None = None,
                 skip_horizontal_fusion: bool = False) -> None:
        self.graph_module, self.operator_support = graph_module, operator_support
        self.allows_single_node_partition = allows_single_node_partition
        self.non_compute_ops = list(non_compute_ops or ())
        self.allowed_single_node_partition_ops = list(allowed_single_node_partition_ops or ())
        self.skip_horizontal_fusion = skip_horizontal_fusion

    def propose_partitions(self) -> list[Partition]:
        """The parts."""
        graph, modules = self.graph_module.graph, dict(self.graph_module.named_modules())
        parts, order, first = _Parts(graph), {}, {}
        for number, node in enumerate(reversed(graph.nodes)):
            order[node] = number
            together = sorted(first, key=first.get)
            if self.operator_support.is_node_supported(modules, node):
                parts.of[node], parts.nodes[number], first[number] = number, {node: None}, number
                together.insert(0, number)
                if self.skip_horizontal_fusion:
                    together = [number, *dict.fromkeys([parts.of[x] for x in node.users if x in parts.of])]
            elif self.skip_horizontal_fusion:
                continue
            if together:
                self._join(parts, together, first)
        self._take_items(graph, parts)
        found = [Partition(number, sorted(nodes, key=order.get, reverse=True)) for number, nodes in parts.nodes.items()]
        return [x for x in found if x.nodes and (self.allows_single_node_partition or self._computing(x) > 1)]

    @staticmethod
    def _join(parts, together, first):
        own = together[0]
        for other in together[1:]:
            joined = parts.join(own, other)
            gone = {own, other} - parts.nodes.keys()
            for number in gone:
                first[joined] = min(first[joined], first.pop(number))
            own = joined

    @staticmethod
    def _take_items(graph, parts):
        """Moves the nodes that take items of a tuple to the part that makes the tuple, if it has no other users."""
        changed = True
        while changed:
            changed = False
            for node in graph.nodes:
                if all([user.op == "call_function" and user.target is operator.getitem for user in node.users]):
                    for user in node.users:
                        changed |= _moved(parts, user, parts.of.get(node))

    def _computing(self, partition):
        names = [qualified(node.target) for node in partition.nodes if node.op == "call_function"]
        alone = [name for name in names if name in self.allowed_single_node_partition_ops]
        return len([name for name in names if name not in _VIEWS and name not in self.non_compute_ops]) + len(alone)

    def fuse_partitions(self, partitions: list[Partition], prefix: str = "fused_") -> GraphModule:
        """The module, with a module prefix0, prefix1 ... for each part."""
        return fuse_by_partitions(self.graph_module, [x.nodes for x in partitions], prefix)

    def remove_bookend_non_compute_ops(self, partitions: list[Partition]) -> None:
        """Removes nodes that do not compute from the beginning and the end of the parts."""
        for partition in partitions:
            for which in ("all_input_nodes", "users"):
                nodes = list(partition.nodes)
                for node in nodes if which == "all_input_nodes" else reversed(nodes):
                    idle = node.op == "call_function" and qualified(node.target) in self.non_compute_ops
                    if idle and not any([x in partition.nodes for x in getattr(node, which)]):
                        partition.remove_node(node)

    def partition_and_fuse(self, prefix: str = "fused_") -> GraphModule:
        """Finds the parts and makes modules of them."""
        return self.fuse_partitions(self.propose_partitions(), prefix)


def _moved(parts, node, to):
    """Moves a node to another part, or out of all parts. Returns whether it was elsewhere before."""
    here = parts.of.get(node)
    if here == to:
        return False
    if here is not None:
        del parts.nodes[here][node], parts.of[node]
    if to is not None:
        parts.nodes[to][node], parts.of[node] = None, to
    return True
