"""torch.compiler where nothing is compiled: code runs as it is written."""
from .runtime import compile

__all__ = ["allow_in_graph", "assume_constant_result", "compile", "cudagraph_mark_step_begin", "disable",
           "get_default_backend", "is_compiling", "is_dynamo_compiling", "is_exporting",
           "keep_portable_guards_unsafe", "keep_tensor_guards_unsafe", "list_backends", "load_cache_artifacts",
           "load_compiled_function", "nested_compile_region", "reset", "save_cache_artifacts", "set_default_backend",
           "set_enable_guard_collectives", "set_stance", "skip_all_guards_unsafe",
           "skip_guard_on_all_nn_modules_unsafe", "skip_guard_on_globals_unsafe",
           "skip_guard_on_inbuilt_nn_modules_unsafe", "substitute_in_graph", "wrap_numpy"]


def disable(fn=None, recursive=True, *, reason=None):
    """The function itself; without one, a decorator that gives back the function."""
    return (lambda fn: fn) if fn is None else fn


def is_compiling():
    """False."""
    return False


def is_dynamo_compiling():
    """False."""
    return False


def is_exporting():
    """False."""
    return False


def reset():
    """Nothing: there is no compiled code to forget."""


def allow_in_graph(fn):
    """The function, or list of them, itself."""
    return fn


def assume_constant_result(fn):
    """The function itself."""
    return fn


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


def list_backends(exclude_tags=("debug", "experimental")):
    """The empty list."""
    return []


class set_stance:
    """A context, a decorator or a call that changes nothing: there is no compiler."""

    def __init__(self, stance="default", *, skip_guard_eval_unsafe=False, force_backend=None):
        self.stance = stance

    def __enter__(self):
        """Nothing."""

    def __exit__(self, type, value, traceback):
        """Nothing."""

    def __call__(self, fn):
        return fn


# ------------------------------------------------------------------ settings of compilers, of which there is none
def get_default_backend():
    """What `set_default_backend` was told, "inductor" at first: it changes nothing."""
    return _default_backend[0]


def set_default_backend(backend):
    """Kept for `get_default_backend`. TypeError for what is neither a word nor a function; None: the first one."""
    if backend is not None and not isinstance(backend, str) and not callable(backend):
        raise TypeError(f"backend must be a string or callable, got {type(backend)}")
    _default_backend[0] = "inductor" if backend is None else backend


_default_backend = ["inductor"]


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
