"""torch.mps on a machine without Apple's GPU."""

__all__ = ["device_count", "empty_cache", "is_available", "manual_seed", "seed", "synchronize"]


def is_available():
    """False."""
    return False


def device_count():
    """0."""
    return 0


def manual_seed(seed):
    """Nothing: there is no generator on that device."""


def seed():
    """Nothing: there is no generator on that device."""


def synchronize():
    """RuntimeError: there is no such device."""
    raise RuntimeError("Cannot execute deviceSynchronize() without MPS backend.")


def empty_cache():
    """RuntimeError: there is no such device."""
    raise RuntimeError("Cannot execute emptyCache() without MPS backend.")
