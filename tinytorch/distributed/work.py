"""Work: a collective that has been started."""
from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from ..futures import Future
from .errors import failure

__all__ = ["Work"]


class Work:
    """A collective that was started with async_op=True, or an isend or irecv.

    The tensors may be used again after `wait()`. MPI makes progress whenever it is called. So other calls finish a work
    for which the program does not wait, at the latest when the group is destroyed.
    """

    _error: Exception | None = None

    def __init__(self, request: Any = None, finish: Callable | None = None, result: Any = (), group: Any = None,
                 about: tuple = ()) -> None:
        # request: MPI's request, with Wait and Test; None if nothing is left to do. finish: a function to call then.
        self._request, self._finish, self._result, self._group, self._about = request, finish, result, group, about
        self._status = None
        if group is not None:
            group.pending.add(self)            # keeps the memory to which MPI writes

    def _complete(self, error=None):
        """Is called once, when the request is done or has failed. `wait` raises the error."""
        self._request, finish, self._finish = None, self._finish, None
        if self._group is not None:
            self._group.pending.discard(self)
        try:
            if error is not None:
                raise self._failure(error)
            if finish is not None:
                finish()
        except Exception as failed:
            self._error = failed

    def _failure(self, error):
        """The error to raise for an error of a request: PyTorch's words for MPI's errors."""
        mpi = self._group.mpi
        if not isinstance(error, mpi.MPI.Exception):
            return error
        made = failure(mpi, error, self._group, *self._about)
        made.__cause__ = error
        return made

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Returns True when the work is done. RuntimeError if that takes longer than `timeout`, or if the work
        failed."""
        if self._request is not None:
            if timeout:
                end = time.monotonic() + timeout.total_seconds()
                while not self.is_completed():
                    if time.monotonic() > end:
                        raise RuntimeError(f"Timed out waiting {int(timeout.total_seconds() * 1000)}ms for the "
                                           "collective to complete")
                    time.sleep(1e-4)
            else:
                try:
                    self._request.Wait(self._status)
                except Exception as error:
                    self._complete(error)
                else:
                    self._complete()
        if self._error is not None:
            raise self._error
        return True

    synchronize = wait

    def is_completed(self) -> bool:
        """Whether the work is done. Does not wait."""
        if self._request is not None:
            try:
                done = self._request.Test(self._status)
            except Exception as error:
                self._complete(error)
            else:
                if done:
                    self._complete()
        return self._request is None

    def is_success(self) -> bool:
        """Whether the work is done and did not fail."""
        return self.is_completed() and self._error is None

    def exception(self) -> Exception | None:
        """The error with which the work failed, and which `wait` raises; None if there is none."""
        return self._error

    def result(self) -> list:
        """The tensors that the work wrote."""
        return list(self._result)

    def _source_rank(self):
        return self._status.Get_source()

    def source_rank(self) -> int:
        """The rank in the group whose message was received."""
        return self._source_rank()

    def get_future(self) -> Future:
        """A Future of the list of tensors that the work wrote. To wait for it, or for a Future made by its `then`, is
        to wait for the work."""
        return WorkFuture(self)


class WorkFuture(Future):
    """A Future of the result of a Work, or of a callback on another WorkFuture. No thread waits in the background: the
    first caller that asks for the result waits."""

    def __init__(self, work: Work | None = None, before: Future | None = None, callback: Callable | None = None
                 ) -> None:
        super().__init__()
        self._work, self._before, self._callback = work, before, callback

    def _settle(self):
        if self._future.done():
            return
        try:
            if self._work is not None:
                self._work.wait()
                self._future.set_result(self._work.result())
                return
            self._before._settle()
            self._future.set_result(self._callback(self._before))
        except Exception as error:
            self._future.set_exception(error)

    def done(self) -> bool:
        """Whether the work is done."""
        if not self._future.done() and (self._before.done() if self._work is None else self._work.is_completed()):
            self._settle()
        return self._future.done()

    def wait(self) -> Any:
        """The tensors, when the work is done."""
        self._settle()
        return self._future.result()

    def then(self, callback: Callable) -> Future:
        """A Future of callback(self)."""
        return WorkFuture(before=self, callback=callback)
