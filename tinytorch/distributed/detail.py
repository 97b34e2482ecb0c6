"""TORCH_DISTRIBUTED_DEBUG=DETAIL: before each collective the ranks compare what they are about to do."""
from __future__ import annotations

import enum
import os
import pickle
import time
from datetime import timedelta
from typing import Any

import numpy as np

from .world import ProcessGroup, default_pg_timeout, not_in, of_group

__all__ = ["DebugLevel", "get_debug_level", "monitored_barrier", "set_debug_level", "set_debug_level_from_env"]


class DebugLevel(enum.Enum):
    """How closely collectives are looked at."""

    OFF, INFO, DETAIL = range(3)


on = False                                     # whether the level is DETAIL
_level = DebugLevel.OFF


def get_debug_level() -> DebugLevel:
    """The level, from TORCH_DISTRIBUTED_DEBUG when torch.distributed is loaded."""
    return _level


def set_debug_level(level: DebugLevel) -> None:
    """Sets it. To be called by all ranks between two collectives."""
    global _level, on
    _level, on = level, level is DebugLevel.DETAIL


def set_debug_level_from_env() -> None:
    """Sets what TORCH_DISTRIBUTED_DEBUG says: OFF, INFO or DETAIL. RuntimeError for anything else."""
    word = os.environ.get("TORCH_DISTRIBUTED_DEBUG", "OFF") or "OFF"
    if word.upper() not in DebugLevel.__members__:
        raise RuntimeError("The value of TORCH_DISTRIBUTED_DEBUG must be OFF, INFO, or DETAIL.")
    set_debug_level(DebugLevel[word.upper()])


def _fingerprint(number, name, shapes, dtypes, op, root, async_op):
    text = f"CollectiveFingerPrint(SequenceNumber={number}, OpType={name}"
    if shapes:
        text += f", TensorShape={', '.join(map(str, shapes))}, TensorDtypes={' '.join(dtypes)}"
    return text + ")"


def _aspects(own, other):
    """What differs; what gloo does not look at (operation, root, async_op) only of one and the same collective."""
    def spaced(items):
        return " ".join([str(n) for shape in items for n in shape])
    shown = [(number, name, spaced(shapes), " ".join(dtypes), *rest)
             for number, name, shapes, dtypes, *rest in (own, other)]
    words = (" \t Sequence number", "  Op type", "  Tensor Tensor shapes", "  Tensor Tensor dtypes", "  Reduce op",
             "  Root", "  async_op")
    return "".join([f"{word}: {a}vs {b}" for i, (word, a, b) in enumerate(zip(words, *shown))
                    if a != b and (i < 4 or own[1] == other[1])])


def check(group: ProcessGroup, name: str, tensors: list, op: Any = None, root: int | None = None,
          async_op: bool = False) -> None:
    """RuntimeError, on every rank, if they are not all about to call the same collective with tensors of the same
    shapes and dtypes, the same operation and root, and all with async_op or all without."""
    op = "" if op is None else str(getattr(op, "op", op)).rpartition(".")[2]
    own = (group.sequence, name, [list(x.array.shape) for x in tensors], [x.dtype.type_name for x in tensors], op, root,
           bool(async_op))
    for rank, said in enumerate(group.control.allgather(pickle.dumps(own))):
        other = pickle.loads(said)
        if other != own:
            raise RuntimeError(f"Detected mismatch between collectives on ranks. Rank {group.own_rank} is running "
                               f"collective: {_fingerprint(*own)}, but Rank {rank} is running collective: "
                               f"{_fingerprint(*other)}.Collectives differ in the following aspects: "
                               f"{_aspects(own, other)}")
    group.sequence += 1


def monitored_barrier(group: ProcessGroup | None = None, timeout: timedelta | float | None = None,
                      wait_all_ranks: bool = False) -> None:
    """A barrier that tells who did not come: RuntimeError after `timeout` (30 minutes by default) on rank 0, naming the
    first rank that is missing, or all with `wait_all_ranks`, and on those that came.
    """
    if not_in(group, "monitored_barrier"):
        return
    group = of_group(group)
    if isinstance(timeout, (float, int)):
        timeout = timedelta(seconds=timeout)
    timeout = default_pg_timeout if timeout is None else timeout
    end, comm, own = time.monotonic() + timeout.total_seconds(), group.control, group.own_rank
    limit, tag = int(timeout.total_seconds() * 1000), group.barriers % 1000        # a late rank is not in the next one
    group.barriers += 1
    nothing = np.empty(0, np.uint8)

    def late(requests, until):
        """Indices of those that are not done by then."""
        left = dict(enumerate(requests))
        while True:
            left = {i: request for i, request in left.items() if not request.Test()}
            if not left or time.monotonic() > until:
                return list(left)
            time.sleep(1e-4)

    if own:
        sent = comm.Isend(nothing, 0, tag)
        answer = comm.Irecv(np.empty(1, np.uint8), 0, tag)
        if late([sent, answer], end + 0.5 * timeout.total_seconds()):
            answer.Cancel()
            raise RuntimeError(f"Rank {own} successfully reached monitoredBarrier, but received errors while waiting "
                               "for send/recv from rank 0. Please check rank 0 logs for faulty rank.")
        return
    requests = [comm.Irecv(nothing, rank, tag) for rank in range(1, group.count)]
    missing = [i + 1 for i in late(requests, end)]
    if missing:
        for rank in missing:
            requests[rank - 1].Cancel()
        who = f"Ranks {', '.join(map(str, missing))}" if wait_all_ranks else f"Rank {missing[0]}"
        raise RuntimeError(f"[Rank 0]: {who} failed to pass monitoredBarrier in {limit} ms")
    answers = [comm.Isend(np.zeros(1, np.uint8), rank, tag) for rank in range(1, group.count)]
    late(answers, end + timeout.total_seconds())


set_debug_level_from_env()
