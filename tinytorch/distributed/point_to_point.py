"""Messages from one rank to another."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..tensor import Tensor
from .collectives import check_tensor
from .work import Work
from .world import ProcessGroup, get_global_rank, get_rank, not_in, of_group, rank_in

__all__ = ["P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send"]


def _memory(tensor):
    """The tensor's own array. RuntimeError if it is not one piece of memory, as torch's."""
    array = tensor.array
    if type(array) is not np.ndarray or not array.flags.c_contiguous:
        raise RuntimeError("input tensor has to be contiguous")
    return array


def _check_rank(group, rank):
    if not 0 <= rank < group.count:
        raise RuntimeError(f"invalid rank {rank}: the group has {group.count}")
    return rank


def _check_not_self(group, rank, kind):
    if rank == group.own_rank:
        raise ValueError(f"Invalid {kind} rank: {kind} rank should not be the same as the rank of the current process.")


def isend(tensor: Tensor, dst: int | None = None, group: ProcessGroup | None = None, tag: int = 0,
          group_dst: int | None = None) -> Work | None:
    """Starts to send `tensor` to rank `dst` of the world (`group_dst` of the group), whose recv says the same tag.

    RuntimeError for a tensor that is not contiguous.
    """
    if not_in(group, "isend"):
        return None
    group = of_group(group)
    to = _check_rank(group, rank_in(group, dst, group_dst))
    check_tensor(tensor, "tensor")
    return Work(group.comm.Isend(group.mpi.raw(_memory(tensor)), to, tag), None, [tensor], group.pending)


def irecv(tensor: Tensor, src: int | None = None, group: ProcessGroup | None = None, tag: int = 0,
          group_src: int | None = None) -> Work | None:
    """Starts to receive into `tensor` from rank `src` of the world (`group_src` of the group), or from any."""
    check_tensor(tensor, "tensor")
    if not_in(group, "irecv"):
        return None
    group = of_group(group)
    MPI = group.mpi.MPI
    source = MPI.ANY_SOURCE
    if src is not None or group_src is not None:
        source = _check_rank(group, rank_in(group, src, group_src))
    work = Work(group.comm.Irecv(group.mpi.raw(_memory(tensor)), source, tag), None, [tensor], group.pending)
    work._status = MPI.Status()
    return work


def send(tensor: Tensor, dst: int | None = None, group: ProcessGroup | None = None, tag: int = 0,
         group_dst: int | None = None) -> None:
    """`isend`, waited for. ValueError for a message to oneself."""
    if not_in(group, "send"):
        return
    group = of_group(group)
    to = rank_in(group, dst, group_dst)
    _check_not_self(group, to, "destination")
    isend(tensor, group=group, tag=tag, group_dst=to).wait()


def recv(tensor: Tensor, src: int | None = None, group: ProcessGroup | None = None, tag: int = 0,
         group_src: int | None = None) -> int:
    """`irecv`, waited for: the rank, in the world, that sent it; -1 if this process is not in the group."""
    work = irecv(tensor, src, group, tag, group_src)
    if work is None:
        return -1
    work.wait()
    return get_global_rank(of_group(group), work.source_rank()) if src is None else src


class P2POp:
    """One of the messages for `batch_isend_irecv`: `op` is isend or irecv, `peer` a rank of the world."""

    def __init__(self, op: Callable, tensor: Tensor, peer: int | None = None, group: ProcessGroup | None = None,
                 tag: int = 0, group_peer: int | None = None) -> None:
        if op not in (isend, irecv):
            raise ValueError("Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                             "``torch.distributed.irecv``.")
        check_tensor(tensor, "tensor")
        self.op, self.tensor, self.tag, self.group = op, tensor, tag, of_group(group)
        self.group_peer = rank_in(self.group, peer, group_peer)
        self.peer = peer if group_peer is None else get_global_rank(self.group, group_peer)

    def __repr__(self):
        ends = [get_rank(self.group), self.group_peer]
        source, destination = ends if self.op is isend else reversed(ends)
        return (f"P2POp({self.op.__name__} pg={self.group.group_name}, group_src={source}, group_dst={destination},  "
                f"{self.tensor.shape}, {self.tensor.dtype})")


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Starts all of the messages; each is to be waited for. ValueError for anything but a list of P2POp of one
    group."""
    if not isinstance(p2p_op_list, list) or not all([isinstance(op, P2POp) for op in p2p_op_list]):
        raise ValueError("Invalid ``p2p_op_list``. Each op is expected to to be of type ``torch.distributed.P2POp``.")
    if any([op.group is not p2p_op_list[0].group for op in p2p_op_list]):
        raise ValueError("All ops need to use the same group.")
    return [op.op(op.tensor, group=op.group, tag=op.tag, **{"group_dst" if op.op is isend else "group_src":
                                                           op.group_peer}) for op in p2p_op_list]
