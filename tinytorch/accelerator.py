"""torch.accelerator on a machine that has none."""

__all__ = ["current_accelerator", "current_device_index", "device_count", "empty_cache", "is_available",
           "set_device_index", "synchronize"]


def is_available():
    """False."""
    return False


def device_count():
    """0."""
    return 0


def current_accelerator(check_available=False):
    """None."""
    return None


def _refuse():
    raise RuntimeError("Cannot access accelerator device when none is available.")


def current_device_index():
    """RuntimeError: there is no accelerator."""
    _refuse()


def set_device_index(device, /):
    """RuntimeError: there is no accelerator."""
    _refuse()


def synchronize(device=None, /):
    """RuntimeError: there is no accelerator."""
    _refuse()


def empty_cache():
    """RuntimeError: there is no accelerator."""
    _refuse()
