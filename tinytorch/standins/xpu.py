"""torch.xpu on a machine without an Intel GPU."""
from collections import OrderedDict

from . import _absent, cuda

__all__ = ["StreamContext", "device", "device_count", "device_of", "empty_cache", "is_available", "manual_seed",
           "manual_seed_all", "set_rng_state_all", "stream", "synchronize"]

_REASON = "Torch not compiled with XPU enabled"
_more = _absent.refusing(__name__, """XPUPluggableAllocator can_device_access_peer change_current_allocator
    current_device current_stream get_device_capability get_device_name get_device_properties
    get_per_process_memory_fraction get_rng_state get_stream_from_external init initial_seed
    make_graphed_callables mem_get_info reset_accumulated_memory_stats reset_peak_memory_stats set_device
    set_per_process_memory_fraction set_rng_state set_stream""".split(), AssertionError, _REASON)
_more.update(_absent.refusing(__name__, """clock_rate device_memory_used memory_usage power_draw temperature
    utilization""".split(), ImportError, "pyzes is required; install it with 'pip install pyzes'."))
for _names, _result, _text in (
        ("is_bf16_supported is_initialized is_tf32_supported", bool, "False."),
        ("get_arch_list get_rng_state_all memory_snapshot", list, "The empty list."),
        ("get_gencode_flags", str, "The empty string."), ("memory_stats_as_nested_dict", dict, "The empty dict."),
        ("memory_stats", OrderedDict, "The empty dict."), ("seed seed_all", lambda: None, "Nothing."),
        ("max_memory_allocated max_memory_reserved memory_allocated memory_reserved", int, "0 bytes.")):
    _more.update(_absent.answering(__name__, _names.split(), _result, _text))
_more.update(_absent.nothing_around(__name__, ("use_mem_pool",)))
_more.update(_absent.dummies(__name__, ("Event", "MemPool", "Stream", "XPUGraph")))
for _name, _dummy in (("graph", "Stream"), ("graph_pool_handle", "_xpu_graph_pool_handle"),
                      ("is_current_stream_capturing", "_xpu_isCurrentStreamCapturing")):
    _more.update(_absent.refusing(__name__, (_name,), RuntimeError,
                                  f"Tried to instantiate dummy base class {_dummy}"))
globals().update(_more)
__all__ += _more
default_generators = ()


class StreamContext(cuda.StreamContext):
    """A context that changes nothing: there are no streams."""


def stream(stream):
    """A context that changes nothing: there are no streams."""
    return StreamContext(stream)


class device(cuda.device):
    """NotImplementedError when it is entered: there is no such device."""

    def __enter__(self):
        raise NotImplementedError("PyTorch was compiled without XPU support")


class device_of(device):
    """The device of a tensor: NotImplementedError when it is entered."""

    def __init__(self, obj):
        super().__init__(-1)


def set_rng_state_all(new_states):
    """Does nothing for the empty list; otherwise the same as set_rng_state."""
    for state in new_states:
        _more["set_rng_state"](state)


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
    """Does nothing: no memory is cached."""


def synchronize(device=None):
    """AssertionError: there is no such device."""
    raise AssertionError("Torch not compiled with XPU enabled")
