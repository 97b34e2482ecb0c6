"""The calls of MPI: what goes in one message and what in several.

`about` says for messages of errors what was called (errors.py).
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..tensor import Tensor
from .errors import failure
from .work import Work

__all__ = ["LIMIT", "PAIR_TAG", "Requests", "run"]

#: Bytes of one message. MPI's calls count elements in 32 bits before MPI 4, displacements too, and some libraries
#: overflow where bytes do. Beyond, tensors are moved and reduced in pieces.
LIMIT = 2 ** 30
#: The tag, on the group's second communicator, of what a collective sends from rank to rank. Below are those of
#: monitored_barrier, above those of messages that are announced.
PAIR_TAG = 1000


# ------------------------------------------------------------------ calls
class Requests:
    """Several of MPI's requests as one."""

    __slots__ = ("left",)

    def __init__(self, requests: list) -> None:
        self.left = requests

    def Wait(self, status: Any = None) -> None:
        """Returns when all are done."""
        for request in self.left:
            request.Wait(status)

    def Test(self, status: Any = None) -> bool:
        """Whether all are done."""
        self.left = [request for request in self.left if not request.Test(status)]
        return not self.left


_STARTED = {name: f"I{name.lower()}" for name in (
    "Allgather", "Allreduce", "Alltoallv", "Barrier", "Bcast", "Gather", "Reduce", "Reduce_scatter_block", "Scatter")}


def run(group: Any, about: tuple, async_op: bool, finish: Callable | None, result: Sequence[Tensor],
        *calls: tuple) -> Work | None:
    """Makes the calls of MPI, each (its name, arguments), or starts them; `finish` is called when all are done.

    "Isend" and "Irecv" are started in any case, on the group's second communicator.
    """
    requests = []
    try:
        for name, *args in calls:
            if name in ("Isend", "Irecv"):
                requests.append(getattr(group.control, name)(*args, PAIR_TAG))
            elif async_op:
                requests.append(getattr(group.comm, _STARTED[name])(*args))
            else:
                getattr(group.comm, name)(*args)
        if not async_op:
            for request in requests:
                request.Wait()
    except group.mpi.MPI.Exception as error:
        raise failure(group.mpi, error, group, *about) from error
    if async_op:
        return Work(requests[0] if len(requests) == 1 else Requests(requests), finish, result, group, about)
    if finish is not None:
        finish()
    return None


# ------------------------------------------------------------------ of any length
def pieces(array: np.ndarray) -> list[np.ndarray]:
    """The numbers of a contiguous array, in parts of one message each."""
    if array.nbytes <= LIMIT:
        return [array]
    flat, step = array.reshape(-1), max(1, LIMIT // array.itemsize)
    return [flat[i:i + step] for i in range(0, flat.size, step)]


def all_reduce(plan: Any, in_place: Any, array: np.ndarray) -> list[tuple]:
    """The calls that reduce an array on all ranks in place."""
    return [("Allreduce", in_place, plan.shown(piece), plan.op) for piece in pieces(array)]


def reduce(plan: Any, in_place: Any, array: np.ndarray, root: int, here: bool) -> list[tuple]:
    """The calls that reduce an array on rank `root` in place; `here`: whether that is this one."""
    shown = map(plan.shown, pieces(array))
    return [("Reduce", *((in_place, piece) if here else (piece, None)), plan.op, root) for piece in shown]


def reduce_scatter(group: Any, plan: Any, flat: np.ndarray, array: np.ndarray) -> list[tuple]:
    """The calls that write to `array` of rank i what the i-th parts of `flat` of all ranks are reduced to."""
    if flat.nbytes <= LIMIT:
        return [("Reduce_scatter_block", plan.shown(flat), plan.shown(array), plan.op)]
    return [("Reduce", plan.shown(piece), plan.shown(part) if root == group.own_rank else None, plan.op, root)
            for root, given in enumerate(flat.reshape(group.count, -1))
            for piece, part in zip(pieces(given), pieces(array))]


def broadcast(group: Any, array: np.ndarray, root: int) -> list[tuple]:
    """The calls that write to an array on all ranks that of rank `root`."""
    return [("Bcast", group.mpi.raw(piece), root) for piece in pieces(array)]


def all_gather(group: Any, sent: np.ndarray, flat: np.ndarray) -> list[tuple]:
    """The calls that write to `flat` of all ranks what each sends, one after the other."""
    if flat.nbytes <= LIMIT:
        return [("Allgather", group.mpi.raw(sent), group.mpi.raw(flat))]
    parts = list(flat.reshape(group.count, -1))
    return all_gather_parts(group, sent, parts)


def all_gather_parts(group: Any, sent: np.ndarray, parts: list[np.ndarray]) -> list[tuple]:
    """The same, one rank after the other. The part of this rank is written at once."""
    parts[group.own_rank][...] = sent.reshape(-1)
    return [call for root, part in enumerate(parts) for call in broadcast(group, part, root)]


def gather(group: Any, sent: np.ndarray, flat: np.ndarray | None, root: int) -> list[tuple]:
    """The calls that write to `flat` of rank `root` what each sends, one after the other; elsewhere it is None."""
    mpi = group.mpi
    if sent.nbytes * group.count <= LIMIT:
        return [("Gather", mpi.raw(sent), None if flat is None else mpi.raw(flat), root)]
    return gather_parts(group, sent, None if flat is None else list(flat.reshape(group.count, -1)), root)


def gather_parts(group: Any, sent: np.ndarray, parts: list[np.ndarray] | None, root: int) -> list[tuple]:
    """The same, from rank to rank. The part of rank `root` itself is written at once."""
    if parts is None:
        return [("Isend", group.mpi.raw(sent), root)]
    parts[root][...] = sent.reshape(-1)
    return [("Irecv", group.mpi.raw(part), rank) for rank, part in enumerate(parts) if rank != root]


def scatter(group: Any, flat: np.ndarray | None, got: np.ndarray, root: int) -> list[tuple]:
    """The calls that write to `got` of rank i the i-th part of `flat` of rank `root`; elsewhere it is None."""
    mpi = group.mpi
    if got.nbytes * group.count <= LIMIT:
        return [("Scatter", None if flat is None else mpi.raw(flat), mpi.raw(got), root)]
    return scatter_parts(group, None if flat is None else list(flat.reshape(group.count, -1)), got, root)


def scatter_parts(group: Any, parts: list[np.ndarray] | None, got: np.ndarray, root: int) -> list[tuple]:
    """The same, from rank to rank. The part of rank `root` itself is written at once."""
    if parts is None:
        return [("Irecv", group.mpi.raw(got), root)]
    got.reshape(-1)[...] = parts[root]
    return [("Isend", group.mpi.raw(part), rank) for rank, part in enumerate(parts) if rank != root]


def parts_of(flat: np.ndarray, sizes: Sequence[int]) -> list[np.ndarray]:
    """The parts of so many elements each, one after the other."""
    ends = np.cumsum(sizes)
    return [flat[end - size:end] for end, size in zip(ends, sizes)]


def all_to_all(group: Any, array: np.ndarray, to_get: list[int], sent: np.ndarray, to_send: list[int]
               ) -> tuple[list[tuple], Callable | None]:
    """The calls that send to rank j the j-th part of `sent`, to_send[j] elements, and write what rank i sends to the
    i-th part of `array`; and what is to be called when they are done.

    A rank knows the lengths of what it sends and gets and no others, so each pair decides for itself: what is long
    goes from rank to rank, and the rest by one call, which all ranks make. The rest is packed where there is
    something long, as it may lie further apart than MPI counts.
    """
    limit = LIMIT // group.count
    if array.nbytes <= limit and sent.nbytes <= limit:
        return [_all_to_all_v(group, array, to_get, sent, to_send)], None
    gets, gives = parts_of(array.reshape(-1), to_get), parts_of(sent.reshape(-1), to_send)
    calls = []
    for kind, parts in (("Irecv", gets), ("Isend", gives)):
        for rank, part in enumerate(parts):
            if part.nbytes > limit and rank != group.own_rank:
                calls.append((kind, group.mpi.raw(part), rank))
    if gives[group.own_rank].nbytes > limit:
        gets[group.own_rank][...] = gives[group.own_rank]
    short = [part if part.nbytes <= limit else part[:0] for part in gets]
    given = [part if part.nbytes <= limit else part[:0] for part in gives]
    sizes, given_sizes = [part.size for part in short], [part.size for part in given]
    packed = np.empty(sum(sizes), array.dtype)
    calls.append(_all_to_all_v(group, packed, sizes, np.concatenate(given), given_sizes))

    def finish():
        for part, came in zip(short, parts_of(packed, sizes)):
            part[...] = came
    return calls, finish


def _all_to_all_v(group, array, to_get, sent, to_send):
    (got, kind), (given, _) = group.mpi.raw(array), group.mpi.raw(sent)
    return "Alltoallv", [given, (to_send, None), kind], [got, (to_get, None), kind]
