"""torch.fx.passes.utils: parts of graphs, found and taken out."""
from .common import HolderModule, compare_graphs, lift_subgraph_as_module

__all__ = ["HolderModule", "compare_graphs", "lift_subgraph_as_module"]
