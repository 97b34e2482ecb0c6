"""Passes over a dataset by worker processes."""
import contextlib
import itertools
import multiprocessing
import os
import pickle
import select
import threading
import time
import weakref
from typing import Any

from ..._utils import ExceptionWrapper
from ...errors import warn
from ._utils import MP_STATUS_CHECK_INTERVAL
from ._utils.channel import Closed, pair
from ._utils.signal_handling import cause_of_end
from ._utils.worker import _IterableDatasetStopIteration, _ResumeIteration, _worker_loop
from .iterators import _BaseDataLoaderIter, turn_after
from .sampler import stateful

__all__ = ["_MultiProcessingDataLoaderIter"]

#: The sides of the channels to workers that this process has open. A forked process has them too, and must close them:
#: a worker learns from its channel that its loader died, once no process has the other side open.
_ends: weakref.WeakSet = weakref.WeakSet()
_starting = threading.Lock()


def _run(channel, foreign, *args):
    """Runs in a worker process. `foreign`: the other side of its channel."""
    for end in [foreign, *_ends]:
        if end is not None:
            end.close()
    _worker_loop(channel, *args)


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """The iterator of worker processes, each with a channel. A worker receives (number, index), and answers (number, a
    batch or an object instead of it, state of its dataset). All passes have different numbers.

    It waits for a batch or the end of a process, whichever comes first.
    """

    def __init__(self, loader, resume=None):
        super().__init__(loader, resume)
        self._prefetch_factor, self._in_order = loader.prefetch_factor, loader.in_order
        if self._prefetch_factor <= 0:
            raise AssertionError("prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter")
        self._worker_init_fn = loader.worker_init_fn
        self._snapshots = loader.snapshot_every_n_steps or 0
        if self._snapshots and (self._dataset_kind or not self._in_order):
            self._snapshots = 1                # the states after the last batches may not be the last states
        self._progress.every = self._snapshots or 1
        self._progress.keep(self._progress.yielded)
        self._workers: list = []
        self._channels: list = []
        self._finalizer = weakref.finalize(self, _stop, os.getpid(), self._workers, self._channels)
        self._polled, self._events = select.poll(), {}
        self._numbers = itertools.count()
        context = loader.multiprocessing_context or multiprocessing
        try:
            for k in range(self._num_workers):
                self._start(context, k)
            self._begin()
        except BaseException:
            self._shutdown_workers()
            raise

    def _start(self, context, k):
        with _starting:                        # a process forked by another thread would keep it open
            ours, theirs = pair()
            foreign = ours if context.get_start_method() == "fork" else None
            worker = context.Process(target=_run, daemon=True, args=(
                theirs, foreign, self._dataset, self._make_fetcher, self._base_seed, self._worker_init_fn, k,
                self._num_workers, self._progress.fetchers.get(k)))
            try:
                worker.start()
            except (TypeError, AttributeError, pickle.PicklingError):
                ours.close()                   # before the warning, which may be an error
                warn(
                    "Got pickle error when attempting to start a worker Process. This might be because the worker "
                    "Process arguments are not picklable. Python 3.14+ changed the multiprocessing start method in "
                    "non-Mac POSIX platforms to 'forkserver', which requires the worker Process arguments to be "
                    "picklable. You can also try multiprocessing.set_start_method('fork').")
                raise
            except BaseException:
                ours.close()
                raise
            finally:
                theirs.close()
            _ends.add(ours)
        self._workers.append(worker)
        self._channels.append(ours)
        for fd, event in ((ours.fileno(), "answer"), (worker.sentinel, "end")):
            self._polled.register(fd, select.POLLIN)
            self._events[fd] = event, k

    def _begin(self):
        self._tasks, self._results = {}, {}    # {number: (worker, state and position of the sampler)}, {number: answer}
        self._active = [True] * self._num_workers
        self._ends = {}                        # states of the streams that have ended
        self._given = [0] * self._num_workers  # the number of tasks of each worker that are not yielded yet
        self._turn = turn_after(self._progress.worker, self._num_workers)
        for _ in range(self._prefetch_factor * self._num_workers):
            self._dispatch()

    def _reset(self, loader):
        super()._reset(loader)
        waits = self._snapshots or stateful(self._dataset)
        seed = self._base_seed if self._seed_by_index else None
        self._starts: dict[int, Any] = {}
        for k in range(self._num_workers):
            self._send(k, _ResumeIteration(seed, waits))
        while waits and len(self._starts) < self._num_workers:
            self._receive(None)
        self._progress.fetchers = self._starts
        self._progress.keep(self._progress.yielded)
        self._begin()

    # -------------------------------------------------------------- sending and receiving
    def _dispatch(self):
        """Sends the next index to the next worker, if there is an index and a worker whose stream has not ended."""
        try:
            index = self._next_index()
        except StopIteration:
            return
        for k in range(self._turn, self._turn + self._num_workers):
            k %= self._num_workers
            most = self._prefetch_factor * self._num_workers // max(1, sum(self._active))
            if self._active[k] and (self._in_order or self._given[k] < most):
                break
        else:
            return
        self._turn = (k + 1) % self._num_workers
        number, drawn = next(self._numbers), self._sampler_iter.drawn
        self._tasks[number] = k, self._sampler_iter.state, None if self._in_order or self._dataset_kind else drawn - 1
        self._given[k] += 1
        # a snapshot has the states of all workers, each after the worker's last batch before the snapshot
        wanted = None
        if self._snapshots:
            wanted = (drawn - 1) % self._snapshots + self._num_workers >= self._snapshots
        self._send(k, (number, index, wanted))

    def _send(self, k, message):
        """Sends a message, and takes answers while the worker is too busy to read, so that there is no deadlock."""
        while not self._channels[k].ready(select.POLLOUT, 0):
            self._receive(None)
        with contextlib.suppress(Closed):      # the end of the worker is reported when its batch is needed
            self._channels[k].send(message)

    def _receive(self, timeout):
        """Waits for an answer or the end of a worker, and takes it. RuntimeError if a worker has ended, or nothing
        happens in time.

        An exception in the middle of a message makes the channel unusable.
        """
        try:
            happened = self._polled.poll(None if timeout is None else timeout * 1000)
            if not happened:
                raise RuntimeError(f"DataLoader timed out after {timeout} seconds")
            ended = []
            for fd, _ in happened:
                event, k = self._events.get(fd, (None, None))
                if event == "end":
                    ended.append(k)
                elif event == "answer" and self._channels[k].ready(select.POLLIN, 0) and not self._take(k):
                    ended.append(k)            # _send may have taken its answer already
            if ended:
                self._check_ended(set(ended))
        except BaseException:
            self._shutdown_workers()
            raise

    def _take(self, k):
        """Reads an answer of worker k. Returns whether there was an answer."""
        try:
            number, data, state = self._channels[k].receive()
        except Closed:
            return False
        if number is None:
            self._starts[k] = state
        elif number in self._tasks:            # otherwise it belongs to the pass before
            self._results[number] = data, state
            if isinstance(data, _IterableDatasetStopIteration):
                del self._tasks[number], self._results[number]
                self._active[k] = False
                self._ends[k] = state
                self._given[k] -= 1
                if not self._persistent_workers:
                    self._release(k)
                self._dispatch()
        return True

    def _release(self, k):
        """Tells worker k to end."""
        for fd, (_, of) in list(self._events.items()):
            if of == k:
                self._polled.unregister(fd)
                del self._events[fd]
        self._channels[k].shut_down()

    def _check_ended(self, workers):
        """RuntimeError for workers that have ended, after all their messages are read."""
        for k in workers:
            if k not in {of for _, of in self._events.values()}:
                continue
            while self._channels[k].ready(select.POLLIN, 0) and self._take(k):
                pass
        failed = [self._workers[k] for k in sorted(workers) if self._active[k] or self._persistent_workers]
        for worker in failed:
            worker.join(MP_STATUS_CHECK_INTERVAL)
        if failed:
            pids = ", ".join([str(worker.pid) for worker in failed])
            raise RuntimeError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly") from cause_of_end(failed[0])

    def _next_data(self):
        while True:
            number = self._due()
            if number is not None:
                break
            if not self._tasks:
                if not self._persistent_workers:
                    self._shutdown_workers()
                self._progress.fetchers.update(self._ends)
                raise StopIteration
            if self._shutdown:
                raise RuntimeError("the workers of this DataLoader have been stopped: start a new iteration")
            self._receive(self._timeout or None)
        k, sampler_state, position = self._tasks.pop(number)
        data, state = self._results.pop(number)
        self._given[k] -= 1
        self._dispatch()
        self._progress.give(sampler_state, position)
        if state is not None:
            self._progress.fetchers[k] = state
        failed = isinstance(data, ExceptionWrapper)
        if not failed:
            self._progress.worker = k
        if self._snapshots > 1 and self._progress.given % self._snapshots == 0:
            self._progress.keep(self._progress.yielded + (not failed))
        if failed:
            data.reraise()
        return data

    def _due(self):
        """The number of the task whose batch comes next; None if the batch has not arrived yet."""
        if not self._in_order and self._results:
            return next(iter(self._results))
        for number in list(self._tasks):
            if number in self._results:
                return number
            if self._active[self._tasks[number][0]]:
                return None
            del self._tasks[number]            # the task of a worker whose stream had ended
        return None

    def _shutdown_workers(self):
        self._finalizer()

    @property
    def _shutdown(self):
        return not self._finalizer.alive


def _stop(owner, workers, channels):
    """Ends the workers. Workers that do not end by themselves in time are killed."""
    for channel in channels:
        if os.getpid() == owner:
            channel.shut_down()
        else:
            channel.close()                    # a forked process must not send to its parent's workers
    if os.getpid() != owner:
        return
    deadline = time.monotonic() + MP_STATUS_CHECK_INTERVAL
    for end in ("terminate", "kill", None):
        for worker in workers:
            worker.join(max(0, deadline - time.monotonic()))
            if end is not None and worker.is_alive():
                getattr(worker, end)()
        deadline = time.monotonic() + 1
