"""torch.jit where nothing is compiled: scripted and traced code is the code itself, run as it is written."""

__all__ = ["export", "fork", "ignore", "is_scripting", "is_tracing", "load", "save", "script", "trace", "unused",
           "wait"]


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


def fork(func, *args, **kwargs):
    """The result of func(*args, **kwargs), computed at once; hand it to `wait`."""
    return func(*args, **kwargs)


def wait(future):
    """What `fork` gave."""
    return future


def save(m, f, _extra_files=None):
    """NotImplementedError: there is no TorchScript to save; use torch.save(m.state_dict(), f)."""
    raise NotImplementedError("torch.jit.save is not supported: use torch.save with the state_dict")


def load(f, map_location=None, _extra_files=None, _restore_shapes=False):
    """NotImplementedError: TorchScript files cannot be read."""
    raise NotImplementedError("torch.jit.load is not supported: TorchScript files cannot be read")
