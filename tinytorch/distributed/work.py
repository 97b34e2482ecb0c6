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

    The tensors may be touched again after `wait()`. MPI moves what is under way whenever it is called, so a work that
    nobody waits for is finished by the calls of others, at the latest when the group is destroyed.
    """

    _error: Exception | None = None

    def __init__(self, request: Any = None, finish: Callable | None = None, result: Any = (), group: Any = None,
                 about: tuple = ()) -> None:
        # request: MPI's, with Wait and Test, None if there is nothing left to do. finish: what remains then.
        self._request, self._finish, self._result, self._group, self._about = request, finish, result, group, about
        self._status = None
        if group is not None:
            group.pending.add(self)            # keeps what MPI writes to

    def _complete(self, error=None):
        """Called once, when the request is done, or has failed with an error, which `wait` raises."""
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
        """The error of a request as it is raised: MPI's in PyTorch's words."""
        mpi = self._group.mpi
        if not isinstance(error, mpi.MPI.Exception):
            return error
        made = failure(mpi, error, self._group, *self._about)
        made.__cause__ = error
        return made

    def wait(self, timeout: timedelta | None = None) -> bool:
        """True when it is done. RuntimeError if that takes longer than `timeout`, or if it failed."""
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
        """Whether it is done; does not wait."""
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
        """Whether it is done and did not fail."""
        return self.is_completed() and self._error is None

    def exception(self) -> Exception | None:
        """The error that it failed with and that `wait` raises; None if there is none."""
        return self._error

    def result(self) -> list:
        """The tensors it wrote."""
        return list(self._result)

    def _source_rank(self):
        return self._status.Get_source()

    def source_rank(self) -> int:
        """The rank, in the group, whose message was received by a recv from any."""
        return self._source_rank()

    def get_future(self) -> Future:
        """A Future of the list of tensors written; whoever waits for it, or for what follows from it, waits for
        this."""
        return WorkFuture(self)


class WorkFuture(Future):
    """What a Work gives, or what a callback made of another WorkFuture. No thread waits for it: the first to ask
    does."""

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
        """Whether the work is."""
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
