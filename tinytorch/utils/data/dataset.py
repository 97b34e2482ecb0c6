"""Datasets: a map from indices to samples, or a stream of samples."""
import bisect
import itertools
import math
from collections.abc import Iterable
from typing import Generic, TypeVar

from ...errors import warn
from ...ops.random.factories import randperm
from ...random import default_generator

__all__ = ["ChainDataset", "ConcatDataset", "Dataset", "IterableDataset", "StackDataset", "Subset", "TensorDataset",
           "random_split"]

_T_co = TypeVar("_T_co", covariant=True)


class Dataset(Generic[_T_co]):
    """Base class of datasets with samples by index. Subclasses define `__getitem__`, and `__len__` for most samplers.

    `__getitems__(indices)`, if defined, returns the list of samples of a batch at once.

    >>> from tinytorch.utils.data import Dataset
    >>> class Squares(Dataset):
    ...     def __len__(self): return 3
    ...     def __getitem__(self, i): return i * i
    >>> [(Squares() + Squares())[i] for i in range(6)]
    [0, 1, 4, 0, 1, 4]
    """

    def __getitem__(self, index):
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other):
        return ConcatDataset([self, other])


class IterableDataset(Dataset[_T_co], Iterable[_T_co]):
    """Base class of datasets that are streams. Subclasses define `__iter__`."""

    def __add__(self, other):
        return ChainDataset([self, other])


class TensorDataset(Dataset):
    """Samples are tuples of the rows of tensors of one length. AssertionError if the lengths differ.

    >>> import tinytorch as torch
    >>> torch.utils.data.TensorDataset(torch.tensor([1., 2.]), torch.tensor([3, 4]))[1]
    (tensor(2.), tensor(4))
    """

    def __init__(self, *tensors):
        if any(tensor.size(0) != tensors[0].size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self):
        return self.tensors[0].size(0)


class StackDataset(Dataset):
    """Samples are tuples (or dicts, from keyword arguments) of the samples of several datasets of one length.

    ValueError if the lengths differ, for both kinds of arguments, and for none.

    >>> from tinytorch.utils.data import StackDataset
    >>> StackDataset([1, 2], [3, 4])[0], StackDataset(x=[1, 2], y=[3, 4])[0]
    ((1, 3), {'x': 1, 'y': 3})
    """

    def __init__(self, *args, **kwargs):
        if args and kwargs:
            raise ValueError("Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like "
                             "input/output, but both types are given.")
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets = args or kwargs
        members = self._members()
        self._length = len(members[0])
        if any(len(dataset) != self._length for dataset in members):
            raise ValueError("Size mismatch between datasets")

    def _members(self):
        return list(self.datasets.values()) if isinstance(self.datasets, dict) else list(self.datasets)

    def _sample(self, parts):
        return dict(zip(self.datasets, parts)) if isinstance(self.datasets, dict) else tuple(parts)

    def __getitem__(self, index):
        return self._sample([dataset[index] for dataset in self._members()])

    def __getitems__(self, indices):
        columns = []
        for dataset in self._members():
            column = _samples(dataset, indices)
            if len(column) != len(indices):
                raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(column)}")
            columns.append(column)
        return [self._sample(parts) for parts in zip(*columns)]

    def __len__(self):
        return self._length


def _samples(dataset, indices):
    """The list of samples at `indices`, by `__getitems__` if the dataset has it."""
    many = getattr(dataset, "__getitems__", None)
    return many(indices) if callable(many) else [dataset[i] for i in indices]


class ConcatDataset(Dataset[_T_co]):
    """Datasets one after the other. AssertionError for none, and for an IterableDataset."""

    def __init__(self, datasets):
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence):
        return list(itertools.accumulate(len(dataset) for dataset in sequence))

    def __len__(self):
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx):
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        member = bisect.bisect_right(self.cumulative_sizes, idx)
        return self.datasets[member][idx - self.cumulative_sizes[member - 1] if member else idx]

    @property
    def cummulative_sizes(self):
        """`cumulative_sizes`, under its former name."""
        warn("`cummulative_sizes` attribute is renamed to `cumulative_sizes`", FutureWarning)
        return self.cumulative_sizes


class ChainDataset(IterableDataset):
    """Streams one after the other. Its iteration raises AssertionError for a dataset that is not a stream."""

    def __init__(self, datasets):
        self.datasets = datasets

    def _streams(self):
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield dataset

    def __iter__(self):
        for dataset in self._streams():
            yield from dataset

    def __len__(self):
        return sum(len(dataset) for dataset in self._streams())


class Subset(Dataset[_T_co]):
    """The samples of a dataset at given indices.

    NotImplementedError if a subclass redefines `__getitem__` but not `__getitems__`, which a DataLoader uses.

    >>> from tinytorch.utils.data import Subset
    >>> list(Subset("abcd", [2, 0]))
    ['c', 'a']
    """

    def __init__(self, dataset, indices):
        self.dataset = dataset
        self.indices = indices
        cls = type(self)
        if cls.__getitem__ is not Subset.__getitem__ and cls.__getitems__ is Subset.__getitems__:
            raise NotImplementedError(
                f"{cls.__name__} overrides __getitem__ but not __getitems__. When subclassing Subset and overriding "
                "__getitem__, you must also override __getitems__ to ensure DataLoader works correctly with your "
                "custom logic. A simple implementation:\n\ndef __getitems__(self, indices):\n"
                "    return [self.__getitem__(idx) for idx in indices]")

    def __getitem__(self, idx):
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices):
        return _samples(self.dataset, [self.indices[i] for i in indices])

    def __len__(self):
        return len(self.indices)


def random_split(dataset, lengths, generator=default_generator):
    """Subsets of a dataset, of the given lengths or fractions, without common samples.

    Lengths from fractions are rounded down, and the remaining samples go to the first subsets, one each.
    ValueError if the lengths do not sum to the length of the dataset.

    >>> import tinytorch as torch
    >>> [len(part) for part in torch.utils.data.random_split(range(10), [0.5, 0.25, 0.25])]
    [6, 2, 2]
    """
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _lengths_of_fractions(lengths, len(dataset))
    if sum(lengths) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    indices = randperm(sum(lengths), generator=generator).tolist()
    return [Subset(dataset, indices[end - length:end]) for end, length in zip(itertools.accumulate(lengths), lengths)]


def _lengths_of_fractions(fractions, total):
    for i, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
    lengths = [math.floor(total * fraction) for fraction in fractions]
    for i in range(total - sum(lengths)):
        lengths[i % len(lengths)] += 1
    for i, length in enumerate(lengths):
        if length == 0:
            warn(f"Length of split at index {i} is 0. This might result in an empty dataset.")
    return lengths
