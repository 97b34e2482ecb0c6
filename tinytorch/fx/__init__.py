"""torch.fx: programs as graphs that can be inspected, changed and run.

`symbolic_trace` runs a module or a function once on stand-ins (`proxy.py`) and records its calls (`graph.py`,
`node.py`). A `GraphModule` runs this list of calls as a Python program (`code.py`). Nothing is compiled.
"""
from ..missing import namespace as _namespace
from ._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap
from .graph import CodeGen, Graph
from .graph_module import GraphModule
from .interpreter import Interpreter, Transformer
from .node import Node, has_side_effect, map_arg
from .proxy import Proxy
from .subgraph_rewriter import replace_pattern

__all__ = ["PH", "CodeGen", "Graph", "GraphModule", "Interpreter", "Node", "Proxy", "ProxyableClassMeta", "Tracer",
           "Transformer", "has_side_effect", "map_arg", "replace_pattern", "symbolic_trace", "wrap"]

__getattr__ = _namespace(__name__, (
    "_compatibility", "annotate", "experimental", "operator_schemas", "passes", "tensor_type"))
