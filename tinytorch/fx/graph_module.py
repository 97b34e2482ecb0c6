"""torch.fx.graph_module."""
from . import GraphModule

__all__ = ["GraphModule"]
