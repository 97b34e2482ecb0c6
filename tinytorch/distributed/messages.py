"""The calls of MPI, and the division of long arrays into several messages.

`about` describes the call for messages of errors (errors.py).
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..tensor import Tensor
from .errors import failure
from .work import Work

__all__ = ["LIMIT", "PAIR_TAG", "Call", "Requests", "parts_of"]

#: The largest number of bytes of one message. Before MPI 4, MPI's calls count elements and displacements in 32 bits,
#: and some libraries overflow if the bytes do. Larger tensors are moved and reduced in pieces.
LIMIT = 2 ** 30
#: The tag, on the group's second communicator, of messages that a collective sends from rank to rank. Lower tags
#: belong to monitored_barrier, and higher tags to announced messages.
PAIR_TAG = 1000


# ------------------------------------------------------------------ calls
class Requests:
    """Several of MPI's requests as one request."""

    __slots__ = ("left",)

    def __init__(self, requests: list) -> None:
        self.left = requests

    def Wait(self, status: Any = None) -> None:
        """Returns when all requests are done."""
        for request in self.left:
            request.Wait(status)

    def Test(self, status: Any = None) -> bool:
        """Whether all requests are done."""
        self.left = [request for request in self.left if not request.Test(status)]
        return not self.left


_STARTED = {name: f"I{name.lower()}" for name in (
    "Allgather", "Allreduce", "Alltoallv", "Barrier", "Bcast", "Gather", "Reduce", "Reduce_scatter_block", "Scatter")}


class Call:
    """A collective before `run` passes it to MPI, or `run_all` passes it in several parts.

    group, about   the group and the description of the call, for errors
    async_op       whether the collective is only started
    finish         the function to call when it is done, or None
    result         the tensors that it writes
    """

    __slots__ = ("group", "about", "async_op", "finish", "result")

    def __init__(self, group: Any, about: tuple, async_op: bool = False, finish: Callable | None = None,
                 result: Sequence[Tensor] = ()) -> None:
        self.group, self.about, self.async_op, self.finish, self.result = group, about, async_op, finish, result

    def run(self, name: str, *args: Any) -> Work | None:
        """Makes or starts one call of MPI."""
        group = self.group
        try:
            if self.async_op:
                request = getattr(group.comm, _STARTED[name])(*args)
                return Work(request, self.finish, self.result, group, self.about)
            getattr(group.comm, name)(*args)
        except group.mpi.MPI.Exception as error:
            raise failure(group.mpi, error, group, *self.about) from error
        if self.finish is not None:
            self.finish()
        return None

    def run_all(self, calls: list[tuple]) -> Work | None:
        """Makes or starts several calls, each (name, arguments). "Isend" and "Irecv" are always only started, on the
        group's second communicator."""
        group, requests = self.group, []
        try:
            for name, *args in calls:
                if name in ("Isend", "Irecv"):
                    requests.append(getattr(group.control, name)(*args, PAIR_TAG))
                elif self.async_op:
                    requests.append(getattr(group.comm, _STARTED[name])(*args))
                else:
                    getattr(group.comm, name)(*args)
            if self.async_op:
                return Work(Requests(requests), self.finish, self.result, group, self.about)
            for request in requests:
                request.Wait()
        except group.mpi.MPI.Exception as error:
            raise failure(group.mpi, error, group, *self.about) from error
        if self.finish is not None:
            self.finish()
        return None

    # -------------------------------------------------------------- of any length
    def all_reduce(self, plan: Any, array: np.ndarray) -> Work | None:
        """Reduces an array on all ranks in place."""
        in_place = self.group.mpi.IN_PLACE
        if array.nbytes <= LIMIT:
            return self.run("Allreduce", in_place, plan.shown(array), plan.op)
        return self.run_all([("Allreduce", in_place, plan.shown(piece), plan.op) for piece in pieces(array)])

    def reduce(self, plan: Any, array: np.ndarray, root: int) -> Work | None:
        """Reduces an array on rank `root` in place."""
        calls = []
        for piece in pieces(array):
            shown = plan.shown(piece)
            buffers = (self.group.mpi.IN_PLACE, shown) if root == self.group.own_rank else (shown, None)
            calls.append(("Reduce", *buffers, plan.op, root))
        return self.run(*calls[0]) if len(calls) == 1 else self.run_all(calls)

    def reduce_scatter(self, plan: Any, flat: np.ndarray, array: np.ndarray) -> Work | None:
        """Reduces the i-th parts of `flat` of all ranks and writes the result to `array` of rank i."""
        if flat.nbytes <= LIMIT:
            return self.run("Reduce_scatter_block", plan.shown(flat), plan.shown(array), plan.op)
        own = self.group.own_rank
        return self.run_all([("Reduce", plan.shown(piece), plan.shown(part) if root == own else None, plan.op, root)
                             for root, given in enumerate(flat.reshape(self.group.count, -1))
                             for piece, part in zip(pieces(given), pieces(array))])

    def broadcast(self, array: np.ndarray, root: int) -> Work | None:
        """Writes the array of rank `root` to the arrays of all ranks."""
        if array.nbytes <= LIMIT:
            return self.run("Bcast", self.group.mpi.raw(array), root)
        return self.run_all(self._broadcasts(array, root))

    def _broadcasts(self, array, root):
        return [("Bcast", self.group.mpi.raw(piece), root) for piece in pieces(array)]

    def all_gather(self, sent: np.ndarray, flat: np.ndarray) -> Work | None:
        """Writes the arrays that the ranks send, one after the other, to `flat` of all ranks."""
        if flat.nbytes <= LIMIT:
            return self.run("Allgather", self.group.mpi.raw(sent), self.group.mpi.raw(flat))
        return self.all_gather_parts(sent, list(flat.reshape(self.group.count, -1)))

    def all_gather_parts(self, sent: np.ndarray, parts: list[np.ndarray]) -> Work | None:
        """As `all_gather`, by one message after the other. The part of this rank is written at once."""
        parts[self.group.own_rank][...] = sent.reshape(-1)
        return self.run_all([call for root, part in enumerate(parts) for call in self._broadcasts(part, root)])

    def gather(self, sent: np.ndarray, flat: np.ndarray | None, root: int) -> Work | None:
        """Writes the arrays that the ranks send, one after the other, to `flat` of rank `root`. On other ranks `flat`
        is None."""
        raw, count = self.group.mpi.raw, self.group.count
        if sent.nbytes * count <= LIMIT:
            return self.run("Gather", raw(sent), None if flat is None else raw(flat), root)
        return self.gather_parts(sent, None if flat is None else list(flat.reshape(count, -1)), root)

    def gather_parts(self, sent: np.ndarray, parts: list[np.ndarray] | None, root: int) -> Work | None:
        """As `gather`, by one message from each rank. The part of rank `root` itself is written at once."""
        raw = self.group.mpi.raw
        if parts is None:
            return self.run_all([("Isend", raw(sent), root)])
        parts[root][...] = sent.reshape(-1)
        return self.run_all([("Irecv", raw(part), rank) for rank, part in enumerate(parts) if rank != root])

    def scatter(self, flat: np.ndarray | None, got: np.ndarray, root: int) -> Work | None:
        """Writes the i-th part of `flat` of rank `root` to `got` of rank i. On other ranks `flat` is None."""
        raw, count = self.group.mpi.raw, self.group.count
        if got.nbytes * count <= LIMIT:
            return self.run("Scatter", None if flat is None else raw(flat), raw(got), root)
        return self.scatter_parts(None if flat is None else list(flat.reshape(count, -1)), got, root)

    def scatter_parts(self, parts: list[np.ndarray] | None, got: np.ndarray, root: int) -> Work | None:
        """As `scatter`, by one message to each rank. The part of rank `root` itself is written at once."""
        raw = self.group.mpi.raw
        if parts is None:
            return self.run_all([("Irecv", raw(got), root)])
        got.reshape(-1)[...] = parts[root]
        return self.run_all([("Isend", raw(part), rank) for rank, part in enumerate(parts) if rank != root])

    def all_to_all(self, array: np.ndarray, to_get: list[int], sent: np.ndarray, to_send: list[int]) -> Work | None:
        """Sends the j-th part of `sent`, which has to_send[j] elements, to rank j, and writes the part from rank i to
        the i-th part of `array`.

        A rank knows only the lengths of the parts that it sends and gets, so each pair decides for itself: long parts
        go from rank to rank, and the others by one call, which all ranks make. If there are long parts, the others are
        packed, because they may lie further apart than MPI can count.
        """
        group = self.group
        limit, own = LIMIT // group.count, group.own_rank
        if array.nbytes <= limit and sent.nbytes <= limit:
            return self.run(*self._all_to_all_v(array, to_get, sent, to_send))
        gets, gives = parts_of(array.reshape(-1), to_get), parts_of(sent.reshape(-1), to_send)
        calls = [(kind, group.mpi.raw(part), rank) for kind, parts in (("Irecv", gets), ("Isend", gives))
                 for rank, part in enumerate(parts) if part.nbytes > limit and rank != own]
        if gives[own].nbytes > limit:
            gets[own][...] = gives[own]
        short, given = [[part if part.nbytes <= limit else part[:0] for part in parts] for parts in (gets, gives)]
        sizes = [part.size for part in short]
        packed = np.empty(sum(sizes), array.dtype)
        calls.append(self._all_to_all_v(packed, sizes, np.concatenate(given), [part.size for part in given]))
        then = self.finish

        def finish():
            for part, came in zip(short, parts_of(packed, sizes)):
                part[...] = came
            if then is not None:
                then()
        self.finish = finish
        return self.run_all(calls)

    def _all_to_all_v(self, array, to_get, sent, to_send):
        (got, kind), (given, _) = self.group.mpi.raw(array), self.group.mpi.raw(sent)
        return "Alltoallv", [given, (to_send, None), kind], [got, (to_get, None), kind]


def pieces(array: np.ndarray) -> list[np.ndarray]:
    """The numbers of a contiguous array, in parts that fit into one message."""
    if array.nbytes <= LIMIT:
        return [array]
    flat, step = array.reshape(-1), max(1, LIMIT // array.itemsize)
    return [flat[i:i + step] for i in range(0, flat.size, step)]


def parts_of(flat: np.ndarray, sizes: Sequence[int]) -> list[np.ndarray]:
    """The parts of `flat`, one after the other. `sizes` has their numbers of elements."""
    ends = np.cumsum(sizes)
    return [flat[end - size:end] for end, size in zip(ends, sizes)]
