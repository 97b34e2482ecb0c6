"""torch.fx.node."""
from . import Node, map_arg

__all__ = ["Node", "map_arg"]
