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
    _BaseDataLoaderIter as _BaseDataLoaderIter,  # libraries import it from here
    _DatasetKind,
    _SimulatedWorkersIter,
    _SingleProcessDataLoaderIter,
    rows_at_once,
)
from .progress import NOT_BEGUN, check_fits, not_begun, resumed, settle
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

_T_co = TypeVar("_T_co", covariant=True)
_collate_fn_t = Callable[[list[_T_co]], Any]   # libraries name it in annotations
_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class _Endless(Sampler):
    """The sampler for a stream, which needs no indices."""

    def __iter__(self):
        while True:
            yield None


class DataLoader(Generic[_T_co]):
    """Iterates over a dataset in batches; each `iter()` is one pass.

    With `num_workers` > 0 there are worker processes, started by `multiprocessing_context` (a context or the name of a
    start method; default: Python's). Worker k has its own copy of the dataset, one thread, and torch, random and
    numpy.random seeded from base_seed + k. It has its own `get_worker_info()`, calls `worker_init_fn`, and makes every
    num_workers-th batch, up to `prefetch_factor` batches ahead. Batches come through shared memory. With
    `in_order=False` they come in the order in which they are ready. `timeout`: seconds to wait for a batch.
    `pin_memory` warns that there is no device to pin memory for.

    In two cases the workers are simulated in this process, one after the other, with the same batches and random
    numbers. The first is where processes are not possible: in a worker or another daemonic process, and on systems
    without fork and shared memory. The second is a TensorDataset, or a Subset of one (not a subclass), with the default
    collation and no `worker_init_fn`: indexing a batch at once takes less time than sending it.

    With `seed_by_index=True` torch, random and numpy.random are seeded before each sample, from the seed of the pass
    and the sample's index, and before each collation, from the indices of the batch. So a sample is the same for any
    number of workers, any batch size and any order, and in a pass that continues from a state. (In threads other than
    the main thread, this process seeds only torch's generator by index.) The indices are integers, strings, or tuples
    of these; a dataset with `__getitems__` is seeded once for a batch. ValueError for an IterableDataset, which has no
    indices.

    `snapshot_every_n_steps`: see `state_dict`.

    An exception in a worker process is raised here with its original traceback. RuntimeError if a worker process ends
    by itself, or is too slow for `timeout`; ValueError for options that exclude each other.

    >>> import tinytorch as torch
    >>> dataset = torch.utils.data.TensorDataset(torch.arange(5.))
    >>> [x for x, in torch.utils.data.DataLoader(dataset, batch_size=2)]
    [tensor([0., 1.]), tensor([2., 3.]), tensor([4.])]
    """

    __initialized = False
    _progress = None                           # the progress of the latest pass
    _resume = None                             # the state that the next pass continues
    seed_by_index, snapshot_every_n_steps = False, None          # for a loader from one of torch's files

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
        _check_batches(batch_size, shuffle, sampler, batch_sampler, drop_last)
        if batch_sampler is not None:
            batch_size = None
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
        self._IterableDataset_len_called = None          # the length of a stream, once len() has returned it
        self._iterator = None                # the iterator of persistent workers
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
        """An iterator over the rest of the pass of a state, or over a new pass if that pass has ended."""
        check_fits(self, state)
        if state["_iterator_finished"] or not state["_generators_at_start"]:
            settle(self, state)
            return self._get_iterator(state)
        with resumed(self, state):
            iterator = self._get_iterator(state)
            iterator._make_again(state["_steps_since_snapshot"])
        if self._dataset_kind or iterator._sampler_iter.drawn == state["_indices_drawn"]:
            settle(self, state)                # otherwise it draws ahead by another number of batches
        return iterator

    def _get_iterator(self, state=None):
        """An iterator over a new pass, or over the rest of the pass of a state."""
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

    # -------------------------------------------------------------- state
    def state_dict(self):
        """The position of the latest pass. The next pass of an equal DataLoader that loads this state continues there.

        Batches that were yielded count, not those that workers have made ahead. Samplers and streams (IterableDataset)
        without a state are run again up to their position, with the same random numbers. For samplers, streams,
        datasets and their iterators that have `state_dict` and `load_state_dict`, also in workers, the state is used
        instead. Generators that were passed to the loader or to a sampler continue too. The default generator, and
        those of Python and NumPy, belong to the program, which has to save them, as it saves the weights.

        The numbers that a dataset draws in worker processes stay the same with `seed_by_index=True`, and with
        `snapshot_every_n_steps=n`: workers then send the states of their random streams, about 10 KB, with the batches
        around each n-th batch (with every batch of a stream, and with `in_order=False`). A pass that continues makes up
        to n - 1 batches again without yielding them.

        The next pass raises ValueError for a loader with other generators, and for a stream (or a dataset with a state)
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
        """Makes the next pass, and only this pass, continue from the position of a state. ValueError for an object that
        is not a state."""
        if not NOT_BEGUN.keys() <= state_dict.keys():
            raise ValueError("this is not a state of a DataLoader")
        self._resume = state_dict

    def __getstate__(self):
        return {**self.__dict__, "_progress": None}

    def check_worker_number_rationality(self):
        """Warns if there are more workers than processors."""
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
    """Whether the workers of a loader are simulated: see DataLoader."""
    if sys.platform in ("emscripten", "wasi") or not hasattr(os, "fork") or not shared.available():
        return True
    if loader.worker_init_fn is None and rows_at_once(loader) is not None:
        return True
    import multiprocessing
    return multiprocessing.current_process().daemon


def _check_batches(batch_size, shuffle, sampler, batch_sampler, drop_last):
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
    if batch_sampler is None and batch_size is None and drop_last:
        raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")


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
    """The context itself, or the context with this name."""
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
