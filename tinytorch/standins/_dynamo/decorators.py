"""Decorators with which programs tell torch.compile about functions."""
import functools

from ..capture.calls import here

__all__ = ["allow_in_graph", "assume_constant_result", "disable", "is_compiling"]


def disable(fn=None, recursive=True, *, reason=None):
    """The function `fn`, which is never compiled; compiled functions that call it run uncompiled. Without `fn`, a
    decorator."""
    if fn is None:
        return functools.partial(disable, recursive=recursive, reason=reason)
    if isinstance(fn, type) or not callable(fn):
        return fn
    fn = getattr(fn, "_torchdynamo_orig_callable", fn)

    @functools.wraps(fn)
    def call(*args, **kwargs):
        if here.recording is not None:
            here.recording.stop(f"a call of {getattr(fn, '__name__', 'a function')}, which is not to be compiled")
        here.running += 1
        try:
            return fn(*args, **kwargs)
        finally:
            here.running -= 1
    call._torchdynamo_disable = True
    return call


def is_compiling():
    """Whether a call is being recorded in this thread by torch.compile."""
    return here.recording is not None


def allow_in_graph(fn):
    """The function, or the list of functions, itself."""
    return fn


def assume_constant_result(fn):
    """The function itself."""
    return fn
