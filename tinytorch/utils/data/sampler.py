"""Samplers: the order in which a DataLoader reads samples. They draw the same random numbers as PyTorch's samplers."""
import itertools
import operator
from typing import Any, Generic, TypeVar

from ... import dtypes as dt
from ...ops.creation.factories import as_tensor
from ...ops.random.factories import multinomial, randint, randperm
from ...random import Generator, stream_of

__all__ = ["BatchSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler",
           "WeightedRandomSampler"]     # other files of this folder also use Resumable

_T_co = TypeVar("_T_co", covariant=True)


def draw_seed(generator=None):
    """A seed for another generator: 63 random bits."""
    stream = stream_of(generator)
    with stream.lock:
        return int(stream.double_words(1)[0]) & ((1 << 63) - 1)


class Sampler(Generic[_T_co]):
    """Base class of samplers. Subclasses define `__iter__`, which yields indices or lists of indices, and usually
    `__len__`."""

    def __iter__(self):
        raise NotImplementedError


class Resumable(Sampler[_T_co]):
    """A sampler whose latest pass has a state, from which a later pass can continue.

    A pass is drawn in lists, number 0, 1 ..., each after the lists before it are used up. A pass keeps its list and an
    iterator over it, which knows its position, so counting costs nothing unless the state is read.
    """

    _place = None                              # (generator, number of the list, list, its iterator) of the latest pass
    _loaded = None                             # the state from which the next pass continues
    _drawn_again = False                       # whether a list drawn again is the same

    def _begin(self):
        """The random generator for a new pass."""
        return getattr(self, "generator", None)

    def _draw(self, generator, number):
        """List `number` of a pass; None after the last list."""
        raise NotImplementedError

    def __iter__(self):
        loaded, self._loaded = self._loaded, None
        return itertools.chain.from_iterable(self._lists(loaded))

    def _lists(self, loaded):
        """Iterators over the lists of a new pass, or over the rest of the pass of a state."""
        number, skipped, order = 0, 0, None
        if loaded is None or not loaded["begun"]:
            generator = self._begin()
        else:
            number, skipped, generator = loaded["number"], loaded["yielded"], getattr(self, "generator", None)
            if loaded["order"] is not None:
                order, skipped = loaded["order"].tolist(), 0
            if generator is None and loaded["generator"] is not None:
                generator = Generator().set_state(loaded["generator"])
        while order is not None or (order := self._draw(generator, number)) is not None:
            indices = iter(order[skipped:])
            self._place = generator, number, order, indices
            yield indices
            number, skipped, order = number + 1, 0, None
        self._place = None

    def state_dict(self):
        """The position of the latest pass: the indices that it has drawn and not yielded, and the state of the
        generator.

        The next pass over an equal sampler that loads this state continues there. After a pass that has ended, and
        before the first pass, the state stands for a new pass. A DataLoader draws from its sampler ahead of the batches
        that it yields; its own `state_dict` counts the batches that it has yielded.

        >>> from tinytorch.utils.data import RandomSampler
        >>> sampler, again = RandomSampler(range(9)), RandomSampler(range(9))
        >>> indices = iter(sampler)
        >>> first = [next(indices) for _ in range(4)]
        >>> again.load_state_dict(sampler.state_dict())
        >>> list(again) == list(indices)
        True
        """
        if self._loaded is not None:
            return self._loaded
        _check_own(self)
        state = dict(_NO_PLACE)
        generator = getattr(self, "generator", None)
        if self._place is not None:
            generator, number, order, indices = self._place
            left = operator.length_hint(indices)
            state.update(begun=True, number=number, yielded=len(order) - left)
            if not self._drawn_again:
                state["order"] = as_tensor(order[len(order) - left:], dtype=dt.int64)
        if generator is not None:
            state["generator"] = generator.get_state()
        return state

    def load_state_dict(self, state_dict):
        """Makes the next pass, and only this pass, continue from the position of a state. KeyError for an object that
        is not a state."""
        _check_own(self)
        self._loaded = {name: state_dict[name] for name in _NO_PLACE}
        generator = getattr(self, "generator", None)
        if generator is not None and self._loaded["generator"] is not None:
            generator.set_state(self._loaded["generator"])

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name != "_place"}


#: The state of a sampler before its first pass.
_NO_PLACE = {"begun": False, "number": 0, "yielded": 0, "order": None, "generator": None}


class SequentialSampler(Resumable[int]):
    """0, 1, 2 ... to the length of `data_source`."""

    _drawn_again = True

    def __init__(self, data_source):
        self.data_source = data_source

    def _draw(self, generator, number):
        return None if number else range(len(self.data_source))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Resumable[int]):
    """The indices of `data_source` in random order, or `num_samples` of them. With `replacement` each index is drawn
    from all indices.

    Without a `generator`, each pass has its own generator, seeded from the default generator. TypeError and ValueError
    for invalid arguments.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> list(torch.utils.data.RandomSampler(range(4)))
    [2, 3, 0, 1]
    """

    _CHUNK = 32                          # indices drawn at a time with replacement

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={self.num_samples}")

    @property
    def num_samples(self):
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def _begin(self):
        return Generator().manual_seed(draw_seed()) if self.generator is None else self.generator

    def _draw(self, generator, number):
        n, count = len(self.data_source), self.num_samples
        size = self._CHUNK if self.replacement else n
        if number > count // size:
            return None
        wanted = min(size, count - number * size)
        if self.replacement:
            return randint(n, (wanted,), generator=generator).tolist()
        return randperm(n, generator=generator).tolist()[:wanted]      # PyTorch draws it even if no element is used

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Resumable[int]):
    """Given indices in random order."""

    def __init__(self, indices, generator=None):
        self.indices = indices
        self.generator = generator

    def __iter__(self):
        return map(self.indices.__getitem__, super().__iter__())

    def _draw(self, generator, number):
        return None if number else randperm(len(self.indices), generator=generator).tolist()

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Resumable[int]):
    """`num_samples` indices, each with a probability in proportion to its weight. ValueError for invalid arguments.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> list(torch.utils.data.WeightedRandomSampler([0., 1., 1.], 4))
    [2, 2, 1, 2]
    """

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = as_tensor(weights, dtype=dt.float64)
        if self.weights.ndim != 1:
            raise ValueError(f"weights should be a 1d sequence but given weights have shape "
                             f"{tuple(self.weights.shape)}")
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def _draw(self, generator, number):
        if number:
            return None
        return multinomial(self.weights, self.num_samples, self.replacement, generator=generator).tolist()

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler[list]):
    """Lists of `batch_size` indices of another sampler; the last may be shorter, or is left out (`drop_last`).

    >>> from tinytorch.utils.data import BatchSampler, SequentialSampler
    >>> list(BatchSampler(SequentialSampler(range(5)), 2, False))
    [[0, 1], [2, 3], [4]]
    """

    #: The latest pass: the number of full batches, the iterator of the indices, and whether the last, shorter batch has
    #: been yielded.
    _given = _indices = _ended = None
    _loaded = None                             # the state that the next pass goes on from

    def __init__(self, sampler, batch_size, drop_last):
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self):
        loaded, self._loaded = self._loaded, None
        return self._batches(loaded)

    def _batches(self, loaded):
        if loaded is not None and loaded["ended"]:
            return
        self._given, indices = 0, iter(self.sampler)
        if loaded is not None:
            self._given = loaded["samples_yielded"] // self.batch_size
            if loaded["sampler_iter_state"] is not None:
                indices.load_state_dict(loaded["sampler_iter_state"])
            elif loaded["sampler_state"] is None:
                next(itertools.islice(indices, loaded["samples_yielded"], loaded["samples_yielded"]), None)
        self._indices, given = indices, self._given
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) < self.batch_size:
                if not self.drop_last:
                    self._ended = True
                    yield batch
                break
            self._given = given = given + 1
            yield batch
        self._given = self._indices = self._ended = None

    def state_dict(self):
        """The position of the latest pass: the number of indices in its batches, and the states of the sampler and of
        the sampler's iterator, or None if they have no state. Without both states, the pass that continues skips the
        indices.

        >>> from tinytorch.utils.data import BatchSampler, SequentialSampler
        >>> sampler = BatchSampler(SequentialSampler(range(5)), 2, False)
        >>> next(iter(sampler))
        [0, 1]
        >>> sampler.load_state_dict(sampler.state_dict())
        >>> list(sampler)
        [[2, 3], [4]]
        """
        if self._loaded is not None:
            return self._loaded
        _check_own(self)
        owners: tuple[Any, Any] = (self._indices, self.sampler)
        iterator, sampler = [owner.state_dict() if stateful(owner) else None for owner in owners]
        return {"samples_yielded": (self._given or 0) * self.batch_size, "sampler_state": sampler,
                "sampler_iter_state": iterator, "ended": bool(self._ended)}

    def load_state_dict(self, state_dict):
        """Makes the next pass, and only this pass, continue from the position of a state. KeyError for an object that
        is not a state."""
        _check_own(self)
        names = "samples_yielded", "sampler_state", "sampler_iter_state", "ended"
        loaded = {name: state_dict[name] for name in names}
        if loaded["sampler_state"] is not None:
            self.sampler.load_state_dict(loaded["sampler_state"])
        self._loaded = loaded

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name not in ("_given", "_indices", "_ended")}

    def __len__(self):
        count = len(self.sampler)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


def _check_own(sampler):
    """NotImplementedError for a sampler whose states do not belong to its passes."""
    if not _ours(sampler, "__iter__"):
        raise NotImplementedError(f"{type(sampler).__name__} defines __iter__ and no state_dict that fits it")


def stateful(owner):
    """Whether an object has a state that `state_dict` returns."""
    if not (hasattr(owner, "state_dict") and hasattr(owner, "load_state_dict")):
        return False
    return not has_own_state(owner) or _ours(owner, "__iter__")


def has_own_state(sampler):
    """Whether the state of a sampler is that of a sampler of this library, which can be run again instead."""
    return isinstance(sampler, (Resumable, BatchSampler)) and _ours(sampler, "state_dict")


def _ours(owner, method):
    return getattr(getattr(type(owner), method), "__module__", "").startswith(__package__)
