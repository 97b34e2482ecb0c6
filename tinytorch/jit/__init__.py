"""torch.jit: `trace` records a call as a program, `save` and `load` write and read it, here and in PyTorch.

`script` makes a program of the source of a function or module (scripting.py). Programs are interpreted (language.py).
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
    """What compiled code would raise."""


JITException = Error


class ScriptWarning(Warning):
    """What the compiler would warn of."""


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
    """The program that a function, or a module with all below it, is: a ScriptFunction, or a module on the parameters
    and buffers of the one given. A class is given back, once it is seen that programs can have it.

    The source is read, in the subset of Python that TorchScript has: control flow, loops, lists, dicts, tuples,
    Optional, methods of the module, classes. What a function names beside its variables has to be an operator, a module
    of it, a function or class that can be compiled as well, or a constant. Methods marked by `export` are compiled
    beside `forward`; what `ignore` marks is called as Python, and cannot be saved. Other Python is a NotSupportedError
    of torch.jit.frontend, and a name that is not known a RuntimeError, with the file and the line.

    A program holds for any sizes and takes both branches, unlike one that `trace` records. With PYTORCH_JIT=0 in the
    environment what is given is given back.

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
    """The method, which programs of its module have, as those that `export` marks."""
    return export(fn)


def script_if_tracing(fn):
    """The function itself."""
    return fn


def interface(obj):
    """The class itself."""
    return obj


def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    """A module of TorchScript in eval mode as one whose parameters, buffers and attributes are constants of its
    program: it has no parameters, and cannot be trained. What a method writes to stays an attribute, as do
    `preserved_attrs`, names of attributes and methods; of methods only those and `forward` stay. RuntimeError for a
    module in training, or that is no program. Results have the same bits: nothing is folded, whatever
    `optimize_numerics` says.

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
    """The module frozen (see `freeze`), if it is not yet: programs are interpreted, and nothing of them is fused."""
    if getattr(mod, "_frozen", False):
        return mod
    return freeze(mod.eval(), other_methods)


def _marked(fn, how):
    fn._torchscript_modifier = how
    return fn


def export(fn):
    """The method, which `script` compiles beside `forward`."""
    return _marked(fn, "export")


def ignore(drop=False, **kwargs):
    """The function, which scripts call as Python; such a script cannot be saved. With drop=True it is `unused`."""
    if callable(drop):
        return _marked(drop, "ignore")
    return lambda fn: _marked(fn, "unused" if drop else "ignore")


def unused(fn):
    """The function, of which scripts have a call that raises."""
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


#: {(module, name): declarations of a method}, of `_overload_method`.
_OVERLOADS: dict = {}


def _overload_method(func):
    """The method itself: one of the forms that the method of this name has, which is defined after them."""
    _OVERLOADS.setdefault((func.__module__, func.__qualname__), []).append(func)
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
    """Writes a module or function that was traced or read to a path or a binary file, as an archive that
    `torch.jit.load` reads, here and in PyTorch. ValueError for anything else.

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

    Nothing in the archive is run by Python: its code is interpreted, and names nothing but operators and its own
    classes; its pickles are read by the unpickler that reads weights. RuntimeError (or pickle.UnpicklingError) for an
    archive that is damaged, cut off, made to harm, or that uses an operator that is not here; ValueError if there is no
    such file. See docs/security.md.

    map_location  "cpu" or "meta", as in torch.load
    _extra_files  a dict, which gets the contents of the files that its keys name
    """
    from .archive import read
    return read(f, map_location, _extra_files)


def _recorder_at_work():
    from ..autograd.torch_function import modes
    return any([type(mode).__name__ == "Recorder" and mode.sizes for mode in modes()])


#: What is found in which file, when it is used.
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
