"""torch.cuda as it is on a machine without CUDA: questions say no, settings do nothing, work is refused."""
from collections import OrderedDict

from .missing import namespace as _namespace

__all__ = ["current_device", "current_stream", "device_count", "empty_cache", "get_arch_list", "get_device_capability",
           "get_device_name", "get_device_properties", "get_rng_state", "init", "initial_seed", "ipc_collect",
           "is_available", "is_bf16_supported", "is_initialized", "manual_seed", "manual_seed_all",
           "max_memory_allocated", "max_memory_reserved", "mem_get_info", "memory_allocated", "memory_reserved",
           "memory_stats", "reset_max_memory_allocated", "reset_peak_memory_stats", "seed", "seed_all", "set_device",
           "set_rng_state", "synchronize"]


def is_available():
    """False."""
    return False


def is_initialized():
    """False."""
    return False


def is_bf16_supported(including_emulation=True):
    """False."""
    return False


def device_count():
    """0."""
    return 0


def get_arch_list():
    """The empty list."""
    return []


def _nothing(name, text):
    def function(*args, **kwargs):
        return None
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


def _zero(name):
    def function(device=None):
        return 0
    function.__name__ = function.__qualname__ = name
    function.__doc__ = "0 bytes: no device, no memory in use."
    return function


def _refused(name):
    def function(*args, **kwargs):
        raise AssertionError("Torch not compiled with CUDA enabled")
    function.__name__ = function.__qualname__ = name
    function.__doc__ = "AssertionError: there is no CUDA here."
    return function


manual_seed = _nothing("manual_seed", "Nothing: there is no CUDA generator.")
manual_seed_all = _nothing("manual_seed_all", "Nothing: there are no CUDA generators.")
seed = _nothing("seed", "Nothing: there is no CUDA generator.")
seed_all = _nothing("seed_all", "Nothing: there are no CUDA generators.")
empty_cache = _nothing("empty_cache", "Nothing: no CUDA memory is cached.")

memory_allocated, max_memory_allocated = _zero("memory_allocated"), _zero("max_memory_allocated")
memory_reserved, max_memory_reserved = _zero("memory_reserved"), _zero("max_memory_reserved")

init, synchronize, ipc_collect = _refused("init"), _refused("synchronize"), _refused("ipc_collect")
current_device, set_device = _refused("current_device"), _refused("set_device")
current_stream, initial_seed = _refused("current_stream"), _refused("initial_seed")
get_device_name, get_device_properties = _refused("get_device_name"), _refused("get_device_properties")
get_device_capability, mem_get_info = _refused("get_device_capability"), _refused("mem_get_info")
get_rng_state, set_rng_state = _refused("get_rng_state"), _refused("set_rng_state")
reset_peak_memory_stats = _refused("reset_peak_memory_stats")
reset_max_memory_allocated = _refused("reset_max_memory_allocated")


def memory_stats(device=None):
    """An empty dict: no device, no statistics."""
    return OrderedDict()


__getattr__ = _namespace(__name__)
