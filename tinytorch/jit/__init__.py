"""torch.jit: `trace` records a call as a program, `save` and `load` write and read it, here and in PyTorch.

`script` compiles the source of a function or module to a program (scripting.py). Programs are interpreted
(language.py).
"""
import importlib as _importlib
from typing import Final

from .._refused import refused as _refused, refused_class as _refused_class
from ..futures import Future
from ..missing import namespace as _namespace

__all__ = ["Attribute", "CompilationUnit", "Error", "Final", "Future", "ScriptFunction", "ScriptModule",
           "ScriptWarning", "TracerWarning", "annotate", "enable_onednn_fusion", "export", "fork", "freeze", "ignore",
           "interface", "is_scripting", "is_tracing", "isinstance", "load", "onednn_fusion_enabled",
           "optimize_for_inference", "optimized_execution", "save", "script", "script_if_tracing", "script_method",
           "set_fusion_strategy", "strict_fusion", "trace", "trace_module", "unused", "wait"]

_REASON = "nothing is compiled here"


class Error(Exception):
    """An error in a program."""


JITException = Error


class ScriptWarning(Warning):
    """A warning about a program."""


CompilationUnit = _refused_class(__name__, "CompilationUnit", _REASON)
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
    """The program of a function, or of a module with its submodules: a ScriptFunction, or a module with the parameters
    and buffers of the module. A class is returned as it is, after a check that programs can have it.

    The source may use the subset of Python that TorchScript supports: control flow, loops, lists, dicts, tuples,
    Optional, methods of the module, classes. A name that is not a variable of the function must be an operator, one of
    its modules, a function or class that can be compiled too, or a constant. Methods marked by `export` are compiled in
    addition to `forward`. Python runs the methods that `ignore` marks, and a program with such methods cannot be saved.
    Other constructs raise a NotSupportedError of torch.jit.frontend, and an unknown name raises a RuntimeError, both
    with the file and the line.

    A program works for all sizes and has both branches of a condition, unlike a program that `trace` records. With
    PYTORCH_JIT=0 in the environment the argument is returned as it is.

    >>> import tinytorch as torch
    >>> torch.jit.annotate(int, 3)
    3
    """
    if optimize is not None:
        from ..errors import warn
        warn("`optimize` is deprecated and has no effect. Use `with torch.jit.optimized_execution()` instead",
             FutureWarning)
    from . import _state
    if not _state._enabled:
        return obj
    from .scripting import script as compiled
    return compiled(obj)


def script_method(fn):
    """The method. Programs of its module include it, as they include methods that `export` marks."""
    return export(fn)


def script_if_tracing(fn):
    """The function itself."""
    return fn


def interface(obj):
    """The class itself."""
    return obj


def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    """A copy of a TorchScript module in eval mode whose parameters, buffers and attributes are constants of its
    program: it has no parameters, and cannot be trained. Attributes that a method writes to, and the attributes in
    `preserved_attrs`, stay attributes. The methods that stay are `forward` and those in `preserved_attrs`. RuntimeError
    for a module in training mode, and for a module that is not TorchScript. The results have the same bits:
    `optimize_numerics` changes nothing.

    >>> import tinytorch as torch
    >>> model = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Dropout()).eval()
    >>> frozen = torch.jit.freeze(torch.jit.script(model))
    >>> list(frozen.parameters())
    []
    >>> x = torch.ones(3, 2)
    >>> torch.equal(frozen(x), model(x))
    True
    """
    from .modules import RecursiveScriptModule
    if type(mod).__name__ == "ScriptFunction" or not issubclass(type(mod), RecursiveScriptModule):
        raise RuntimeError("Freezing expects a ScriptModule as input. Please use torch.jit.script or torch.jit.trace "
                           "to script your 'nn.Module'.")
    if mod.training:
        raise RuntimeError("Freezing is currently only implemented for modules in eval mode. Please call .eval() on "
                           "your module before freezing.")
    from .frozen import freeze as frozen
    return frozen(mod, list(preserved_attrs or ()))


def optimize_for_inference(mod, other_methods=None):
    """The frozen module (see `freeze`). There is no other optimization: programs are interpreted."""
    if getattr(mod, "_frozen", False):
        return mod
    return freeze(mod.eval(), other_methods)


def _marked(fn, how):
    fn._torchscript_modifier = how
    return fn


def export(fn):
    """Marks a method, so that `script` compiles it in addition to `forward`. Returns the method."""
    return _marked(fn, "export")


def ignore(drop=False, **kwargs):
    """Marks a function that Python runs when a script calls it; such a script cannot be saved. With drop=True it marks
    the function as `unused` does."""
    if callable(drop):
        return _marked(drop, "ignore")
    return lambda fn: _marked(fn, "unused" if drop else "ignore")


def unused(fn):
    """Marks a function whose call raises an error in a script. Returns the function."""
    if type(fn) is property:
        _marked(fn.fget, "unused")
        return fn
    return _marked(fn, "unused")


def is_scripting():
    """False."""
    return False


def is_tracing():
    """Whether a call is being traced in this thread."""
    return _recorder_at_work()


def set_fusion_strategy(strategy):
    """Changes nothing: programs are interpreted, not fused. Returns the previous strategy, an empty list."""
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
    """The function itself. Overloads of functions are not compiled."""
    return func


#: {(module, name): declarations of a method}, which `_overload_method` enters.
_OVERLOADS: dict = {}


def _overload_method(func):
    """Notes a declaration of an overloaded method, whose definition follows under the same name. Returns the method."""
    _OVERLOADS.setdefault((func.__module__, func.__qualname__), []).append(func)
    return func


def _script_if_tracing(fn):
    return fn


def _unwrap_optional(x):
    """The value. AssertionError for None."""
    assert x is not None, "Unwrapping null optional"
    return x


def fork(func, *args, **kwargs):
    """A torch.Future of func(*args, **kwargs), which is computed at once; `wait` returns the result."""
    future = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future):
    """The result of a future of `fork`. TypeError for any other object, RuntimeError for None."""
    if future is None:
        raise RuntimeError("Future can't be None")
    if not isinstance(future, Future):
        raise TypeError("wait(): incompatible function arguments. The following argument types are supported:\n    1. "
                        f"(arg0: torch._C.Future) -> object\n\nInvoked with: {future!r}")
    return future.wait()


def save(m, f, _extra_files=None):
    """Writes a module or function of TorchScript to a path or a binary file, as an archive that `torch.jit.load` reads
    here and in PyTorch. ValueError for any other object.

    >>> import io, tinytorch as torch
    >>> file = io.BytesIO()
    >>> torch.jit.save(torch.jit.trace(torch.relu, torch.ones(1)), file)
    >>> _ = file.seek(0)
    >>> torch.jit.load(file)(torch.tensor([-1., 2.]))
    tensor([0., 2.])
    """
    from .archive import write
    write(getattr(m, "_module", m), f, _extra_files)


def load(f, map_location=None, _extra_files=None, _restore_shapes=False):
    """The module in an archive of TorchScript, written here or by PyTorch, at a path or in a binary file.

    Python runs nothing in the archive: its code is interpreted, and can name only operators and classes of the
    archive; its pickles are read by the restricted unpickler that also reads weights. RuntimeError (or
    pickle.UnpicklingError) for an archive that is damaged, truncated or malicious, or that uses an operator that is not
    supported; ValueError if there is no such file. See docs/security.md.

    map_location  "cpu" or "meta", as in torch.load
    _extra_files  a dict; the contents of the files that its keys name become its values
    """
    from .archive import read
    return read(f, map_location, _extra_files)


def _recorder_at_work():
    from ..autograd.torch_function import modes
    return any([type(mode).__name__ == "Recorder" and mode.sizes for mode in modes()])


#: The files of names that are imported when they are first used.
_OF = {"trace": "tracing", "trace_module": "tracing", "TracingCheckError": "tracing", "ScriptModule": "modules",
       "RecursiveScriptModule": "modules", "TopLevelTracedModule": "modules", "TracedModule": "modules",
       "ScriptFunction": "modules", "ScriptMethod": "modules", "ScriptObject": "objects"}
_others = _namespace(__name__, ("_state", "annotations", "frontend"))


def __getattr__(name):
    if name == "TracerWarning":
        from ..capture.twice import TracerWarning
        return TracerWarning
    if name in _OF:
        found = getattr(_importlib.import_module(f"{__name__}.{_OF[name]}"), name)
        globals()[name] = found
        return found
    return _others(name)
