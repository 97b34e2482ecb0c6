"""A pass over a dataset in this process: without workers, or with simulated workers."""
import contextlib
import functools
from collections import deque

import numpy as np

from ... import dtypes as dt
from ...autograd.grad_mode import mode
from ...errors import warn
from ...tensor import Tensor, wrap
from ._utils.collate import default_collate, default_collate_fn_map
from ._utils.fetch import _IndexSeededFetcher, _IterableDatasetFetcher, _MapDatasetFetcher
from ._utils.worker import Worker
from .dataset import Subset, TensorDataset
from .progress import Indices, Progress, advance, restore_dataset
from .sampler import draw_seed

__all__ = ["rows_at_once"]


class _DatasetKind:
    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(kind, dataset, auto_collation, collate_fn, drop_last):
        """The fetcher for a dataset of this kind."""
        fetcher = _MapDatasetFetcher if kind == _DatasetKind.Map else _IterableDatasetFetcher
        return fetcher(dataset, auto_collation, collate_fn, drop_last)


_STACK = default_collate_fn_map[Tensor]


def rows_at_once(loader):
    """A function of a list of indices that returns their batch, or None if samples must be fetched one by one.

    The function indexes the tensors of a TensorDataset, or of a Subset of one. There is a function only for exactly
    these classes, not subclasses, and the default collation.
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
        if mode.grad_now and any(t._requires_grad for t in dataset.tensors):
            return None
        try:
            rows = rows if chosen is None else chosen[rows]
            return [wrap(tensor._array.take(rows, 0)) for tensor in dataset.tensors]
        except IndexError:                       # fetching one by one raises the error of the wrong index
            return None
    return fetch


class _BaseDataLoaderIter:
    """One pass over the data. `resume`: the state (see DataLoader.state_dict) of the pass to continue, or None."""

    def __init__(self, loader, resume=None):
        self._dataset = loader.dataset
        self._dataset_kind = loader._dataset_kind
        self._num_workers = loader.num_workers
        self._persistent_workers = loader.persistent_workers
        self._index_sampler = loader._index_sampler
        self._auto_collation, self._drop_last = loader._auto_collation, loader.drop_last
        self._collate_fn = loader.collate_fn
        self._pin_memory = False               # there is no device to pin memory for
        self._timeout = loader.timeout
        if loader.pin_memory and loader.pin_memory_device:
            warn("pin_memory_device is deprecated, the current accelerator will be used as the device,"
                 f"ignore pin_memory_device='{loader.pin_memory_device}'.")
        if loader.pin_memory:
            warn("'pin_memory' argument is set as true but no accelerator is found, then device pinned memory "
                 "won't be used.")
        self._make_fetcher = functools.partial(
            _DatasetKind.create_fetcher, self._dataset_kind, auto_collation=self._auto_collation,
            collate_fn=self._collate_fn, drop_last=self._drop_last)
        self._length = loader._IterableDataset_len_called
        self._seed_by_index = loader.seed_by_index
        self._begin_pass(loader, resume)

    def _begin_pass(self, loader, resume):
        going_on = resume is not None and not resume["_iterator_finished"]     # a pass that ended is not continued
        self._progress = progress = Progress(loader)
        self._sampler_iter = progress.indices = Indices(self._index_sampler, resume if going_on else None)
        if resume is not None:
            progress.resume(resume, self._persistent_workers)
            had_workers = self._persistent_workers and not self._seed_by_index and resume["_iterator_finished"]
            progress.restarted = resume["_restarted"] if going_on else had_workers
        if progress.restarted:
            self._base_seed = resume["_base_seed"]
        else:
            self._base_seed = draw_seed(loader.generator)
        progress.base_seed = self._base_seed
        self._sampler_iter.catch_up()
        if self._seed_by_index:
            self._make_fetcher = functools.partial(_IndexSeededFetcher, auto_collation=self._auto_collation,
                                                   collate_fn=self._collate_fn, base_seed=self._base_seed)

    def _reset(self, loader):
        """Begins the next pass of persistent workers. Their random streams continue."""
        self._progress.restart(loader)
        self._sampler_iter = self._progress.indices = Indices(self._index_sampler)
        self._length = loader._IterableDataset_len_called
        if self._seed_by_index:
            self._base_seed = self._progress.base_seed = draw_seed(loader.generator)
            self._progress.restarted = False
            self._make_fetcher.keywords["base_seed"] = self._base_seed

    def _make_again(self, steps):
        """Makes the batches again that were yielded after the state, including batches that failed."""
        if not steps:
            return
        last = self._progress.given + steps
        while self._progress.given < last:
            with contextlib.suppress(Exception):
                next(self)

    def __iter__(self):
        return self

    def _next_index(self):
        return next(self._sampler_iter)

    def __len__(self):
        return len(self._index_sampler)

    def __getstate__(self):
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)

    @property
    def _num_yielded(self):
        return self._progress.yielded

    def _next_data(self):
        """The next batch. StopIteration if there is none."""
        raise NotImplementedError

    def __next__(self):
        try:
            data = self._next_data()
        except StopIteration:
            self._progress.finished = True
            raise
        self._progress.yielded += 1
        if self._length is not None and self._progress.yielded > self._length:
            said = (f"Length of IterableDataset {self._dataset} was reported to be {self._length}(when accessing "
                    f"len(dataloader)), but {self._progress.yielded} samples have been fetched. ")
            if self._num_workers:
                said += ("For multiprocessing data-loading, this could be caused by not properly configuring the "
                         "IterableDataset replica at each worker. Please see "
                         "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples.")
            warn(said)
        return data


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """A pass without workers."""

    def __init__(self, loader, resume=None):
        super().__init__(loader, resume)
        if self._timeout:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        if self._num_workers:
            raise AssertionError("_SingleProcessDataLoaderIter requires num_workers == 0")
        self._progress.given = None            # all indices that were drawn
        self._rows = rows_at_once(loader)
        self._dataset_fetcher = _restored_fetcher(self, self._dataset, 0)

    def _next_data(self):
        index = self._next_index()
        if self._sampler_iter.stateful:
            self._progress.sampler = self._sampler_iter.state
        batch = self._rows(index) if self._rows is not None else None
        if batch is None:
            batch = self._dataset_fetcher.fetch(index)
        return batch


def _restored_fetcher(iterator, dataset, worker):
    """A new fetcher at the position of the pass to continue, whose state the progress reads."""
    fetchers = iterator._progress.fetchers
    state = fetchers.get(worker)
    restore_dataset(dataset, state)
    fetcher = fetchers[worker] = iterator._make_fetcher(dataset)
    advance(fetcher, state)
    return fetcher


class _SimulatedWorkersIter(_BaseDataLoaderIter):
    """A pass (or several passes, with persistent workers) by simulated workers, which take turns."""

    def __init__(self, loader, resume=None):
        super().__init__(loader, resume)
        if loader.prefetch_factor <= 0:
            raise AssertionError("prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter")
        self._rows = rows_at_once(loader)
        self._prefetch_factor = loader.prefetch_factor
        self._workers = [Worker(k, loader.num_workers, self._base_seed, loader.dataset, loader.worker_init_fn)
                         for k in range(loader.num_workers)]
        states = dict(self._progress.fetchers)
        self._progress.streams = dict(enumerate(self._workers))
        self._dispatch_first()
        for k, state in states.items():
            self._workers[k].go_on(state["random_streams"])

    def _reset(self, loader):
        super()._reset(loader)
        self._dispatch_first()

    def _dispatch_first(self):
        self._fetchers = []
        for k, worker in enumerate(self._workers):
            with worker:
                self._fetchers.append(_restored_fetcher(self, worker.info.dataset, k))
        self._active = set(range(len(self._workers)))
        self._turn = turn_after(self._progress.worker, self._num_workers)
        self._tasks: deque[tuple] = deque()
        for _ in range(self._prefetch_factor * len(self._workers)):
            self._dispatch()

    def _dispatch(self):
        """Passes the next index to the next worker whose stream has not ended."""
        index = next(self._sampler_iter, _NONE_LEFT)
        if index is _NONE_LEFT or not self._active:
            return
        while self._turn not in self._active:
            self._turn = (self._turn + 1) % len(self._workers)
        self._tasks.append((self._turn, index, self._sampler_iter.state))
        self._turn = (self._turn + 1) % len(self._workers)

    def _next_data(self):
        while self._tasks:
            k, index, sampler_state = self._tasks.popleft()
            if k not in self._active:
                continue
            batch = self._rows(index) if self._rows is not None else None
            self._progress.give(sampler_state)
            try:
                if batch is None:
                    with self._workers[k]:
                        batch = self._fetchers[k].fetch(index)
            except StopIteration:
                if self._dataset_kind == _DatasetKind.Map:
                    raise
                self._active.remove(k)
            self._dispatch()
            if k in self._active:
                self._progress.worker = k
                return batch
        raise StopIteration


def turn_after(worker, count):
    """The worker whose turn comes after this worker's; the first worker after None."""
    return 0 if worker is None else (worker + 1) % count


_NONE_LEFT = object()
