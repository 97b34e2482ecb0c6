"""torch.accelerator on a machine without accelerators."""

from . import _absent

__all__ = ["current_accelerator", "current_device_index", "device_count", "empty_cache", "is_available",
           "set_device_index", "synchronize"]


_REASON = "Cannot access accelerator device when none is available."
_more = _absent.refusing(__name__, """Graph current_device_idx current_stream empty_host_cache get_device_capability
    get_memory_info max_memory_allocated max_memory_reserved memory_allocated memory_reserved memory_stats
    reset_accumulated_memory_stats reset_peak_memory_stats set_device_idx set_stream""".split(), RuntimeError, _REASON)
globals().update(_more)
__all__ += ["device_index", *_more]


class device_index:
    """A context that refuses any index but None."""

    def __init__(self, device, /):
        self.idx = device

    def __enter__(self):
        if self.idx is not None:
            _refuse()

    def __exit__(self, *error):
        """Nothing."""


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
    raise RuntimeError(_REASON)


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
