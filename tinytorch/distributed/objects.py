"""Collectives of Python objects, which are pickled: of processes that trust each other, as those of one program do."""
from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from . import detail, messages
from .collectives import check_gather_list
from .errors import described
from .messages import parts_of, run
from .point_to_point import receive, start_send
from .work import Work
from .world import ProcessGroup, get_global_rank, not_in, of_group, rank_in

__all__ = ["all_gather_object", "broadcast_object_list", "gather_object", "recv_object_list", "scatter_object_list",
           "send_object_list"]


def _packed(obj):
    return np.frombuffer(pickle.dumps(obj, pickle.HIGHEST_PROTOCOL), np.uint8)


def _unpacked(flat, sizes):
    return [pickle.loads(part.tobytes()) for part in parts_of(flat, sizes)]


def _run(group, about, *calls):
    run(group, about, False, None, (), *calls)


def _checked(group, about, count):
    """Under DETAIL, that all ranks are about to call this, with as many objects."""
    if detail.on:
        detail.check(group, False, *about, count=count)


def _sizes(group, about, packed):
    """The lengths on all ranks."""
    sizes = np.empty(group.count, np.int64)
    _run(group, about, ("Allgather", np.array([packed.size], np.int64), sizes))
    return sizes


def all_gather_object(object_list: list, obj: Any, group: ProcessGroup | None = None) -> None:
    """Writes to `object_list`, as long as the group, the objects of all ranks."""
    if not_in(group, "all_gather_object"):
        return
    group, about = of_group(group), ("all_gather_object",)
    packed = _packed(obj)
    _checked(group, about, 1)
    sizes = _sizes(group, about, packed)
    flat = np.empty(sizes.sum(), np.uint8)
    if flat.nbytes > messages.LIMIT:
        _run(group, about, *messages.all_gather_parts(group, packed, parts_of(flat, sizes)))
    else:
        _run(group, about, ("Allgatherv", packed, [flat, (sizes, None), group.mpi.MPI.BYTE]))
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
    packed, about = _packed(obj), ("gather_object", (), None, root)
    _checked(group, about, 1)
    sizes = _sizes(group, about, packed)
    here = group.own_rank == root
    flat = np.empty(sizes.sum() if here else 0, np.uint8)
    if sizes.sum() > messages.LIMIT:
        parts = parts_of(flat, sizes) if here else None
        _run(group, about, *messages.gather_parts(group, packed, parts, root))
    else:
        _run(group, about, ("Gatherv", packed, [flat, (sizes, None), group.mpi.MPI.BYTE] if here else None, root))
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
    here, about = group.own_rank == root, ("broadcast_object_list", (), None, root)
    packed = [_packed(x) for x in object_list] if here else []
    _checked(group, about, len(object_list))
    sizes = np.array([x.size for x in packed] if here else [0] * len(object_list), np.int64)
    _run(group, about, ("Bcast", sizes, root))
    if not sizes.all():                        # a pickle has some bytes
        raise RuntimeError(f"{described(group, *about)}: the list of this rank has {len(sizes)} objects, and that of "
                           f"rank {root} {np.count_nonzero(sizes)}")
    flat = np.concatenate([*packed, np.empty(0, np.uint8)]) if here else np.empty(sizes.sum(), np.uint8)
    _run(group, about, *messages.broadcast(group, flat, root))
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
    _run(group, about, ("Bcast", sizes, root))
    got = np.empty(sizes[group.own_rank], np.uint8)
    if sizes.sum() > messages.LIMIT:
        _run(group, about, *messages.scatter_parts(group, parts_of(flat, sizes) if here else None, got, root))
    else:
        _run(group, about, ("Scatterv", [flat, (sizes, None), group.mpi.MPI.BYTE] if here else None, got, root))
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
    about = "send_object_list", (), None, to
    header = np.array([len(packed), *[x.size for x in packed]], np.int64)
    message = np.concatenate([header.view(np.uint8), *packed])
    said = "SEND_OBJECTS", [[len(packed)]], []
    Work(start_send(group, about, message, to, 0, said), None, (), group, about).wait()


def recv_object_list(object_list: list, src: int | None = None, group: ProcessGroup | None = None, device: Any = None,
                     group_src: int | None = None, use_batch: bool = False) -> int:
    """Writes to `object_list` what rank `src` sends, or any; the rank, in the world, that sent it."""
    if not_in(group, "recv_object_list"):
        return -1
    group = of_group(group)
    source = group.mpi.MPI.ANY_SOURCE if src is None and group_src is None else rank_in(group, src, group_src)
    count, about = len(object_list), ("recv_object_list", (), None, source)
    sender, message = receive(group, about, None, source, 0, ("RECV_OBJECTS", [[count]], []))
    header = message[:message.size - message.size % 8].view(np.int64)[:count + 1]
    if header.size <= count or header[0] != count or header.nbytes + header[1:].sum() != message.size:
        raise RuntimeError(f"{described(group, *about)}: the list of this rank has {count} objects, and rank {sender} "
                           "sent something else, or another number of them")
    object_list[:] = _unpacked(message[header.nbytes:], header[1:])
    return get_global_rank(group, sender)
