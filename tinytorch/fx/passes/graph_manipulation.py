"""torch.fx.passes.graph_manipulation: the memory of nodes, and the replacement of their targets."""
from __future__ import annotations

from typing import Any, NamedTuple

from ...tensor import Tensor
from ..graph_module import GraphModule
from ..node import Node
from .shape_prop import ShapeProp, TensorMetadata

__all__ = ["get_size_of_all_nodes", "get_size_of_node", "get_tensor_meta", "replace_target_nodes_with", "size_bytes"]


class size_bytes(NamedTuple):
    """The bytes of a node's result, and of its result and parameters together."""

    output_size: int
    total_size: int


def replace_target_nodes_with(fx_module: GraphModule, old_op: str, old_target: Any, new_op: str,
                              new_target: Any) -> None:
    """Replaces the kind and target of all nodes that have a given kind and target."""
    for node in fx_module.graph.nodes:
        if node.op == old_op and node.target == old_target:
            node.op, node.target = new_op, new_target
    fx_module.recompile()


def get_tensor_meta(node: Node) -> TensorMetadata:
    """The TensorMetadata that ShapeProp noted for a node; RuntimeError if there is none."""
    found = node.meta.get("tensor_meta")
    if not found:
        raise RuntimeError(f"Node {node} has no tensor metadata associated with it! Check that shape propagation has "
                           "run.")
    return found


def get_size_of_node(fx_module: GraphModule, node: Node) -> size_bytes:
    """The bytes of a node.

    >>> import tinytorch as torch
    >>> from tinytorch.fx.passes.graph_manipulation import get_size_of_all_nodes
    >>> traced = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(3, 2)))
    >>> get_size_of_all_nodes(traced, [torch.ones(5, 3)])
    >>> [node.size_bytes for node in traced.graph.nodes if node.op == "call_module"]
    [size_bytes(output_size=40, total_size=72)]
    """
    meta = get_tensor_meta(node)
    count = meta.shape.numel()
    held = 0
    if node.op == "call_module":
        held = sum([p.numel() for p in fx_module.get_submodule(node.target).parameters()])
    return size_bytes(count * meta.dtype.itemsize, (count + held) * meta.dtype.itemsize)


def get_size_of_all_nodes(fx_module: GraphModule, args: list[Tensor] | None = None) -> None:
    """Gives every node the attribute `size_bytes`; args: an example, unless ShapeProp has run."""
    if args is not None:
        ShapeProp(fx_module).propagate(*args)
    for node in fx_module.graph.nodes:
        if node.op != "output":
            node.size_bytes = get_size_of_node(fx_module, node)
