"""Fetches the sample of an index, or the samples of a list of indices, from a dataset, and collates them."""
import itertools

from .worker import IndexStreams

__all__ = ["_BaseDatasetFetcher", "_IndexSeededFetcher", "_IterableDatasetFetcher", "_MapDatasetFetcher"]


class _BaseDatasetFetcher:
    """Fetches samples. With `auto_collation` it gets lists of indices."""

    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        self.dataset = dataset
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.drop_last = drop_last

    def fetch(self, possibly_batched_index):
        raise NotImplementedError


class _IterableDatasetFetcher(_BaseDatasetFetcher):
    """The next samples of a stream; StopIteration at its end."""

    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self.dataset_iter = iter(dataset)
        self.ended = False
        self.taken = 0                         # samples so far

    def fetch(self, possibly_batched_index):
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            sample = next(self.dataset_iter)
            self.taken += 1
            return self.collate_fn(sample)
        wanted = len(possibly_batched_index)
        samples = list(itertools.islice(self.dataset_iter, wanted))
        self.taken += len(samples)
        self.ended = len(samples) < wanted
        if not samples or self.ended and self.drop_last:
            raise StopIteration
        return self.collate_fn(samples)


class _MapDatasetFetcher(_BaseDatasetFetcher):
    """Samples by index; the samples of a batch by `__getitems__` if the dataset has it."""

    def fetch(self, possibly_batched_index):
        if not self.auto_collation:
            return self.collate_fn(self.dataset[possibly_batched_index])
        many = getattr(self.dataset, "__getitems__", None)
        return self.collate_fn(many(possibly_batched_index) if many else
                               [self.dataset[i] for i in possibly_batched_index])


class _IndexSeededFetcher(_MapDatasetFetcher):
    """Samples by index, with a seed for each index: see `seed_by_index` of DataLoader."""

    def __init__(self, dataset, auto_collation, collate_fn, base_seed):
        super().__init__(dataset, auto_collation, collate_fn, drop_last=False)
        self.base_seed = base_seed

    def fetch(self, possibly_batched_index):
        with IndexStreams(self.base_seed) as streams:
            if not self.auto_collation:
                samples = self._sample(streams, possibly_batched_index)
            elif many := getattr(self.dataset, "__getitems__", None):
                streams.seed("samples", tuple(possibly_batched_index))
                samples = many(possibly_batched_index)
            else:
                samples = [self._sample(streams, index) for index in possibly_batched_index]
            streams.seed("batch", tuple(possibly_batched_index) if self.auto_collation else possibly_batched_index)
            return self.collate_fn(samples)

    def _sample(self, streams, index):
        streams.seed("sample", index)
        return self.dataset[index]
