"""NNPACK, which is not available. Its setting has no effect."""
from contextlib import contextmanager

__all__ = ["flags", "is_available", "set_flags"]

_enabled = [True]


def is_available():
    """False."""
    return False


def set_flags(_enabled_now):
    """Keeps the setting, and returns the previous one in a tuple. RuntimeError for anything but a bool."""
    if not isinstance(_enabled_now, bool):
        raise RuntimeError(f"set_enabled_NNPACK expects a bool, but got {type(_enabled_now).__name__}")
    before, _enabled[0] = _enabled[0], _enabled_now
    return (before,)


@contextmanager
def flags(enabled=False):
    """A context with that setting."""
    before = set_flags(enabled)
    try:
        yield
    finally:
        set_flags(*before)
