"""Work: a collective that has been started."""
from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from ..futures import Future

__all__ = ["Work"]


class Work:
    """A collective that was started with async_op=True, or an isend or irecv.

    The tensors may be touched again after `wait()`. MPI moves what is under way whenever it is called, so a work that
    nobody waits for is finished by the calls of others, at the latest when the group is destroyed.
    """

    _error: Exception | None = None

    def __init__(self, request: Any = None, finish: Callable | None = None, result: Any = (),
                 pending: set | None = None) -> None:
        # request: MPI's, with Wait and Test, None if there is nothing left to do. finish: what remains then.
        self._request, self._finish, self._result, self._pending = request, finish, result, pending
        self._status = None
        if pending is not None:
            pending.add(self)                  # keeps what MPI writes to

    def _complete(self):
        self._request = None
        if self._pending is not None:
            self._pending.discard(self)
        if self._finish is not None:
            finish, self._finish = self._finish, None
            finish()

    def wait(self, timeout: timedelta | None = None) -> bool:
        """True when it is done. RuntimeError if that takes longer than `timeout`."""
        if self._request is not None:
            if timeout:
                end = time.monotonic() + timeout.total_seconds()
                while not self.is_completed():
                    if time.monotonic() > end:
                        raise RuntimeError(f"Timed out waiting {int(timeout.total_seconds() * 1000)}ms for the "
                                           "collective to complete")
                    time.sleep(1e-4)
            else:
                self._request.Wait(self._status)
                self._complete()
        return True

    synchronize = wait

    def is_completed(self) -> bool:
        """Whether it is done; does not wait."""
        if self._request is not None and self._request.Test(self._status):
            self._complete()
        return self._request is None

    def is_success(self) -> bool:
        """Whether it is done; one that failed raised in `wait`."""
        return self.is_completed()

    def exception(self) -> Exception | None:
        """None: errors are raised where they come up."""
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
        if self._work is not None:
            self._work.wait()
            self._future.set_result(self._work.result())
            return
        try:
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
