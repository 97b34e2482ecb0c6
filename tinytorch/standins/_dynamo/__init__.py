"""torch._dynamo: the names behind torch.compile that programs use. See docs/compile.md."""
import contextlib
from sys import modules as _modules
from types import ModuleType

from .._refused import refused
from ..capture.compiled import settings
from ..missing import namespace as _namespace
from .decorators import allow_in_graph, assume_constant_result, disable, is_compiling
from .eval_frame import OptimizedModule, compile, list_backends, lookup_backend, optimize, register_backend, reset
from .explained import ExplainOutput, explain, graph_break

__all__ = ["ExplainOutput", "OptimizedModule", "allow_in_graph", "assume_constant_result", "config",
           "disable", "disallow_in_graph", "explain", "export", "forbid_in_graph", "graph_break", "is_compiling",
           "list_backends", "lookup_backend", "mark_dynamic", "mark_static", "mark_static_address",
           "maybe_mark_dynamic", "optimize", "register_backend", "reset"]


class _Settings(ModuleType):
    """Settings, which may have any names. `cache_size_limit` (also `recompile_limit`) is the largest number of programs
    of a function. With `self_check` the replays 1, 10, 100 and 1000 of a program are compared with eager execution.
    With `disable` all functions run uncompiled. Other settings change nothing."""

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name in ("cache_size_limit", "recompile_limit"):
            settings.cache_size_limit = value
            vars(self).update(cache_size_limit=value, recompile_limit=value)
        elif name in ("self_check", "disable"):
            setattr(settings, name, value)

    def __init__(self, **settings):
        super().__init__(f"{__name__}.config")
        vars(self).update(settings)

    @contextlib.contextmanager
    def patch(self, arg1=None, arg2=None, **kwargs):
        """Context manager or decorator that changes settings temporarily: a name and a value, a dict, or keywords."""
        given = {arg1: arg2} if isinstance(arg1, str) else {**(arg1 or {}), **kwargs}
        before = dict(vars(self))
        for name, value in given.items():
            setattr(self, name, value)
        try:
            yield
        finally:
            for name in given:
                vars(self).pop(name, None)
                if name in before:
                    setattr(self, name, before[name])


config = _Settings(suppress_errors=False, cache_size_limit=16, recompile_limit=16, verbose=False, disable=False,
                   automatic_dynamic_shapes=True, assume_static_by_default=True, optimize_ddp=True, self_check=True,
                   capture_scalar_outputs=False, accumulated_cache_size_limit=256,
                   accumulated_recompile_limit=256, inline_inbuilt_nn_modules=True, specialize_int=False,
                   capture_dynamic_output_shape_ops=False, force_parameter_static_shapes=True,
                   skip_fwd_side_effects_in_bwd_under_checkpoint=False, reorderable_logging_functions=set())
_modules[f"{__name__}.config"] = config
disallow_in_graph = forbid_in_graph = allow_in_graph
export = refused(__name__, "export", "torch.export.export returns the graph of a program")


def mark_dynamic(t, index, *, hint_override=None, min=None, max=None, specialize_on=None):
    """Does nothing: each shape has its own program."""


def maybe_mark_dynamic(t, index):
    """Does nothing: each shape has its own program."""


def mark_static(t, index=None):
    """Does nothing: each shape has its own program."""


def mark_static_address(t, guard=False):
    """Does nothing: programs do not depend on addresses."""


__getattr__ = _namespace(__name__, ("_trace_wrapped_higher_order_op", "exc", "utils"))
