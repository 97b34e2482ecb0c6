"""torch.compiler where nothing is compiled: code runs as it is written."""
from .runtime import compile

__all__ = ["allow_in_graph", "assume_constant_result", "compile", "cudagraph_mark_step_begin", "disable",
           "is_compiling", "is_dynamo_compiling", "is_exporting", "list_backends", "nested_compile_region", "reset",
           "set_stance", "substitute_in_graph", "wrap_numpy"]


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
