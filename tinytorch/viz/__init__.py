"""Pictures of what backward will do: the graph of a network in the notation of differentiable graphs, and memory."""
from .graph import Graph, graph

__all__ = ["Graph", "graph"]
