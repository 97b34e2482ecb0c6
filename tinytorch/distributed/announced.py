"""Messages from rank to rank under TORCH_DISTRIBUTED_DEBUG=DETAIL: each is announced, and is received if it fits.

The announcement is sent in the way in which the message would be sent without DETAIL, so the same recv gets it. It says
what follows, and under which tag of the group's second communicator. A message that does not fit is received too, into
memory that is thrown away, so that its sender goes on.
"""
from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np

from .detail import mismatch
from .messages import PAIR_TAG, Requests

__all__ = ["AnnouncedReceive", "announced_send"]

_BYTES = 2048                                  # the length of an announcement: 64 dimensions take less than half of it
_TAGS = 30000                                  # MPI promises tags up to 32767


def _said(kind, about, count):
    """The values that are compared: (OpType, shapes, dtypes). `count`: the number of objects, or None for a tensor."""
    if count is not None:
        return f"{kind}_OBJECTS", [[count]], []
    return kind, [list(x._array.shape) for x in about[1]], [x.dtype.type_name for x in about[1]]


def announced_send(group: Any, about: tuple, count: int | None, array: np.ndarray, to: int, tag: int) -> Requests:
    """Announces an array, and sends it."""
    group.announced = group.announced % _TAGS + 1
    under = PAIR_TAG + group.announced
    announcement = np.zeros(_BYTES, np.uint8)
    text = pickle.dumps((_said("SEND", about, count), array.nbytes, under))
    announcement[:len(text)] = np.frombuffer(text, np.uint8)
    return Requests([group.comm.Isend(announcement, to, tag), group.control.Isend(group.mpi.raw(array), to, under)])


class AnnouncedReceive:
    """A request of MPI's that waits for an announcement and then for the announced message. `array` receives the
    message, and is made if it is None."""

    def __init__(self, group: Any, about: tuple, count: int | None, array: np.ndarray | None, source: int, tag: int
                 ) -> None:
        self._group, self._said, self.array = group, _said("RECV", about, count), array
        self._announcement = np.zeros(_BYTES, np.uint8)
        self._request, self._other = group.comm.Irecv(self._announcement, source, tag), None

    def _start(self, source):
        """Starts to receive the message after its announcement has come."""
        self._other, nbytes, under = pickle.loads(self._announcement.tobytes())
        fits = self._other[1:] == self._said[1:] and _kind(self._other) == _kind(self._said)
        self._error = None if fits else self._mismatch(source)
        if self.array is None or not fits:
            self.array = np.empty(nbytes, np.uint8)
        self._request = self._group.control.Irecv(self._group.mpi.raw(self.array), source, under)

    def _mismatch(self, source):
        own, other = [(self._group.sequence, *said, "", None, False) for said in (self._said, self._other)]
        differing = [f"  Tensor Tensor {word}: {a}vs {b}"
                     for word, a, b in zip(("shapes", "dtypes"), own[2:], other[2:]) if a != b]
        return mismatch(self._group, source, own, other, "".join(differing) or f"  Op type: {own[1]}vs {other[1]}")

    def Wait(self, status: Any) -> None:
        """Returns when the message has come. RuntimeError if it is not the expected one."""
        if self._other is None:
            self._request.Wait(status)
            self._start(status.Get_source())
        self._request.Wait()
        self._end()

    def Test(self, status: Any) -> bool:
        """Whether the message has come. RuntimeError if it is not the expected one."""
        if self._other is None:
            if not self._request.Test(status):
                return False
            self._start(status.Get_source())
        if not self._request.Test():
            return False
        self._end()
        return True

    def _end(self):
        if self._error is not None:
            raise self._error


def _kind(said: Sequence) -> str:
    """The kind of a message: a tensor, numbers of bytes, or objects."""
    return said[0].partition("_")[2]
