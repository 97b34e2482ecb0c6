"""torch.cuda as on a machine without CUDA: queries return False, settings have no effect, work raises an error."""
from collections import OrderedDict

from .. import _absent
from .._rare import AcceleratorError, OutOfMemoryError
from ..ops.creation.legacy import ABSENT as _ABSENT
from ..missing import namespace as _namespace

__all__ = ["CUDAGraph", "Event", "Stream", "StreamContext", "current_device", "current_stream", "device",
           "device_count", "device_of", "empty_cache", "get_arch_list", "get_device_capability", "get_device_name",
           "get_device_properties", "get_gencode_flags", "get_rng_state", "get_rng_state_all", "init", "initial_seed",
           "ipc_collect", "is_available", "is_bf16_supported", "is_initialized",
           "is_tf32_supported", "manual_seed", "manual_seed_all", "max_memory_allocated", "max_memory_reserved",
           "mem_get_info", "memory_allocated", "memory_reserved", "memory_stats", "reset_max_memory_allocated",
           "reset_peak_memory_stats", "seed", "seed_all", "set_device", "set_rng_state",
           "set_rng_state_all", "stream", "synchronize", *_ABSENT]
globals().update(_ABSENT)


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
    """An empty dict, because there is no device."""
    return OrderedDict()


def get_gencode_flags():
    """The empty string."""
    return ""


def get_rng_state_all():
    """The empty list."""
    return []


def set_rng_state_all(new_states):
    """Does nothing for an empty list, else the same as `set_rng_state`."""
    for i, state in enumerate(new_states):
        set_rng_state(state, i)


def is_tf32_supported():
    """False."""
    return False


def _dummy(name, message):
    def refuse(cls, *args, **kwargs):
        raise RuntimeError(message)
    return type(name, (), {"__new__": refuse, "__doc__": "RuntimeError: there is no CUDA here.",
                           "__module__": __name__})


Stream = _dummy("Stream", "torch.cuda.Stream requires CUDA support")
Event, CUDAGraph = [_dummy(name, f"Tried to instantiate dummy base class {name}") for name in ("Event", "CUDAGraph")]
_graph_pool_handle = _dummy("_graph_pool_handle", "Tried to instantiate dummy base class _graph_pool_handle")
graph_pool_handle = _graph_pool_handle


class graph:
    """RuntimeError, because there is no CUDA whose calls could be captured."""

    def __init__(self, cuda_graph, pool=None, stream=None, capture_error_mode="global"):
        raise RuntimeError("torch.cuda.graph requires CUDA support")


class StreamContext:
    """A context without effect, because there are no streams."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        """Does nothing."""

    def __exit__(self, type, value, traceback):
        """Does nothing."""


def stream(stream):
    """A context without effect, because there are no streams."""
    return StreamContext(stream)


class device:
    """A context that refuses any device except a negative index, which stands for no device."""

    def __init__(self, device):
        if device is None:
            device = -1
        self.idx = device if isinstance(device, int) else 0
        self.prev_idx = -1

    def __enter__(self):
        if self.idx >= 0:
            raise RuntimeError("PyTorch was compiled without CUDA support")

    def __exit__(self, type, value, traceback):
        return False


class device_of(device):
    """A context for the device of a tensor, which is never a CUDA device."""

    def __init__(self, obj):
        super().__init__(-1)


# ------------------------------------------------------------------ memory, graphs, properties of devices
_more = _absent.refusing(__name__, """caching_allocator_alloc caching_allocator_delete can_device_access_peer
    change_current_allocator check_error cudart current_blas_handle current_solver_handle default_stream
    get_allocator_backend get_per_process_memory_fraction get_stream_from_external get_sync_debug_mode
    make_graphed_callables memory_snapshot memory_summary reset_accumulated_host_memory_stats
    reset_accumulated_memory_stats reset_max_memory_cached reset_peak_host_memory_stats
    set_per_process_memory_fraction set_stream set_sync_debug_mode""".split(),
                         AssertionError, "Torch not compiled with CUDA enabled")
_more.update(_absent.refusing(__name__, """clock_rate device_memory_used memory_usage power_draw temperature
    utilization""".split(), ModuleNotFoundError, "nvidia-ml-py does not seem to be installed or it can't be imported."))
_more.update(_absent.answering(__name__, ("max_memory_cached", "memory_cached"), int,
                               "0 bytes: no device, no memory in use."))
_more.update(_absent.answering(__name__, ("memory_stats_as_nested_dict", "host_memory_stats_as_nested_dict"), dict,
                               "An empty dict: no device, no statistics."))
_more.update(_absent.answering(__name__, ("host_memory_stats",), OrderedDict,
                               "An empty dict: no device, no statistics."))
_more.update(_absent.answering(__name__, ("caching_allocator_enable",), lambda: None, "Nothing: nothing is allocated."))
_more.update(_absent.answering(__name__, ("list_gpu_processes",), lambda: (
    "pynvml module not found, please install nvidia-ml-py"), "That there is no tool to ask."))
_more.update(_absent.nothing_around(__name__, ("caching_allocator_disabled", "use_mem_pool")))
_more.update(_absent.dummies(__name__, ("CUDAPluggableAllocator", "ExternalStream", "GreenContext", "MemPool")))
#: The classes of storages on CUDA.
_more.update(_absent.dummies(__name__, [f"{_kind}Storage" for _kind in """BFloat16 Bool Byte Char ComplexDouble
    ComplexFloat Double Float Half Int Long Short""".split()], AssertionError, "Torch not compiled with CUDA enabled"))
_more.update(_absent.refusing(__name__, ("is_current_stream_capturing",), RuntimeError,
                              "Tried to instantiate dummy base class _cuda_isCurrentStreamCapturing"))
globals().update(_more)
__all__ += _more
default_generators = ()
has_half, has_magma = True, False


class CudaError(RuntimeError):
    """The error of CUDA's functions, made from an error code."""

    def __init__(self, code):
        super().__init__(f"CUDA error ({code})")


class DeferredCudaCallError(Exception):
    """The error of a call that was deferred to the initialisation of CUDA."""


class cudaStatus:
    """The status codes of CUDA's functions."""

    SUCCESS, ERROR_NOT_READY = 0, 34


_initialized = False                           # whether CUDA was initialised


def _lazy_call(callable, **kwargs):
    """Does nothing: torch calls `callable` when CUDA is initialised, which never happens here."""


__getattr__ = _namespace(__name__, ("amp", "comm", "graphs", "jiterator", "memory", "nccl", "nvtx", "profiler",
                                    "random", "sparse", "streams", "tunable"))
