"""Messages from one rank to another."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..tensor import Tensor
from . import detail
from .announced import AnnouncedReceive, announced_send
from .collectives import check_tensor
from .errors import failure, other_length
from .work import Work
from .world import ProcessGroup, get_global_rank, get_rank, joined, of_group, rank_in

__all__ = ["P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send"]


def _memory(tensor):
    """The tensor's own array. RuntimeError, as in torch, if it is not one piece of memory."""
    array = tensor._array
    if type(array) is not np.ndarray or not array.flags.c_contiguous:
        raise RuntimeError("input tensor has to be contiguous")
    return array


def _check_rank(group, rank, tag):
    if not 0 <= rank < group.count:
        raise RuntimeError(f"invalid rank {rank}: the group has {group.count}")
    if tag < 0:                                # MPI's value for any tag
        raise RuntimeError("Tag must be nonnegative")
    return rank


def _check_not_self(group, rank, kind):
    if rank == group.own_rank:
        raise ValueError(f"Invalid {kind} rank: {kind} rank should not be the same as the rank of the current process.")


def _source(group, src, group_src, tag):
    """The rank in the group from which to receive; MPI's value for any rank if none is given."""
    from_any = src is None and group_src is None
    rank = _check_rank(group, 0 if from_any else rank_in(group, src, group_src), tag)
    return group.mpi.MPI.ANY_SOURCE if from_any else rank


def start_send(group: Any, about: tuple, array: np.ndarray, to: int, tag: int, count: int | None = None) -> Work:
    """The Work of sending an array. `about`: the description of the call (errors.py); `count`: the number of objects in
    the array, if it holds objects."""
    try:
        if detail.on:
            request = announced_send(group, about, count, array, to, tag)
        else:
            request = group.comm.Isend(group.mpi.raw(array), to, tag)
    except group.mpi.MPI.Exception as error:
        raise failure(group.mpi, error, group, *about) from error
    return Work(request, None, about[1], group, about)


class _Receiving(Work):
    """The Work of receiving an array. A message of another length is an error."""

    def __init__(self, group, about, array, source, tag):
        super().__init__(group.comm.Irecv(group.mpi.raw(array), source, tag), None, about[1], group, about)
        self._status, self._expected = group.mpi.MPI.Status(), array.nbytes

    def _complete(self, error=None):
        MPI, status = self._group.mpi.MPI, self._status
        if error is None or isinstance(error, MPI.Exception) and error.Get_error_class() == MPI.ERR_TRUNCATE:
            sent = status.Get_elements(MPI.BYTE)
            if sent != self._expected:
                error = other_length(self._group, self._about, status.Get_source(), sent, self._expected)
        super()._complete(error)


def _start_announced(group, about, count, array, source, tag):
    """The Work of receiving under DETAIL, and its request, which has the array."""
    request = AnnouncedReceive(group, about, count, array, source, tag)
    work = Work(request, None, about[1], group, about)
    work._status = group.mpi.MPI.Status()
    return work, request


def receive(group: Any, about: tuple, array: np.ndarray | None, source: int, tag: int, count: int | None = None
            ) -> tuple[int, np.ndarray]:
    """Receives into an array, or into a new one of bytes. Returns (the sender's rank in the group, the array).

    RuntimeError for a message of another length, which changes nothing. MPI is asked for the length first: Open MPI
    writes beyond the end of an array that is too short for a message of more than some thousand bytes.
    """
    MPI = group.mpi.MPI
    status = MPI.Status()
    try:
        if detail.on:
            work, request = _start_announced(group, about, count, array, source, tag)
            work.wait()
            return work.source_rank(), request.array
        message = group.comm.Mprobe(source, tag, status)
        sent = status.Get_elements(MPI.BYTE)
        fits = array is not None and sent == array.nbytes
        got = array if fits else np.empty(sent, np.uint8)      # received even if it does not fit: the sender may wait
        message.Recv(group.mpi.raw(got))
    except MPI.Exception as error:
        raise failure(group.mpi, error, group, *about) from error
    if array is not None and not fits:
        raise other_length(group, about, status.Get_source(), sent, array.nbytes)
    return status.Get_source(), got


def isend(tensor: Tensor, dst: int | None = None, group: ProcessGroup | None = None, tag: int = 0,
          group_dst: int | None = None) -> Work | None:
    """Starts to send `tensor` to rank `dst` of the world (`group_dst` of the group), whose recv must have the same tag.

    RuntimeError for a tensor that is not contiguous.
    """
    group = joined(group, "isend")
    if group is None:
        return None
    to = _check_rank(group, rank_in(group, dst, group_dst), tag)
    check_tensor(tensor, "tensor")
    return start_send(group, ("isend", [tensor], None, to), _memory(tensor), to, tag)


def irecv(tensor: Tensor, src: int | None = None, group: ProcessGroup | None = None, tag: int = 0,
          group_src: int | None = None) -> Work | None:
    """Starts to receive into `tensor` from rank `src` of the world (`group_src` of the group), or from any rank.

    `wait` raises RuntimeError if the message is shorter or longer than the tensor.
    """
    check_tensor(tensor, "tensor")
    group = joined(group, "irecv")
    if group is None:
        return None
    source = _source(group, src, group_src, tag)
    about = "irecv", [tensor], None, source
    array = _memory(tensor)
    try:
        if detail.on:
            return _start_announced(group, about, None, array, source, tag)[0]
        return _Receiving(group, about, array, source, tag)
    except group.mpi.MPI.Exception as error:
        raise failure(group.mpi, error, group, *about) from error


def send(tensor: Tensor, dst: int | None = None, group: ProcessGroup | None = None, tag: int = 0,
         group_dst: int | None = None) -> None:
    """As `isend`, but waits for the end of the sending. ValueError for a message to this rank itself."""
    group = joined(group, "send")
    if group is None:
        return
    to = rank_in(group, dst, group_dst)
    _check_not_self(group, to, "destination")
    isend(tensor, group=group, tag=tag, group_dst=to).wait()


def recv(tensor: Tensor, src: int | None = None, group: ProcessGroup | None = None, tag: int = 0,
         group_src: int | None = None) -> int:
    """Receives into `tensor` as `irecv` does, and waits for the message. Returns the sender's rank in the world, or -1
    if this process is not in the group. RuntimeError for a message that is shorter or longer, which leaves the tensor
    as it is."""
    check_tensor(tensor, "tensor")
    group = joined(group, "recv")
    if group is None:
        return -1
    source = _source(group, src, group_src, tag)
    about = "recv", [tensor], None, source
    sender, _ = receive(group, about, _memory(tensor), source, tag)
    return get_global_rank(group, sender) if src is None else src


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
    """Starts all of the messages. The program must wait for each of them. ValueError for anything but a list of P2POp
    of one group."""
    if not isinstance(p2p_op_list, list) or not all([isinstance(op, P2POp) for op in p2p_op_list]):
        raise ValueError("Invalid ``p2p_op_list``. Each op is expected to to be of type ``torch.distributed.P2POp``.")
    if any([op.group is not p2p_op_list[0].group for op in p2p_op_list]):
        raise ValueError("All ops need to use the same group.")
    return [op.op(op.tensor, group=op.group, tag=op.tag, **{"group_dst" if op.op is isend else "group_src":
                                                           op.group_peer}) for op in p2p_op_list]
