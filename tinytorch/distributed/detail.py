"""TORCH_DISTRIBUTED_DEBUG=DETAIL: before each collective the ranks compare their calls."""
from __future__ import annotations

import enum
import os
import pickle
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from ..tensor import Tensor
from .errors import calling
from .world import ProcessGroup, default_pg_timeout, joined

__all__ = ["DebugLevel", "get_debug_level", "monitored_barrier", "set_debug_level", "set_debug_level_from_env"]


class DebugLevel(enum.Enum):
    """The levels of checks of collectives."""

    OFF, INFO, DETAIL = range(3)


on = False                                     # whether the level is DETAIL
_level = DebugLevel.OFF


def get_debug_level() -> DebugLevel:
    """The level, from TORCH_DISTRIBUTED_DEBUG when torch.distributed is loaded."""
    return _level


def set_debug_level(level: DebugLevel) -> None:
    """Sets the level. All ranks must call this between two collectives."""
    global _level, on
    _level, on = level, level is DebugLevel.DETAIL


def set_debug_level_from_env() -> None:
    """Sets the level to TORCH_DISTRIBUTED_DEBUG: OFF, INFO or DETAIL. RuntimeError for other values."""
    word = os.environ.get("TORCH_DISTRIBUTED_DEBUG", "OFF") or "OFF"
    if word.upper() not in DebugLevel.__members__:
        raise RuntimeError("The value of TORCH_DISTRIBUTED_DEBUG must be OFF, INFO, or DETAIL.")
    set_debug_level(DebugLevel[word.upper()])


#: torch's names for some functions. All others have their own names in messages.
_OP_TYPES = {"all_reduce": "ALLREDUCE", "all_reduce_coalesced": "ALLREDUCE_COALESCED", "all_gather": "ALLGATHER",
             "all_gather_single": "_ALLGATHER_BASE", "reduce_scatter_single": "_REDUCE_SCATTER_BASE",
             "all_to_all": "ALLTOALL", "all_to_all_single": "ALLTOALL_BASE"}


def _fingerprint(number, name, shapes, dtypes, *rest):
    text = f"CollectiveFingerPrint(SequenceNumber={number}, OpType={name}"
    if shapes:
        text += f", TensorShape={', '.join(map(str, shapes))}, TensorDtypes={' '.join(dtypes)}"
    return text + ")"


def _aspects(own, other):
    """The names of the aspects that differ. Operation, root and async_op, which gloo does not compare, are compared
    only for calls of the same collective."""
    def spaced(items):
        return " ".join([str(n) for shape in items for n in shape])
    shown = [(number, name, spaced(shapes), " ".join(dtypes), *rest)
             for number, name, shapes, dtypes, *rest in (own, other)]
    words = (" \t Sequence number", "  Op type", "  Tensor Tensor shapes", "  Tensor Tensor dtypes", "  Reduce op",
             "  Root", "  async_op")
    return "".join([f"{word}: {a}vs {b}" for i, (word, a, b) in enumerate(zip(words, *shown))
                    if a != b and (i < 4 or own[1] == other[1])])


def mismatch(group: ProcessGroup, rank: int, own: tuple, other: tuple, aspects: str) -> RuntimeError:
    """The error for different calls of this rank and another one."""
    return RuntimeError(f"Detected mismatch between collectives on ranks. Rank {group.own_rank} is running "
                        f"collective: {_fingerprint(*own)}, but Rank {rank} is running collective: "
                        f"{_fingerprint(*other)}.Collectives differ in the following aspects: {aspects}")


def check(group: ProcessGroup, async_op: bool, name: str, tensors: Sequence[Tensor] = (), op: Any = None,
          root: int | None = None, *, count: int | None = None, splits: tuple[list, list] | None = None) -> None:
    """Raises RuntimeError on every rank unless all are about to call the same function, with tensors of the same shapes
    and dtypes, the same operation and root, and the same async_op.

    count   the number of objects, for functions of objects
    splits  for functions that send another number of elements to each rank: the numbers sent to each and received from
            each
    """
    op = "" if op is None else str(getattr(op, "op", op)).rpartition(".")[2]
    shapes = [list(x._array.shape) for x in tensors] if splits is None else []
    if count is not None:
        shapes = [[count]]
    own = (group.sequence, _OP_TYPES.get(name, name.upper()), shapes,
           sorted({x.dtype.type_name for x in tensors}) if splits else [x.dtype.type_name for x in tensors], op, root,
           bool(async_op))
    with calling(group.mpi, group, name, tensors, op or None, root):
        said = [pickle.loads(text) for text in group.control.allgather(pickle.dumps((own, splits)))]
    for rank, (other, _) in enumerate(said):
        if other != own:
            raise mismatch(group, rank, own, other, _aspects(own, other))
    if splits is not None:
        _check_splits(group, own, [theirs for _, theirs in said])
    group.sequence += 1


def _check_splits(group, own, splits):
    """Raises RuntimeError on every rank if a rank sends another number of elements than the receiver expects."""
    for i, (to_send, _) in enumerate(splits):
        for j, (_, to_get) in enumerate(splits):
            if to_send[j] != to_get[i]:
                raise mismatch(group, j if group.own_rank == i else i, own, own, f"  Splits: rank {i} sends "
                               f"{to_send[j]} elements to rank {j}, which receives {to_get[i]}")


def monitored_barrier(group: ProcessGroup | None = None, timeout: timedelta | float | None = None,
                      wait_all_ranks: bool = False) -> None:
    """A barrier that names missing ranks. After `timeout` (30 minutes by default) it raises RuntimeError on rank 0 and
    on the ranks that came. The error names the first missing rank or, with `wait_all_ranks`, all missing ranks.
    """
    group = joined(group, "monitored_barrier")
    if group is None:
        return
    if isinstance(timeout, (float, int)):
        timeout = timedelta(seconds=timeout)
    timeout = default_pg_timeout if timeout is None else timeout
    with calling(group.mpi, group, "monitored_barrier"):
        _meet(group, timeout.total_seconds(), wait_all_ranks)


def _late(requests, until):
    """The indices of the requests that are not done at the time `until`."""
    left = dict(enumerate(requests))
    while True:
        left = {i: request for i, request in left.items() if not request.Test()}
        if not left or time.monotonic() > until:
            return list(left)
        time.sleep(1e-4)


def _meet(group, seconds, wait_all_ranks):
    end, comm, own = time.monotonic() + seconds, group.control, group.own_rank
    tag = group.barriers % 1000                # so that a late rank does not take part in the next barrier
    group.barriers += 1
    nothing = np.empty(0, np.uint8)
    if own:
        sent = comm.Isend(nothing, 0, tag)
        answer = comm.Irecv(np.empty(1, np.uint8), 0, tag)
        if _late([sent, answer], end + 0.5 * seconds):
            answer.Cancel()
            raise RuntimeError(f"Rank {own} successfully reached monitoredBarrier, but received errors while waiting "
                               "for send/recv from rank 0. Please check rank 0 logs for faulty rank.")
        return
    requests = [comm.Irecv(nothing, rank, tag) for rank in range(1, group.count)]
    missing = [i + 1 for i in _late(requests, end)]
    if missing:
        for rank in missing:
            requests[rank - 1].Cancel()
        who = f"Ranks {', '.join(map(str, missing))}" if wait_all_ranks else f"Rank {missing[0]}"
        raise RuntimeError(f"[Rank 0]: {who} failed to pass monitoredBarrier in {int(seconds * 1000)} ms")
    answers = [comm.Isend(np.zeros(1, np.uint8), rank, tag) for rank in range(1, group.count)]
    _late(answers, end + seconds)


set_debug_level_from_env()
