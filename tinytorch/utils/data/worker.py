"""What a DataLoader with num_workers > 0 simulates: workers with a dataset copy and random streams of their own."""
import copy
import threading

import numpy as np

from ...random import Stream, exchange_stream

__all__ = ["WorkerInfo", "get_worker_info"]


class WorkerInfo:
    """Which worker is at work: id, num_workers, seed, and its own copy of the dataset. Nothing can be assigned."""

    def __init__(self, **info):
        self.__dict__.update(info)

    def __setattr__(self, name, value):
        raise RuntimeError(f"Cannot assign attributes to {type(self).__name__} objects")

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={value}' for name, value in vars(self).items())})"


_here = threading.local()


def get_worker_info():
    """The WorkerInfo of the worker that is loading data, None outside of workers.

    >>> import tinytorch as torch
    >>> torch.utils.data.get_worker_info() is None
    True
    """
    return getattr(_here, "info", None)


class Worker:
    """A worker in this process. Inside `with worker:` the global random generators (torch's, and in the main thread
    Python's and NumPy's) are its own, seeded as PyTorch seeds them, and `get_worker_info()` is its info.

    Other threads see nothing of that: torch's generator is exchanged in this thread alone. Python's and NumPy's exist
    once in a process, so outside the main thread they stay what they are.
    """

    def __init__(self, number, count, base_seed, dataset, init_fn):
        seed = base_seed + number
        self.info = WorkerInfo(id=number, num_workers=count, seed=seed, dataset=copy.copy(dataset))
        self.stream = Stream(seed)
        import random  # Python's own, which nothing but workers needs
        self.python_state = random.Random(seed).getstate()
        entropy = [number, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
        self.numpy_state = np.random.RandomState(np.random.SeedSequence(entropy).generate_state(4)).get_state()
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
