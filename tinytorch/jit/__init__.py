"""torch.jit where nothing is compiled: scripted and traced code is the code itself, run as it is written."""
from typing import Final

from .._refused import refused as _refused, refused_class as _refused_class
from ..futures import Future
from ..missing import namespace as _namespace
from ..nn import Module as _Module

__all__ = ["Attribute", "CompilationUnit", "Error", "Final", "Future", "ScriptFunction", "ScriptModule",
           "ScriptWarning", "TracerWarning", "annotate", "enable_onednn_fusion", "export", "fork", "freeze", "ignore",
           "interface", "is_scripting", "is_tracing", "isinstance", "load", "onednn_fusion_enabled",
           "optimize_for_inference", "optimized_execution", "save", "script", "script_if_tracing", "script_method",
           "set_fusion_strategy", "strict_fusion", "trace", "trace_module", "unused", "wait"]

_REASON = "there is no TorchScript"


class Error(Exception):
    """What compiled code would raise."""


JITException = Error


class ScriptWarning(Warning):
    """What the compiler would warn of."""


class TracerWarning(Warning):
    """What tracing would warn of."""

    @staticmethod
    def ignore_lib_warnings():
        """Nothing: none are given."""


class ScriptModule(_Module):
    """A module like any other, to derive from; `torch.jit.script` gives none, but the module that it was given."""


class RecursiveScriptModule(ScriptModule):
    """What `torch.jit.script` would make of a module: there is none."""


class TopLevelTracedModule(ScriptModule):
    """What `torch.jit.trace` would make of a module: there is none."""


ScriptFunction = _refused_class(__name__, "ScriptFunction", _REASON)
CompilationUnit = _refused_class(__name__, "CompilationUnit", _REASON)
trace_module = _refused(__name__, "trace_module", _REASON)
_get_trace_graph = _refused(__name__, "_get_trace_graph", "no graph of a call is recorded")


def Attribute(value, type):
    """The value."""
    return value


def annotate(the_type, the_value):
    """The value."""
    return the_value


def isinstance(obj, target_type):
    """isinstance(obj, target_type), for types that are classes."""
    import builtins
    return builtins.isinstance(obj, target_type)


def script(obj=None, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    """The function, module or class itself.

    >>> import tinytorch as torch
    >>> torch.jit.script(len) is len
    True
    """
    return obj


def trace(func, example_inputs=None, *args, **kwargs):
    """The function or module itself: its control flow stays alive."""
    return func


def script_method(fn):
    """The method itself."""
    return fn


def script_if_tracing(fn):
    """The function itself."""
    return fn


def interface(obj):
    """The class itself."""
    return obj


def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    """The module itself."""
    return mod


def optimize_for_inference(mod, other_methods=None):
    """The module itself."""
    return mod


def export(fn):
    """The function itself."""
    return fn


def ignore(drop=False, **kwargs):
    """The function itself; with settings, a decorator that gives it back."""
    return drop if callable(drop) else lambda fn: fn


def unused(fn):
    """The function itself."""
    return fn


def is_scripting():
    """False."""
    return False


def is_tracing():
    """False."""
    return False


def set_fusion_strategy(strategy):
    """Nothing: there is nothing to fuse. The strategy before: none."""
    return []


def onednn_fusion_enabled():
    """False."""
    return False


def enable_onednn_fusion(enabled):
    """Nothing: there is nothing to fuse."""


class optimized_execution:
    """A context that changes nothing."""

    def __init__(self, should_optimize):
        self.should_optimize = should_optimize

    def __enter__(self):
        """Nothing."""

    def __exit__(self, type, value, traceback):
        """Nothing."""


class strict_fusion(optimized_execution):
    """A context that changes nothing."""

    def __init__(self):
        super().__init__(True)


def _overload(func):
    """The function itself: declarations for the compiler."""
    return func


def _overload_method(func):
    """The method itself: declarations for the compiler."""
    return func


def _script_if_tracing(fn):
    return fn


def _unwrap_optional(x):
    """The value. AssertionError for None."""
    assert x is not None, "Unwrapping null optional"
    return x


def fork(func, *args, **kwargs):
    """A torch.Future of func(*args, **kwargs), which is computed at once; `wait` gives the result."""
    future = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future):
    """The result of what `fork` gave. TypeError for anything else, RuntimeError for None."""
    if future is None:
        raise RuntimeError("Future can't be None")
    if not isinstance(future, Future):
        raise TypeError("wait(): incompatible function arguments. The following argument types are supported:\n    1. "
                        f"(arg0: torch._C.Future) -> object\n\nInvoked with: {future!r}")
    return future.wait()


def save(m, f, _extra_files=None):
    """NotImplementedError: there is no TorchScript to save; use torch.save(m.state_dict(), f)."""
    raise NotImplementedError("torch.jit.save is not supported: use torch.save with the state_dict")


def load(f, map_location=None, _extra_files=None, _restore_shapes=False):
    """NotImplementedError: TorchScript files cannot be read."""
    raise NotImplementedError("torch.jit.load is not supported: TorchScript files cannot be read")


__getattr__ = _namespace(__name__, ("_state", "annotations"))
