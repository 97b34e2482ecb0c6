"""Workers of a DataLoader, in this process or in processes of their own: what they know, draw and do."""
import copy
import os
import threading

import numpy as np

from ....kernels import threads
from ....random import Stream, default_generator, exchange_stream

__all__ = ["WorkerInfo", "get_worker_info"]


class WorkerInfo:
    """Which worker is at work: id, num_workers, seed, and its own copy of the dataset. Nothing can be assigned."""

    __slots__ = ("id", "num_workers", "seed", "dataset", "rng", "worker_method")

    def __init__(self, id, num_workers, seed, dataset, rng=None, worker_method="multiprocessing"):
        for name, value in zip(self.__slots__, (id, num_workers, seed, dataset, rng, worker_method)):
            object.__setattr__(self, name, value)

    def __setattr__(self, name, value):
        from dataclasses import FrozenInstanceError
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __repr__(self):
        return f"WorkerInfo({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__slots__)})"


_here = threading.local()


def get_worker_info():
    """The WorkerInfo of the worker that is loading data, None outside of workers.

    >>> import tinytorch as torch
    >>> torch.utils.data.get_worker_info() is None
    True
    """
    return getattr(_here, "info", None)


def _generate_state(base_seed, worker_id):
    """Four numbers that NumPy's generator is seeded with."""
    return np.random.SeedSequence([worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]).generate_state(4).tolist()


class Worker:
    """A worker in this process. Inside `with worker:` the global random generators (torch's, and in the main thread
    Python's and NumPy's) are its own, seeded as PyTorch seeds them, and `get_worker_info()` is its info.

    Other threads see nothing of that: torch's generator is exchanged in this thread alone. Python's and NumPy's exist
    once in a process, so outside the main thread they stay what they are.
    """

    def __init__(self, number, count, base_seed, dataset, init_fn):
        seed = base_seed + number
        self.info = WorkerInfo(number, count, seed, copy.copy(dataset))
        self.stream = Stream(seed)
        import random  # Python's own, which nothing but workers needs
        self.python_state = random.Random(seed).getstate()
        self.numpy_state = np.random.RandomState(_generate_state(base_seed, number)).get_state()
        if init_fn is not None:
            with self:
                init_fn(number)

    def __enter__(self):
        self.before = get_worker_info(), exchange_stream(self.stream)
        _here.info = self.info
        self._exchange()

    def __exit__(self, *exc_info):
        _here.info, stream = self.before
        exchange_stream(stream)
        self._exchange()

    def _exchange(self):
        """Swap the states of Python's and NumPy's global generators with the worker's."""
        if threading.current_thread() is not threading.main_thread():
            return
        import random
        python_state, numpy_state = random.getstate(), np.random.get_state()
        random.setstate(self.python_state)
        np.random.set_state(self.numpy_state)
        self.python_state, self.numpy_state = python_state, numpy_state


# ------------------------------------------------------------------ in a process of its own
class _IterableDatasetStopIteration:
    """In place of a batch: the stream of this worker has ended."""

    def __init__(self, worker_id):
        self.worker_id = worker_id


class _ResumeIteration:
    """In place of indices: the next pass begins."""

    def __init__(self, seed=None):
        self.seed = seed


class _Orphaned(BaseException):
    """The process that wanted the batches is no more."""


def _worker_loop(channel, dataset, make_fetcher, base_seed, init_fn, worker_id, num_workers, state):
    """What a worker process does: make batches of the indices that it is sent, until it is told to end.

    make_fetcher(dataset) gives a new fetcher, for each pass. Tasks are (number, index), answers (number, batch, state
    of the fetcher); `state`: that of a pass to be continued, or None.
    """
    parent = os.getppid()

    def patience():
        if os.getppid() != parent:
            raise _Orphaned
    channel.patience = patience
    try:
        _serve(channel, dataset, make_fetcher, base_seed, init_fn, worker_id, num_workers, state)
    except (_Orphaned, KeyboardInterrupt):
        pass                                   # an interrupt goes to the main process, too, which says so
    finally:
        channel.close()


def _serve(channel, dataset, make_fetcher, base_seed, init_fn, worker_id, num_workers, state):
    from ...._utils import ExceptionWrapper
    from ..progress import advance, restore_dataset, state_of_fetcher
    from .channel import Closed, pack
    where = f"in DataLoader worker process {worker_id}"
    failed, fetcher = None, None
    try:
        _seed(base_seed, worker_id)
        _here.info = WorkerInfo(worker_id, num_workers, base_seed + worker_id, dataset)
        if init_fn is not None:
            init_fn(worker_id)
        restore_dataset(dataset, state)
        fetcher = make_fetcher(dataset)
        advance(fetcher, state)
    except Exception:
        failed = ExceptionWrapper(where=where)
    while True:
        try:
            task = channel.receive()
        except Closed:
            return
        if isinstance(task, _ResumeIteration):
            try:
                fetcher = make_fetcher(dataset)
            except Exception:
                failed = ExceptionWrapper(where=where)
            continue
        number, index = task
        try:
            if failed is not None:
                answer, failed = _pack_failure(number, failed), None
            else:
                try:
                    batch = fetcher.fetch(index)
                except StopIteration:
                    if not hasattr(fetcher, "dataset_iter"):
                        raise
                    batch = _IterableDatasetStopIteration(worker_id)
                answer = pack((number, batch, state_of_fetcher(fetcher)))
                del batch                      # not kept while waiting for the next task
        except Exception:
            answer = _pack_failure(number, ExceptionWrapper(where=where))
        try:
            channel.send_packed(answer)
        except Closed:
            return


def _pack_failure(number, wrapped):
    from .channel import pack
    try:
        return pack((number, wrapped, None))
    except Exception:                          # a class that cannot be pickled, such as one of a function
        wrapped.exc_msg = f"{wrapped.exc_msg}({wrapped.exc_type.__name__} cannot be sent from its process)\n"
        wrapped.exc_type = RuntimeError
        return pack((number, wrapped, None))


def _seed(base_seed, worker_id):
    """One thread, and the random streams of a worker."""
    import random
    threads.set_number(1)
    random.seed(base_seed + worker_id)
    exchange_stream(None)
    default_generator.manual_seed(base_seed + worker_id)
    np.random.seed(_generate_state(base_seed, worker_id))
