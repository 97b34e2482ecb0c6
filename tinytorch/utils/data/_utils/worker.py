"""Workers of a DataLoader, in this process or in processes of their own: what they know, draw and do."""
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
    """Which worker is at work: id, num_workers, seed, and its own copy of the dataset. Nothing can be assigned."""

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

    def streams(self):
        """Their states."""
        return _packed(self.stream.state(), self.python_state, self.numpy_state)

    def go_on(self, streams):
        """From those states."""
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
        """Swap the states of Python's and NumPy's global generators with the worker's."""
        if threading.current_thread() is not threading.main_thread():
            return
        import random
        python_state, numpy_state = random.getstate(), np.random.get_state()
        random.setstate(self.python_state)
        np.random.set_state(self.numpy_state)
        self.python_state, self.numpy_state = python_state, numpy_state


def _packed(torch_state, python_state, numpy_state):
    """The states of three streams, as plain as a file of weights is."""
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
    """Continue the global random streams of a worker's process."""
    import random
    torch_state, python_state, numpy_state = _unpacked(streams)
    default_generator.stream.resume(torch_state)
    random.setstate(python_state)
    np.random.set_state(numpy_state)


class IndexStreams:
    """Random streams that are seeded from a number and an index. Inside, the global ones are these; they are back after
    it. In threads other than the main one that is true of torch's alone, since Python's and NumPy's exist once in a
    process.
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
        """Begin the streams of `what` at that index. TypeError for an index that is not made of integers and strings.

        SHA-256 of the text is the same everywhere and for good, and no two indices share numbers.
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


# ------------------------------------------------------------------ in a process of its own
class _IterableDatasetStopIteration:
    """In place of a batch: the stream of this worker has ended."""

    def __init__(self, worker_id):
        self.worker_id = worker_id


class _ResumeIteration:
    """In place of indices: the next pass begins. `seed`: what it seeds indices from; `asked`: whether it is answered
    with a state."""

    def __init__(self, seed=None, asked=False):
        self.seed, self.asked = seed, asked


class _Orphaned(BaseException):
    """The process that wanted the batches is no more."""


def _worker_loop(channel, dataset, make_fetcher, base_seed, init_fn, worker_id, num_workers, state):
    """What a worker process does: make batches of the indices that it is sent, until it is told to end.

    make_fetcher(dataset) gives a new fetcher, for each pass. Tasks are (number, index, wanted), answers (number, batch,
    state of the fetcher); `wanted`: True for that state with random streams, None without, False for no state;
    `state`: that of a pass to be continued, or None.
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
