"""torch.mps on a machine without an Apple GPU."""

from . import _absent

__all__ = ["device_count", "empty_cache", "is_available", "manual_seed", "synchronize"]


_more = {}
for _name, _call in (("current_allocated_memory", "getCurrentAllocatedMemory"), ("Event", "acquireEvent"),
                     ("driver_allocated_memory", "getDriverAllocatedMemory"), ("get_rng_state", "getDefaultGenerator"),
                     ("recommended_max_memory", "getRecommendedMaxMemory"), ("seed", "getDefaultGenerator"),
                     ("set_rng_state", "getDefaultGenerator"),
                     ("set_per_process_memory_fraction", "setMemoryFraction")):
    _more.update(_absent.refusing(__name__, (_name,), RuntimeError, f"Cannot execute {_call}() without MPS backend."))
_more.update(_absent.refusing(__name__, ("compile_shader", "load_metallib"), RuntimeError, "MPS is not available"))
globals().update(_more)
__all__ += _more


def is_available():
    """False."""
    return False


def device_count():
    """0."""
    return 0


def manual_seed(seed):
    """Does nothing: there is no such device."""


def synchronize():
    """RuntimeError: there is no such device."""
    raise RuntimeError("Cannot execute deviceSynchronize() without MPS backend.")


def empty_cache():
    """RuntimeError: there is no such device."""
    raise RuntimeError("Cannot execute emptyCache() without MPS backend.")
