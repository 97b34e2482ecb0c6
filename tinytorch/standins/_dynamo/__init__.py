"""torch._dynamo where nothing is compiled: code runs as it is written."""
import contextlib
from types import SimpleNamespace

from .._refused import refused, refused_class
from ..compiler import allow_in_graph, assume_constant_result, disable, is_compiling, list_backends, reset
from ..missing import namespace as _namespace
from ..nn import Module

__all__ = ["OptimizedModule", "allow_in_graph", "assume_constant_result", "config", "disable", "disallow_in_graph",
           "explain", "export", "forbid_in_graph", "graph_break", "is_compiling", "list_backends", "mark_dynamic",
           "mark_static", "mark_static_address", "maybe_mark_dynamic", "optimize", "reset"]


class _Settings(SimpleNamespace):
    """Any may be set, and changes nothing."""

    @contextlib.contextmanager
    def patch(self, arg1=None, arg2=None, **kwargs):
        """Context manager or decorator: settings, as a name and a value, a dict, or keywords, for a while."""
        given = {arg1: arg2} if isinstance(arg1, str) else {**(arg1 or {}), **kwargs}
        before = dict(vars(self))
        vars(self).update(given)
        try:
            yield
        finally:
            for name in given:
                vars(self).pop(name)
                if name in before:
                    setattr(self, name, before[name])


config = _Settings(suppress_errors=False, cache_size_limit=8, recompile_limit=8, verbose=False,
                   automatic_dynamic_shapes=True, assume_static_by_default=True, optimize_ddp=True,
                   capture_scalar_outputs=False, capture_dynamic_output_shape_ops=False)
disallow_in_graph = forbid_in_graph = allow_in_graph
export, explain = [refused(__name__, name, "there is no compiler") for name in ("export", "explain")]
#: What compiled modules would be: there is none.
OptimizedModule = refused_class(__name__, "OptimizedModule", "there is no compiler", (Module,))


def graph_break(msg=""):
    """Nothing: there is no graph."""


def mark_dynamic(t, index, *, hint_override=None, min=None, max=None, specialize_on=None):
    """Nothing: every shape is dynamic."""


def maybe_mark_dynamic(t, index):
    """Nothing: every shape is dynamic."""


def mark_static(t, index=None):
    """Nothing: every shape is dynamic."""


def mark_static_address(t, guard=False):
    """Nothing: addresses are not looked at."""


def optimize(backend="inductor", *args, **kwargs):
    """A decorator that gives the function itself."""
    return lambda fn: fn


__getattr__ = _namespace(__name__, ("_trace_wrapped_higher_order_op", "eval_frame"))
