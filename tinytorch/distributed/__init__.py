"""torch.distributed on MPI, by mpi4py: one program in several processes, started by mpirun.

    mpirun -n 4 python script.py
    python -m tinytorch.distributed.run --nproc_per_node 4 script.py

See docs/distributed.md. The modules are loaded when a program first uses them.
"""
from ..missing import namespace as _namespace

_OF = {
    **dict.fromkeys((
        "Backend", "GroupMember", "ProcessGroup", "default_pg_timeout", "destroy_process_group", "get_backend",
        "get_backend_config", "get_default_backend_for_device", "get_global_rank", "get_group_rank",
        "get_node_local_rank", "get_pg_count", "get_process_group_ranks", "get_rank", "get_world_size", "group",
        "init_process_group", "is_available", "is_backend_available", "is_gloo_available", "is_initialized",
        "is_mpi_available", "is_nccl_available", "is_torchelastic_launched", "is_ucc_available", "is_xccl_available",
        "new_group", "new_subgroups", "new_subgroups_by_enumeration"), "world"),
    **dict.fromkeys(("ReduceOp", "supports_complex", "_make_nccl_premul_sum"), "reductions"),
    "Work": "work", "GradBucket": "buckets",
    **dict.fromkeys((
        "all_gather", "all_gather_into_tensor", "all_gather_single", "all_reduce", "all_reduce_coalesced", "all_to_all",
        "all_to_all_single", "barrier", "broadcast", "gather", "reduce", "reduce_scatter", "reduce_scatter_single",
        "reduce_scatter_tensor", "scatter"), "collectives"),
    **dict.fromkeys(("P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send"), "point_to_point"),
    **dict.fromkeys((
        "all_gather_object", "broadcast_object_list", "gather_object", "recv_object_list", "scatter_object_list",
        "send_object_list"), "objects"),
    **dict.fromkeys(("DebugLevel", "get_debug_level", "monitored_barrier", "set_debug_level",
                     "set_debug_level_from_env"), "detail"),
    **dict.fromkeys(("DistError", "DistStoreError", "FileStore", "HashStore", "PrefixStore", "Store", "TCPStore"),
                    "store"),
    "DistBackendError": "errors",
    "DeviceMesh": "tensor", "init_device_mesh": "tensor",
}

_LATER = ("_functional_collectives", "algorithms", "checkpoint", "constants", "device_mesh", "distributed_c10d", "fsdp",
          "nn", "optim", "rpc", "run", "tensor")

__getattr__ = _namespace(__name__, _LATER, _OF)


def __dir__():
    return sorted({*globals(), *_OF})
