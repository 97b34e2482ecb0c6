"""torch.distributed where there is one process: questions say so, and starting more is refused."""

from .._refused import refused as _refused, refused_class as _refused_class
from ..missing import namespace as _namespace

__all__ = ["barrier", "get_rank", "get_world_size", "init_process_group", "is_available", "is_initialized"]


def is_available():
    """False."""
    return False


def is_initialized():
    """False."""
    return False


def init_process_group(*args, **kwargs):
    """NotImplementedError: there is one process."""
    raise NotImplementedError("torch.distributed is not supported: tinytorch runs in one process")


def _refuse():
    raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")


def get_rank(group=None):
    """ValueError: there is no process group."""
    _refuse()


def get_world_size(group=None):
    """ValueError: there is no process group."""
    _refuse()


def barrier(*args, **kwargs):
    """ValueError: there is no process group."""
    _refuse()


_REASON = "there is one process"
ProcessGroup, Work, Store, TCPStore, FileStore, HashStore, P2POp = [
    _refused_class(__name__, name, _REASON)
    for name in ("ProcessGroup", "Work", "Store", "TCPStore", "FileStore", "HashStore", "P2POp")]
new_group = _refused(__name__, "new_group", _REASON)


class ReduceOp:
    """What processes do with what each brings; there is one."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = range(9)


class group:
    """The group of all processes."""

    WORLD = None


class GroupMember:
    """The group of all processes, and no member."""

    WORLD, NON_GROUP_MEMBER = None, -100


def is_torchelastic_launched():
    """False."""
    return False


def is_nccl_available():
    """False."""
    return False


is_mpi_available = is_gloo_available = is_ucc_available = is_xccl_available = is_nccl_available


def get_backend(group=None):
    """ValueError: there is no process group."""
    _refuse()


def destroy_process_group(group=None):
    """AssertionError: there is no process group."""
    raise AssertionError("Default process group has not been initialized")


def _refusing(name):
    def function(*args, **kwargs):
        _refuse()
    function.__name__ = function.__qualname__ = name
    function.__doc__ = "ValueError: there is no process group."
    return function


for _name in ("all_gather", "all_gather_into_tensor", "all_gather_object", "all_reduce", "all_to_all",
              "all_to_all_single", "broadcast", "broadcast_object_list", "gather", "gather_object", "irecv", "isend",
              "monitored_barrier", "recv", "reduce", "reduce_scatter", "reduce_scatter_tensor", "scatter",
              "scatter_object_list", "send"):
    globals()[_name] = _refusing(_name)

__getattr__ = _namespace(__name__, ("device_mesh", "fsdp", "optim", "rpc", "tensor"),
                         {"DeviceMesh": "tensor", "init_device_mesh": "tensor"})
