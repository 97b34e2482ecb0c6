"""torch.fx.graph."""
from . import Graph

__all__ = ["Graph"]
