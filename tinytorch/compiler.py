"""torch.compiler where nothing is compiled: code runs as it is written."""
from .runtime import compile

__all__ = ["compile", "disable", "is_compiling", "is_dynamo_compiling", "is_exporting", "reset"]


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
