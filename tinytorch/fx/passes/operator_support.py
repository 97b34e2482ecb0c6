"""torch.fx.passes.operator_support: the nodes that a backend can run."""
from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from typing import Any

from ...nn import Module
from ..node import Node
from .shape_prop import TensorMetadata
from .tools_common import CALLABLE_NODE_OPS, get_node_target

__all__ = ["OpSupports", "OperatorSupport", "OperatorSupportBase", "any_chain", "chain", "create_op_support"]


class OperatorSupportBase(abc.ABC):
    """Says which nodes a backend can run."""

    @abc.abstractmethod
    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        """Whether the backend can run a node."""


def _dtype(arg):
    meta = arg.meta.get("tensor_meta")
    return meta.dtype if isinstance(meta, TensorMetadata) else arg.meta["type"]


class OperatorSupport(OperatorSupportBase):
    """A table of supported targets: {target: None, or (dtypes by position, dtypes by keyword)}. None stands for any
    dtype; `get_node_target` returns the names of targets."""

    def __init__(self, support_dict: Mapping[str, Any] | None = None) -> None:
        self._support_dict = support_dict or {}

    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        """Whether the table has the node's target, for its arguments' dtypes."""
        if node.op not in CALLABLE_NODE_OPS:
            return True
        target = get_node_target(submodules, node)
        if target not in self._support_dict:
            return False
        if self._support_dict[target] is None:
            return True
        by_place, by_name = self._support_dict[target]
        pairs = [*zip(node.args, by_place), *[(node.kwargs[key], by_name[key]) for key in by_name
                                              if key in node.kwargs]]
        return all([_dtype(arg) in dtypes for arg, dtypes in pairs if dtypes is not None and isinstance(arg, Node)])


def create_op_support(is_node_supported: Callable[[Mapping[str, Module], Node], bool]) -> OperatorSupportBase:
    """A function as an OperatorSupportBase."""
    class Support(OperatorSupportBase):
        def is_node_supported(self, submodules, node):
            return is_node_supported(submodules, node)
    return Support()


def chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """The nodes that all of them can run."""
    return create_op_support(lambda modules, node: all([x.is_node_supported(modules, node) for x in op_support]))


def any_chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """The nodes that at least one of them can run."""
    return create_op_support(lambda modules, node: any([x.is_node_supported(modules, node) for x in op_support]))


class OpSupports:
    """OperatorSupports with a single rule."""

    @classmethod
    def decline_if_input_dtype(cls, dtype: Any) -> OperatorSupportBase:
        """All nodes except those with an argument of the dtype."""
        return create_op_support(lambda _, node: all([_dtype(x) != dtype for x in node.all_input_nodes]))

    @classmethod
    def decline_if_node_in_names(cls, disallow_set: set[str]) -> OperatorSupportBase:
        """All nodes except those with these names."""
        return create_op_support(lambda _, node: node.name not in disallow_set)
