"""torch.xpu on a machine without an Intel GPU."""

__all__ = ["device_count", "empty_cache", "is_available", "manual_seed", "manual_seed_all", "synchronize"]


def is_available():
    """False."""
    return False


def device_count():
    """0."""
    return 0


def manual_seed(seed):
    """Nothing: there is no generator on that device."""


def manual_seed_all(seed):
    """Nothing: there is no generator on that device."""


def empty_cache():
    """Nothing: no memory is cached."""


def synchronize(device=None):
    """AssertionError: there is no such device."""
    raise AssertionError("Torch not compiled with XPU enabled")
