"""torch.compiler: what programs say to torch.compile (docs/compile.md)."""
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
    """False."""
    return False


def nested_compile_region(fn=None):
    """The function itself; without one, a decorator that gives it back."""
    return (lambda fn: fn) if fn is None else fn


def substitute_in_graph(original_fn, *, can_constant_fold_through=False, skip_signature_check=False):
    """A decorator that gives the function itself: nothing is substituted."""
    return lambda fn: fn


def wrap_numpy(fn):
    """NotImplementedError: functions of NumPy are not turned into ones of tensors."""
    raise NotImplementedError("torch.compiler.wrap_numpy is not supported")


def cudagraph_mark_step_begin():
    """Nothing: there is no CUDA."""


_STANCES = ("default", "eager_then_compile", "aot_eager_then_compile", "force_eager", "eager_on_recompile",
            "fail_on_recompile", "fail_on_recompile_if_possible")


class set_stance:
    """A context, a decorator or a call that says what compiled functions do from now on.

    "default"             record and replay
    "force_eager"         run as they are written
    "eager_on_recompile"  replay where there is a program, else run as they are written
    "fail_on_recompile"   RuntimeError where there is none

    RuntimeError for an unknown one.
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
        settings.stance = self.before          # as a decorator it holds within calls alone

        @functools.wraps(fn)
        def call(*args, **kwargs):
            with set_stance(self.stance):
                return fn(*args, **kwargs)
        return call


# ------------------------------------------------------------------ settings that change nothing
def get_default_backend():
    """The backend of torch.compile that is told none: "inductor", or what `set_default_backend` was told."""
    return settings.backend


def set_default_backend(backend):
    """Says which backend torch.compile takes that is told none. TypeError for what is neither a word nor a
    function; None: the first one."""
    if backend is not None and not isinstance(backend, str) and not callable(backend):
        raise TypeError(f"backend must be a string or callable, got {type(backend)}")
    settings.backend = "inductor" if backend is None else backend


def set_enable_guard_collectives(enabled):
    """False: what was set before."""
    return False


def save_cache_artifacts():
    """None: nothing is compiled that could be kept."""
    return None


def load_cache_artifacts(serialized_artifacts):
    """None: nothing is compiled that it could be for."""
    return None


def load_compiled_function(file, *, f_globals=None, external_data=None):
    """NotImplementedError: there is no compiler."""
    raise NotImplementedError("torch.compiler.load_compiled_function is not supported: there is no compiler")


def _all_guards(name, kept):
    def function(guard_entries, **options):
        return [kept] * len(guard_entries)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Which guards of a compiled function are kept: there are none."
    return function


keep_portable_guards_unsafe = _all_guards("keep_portable_guards_unsafe", True)
keep_tensor_guards_unsafe = _all_guards("keep_tensor_guards_unsafe", True)
skip_all_guards_unsafe = _all_guards("skip_all_guards_unsafe", False)
skip_guard_on_all_nn_modules_unsafe = _all_guards("skip_guard_on_all_nn_modules_unsafe", True)
skip_guard_on_globals_unsafe = _all_guards("skip_guard_on_globals_unsafe", True)
skip_guard_on_inbuilt_nn_modules_unsafe = _all_guards("skip_guard_on_inbuilt_nn_modules_unsafe", True)
