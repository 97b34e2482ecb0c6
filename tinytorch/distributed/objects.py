"""Collectives of Python objects. The objects are pickled, so the processes must trust each other, as those of one
program do."""
from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from . import detail, messages
from .collectives import check_gather_list
from .errors import described
from .messages import Call, parts_of
from .point_to_point import receive, start_send
from .world import ProcessGroup, get_global_rank, joined, rank_in

__all__ = ["all_gather_object", "broadcast_object_list", "gather_object", "recv_object_list", "scatter_object_list",
           "send_object_list"]


def _packed(obj):
    return np.frombuffer(pickle.dumps(obj, pickle.HIGHEST_PROTOCOL), np.uint8)


def _unpacked(flat, sizes):
    return [pickle.loads(part.tobytes()) for part in parts_of(flat, sizes)]


def _checked(group, about, count):
    """Checks under DETAIL that all ranks are about to make this call, with the same number of objects."""
    if detail.on:
        detail.check(group, False, *about, count=count)


def _sizes(group, about, packed):
    """The lengths on all ranks."""
    sizes = np.empty(group.count, np.int64)
    Call(group, about).run("Allgather", np.array([packed.size], np.int64), sizes)
    return sizes


def all_gather_object(object_list: list, obj: Any, group: ProcessGroup | None = None) -> None:
    """Writes the objects of all ranks to `object_list`, which has the length of the group."""
    group = joined(group, "all_gather_object")
    if group is None:
        return
    packed, about = _packed(obj), ("all_gather_object",)
    _checked(group, about, 1)
    sizes = _sizes(group, about, packed)
    flat = np.empty(sizes.sum(), np.uint8)
    if flat.nbytes > messages.LIMIT:
        Call(group, about).all_gather_parts(packed, parts_of(flat, sizes))
    else:
        Call(group, about).run("Allgatherv", packed, [flat, (sizes, None), group.mpi.MPI.BYTE])
    for i, x in enumerate(_unpacked(flat, sizes)):
        object_list[i] = x


def gather_object(obj: Any, object_gather_list: list | None = None, dst: int | None = None,
                  group: ProcessGroup | None = None, group_dst: int | None = None) -> None:
    """Writes the objects of all ranks to `object_gather_list` of rank `dst` (0 by default). Other ranks pass None."""
    group = joined(group, "gather_object")
    if group is None:
        return
    root = rank_in(group, 0 if dst is None and group_dst is None else dst, group_dst)
    check_gather_list(group.own_rank, root, object_gather_list)
    packed, about = _packed(obj), ("gather_object", (), None, root)
    _checked(group, about, 1)
    sizes = _sizes(group, about, packed)
    here = group.own_rank == root
    flat = np.empty(sizes.sum() if here else 0, np.uint8)
    if sizes.sum() > messages.LIMIT:
        parts = parts_of(flat, sizes) if here else None
        Call(group, about).gather_parts(packed, parts, root)
    else:
        Call(group, about).run("Gatherv", packed, [flat, (sizes, None), group.mpi.MPI.BYTE] if here else None, root)
    if here:
        for i, x in enumerate(_unpacked(flat, sizes)):
            object_gather_list[i] = x


def broadcast_object_list(object_list: list, src: int | None = None, group: ProcessGroup | None = None,
                          device: Any = None, group_src: int | None = None) -> None:
    """Writes the objects of rank `src` (0 by default) to `object_list`, which has the same length on all ranks."""
    group = joined(group, "broadcast_object_list")
    if group is None:
        return
    root = rank_in(group, 0 if src is None and group_src is None else src, group_src)
    here, about = group.own_rank == root, ("broadcast_object_list", (), None, root)
    packed = [_packed(x) for x in object_list] if here else []
    _checked(group, about, len(object_list))
    sizes = np.array([x.size for x in packed] if here else [0] * len(object_list), np.int64)
    Call(group, about).run("Bcast", sizes, root)
    if 0 in sizes.tolist():                    # a pickle is never empty
        raise RuntimeError(f"{described(group, *about)}: the list of this rank has {len(sizes)} objects, and that of "
                           f"rank {root} {np.count_nonzero(sizes)}")
    flat = np.concatenate([*packed, np.empty(0, np.uint8)]) if here else np.empty(sizes.sum(), np.uint8)
    Call(group, about).broadcast(flat, root)
    if not here:
        object_list[:] = _unpacked(flat, sizes)


def scatter_object_list(scatter_object_output_list: list, scatter_object_input_list: list | None = None,
                        src: int | None = None, group: ProcessGroup | None = None, group_src: int | None = None
                        ) -> None:
    """Writes scatter_object_input_list[i] of rank `src` (0 by default) to scatter_object_output_list[0] of rank i."""
    group = joined(group, "scatter_object_list")
    if group is None:
        return
    root = rank_in(group, 0 if src is None and group_src is None else src, group_src)
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    here, about = group.own_rank == root, ("scatter_object_list", (), None, root)
    sizes, flat = np.zeros(group.count, np.int64), None
    if here:
        if scatter_object_input_list is None:
            raise ValueError("source rank must provide non-None scatter_object_input_list")
        if len(scatter_object_input_list) != group.count:
            raise RuntimeError("ProcessGroupGloo::scatter: Incorrect input list size "
                               f"{len(scatter_object_input_list)}. Input list size should be {group.count}, same as "
                               "size of the process group.")
        packed = [_packed(x) for x in scatter_object_input_list]
        sizes, flat = np.array([x.size for x in packed], np.int64), np.concatenate(packed)
    _checked(group, about, 1)
    Call(group, about).run("Bcast", sizes, root)
    got = np.empty(sizes[group.own_rank], np.uint8)
    if sizes.sum() > messages.LIMIT:
        Call(group, about).scatter_parts(parts_of(flat, sizes) if here else None, got, root)
    else:
        Call(group, about).run("Scatterv", [flat, (sizes, None), group.mpi.MPI.BYTE] if here else None, got, root)
    scatter_object_output_list[0] = pickle.loads(got.tobytes())


def send_object_list(object_list: list, dst: int | None = None, group: ProcessGroup | None = None, device: Any = None,
                     group_dst: int | None = None, use_batch: bool = False) -> None:
    """Sends the objects to rank `dst` of the world (`group_dst` of the group), which calls recv_object_list."""
    group = joined(group, "send_object_list")
    if group is None:
        return
    to = rank_in(group, dst, group_dst)
    if to == group.own_rank:
        raise ValueError("Invalid destination rank: destination rank should not be the same as the rank of the current "
                         "process.")
    packed = [_packed(x) for x in object_list]
    about = "send_object_list", (), None, to
    header = np.array([len(packed), *[x.size for x in packed]], np.int64)
    message = np.concatenate([header.view(np.uint8), *packed])
    start_send(group, about, message, to, 0, len(packed)).wait()


def recv_object_list(object_list: list, src: int | None = None, group: ProcessGroup | None = None, device: Any = None,
                     group_src: int | None = None, use_batch: bool = False) -> int:
    """Writes the objects that rank `src` or, without `src`, any rank sends to `object_list`. Returns the sender's rank
    in the world."""
    group = joined(group, "recv_object_list")
    if group is None:
        return -1
    source = group.mpi.MPI.ANY_SOURCE if src is None and group_src is None else rank_in(group, src, group_src)
    count, about = len(object_list), ("recv_object_list", (), None, source)
    sender, message = receive(group, about, None, source, 0, count)
    header = message[:message.size - message.size % 8].view(np.int64)[:count + 1]
    if header.size <= count or header[0] != count or header.nbytes + header[1:].sum() != message.size:
        raise RuntimeError(f"{described(group, *about)}: the list of this rank has {count} objects, and rank {sender} "
                           "sent something else, or another number of them")
    object_list[:] = _unpacked(message[header.nbytes:], header[1:])
    return get_global_rank(group, sender)
