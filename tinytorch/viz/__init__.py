"""Pictures of the backward to come: the graph of a network in the notation of differentiable graphs, and memory."""
from .graph import Graph, graph
from .memory import Memory, memory
from .program import ProgramTable, program
from .saved_tensors import SavedTensors, saved_tensors
from .suggestion import Suggestion, suggest

__all__ = ["Graph", "Memory", "ProgramTable", "SavedTensors", "Suggestion", "graph", "memory", "program",
           "saved_tensors", "suggest"]
