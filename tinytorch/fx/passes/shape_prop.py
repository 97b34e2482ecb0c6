"""torch.fx.passes.shape_prop: the shapes and dtypes of the nodes of a graph for an example."""
from __future__ import annotations

import traceback
from typing import Any, NamedTuple

from ... import dtypes as dt
from ...memory_format import channels_last, channels_last_3d, contiguous_format, memory_format
from ...tensor import Size, Tensor
from ..graph_module import GraphModule
from ..interpreter import Interpreter
from ..node import Node, map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """The shape, dtype and other properties of a tensor."""

    shape: Size
    dtype: dt.dtype
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: memory_format | None
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: Tensor, include_contiguity: bool = True) -> TensorMetadata:
    """The TensorMetadata of a tensor."""
    found = None
    if include_contiguity and not result.is_sparse:
        formats = [contiguous_format, *{4: [channels_last], 5: [channels_last_3d]}.get(result.dim(), [])]
        found = next((f for f in formats if result.is_contiguous(memory_format=f)), None)
    stride = () if result.is_sparse else result.stride()
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, stride, found, False, {})


class ShapeProp(Interpreter):
    """Runs a graph node by node, and notes each result in its node: `node.meta["tensor_meta"]`, a TensorMetadata or a
    tuple or list of them, and `node.meta["type"]`.

    RuntimeError names the node that raised an error, which is its cause. NotImplementedError for a fake mode.

    >>> import tinytorch as torch
    >>> from tinytorch.fx.passes.shape_prop import ShapeProp
    >>> traced = torch.fx.symbolic_trace(lambda x: x.sum(0))
    >>> _ = ShapeProp(traced).propagate(torch.ones(2, 3))
    >>> [(node.name, node.meta["tensor_meta"].shape) for node in traced.graph.nodes]
    [('x', torch.Size([2, 3])), ('sum_1', torch.Size([3])), ('output', torch.Size([3]))]
    """

    def __init__(self, gm: GraphModule, fake_mode: Any = None) -> None:
        super().__init__(gm)
        if fake_mode is not None:
            raise NotImplementedError("ShapeProp: fake tensors are not supported; give tensors on the meta device")

    def run_node(self, n: Node) -> Any:
        """The result of the node."""
        try:
            result = super().run_node(n)
        except Exception as error:
            traceback.print_exc()
            raise RuntimeError(f"ShapeProp error for: node={n.format_node()} with meta={n.meta}") from error
        found = []

        def tell(x):
            if not isinstance(x, Tensor):
                return x
            found.append(x)
            return _extract_tensor_metadata(x)
        meta = map_aggregate(result, tell)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Runs the graph on these arguments, and returns its result."""
        return super().run(*args)
