"""Collectives of Python objects, which are pickled: of processes that trust each other, as those of one program do."""
from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from .collectives import check_gather_list
from .world import ProcessGroup, get_global_rank, not_in, of_group, rank_in

__all__ = ["all_gather_object", "broadcast_object_list", "gather_object", "recv_object_list", "scatter_object_list",
           "send_object_list"]


def _packed(obj):
    return np.frombuffer(pickle.dumps(obj, pickle.HIGHEST_PROTOCOL), np.uint8)


def _parts(flat, sizes):
    ends = np.cumsum(sizes)
    return [flat[end - size:end] for end, size in zip(ends, sizes)]


def _unpacked(flat, sizes):
    return [pickle.loads(part.tobytes()) for part in _parts(flat, sizes)]


def _sizes(group, packed):
    """The lengths on all ranks."""
    sizes = np.empty(group.count, np.int64)
    group.comm.Allgather(np.array([packed.size], np.int64), sizes)
    return sizes


def all_gather_object(object_list: list, obj: Any, group: ProcessGroup | None = None) -> None:
    """Writes to `object_list`, as long as the group, the objects of all ranks."""
    if not_in(group, "all_gather_object"):
        return
    group = of_group(group)
    packed = _packed(obj)
    sizes = _sizes(group, packed)
    flat = np.empty(sizes.sum(), np.uint8)
    group.comm.Allgatherv(packed, [flat, (sizes, None), group.mpi.MPI.BYTE])
    for i, x in enumerate(_unpacked(flat, sizes)):
        object_list[i] = x


def gather_object(obj: Any, object_gather_list: list | None = None, dst: int | None = None,
                  group: ProcessGroup | None = None, group_dst: int | None = None) -> None:
    """Writes to `object_gather_list` of rank `dst` (0 by default) the objects of all ranks; others give None."""
    if not_in(group, "gather_object"):
        return
    group = of_group(group)
    root = rank_in(group, 0 if dst is None and group_dst is None else dst, group_dst)
    check_gather_list(group.own_rank, root, object_gather_list)
    packed = _packed(obj)
    sizes = _sizes(group, packed)
    here = group.own_rank == root
    flat = np.empty(sizes.sum() if here else 0, np.uint8)
    group.comm.Gatherv(packed, [flat, (sizes, None), group.mpi.MPI.BYTE] if here else None, root)
    if here:
        for i, x in enumerate(_unpacked(flat, sizes)):
            object_gather_list[i] = x


def broadcast_object_list(object_list: list, src: int | None = None, group: ProcessGroup | None = None,
                          device: Any = None, group_src: int | None = None) -> None:
    """Writes to `object_list`, as long on all ranks, the objects of rank `src` (0 by default)."""
    if not_in(group, "broadcast_object_list"):
        return
    group = of_group(group)
    root = rank_in(group, 0 if src is None and group_src is None else src, group_src)
    here = group.own_rank == root
    packed = [_packed(x) for x in object_list] if here else []
    sizes = np.array([x.size for x in packed] if here else [0] * len(object_list), np.int64)
    group.comm.Bcast(sizes, root)
    flat = np.concatenate([*packed, np.empty(0, np.uint8)]) if here else np.empty(sizes.sum(), np.uint8)
    group.comm.Bcast(flat, root)
    if not here:
        object_list[:] = _unpacked(flat, sizes)


def scatter_object_list(scatter_object_output_list: list, scatter_object_input_list: list | None = None,
                        src: int | None = None, group: ProcessGroup | None = None, group_src: int | None = None
                        ) -> None:
    """Writes to scatter_object_output_list[0] of rank i scatter_object_input_list[i] of rank `src` (0 by default)."""
    if not_in(group, "scatter_object_list"):
        return
    group = of_group(group)
    root = rank_in(group, 0 if src is None and group_src is None else src, group_src)
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    here, own = group.own_rank == root, np.zeros(1, np.int64)
    packed, sizes, flat = [], None, None
    if here:
        if scatter_object_input_list is None:
            raise ValueError("source rank must provide non-None scatter_object_input_list")
        packed = [_packed(x) for x in scatter_object_input_list]
        sizes, flat = np.array([x.size for x in packed], np.int64), np.concatenate(packed)
    group.comm.Scatter(sizes, own, root)
    got = np.empty(own[0], np.uint8)
    group.comm.Scatterv([flat, (sizes, None), group.mpi.MPI.BYTE] if here else None, got, root)
    scatter_object_output_list[0] = pickle.loads(got.tobytes())


def send_object_list(object_list: list, dst: int | None = None, group: ProcessGroup | None = None, device: Any = None,
                     group_dst: int | None = None, use_batch: bool = False) -> None:
    """Sends the objects to rank `dst` of the world (`group_dst` of the group), which calls recv_object_list."""
    if not_in(group, "send_object_list"):
        return
    group = of_group(group)
    to = rank_in(group, dst, group_dst)
    if to == group.own_rank:
        raise ValueError("Invalid destination rank: destination rank should not be the same as the rank of the current "
                         "process.")
    packed = [_packed(x) for x in object_list]
    group.comm.Send(np.array([x.size for x in packed], np.int64), to)
    group.comm.Send(np.concatenate([*packed, np.empty(0, np.uint8)]), to)


def recv_object_list(object_list: list, src: int | None = None, group: ProcessGroup | None = None, device: Any = None,
                     group_src: int | None = None, use_batch: bool = False) -> int:
    """Writes to `object_list` what rank `src` sends, or any; the rank, in the world, that sent it."""
    if not_in(group, "recv_object_list"):
        return -1
    group = of_group(group)
    MPI = group.mpi.MPI
    source = MPI.ANY_SOURCE if src is None and group_src is None else rank_in(group, src, group_src)
    sizes, status = np.empty(len(object_list), np.int64), MPI.Status()
    group.comm.Recv(sizes, source, 0, status)
    flat = np.empty(sizes.sum(), np.uint8)
    group.comm.Recv(flat, status.Get_source(), 0)
    object_list[:] = _unpacked(flat, sizes)
    return get_global_rank(group, status.Get_source())
