"""Pictures of the backward to come: the graph of a network in the notation of differentiable graphs, and memory."""
from .graph import Graph, graph
from .memory import Memory, memory
from .saved_tensors import SavedTensors, saved_tensors
from .suggestion import Suggestion, suggest

__all__ = ["Graph", "Memory", "SavedTensors", "Suggestion", "graph", "memory", "saved_tensors", "suggest"]
