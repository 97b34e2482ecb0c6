"""Workers of a DataLoader, simulated in this process or in worker processes: their information, random streams and
work."""
import copy
import operator
import os
import threading
from typing import Any

import numpy as np

from ....kernels import threads
from ....random import Stream, default_generator, exchange_stream
from ....tensor import wrap

__all__ = ["WorkerInfo", "get_worker_info"]


class WorkerInfo:
    """The running worker: id, num_workers, seed, and its copy of the dataset. Its fields cannot be assigned."""

    __slots__ = ("id", "num_workers", "seed", "dataset", "rng", "worker_method")
    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any
    worker_method: str

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
    """The WorkerInfo of the running worker; None outside workers.

    >>> import tinytorch as torch
    >>> torch.utils.data.get_worker_info() is None
    True
    """
    return getattr(_here, "info", None)


def _generate_state(base_seed, worker_id):
    """The four numbers that seed NumPy's generator."""
    return np.random.SeedSequence([worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]).generate_state(4).tolist()


class Worker:
    """A simulated worker in this process. Inside `with worker:` the global random generators (torch's, and in the main
    thread Python's and NumPy's) have the worker's streams, seeded as PyTorch seeds them, and `get_worker_info()`
    returns its info.

    Other threads are not affected: torch's generator is exchanged only in this thread. Python's and NumPy's generators
    exist once in a process, so they are not exchanged outside the main thread.
    """

    def __init__(self, number, count, base_seed, dataset, init_fn):
        seed = base_seed + number
        self.info = WorkerInfo(number, count, seed, copy.copy(dataset))
        self.stream = Stream(seed)
        import random  # only workers need Python's module
        self.python_state = random.Random(seed).getstate()
        self.numpy_state = np.random.RandomState(_generate_state(base_seed, number)).get_state()
        if init_fn is not None:
            with self:
                init_fn(number)

    def streams(self):
        """The states of the worker's random streams."""
        return _packed(self.stream.state(), self.python_state, self.numpy_state)

    def go_on(self, streams):
        """Continues the worker's random streams from these states."""
        if streams is not None:
            torch_state, self.python_state, self.numpy_state = _unpacked(streams)
            self.stream.resume(torch_state)

    def __enter__(self):
        self.before = get_worker_info(), exchange_stream(self.stream)
        _here.info = self.info
        self._exchange()

    def __exit__(self, *exc_info):
        _here.info, stream = self.before
        exchange_stream(stream)
        self._exchange()

    def _exchange(self):
        """Exchanges the states of Python's and NumPy's global generators with the worker's."""
        if threading.current_thread() is not threading.main_thread():
            return
        import random
        python_state, numpy_state = random.getstate(), np.random.get_state()
        random.setstate(self.python_state)
        np.random.set_state(self.numpy_state)
        self.python_state, self.numpy_state = python_state, numpy_state


def _packed(torch_state, python_state, numpy_state):
    """The states of three streams as tensors and plain values, which a file of weights may hold."""
    _, key, *rest = numpy_state
    return {"torch": wrap(torch_state), "random": python_state, "numpy": (key.tolist(), *rest)}


def _unpacked(streams):
    version, key, gauss = streams["random"]
    numpy_key, *rest = streams["numpy"]
    return streams["torch"].numpy(), (version, tuple(key), gauss), ("MT19937", np.array(numpy_key, np.uint32), *rest)


def streams_here():
    """The states of the global random streams of a worker's process."""
    import random
    return _packed(default_generator.stream.state(), random.getstate(), np.random.get_state())


def go_on_here(streams):
    """Continues the global random streams of a worker's process from these states."""
    import random
    torch_state, python_state, numpy_state = _unpacked(streams)
    default_generator.stream.resume(torch_state)
    random.setstate(python_state)
    np.random.set_state(numpy_state)


class IndexStreams:
    """Random streams that are seeded from a number and an index. Inside the context the global generators have these
    streams; afterwards they have their former states. In threads other than the main thread this holds only for torch's
    generator, since Python's and NumPy's exist once in a process.
    """

    def __init__(self, base_seed):
        self._base_seed = base_seed
        self._stream = Stream(0)

    def __enter__(self):
        self._before = exchange_stream(self._stream)
        self._others = threading.current_thread() is threading.main_thread()
        if self._others:
            import random
            self._states = random.getstate(), np.random.get_state()
        return self

    def __exit__(self, *exc_info):
        exchange_stream(self._before)
        if self._others:
            import random
            random.setstate(self._states[0])
            np.random.set_state(self._states[1])

    def seed(self, what, index):
        """Seeds the streams for `what` ("sample", "samples" or "batch") and an index. TypeError for an index that is
        not made of integers and strings.

        The seed is the SHA-256 of a text, which is the same everywhere, and different for different indices.
        """
        from hashlib import sha256
        words = np.frombuffer(sha256(f"{self._base_seed} {what} {_plain(index)!r}".encode()).digest(), "<u4").tolist()
        self._stream.restart(words[0] | words[1] << 32)
        if self._others:
            import random
            random.seed(words[2] | words[3] << 32)
            np.random.seed(words[4:])


def _plain(index):
    if isinstance(index, (tuple, list)):
        return tuple(_plain(part) for part in index)
    if isinstance(index, str):
        return index
    try:
        return operator.index(index)
    except TypeError:
        raise TypeError("seed_by_index needs indices that are integers, strings or tuples of these, but got "
                        f"{type(index).__name__}") from None


# ------------------------------------------------------------------ worker processes
class _IterableDatasetStopIteration:
    """Sent instead of a batch when the stream of a worker has ended."""

    def __init__(self, worker_id):
        self.worker_id = worker_id


class _ResumeIteration:
    """Sent instead of indices when the next pass begins. `seed`: the seed for `seed_by_index`; `asked`: whether the
    worker answers with a state."""

    def __init__(self, seed=None, asked=False):
        self.seed, self.asked = seed, asked


class _Orphaned(BaseException):
    """The process of the loader has ended."""


def _worker_loop(channel, dataset, make_fetcher, base_seed, init_fn, worker_id, num_workers, state):
    """The loop of a worker process: it makes batches of the indices that it receives, until it is told to end.

    make_fetcher(dataset) returns a new fetcher for each pass. Tasks are (number, index, wanted), and answers are
    (number, batch, state of the fetcher). `wanted`: True for a state with random streams, None for a state without
    them, False for no state. `state`: the state of the pass to continue, or None.
    """
    parent = os.getppid()

    def patience():
        if os.getppid() != parent:
            raise _Orphaned
    channel.patience = patience
    try:
        _serve(channel, dataset, make_fetcher, base_seed, init_fn, worker_id, num_workers, state)
    except (_Orphaned, KeyboardInterrupt):
        pass                                   # the main process gets the interrupt too, and reports it
    finally:
        channel.close()


def _serve(channel, dataset, make_fetcher, base_seed, init_fn, worker_id, num_workers, state):
    from ...._utils import ExceptionWrapper
    from ..progress import advance, restore_dataset, state_of_fetcher
    from .channel import Closed, pack
    where = f"in DataLoader worker process {worker_id}"
    failed: Any = None
    fetcher: Any = None
    try:
        _seed(base_seed, worker_id)
        _here.info = WorkerInfo(worker_id, num_workers, base_seed + worker_id, dataset)
        if init_fn is not None:
            init_fn(worker_id)
        restore_dataset(dataset, state)
        fetcher = make_fetcher(dataset)
        advance(fetcher, state)
        if state is not None and state["random_streams"] is not None:
            go_on_here(state["random_streams"])
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
                if task.seed is not None:
                    fetcher.base_seed = task.seed
            except Exception:
                failed = ExceptionWrapper(where=where)
            if not task.asked:
                continue
            try:
                answer = pack((None, None, state_of_fetcher(fetcher, streams_here())))
            except Exception:
                failed = ExceptionWrapper(where=where)
                answer = pack((None, None, None))
            try:
                channel.send_packed(answer)
            except Closed:
                return
            continue
        number, index, wanted = task
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
                state = None
                if wanted is not False:
                    state = state_of_fetcher(fetcher, streams_here() if wanted else None)
                answer = pack((number, batch, state))
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
    except Exception:                          # a class that cannot be pickled, such as a local class of a function
        wrapped.exc_msg = f"{wrapped.exc_msg}({wrapped.exc_type.__name__} cannot be sent from its process)\n"
        wrapped.exc_type = RuntimeError
        return pack((number, wrapped, None))


def _seed(base_seed, worker_id):
    """Sets one thread, and seeds the random streams of a worker."""
    import random
    threads.set_number(1)
    random.seed(base_seed + worker_id)
    exchange_stream(None)
    default_generator.manual_seed(base_seed + worker_id)
    np.random.seed(_generate_state(base_seed, worker_id))
