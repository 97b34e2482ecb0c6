"""torch.compiler: settings of torch.compile, and functions that mark code for it (docs/compile.md)."""
import functools

from ._dynamo.decorators import allow_in_graph, assume_constant_result, disable, is_compiling
from ._dynamo.eval_frame import compile, list_backends
from .capture.compiled import reset, settings

__all__ = ["allow_in_graph", "assume_constant_result", "compile", "cudagraph_mark_step_begin", "disable",
           "get_default_backend", "is_compiling", "is_dynamo_compiling", "is_exporting",
           "keep_portable_guards_unsafe", "keep_tensor_guards_unsafe", "list_backends", "load_cache_artifacts",
           "load_compiled_function", "nested_compile_region", "reset", "save_cache_artifacts", "set_default_backend",
           "set_enable_guard_collectives", "set_stance", "skip_all_guards_unsafe",
           "skip_guard_on_all_nn_modules_unsafe", "skip_guard_on_globals_unsafe",
           "skip_guard_on_inbuilt_nn_modules_unsafe", "substitute_in_graph", "wrap_numpy"]


def is_dynamo_compiling():
    """Whether a call is being recorded in this thread by torch.compile."""
    return is_compiling()


def is_exporting():
    """False, also while torch.export records a call."""
    return False


def nested_compile_region(fn=None):
    """The function itself; without an argument, a decorator that returns its function."""
    return (lambda fn: fn) if fn is None else fn


def substitute_in_graph(original_fn, *, can_constant_fold_through=False, skip_signature_check=False):
    """A decorator that returns its function: nothing is substituted."""
    return lambda fn: fn


def wrap_numpy(fn):
    """NotImplementedError: NumPy functions are not turned into functions of tensors."""
    raise NotImplementedError("torch.compiler.wrap_numpy is not supported")


def cudagraph_mark_step_begin():
    """Does nothing: there is no CUDA."""


_STANCES = ("default", "eager_then_compile", "aot_eager_then_compile", "force_eager", "eager_on_recompile",
            "fail_on_recompile", "fail_on_recompile_if_possible")


class set_stance:
    """Sets, as a context manager, a decorator or a call, what compiled functions do from now on.

    "default"             record and replay
    "force_eager"         run the function itself
    "eager_on_recompile"  replay a recorded program if one fits, else run the function itself
    "fail_on_recompile"   RuntimeError if no recorded program fits

    RuntimeError for an unknown stance.
    """

    def __init__(self, stance="default", *, skip_guard_eval_unsafe=False, force_backend=None):
        if stance not in _STANCES:
            raise RuntimeError(f"invalid torch.compile stance '{stance}'")
        self.stance, self.before = stance, settings.stance
        settings.stance = stance

    def __enter__(self):
        settings.stance = self.stance

    def __exit__(self, type, value, traceback):
        settings.stance = self.before

    def __call__(self, fn):
        settings.stance = self.before          # a decorator applies within calls only

        @functools.wraps(fn)
        def call(*args, **kwargs):
            with set_stance(self.stance):
                return fn(*args, **kwargs)
        return call


# ------------------------------------------------------------------ the backend, and settings without effect
def get_default_backend():
    """The backend of torch.compile without `backend`: "inductor", unless `set_default_backend` has changed it."""
    return settings.backend


def set_default_backend(backend):
    """Set the backend that torch.compile takes without `backend`. None: "inductor". TypeError for an object that is
    neither a string nor a function."""
    if backend is not None and not isinstance(backend, str) and not callable(backend):
        raise TypeError(f"backend must be a string or callable, got {type(backend)}")
    settings.backend = "inductor" if backend is None else backend


def set_enable_guard_collectives(enabled):
    """False, the former setting. It has no effect."""
    return False


def save_cache_artifacts():
    """None: recorded programs are not written to files."""
    return None


def load_cache_artifacts(serialized_artifacts):
    """None: recorded programs are not read from files."""
    return None


def load_compiled_function(file, *, f_globals=None, external_data=None):
    """NotImplementedError: compiled functions are not written to files."""
    raise NotImplementedError("torch.compiler.load_compiled_function is not supported: compiled functions are not "
                              "written to files")


def _all_guards(name, kept):
    def function(guard_entries, **options):
        return [kept] * len(guard_entries)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"One {kept} for each of `guard_entries`. torch.compile here does not ask for it."
    return function


keep_portable_guards_unsafe = _all_guards("keep_portable_guards_unsafe", True)
keep_tensor_guards_unsafe = _all_guards("keep_tensor_guards_unsafe", True)
skip_all_guards_unsafe = _all_guards("skip_all_guards_unsafe", False)
skip_guard_on_all_nn_modules_unsafe = _all_guards("skip_guard_on_all_nn_modules_unsafe", True)
skip_guard_on_globals_unsafe = _all_guards("skip_guard_on_globals_unsafe", True)
skip_guard_on_inbuilt_nn_modules_unsafe = _all_guards("skip_guard_on_inbuilt_nn_modules_unsafe", True)
