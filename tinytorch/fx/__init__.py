"""torch.fx: names to import. Nothing is traced here: what would trace raises."""
from .._refused import refused, refused_class
from ..missing import namespace as _namespace
from ..nn import Module

__all__ = ["Graph", "GraphModule", "Interpreter", "Node", "Proxy", "Tracer", "Transformer", "has_side_effect",
           "map_arg", "replace_pattern", "symbolic_trace", "wrap"]

_REASON = "graphs of symbolic operations are not built here"

Graph, Interpreter, Node, Proxy, Tracer = [
    refused_class(__name__, name, _REASON) for name in ("Graph", "Interpreter", "Node", "Proxy", "Tracer")]
GraphModule = refused_class(__name__, "GraphModule", _REASON, (Module,))
Transformer = refused_class(__name__, "Transformer", _REASON, (Interpreter,))
map_arg, replace_pattern, symbolic_trace = [
    refused(__name__, name, _REASON) for name in ("map_arg", "replace_pattern", "symbolic_trace")]


def wrap(fn_or_name):
    """The function, or its name, itself: nothing is traced that it would be kept out of."""
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    return fn_or_name


def has_side_effect(fn):
    """The function itself."""
    return fn


__getattr__ = _namespace(__name__, ("experimental", "graph", "graph_module", "node", "proxy"))
