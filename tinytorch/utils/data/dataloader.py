"""DataLoader: batches of the samples of a dataset, in PyTorch's order, with PyTorch's random numbers."""
import itertools
import warnings
from collections import deque
from typing import Generic, TypeVar

import numpy as np

from ... import dtypes as dt
from ...autograd.grad_mode import mode
from ...tensor import Tensor, wrap
from .collate import default_collate, default_collate_fn_map, default_convert
from .dataset import IterableDataset, Subset, TensorDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, draw_seed
from .worker import Worker, get_worker_info

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

_T_co = TypeVar("_T_co", covariant=True)
_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class _Endless(Sampler):
    """In place of indices for a stream, which needs none."""

    def __iter__(self):
        while True:
            yield None


class DataLoader(Generic[_T_co]):
    """Iterates over a dataset in batches; each `iter()` is one pass.

    Workers: there are no processes. With `num_workers` > 0 the loading is done in this process, but by simulated
    workers as PyTorch would have them: worker k has a (shallow) copy of the dataset, torch, random and numpy.random
    seeded from base_seed + k, its `get_worker_info()`, its call of `worker_init_fn`, and every num_workers-th batch;
    indices are drawn `prefetch_factor` batches ahead per worker. So the same random numbers are drawn in the same
    order. An error in a worker is raised as it is. `pin_memory`, `timeout` and `multiprocessing_context` change
    nothing beyond their checks.

    Batches of exactly a TensorDataset (or a Subset of one) with the default collation are indexed at once, which
    gives the same tensors. ValueError for options that exclude each other.

    >>> import tinytorch as torch
    >>> dataset = torch.utils.data.TensorDataset(torch.arange(5.))
    >>> [x for x, in torch.utils.data.DataLoader(dataset, batch_size=2)]
    [tensor([0., 1.]), tensor([2., 3.]), tensor([4.])]
    """

    _initialized = False

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0,
                 collate_fn=None, pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None,
                 multiprocessing_context=None, generator=None, *, prefetch_factor=None, persistent_workers=False,
                 pin_memory_device="", in_order=True):
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self._streams = isinstance(dataset, IterableDataset)
        if self._streams:
            _check_stream(shuffle, sampler, batch_sampler)
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
            if self._streams:
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
        self._stream_length = None           # what len() said of a stream
        self._iterator = None
        self._initialized = True

    @property
    def multiprocessing_context(self):
        return self._multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context):
        _check_context(context, self.num_workers)
        self._multiprocessing_context = context

    def __setattr__(self, name, value):
        if self._initialized and name in _FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def _index_sampler(self):
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def __iter__(self):
        if not self.num_workers:
            return _Pass(self)
        if not self.persistent_workers:
            return _WorkersPass(self)
        if self._iterator is None:
            self._iterator = _WorkersPass(self)
        else:
            self._iterator.restart()
        return self._iterator

    def __len__(self):
        if not self._streams:
            return len(self._index_sampler)
        length = self._stream_length = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)


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


def _check_stream(shuffle, sampler, batch_sampler):
    options = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
    for name, value in options.items():
        if value is not None:
            raise ValueError(f"DataLoader with IterableDataset: expected unspecified {name} option, but got "
                             f"{name}={value}")


def _check_context(context, num_workers):
    if context is None:
        return
    if not num_workers:
        raise ValueError("multiprocessing_context can only be used with multi-process loading (num_workers > 0), but "
                         f"got num_workers={num_workers}")
    import multiprocessing  # slow to import, and only needed for this check
    methods = multiprocessing.get_all_start_methods()
    if isinstance(context, str):
        if context not in methods:
            raise ValueError(f"multiprocessing_context option should specify a valid start method in {methods!r}, but "
                             f"got multiprocessing_context={context!r}")
    elif not isinstance(context, multiprocessing.context.BaseContext):
        raise TypeError("multiprocessing_context option should be a valid context object or a string specifying the "
                        f"start method, but got multiprocessing_context={context}")


# ------------------------------------------------------------------ fetching
_STACK = default_collate_fn_map[Tensor]


def _rows_at_once(loader):
    """function(list of indices) -> batch, or None if that must be fetched sample by sample.

    It indexes the tensors of a TensorDataset, or of a Subset of one: the function is there only if the classes
    are exactly these and the collation is the default one.
    """
    dataset, chosen = loader.dataset, None
    if type(dataset) is Subset:
        dataset, chosen = dataset.dataset, np.asarray(dataset.indices)
    if (type(dataset) is not TensorDataset or loader.batch_sampler is None or loader.collate_fn is not default_collate
            or default_collate_fn_map.get(Tensor) is not _STACK or any(type(t) is not Tensor for t in dataset.tensors)
            or chosen is not None and (chosen.dtype.kind != dt.SIGNED or chosen.ndim != 1)):
        return None

    def fetch(indices):
        rows = np.array(indices)
        if rows.dtype.kind != dt.SIGNED or rows.ndim != 1:
            return None
        if mode.grad and any(t._requires_grad for t in dataset.tensors):
            return None
        try:
            rows = rows if chosen is None else chosen[rows]
            return [wrap(tensor.array.take(rows, 0)) for tensor in dataset.tensors]
        except IndexError:                       # the sample by sample way names the culprit
            return None
    return fetch


class _Fetcher:
    """Gets the samples of an index, or of a list of indices, from a dataset and collates them."""

    def __init__(self, loader, dataset):
        self.dataset = dataset
        self.collate = loader.collate_fn
        self.batches = loader.batch_sampler is not None
        self.stream = iter(dataset) if loader._streams else None
        self.drop_last = loader.drop_last
        self.ended = False

    def fetch(self, index):
        if self.stream is not None:
            return self._from_stream(index)
        if not self.batches:
            return self.collate(self.dataset[index])
        many = getattr(self.dataset, "__getitems__", None)
        return self.collate(many(index) if many else [self.dataset[i] for i in index])

    def _from_stream(self, batch):
        """The next samples; StopIteration at the end."""
        if self.ended:
            raise StopIteration
        if not self.batches:
            return self.collate(next(self.stream))
        samples = list(itertools.islice(self.stream, len(batch)))
        self.ended = len(samples) < len(batch)
        if not samples or self.ended and self.drop_last:
            raise StopIteration
        return self.collate(samples)


class _Pass:
    """One pass over the data."""

    def __init__(self, loader):
        self._loader = loader
        self._indices = iter(loader._index_sampler)
        self._base_seed = draw_seed(loader.generator)
        self._rows = _rows_at_once(loader)
        self._yielded = 0
        self._start()

    def _start(self):
        if self._loader.timeout:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        self._fetcher = _Fetcher(self._loader, self._loader.dataset)

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._loader._index_sampler)

    def __next__(self):
        data = self._next()
        self._yielded += 1
        promised = self._loader._stream_length
        if promised is not None and self._yielded > promised:
            warnings.warn(f"Length of IterableDataset {self._loader.dataset} was reported to be {promised}(when "
                          f"accessing len(dataloader)), but {self._yielded} samples have been fetched. ", stacklevel=2)
        return data

    def _next(self):
        index = next(self._indices)
        batch = self._rows(index) if self._rows is not None else None
        return self._fetcher.fetch(index) if batch is None else batch


class _WorkersPass(_Pass):
    """One pass (or several, with persistent workers) by simulated workers, which take turns."""

    def _start(self):
        loader = self._loader
        self._workers = [Worker(k, loader.num_workers, self._base_seed, loader.dataset, loader.worker_init_fn)
                         for k in range(loader.num_workers)]
        self._dispatch_first()

    def restart(self):
        """The next pass of persistent workers: their random streams go on."""
        self._indices = iter(self._loader._index_sampler)
        self._yielded = 0
        self._dispatch_first()

    def _dispatch_first(self):
        self._fetchers = []
        for worker in self._workers:
            with worker:
                self._fetchers.append(_Fetcher(self._loader, worker.info.dataset))
        self._active = set(range(len(self._workers)))
        self._turn = 0
        self._tasks = deque()
        for _ in range(self._loader.prefetch_factor * len(self._workers)):
            self._dispatch()

    def _dispatch(self):
        """Give the next index to the next worker whose stream has not ended."""
        index = next(self._indices, _NONE_LEFT)
        if index is _NONE_LEFT or not self._active:
            return
        while self._turn not in self._active:
            self._turn = (self._turn + 1) % len(self._workers)
        self._tasks.append((self._turn, index))
        self._turn = (self._turn + 1) % len(self._workers)

    def _next(self):
        while self._tasks:
            k, index = self._tasks.popleft()
            if k not in self._active:
                continue
            batch = self._rows(index) if self._rows is not None else None
            try:
                if batch is None:
                    with self._workers[k]:
                        batch = self._fetchers[k].fetch(index)
            except StopIteration:
                self._active.remove(k)
            self._dispatch()
            if k in self._active:
                return batch
        raise StopIteration


_NONE_LEFT = object()
