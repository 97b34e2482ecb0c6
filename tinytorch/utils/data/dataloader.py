"""DataLoader: batches of the samples of a dataset, in PyTorch's order, with PyTorch's random numbers."""
import os
import sys
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from ...errors import warn
from ...kernels import shared
from ._utils.collate import default_collate, default_convert
from ._utils.worker import get_worker_info
from .dataset import IterableDataset
from .iterators import (
    _BaseDataLoaderIter as _BaseDataLoaderIter,  # libraries look for it here
    _DatasetKind,
    _SimulatedWorkersIter,
    _SingleProcessDataLoaderIter,
    rows_at_once,
)
from .progress import NOT_BEGUN, check_fits, not_begun, resumed, settle
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

_T_co = TypeVar("_T_co", covariant=True)
_collate_fn_t = Callable[[list[_T_co]], Any]   # what annotations of libraries name
_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class _Endless(Sampler):
    """In place of indices for a stream, which needs none."""

    def __iter__(self):
        while True:
            yield None


class DataLoader(Generic[_T_co]):
    """Iterates over a dataset in batches; each `iter()` is one pass.

    With `num_workers` > 0 there are worker processes, started by `multiprocessing_context` (a context or the name of a
    method; default: Python's). Worker k has its own copy of the dataset, one thread, torch, random and numpy.random
    seeded from base_seed + k, its `get_worker_info()`, its call of `worker_init_fn`, and every num_workers-th batch,
    `prefetch_factor` of which it makes ahead. Batches come through shared memory. With `in_order=False` they come as
    they get ready. `timeout`: seconds to wait for one. `pin_memory` warns that there is no device to pin memory for.

    In two cases the workers are simulated in this process, one after the other, with the same batches and random
    numbers: where there can be no processes (in a worker or another daemonic process, and on systems without fork and
    shared memory), and for exactly a TensorDataset, or a Subset of one, with the default collation and no
    `worker_init_fn`, whose batches are indexed at once: that takes less time than to send them.

    With `seed_by_index=True` torch, random and numpy.random are seeded before each sample, from the seed that the pass
    has drawn and the sample's index, and before each collation, from the indices of the batch. So a sample is the same
    for any number of workers and any batch size, in the order that it comes in, and in a pass that goes on from a
    state. (In threads other than the main one this process draws torch's numbers alone by index.) The indices are
    integers, strings, or tuples of these; a dataset with `__getitems__` is seeded once for a batch. ValueError for an
    IterableDataset, which has no indices.

    `snapshot_every_n_steps`: see `state_dict`.

    An exception in a worker process is raised here with the traceback that it had there. RuntimeError if such a process
    ends by itself, or is too slow for `timeout`; ValueError for options that exclude each other.

    >>> import tinytorch as torch
    >>> dataset = torch.utils.data.TensorDataset(torch.arange(5.))
    >>> [x for x, in torch.utils.data.DataLoader(dataset, batch_size=2)]
    [tensor([0., 1.]), tensor([2., 3.]), tensor([4.])]
    """

    __initialized = False
    _progress = None                           # of the latest pass
    _resume = None                             # the state that the next pass continues
    seed_by_index, snapshot_every_n_steps = False, None          # of one that torch has saved

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0,
                 collate_fn=None, pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None,
                 multiprocessing_context=None, generator=None, *, prefetch_factor=None, persistent_workers=False,
                 pin_memory_device="", in_order=True, seed_by_index=False, snapshot_every_n_steps=None):
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        if snapshot_every_n_steps is not None and snapshot_every_n_steps < 1:
            raise ValueError(f"snapshot_every_n_steps should be positive, but got {snapshot_every_n_steps}")
        self.seed_by_index = seed_by_index
        self.snapshot_every_n_steps = snapshot_every_n_steps
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self._dataset_kind = _DatasetKind.Iterable if isinstance(dataset, IterableDataset) else _DatasetKind.Map
        streams = self._dataset_kind == _DatasetKind.Iterable
        if streams:
            _check_stream(shuffle, sampler, batch_sampler, seed_by_index)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and "
                                 "drop_last")
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            if streams:
                sampler = _Endless()
            else:
                sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator
        if collate_fn is None:
            collate_fn = default_convert if batch_sampler is None else default_collate
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers
        self._IterableDataset_len_called = None          # what len() said of a stream
        self._iterator = None                # of persistent workers
        self.__initialized = True
        self.check_worker_number_rationality()

    @property
    def multiprocessing_context(self):
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context):
        self.__multiprocessing_context = _checked_context(context, self.num_workers)

    def __setattr__(self, name, value):
        if self.__initialized and name in _FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def _index_sampler(self):
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    @property
    def _auto_collation(self):
        return self.batch_sampler is not None

    def __iter__(self):
        state, self._resume = self._resume, None
        iterator = self._iterator
        if iterator is not None and state is None and not getattr(iterator, "_shutdown", False):
            iterator._reset(self)
        else:
            iterator = self._get_iterator() if state is None else self._resumed_iterator(state)
            if self.persistent_workers:
                self._iterator = iterator
        self._progress = iterator._progress
        return iterator

    def _resumed_iterator(self, state):
        """What is left of the pass that the state is of, or a new pass after it."""
        check_fits(self, state)
        if state["_iterator_finished"] or not state["_generators_at_start"]:
            settle(self, state)
            return self._get_iterator(state)
        with resumed(self, state):
            iterator = self._get_iterator(state)
            iterator._make_again(state["_steps_since_snapshot"])
        if self._dataset_kind or iterator._sampler_iter.drawn == state["_indices_drawn"]:
            settle(self, state)                # else it draws ahead by more batches or fewer than that pass did
        return iterator

    def _get_iterator(self, state=None):
        """A pass, or what is left of the one that the state is of."""
        if not self.num_workers:
            return _SingleProcessDataLoaderIter(self, state)
        if _simulates_workers(self):
            return _SimulatedWorkersIter(self, state)
        from .processes import _MultiProcessingDataLoaderIter  # slow to import
        return _MultiProcessingDataLoaderIter(self, state)

    def __len__(self):
        if self._dataset_kind == _DatasetKind.Map:
            return len(self._index_sampler)
        length = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)

    # -------------------------------------------------------------- to be continued
    def state_dict(self):
        """How far the latest pass has come: where the next one of a DataLoader made alike goes on, if it loads this.

        What was yielded counts, not what the workers have made ahead. Samplers, and streams (IterableDataset), that
        have no state of their own are run again to where they were, with the random numbers that they had; of those
        that have `state_dict` and `load_state_dict`, in a worker too, and of a dataset and its iterator, that state is
        taken instead. Generators that were given to the loader or to a sampler go on as well; the default one, and
        Python's and NumPy's, are the program's to save, with the weights.

        The numbers that a dataset draws in worker processes are the same ones with `seed_by_index=True`, and with
        `snapshot_every_n_steps=n`: workers then send the states of their random streams, some 10 KB, with the batches
        around each n-th one (with every batch of a stream, and with `in_order=False`). A pass that goes on makes up to
        n - 1 batches again, unseen.

        ValueError, by the next pass, for a loader with other generators, and for a stream (or a dataset with a state)
        with another number of workers.

        >>> import tinytorch as torch
        >>> loader = torch.utils.data.DataLoader(range(6), 2, shuffle=True)
        >>> batches = iter(loader)
        >>> first, state = next(batches), loader.state_dict()
        >>> loader.load_state_dict(state)
        >>> all(torch.equal(a, b) for a, b in zip(batches, loader, strict=True))
        True
        """
        if self._resume is not None:
            return self._resume
        return self._progress.state_dict() if self._progress is not None else not_begun(self)

    def load_state_dict(self, state_dict):
        """Have the next pass, and that one alone, go on where `state_dict` was taken. ValueError for what is no such
        state."""
        if not NOT_BEGUN.keys() <= state_dict.keys():
            raise ValueError("this is no state of a DataLoader")
        self._resume = state_dict

    def __getstate__(self):
        return {**self.__dict__, "_progress": None}

    def check_worker_number_rationality(self):
        """Warn of more workers than there are processors."""
        if not self.num_workers:
            return
        counted = hasattr(os, "sched_getaffinity")
        most = len(os.sched_getaffinity(0)) if counted else os.cpu_count()
        if most is None:
            said = "DataLoader is not able to compute a suggested max number of worker in current system."
        elif self.num_workers > most:
            said = (f"Our suggested max number of worker in current system is {most}"
                    f"{'' if counted else ' (`cpuset` is not taken into account)'}, which is smaller than what this "
                    "DataLoader is going to create.")
        else:
            return
        warn(f"This DataLoader will create {self.num_workers} worker processes in total. {said} Please be "
             "aware that excessive worker creation might get DataLoader running slow or even freeze, lower "
             "the worker number to avoid potential slowness/freeze if necessary.")


def _simulates_workers(loader):
    """Whether the workers of a loader are simulated, which its docstring gives the cases of."""
    if sys.platform in ("emscripten", "wasi") or not hasattr(os, "fork") or not shared.available():
        return True
    if loader.worker_init_fn is None and rows_at_once(loader) is not None:
        return True
    import multiprocessing
    return multiprocessing.current_process().daemon


def _check_workers(num_workers, timeout, prefetch_factor, persistent_workers):
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError("prefetch_factor option could only be specified in multiprocessing."
                         "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None.")
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_stream(shuffle, sampler, batch_sampler, seed_by_index):
    options = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler,
               "seed_by_index": seed_by_index or None}
    for name, value in options.items():
        if value is not None:
            raise ValueError(f"DataLoader with IterableDataset: expected unspecified {name} option, but got "
                             f"{name}={value}")


def _checked_context(context, num_workers):
    """The context, of that name if it is a string."""
    if context is None:
        return None
    if not num_workers:
        raise ValueError("multiprocessing_context can only be used with multi-process loading (num_workers > 0), but "
                         f"got num_workers={num_workers}")
    import multiprocessing  # slow to import, and only needed for this check
    methods = multiprocessing.get_all_start_methods()
    if isinstance(context, str):
        if context not in methods:
            raise ValueError(f"multiprocessing_context option should specify a valid start method in {methods!r}, but "
                             f"got multiprocessing_context={context!r}")
        return multiprocessing.get_context(context)
    if not isinstance(context, multiprocessing.context.BaseContext):
        raise TypeError("multiprocessing_context option should be a valid context object or a string specifying the "
                        f"start method, but got multiprocessing_context={context}")
    return context


def __getattr__(name):
    if name != "_MultiProcessingDataLoaderIter":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .processes import _MultiProcessingDataLoaderIter
    return _MultiProcessingDataLoaderIter
