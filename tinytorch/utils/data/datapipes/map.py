"""torch.utils.data.datapipes.map: pipes with items by key."""
from __future__ import annotations

import copy
import random

from .... import dtypes as dt
from ....ops.creation.factories import empty
from .datapipe import DataChunk, IterDataPipe, MapDataPipe, functional_datapipe

__all__ = ["Batcher", "Concater", "Mapper", "SequenceWrapper", "Shuffler", "Zipper"]


class SequenceWrapper(MapDataPipe):
    """A list or dict as a pipe. It is copied unless deepcopy=False."""

    def __init__(self, sequence, deepcopy=True):
        self.sequence = copy.deepcopy(sequence) if deepcopy else sequence

    def __getitem__(self, index):
        return self.sequence[index]

    def __len__(self):
        return len(self.sequence)


@functional_datapipe("map")
class Mapper(MapDataPipe):
    """fn(item) for each item."""

    def __init__(self, datapipe, fn):
        self.datapipe, self.fn = datapipe, fn

    def __len__(self):
        return len(self.datapipe)

    def __getitem__(self, index):
        return self.fn(self.datapipe[index])


@functional_datapipe("batch")
class Batcher(MapDataPipe):
    """Lists of `batch_size` items. With drop_last a shorter last list is left out."""

    def __init__(self, datapipe, batch_size, drop_last=False, wrapper_class=DataChunk):
        assert batch_size > 0, "Batch size is required to be larger than 0!"
        self.datapipe, self.batch_size, self.drop_last = datapipe, batch_size, drop_last
        self.wrapper_class = wrapper_class

    def __getitem__(self, index):
        begin = index * self.batch_size
        places = range(begin, min(begin + self.batch_size, len(self.datapipe)))
        if not places or self.drop_last and len(places) < self.batch_size:
            raise IndexError(f"Index {index} is out of bound.")
        return self.wrapper_class([self.datapipe[i] for i in places])

    def __len__(self):
        whole, rest = divmod(len(self.datapipe), self.batch_size)
        return whole + bool(rest and not self.drop_last)


@functional_datapipe("concat")
class Concater(MapDataPipe):
    """The items of several pipes, one pipe after the other."""

    def __init__(self, *datapipes):
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        if not all([isinstance(dp, MapDataPipe) for dp in datapipes]):
            raise TypeError("Expected all inputs to be `MapDataPipe`")
        self.datapipes = datapipes

    def __getitem__(self, index):
        offset = 0
        for dp in self.datapipes:
            if index - offset < len(dp):
                return dp[index - offset]
            offset += len(dp)
        raise IndexError(f"Index {index} is out of range.")

    def __len__(self):
        return sum([len(dp) for dp in self.datapipes])


@functional_datapipe("zip")
class Zipper(MapDataPipe):
    """Tuples of the items of several pipes at the same index, as many as the shortest pipe has."""

    def __init__(self, *datapipes):
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        if not all([isinstance(dp, MapDataPipe) for dp in datapipes]):
            raise TypeError("Expected all inputs to be `MapDataPipe`")
        self.datapipes = datapipes

    def __getitem__(self, index):
        return tuple([dp[index] for dp in self.datapipes])

    def __len__(self):
        return min([len(dp) for dp in self.datapipes])


class Shuffler(IterDataPipe):
    """All items in random order. `indices`: their keys, if these are not numbers from 0 on."""

    def __init__(self, datapipe, *, indices=None):
        self.datapipe, self.indices = datapipe, list(range(len(datapipe)) if indices is None else indices)
        self._enabled, self._seed, self._rng, self._shuffled_indices = True, None, random.Random(), self.indices

    def set_shuffle(self, shuffle=True):
        """Switches shuffling on or off."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed):
        """Sets the seed of the next iteration."""
        self._seed = seed
        return self

    def __iter__(self):
        if not self._enabled:
            for index in self.indices:
                yield self.datapipe[index]
            return
        while self._shuffled_indices:
            yield self.datapipe[self._shuffled_indices.pop()]

    def reset(self):
        """Draws a new order."""
        if self._enabled:
            self._rng.seed(drawn_seed() if self._seed is None else self._seed)
            self._seed = None
            self._shuffled_indices = self._rng.sample(self.indices, len(self.indices))

    def __len__(self):
        return len(self.datapipe)


MapDataPipe.register_datapipe_as_function("shuffle", Shuffler)


def drawn_seed():
    """A seed from torch's random stream."""
    return int(empty((), dtype=dt.int64).random_().item())
