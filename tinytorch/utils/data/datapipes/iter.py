"""torch.utils.data.datapipes.iter: pipes that are read in order."""
from __future__ import annotations

import copy
import fnmatch
import os
import random
import warnings
from collections import defaultdict, deque
from typing import Any

from ...._refused import refused_class
from .._utils.collate import default_collate
from ..sampler import SequentialSampler
from .datapipe import DataChunk, IterDataPipe, functional_datapipe
from .map import drawn_seed

__all__ = ["Batcher", "Collator", "Concater", "Demultiplexer", "FileLister", "FileOpener", "Filter", "Forker",
           "Grouper", "IterableWrapper", "Mapper", "Multiplexer", "RoutedDecoder", "Sampler", "ShardingFilter",
           "Shuffler", "StreamReader", "UnBatcher", "Zipper"]

RoutedDecoder = refused_class(__name__, "RoutedDecoder", "files are not decoded by their names; map a function",
                              (IterDataPipe,))


class IterableWrapper(IterDataPipe):
    """An iterable as a pipe. It is copied for each iteration unless deepcopy=False."""

    def __init__(self, iterable, deepcopy=True):
        self.iterable, self.deepcopy = iterable, deepcopy

    def __iter__(self):
        source = self.iterable
        if self.deepcopy:
            try:
                source = copy.deepcopy(self.iterable)
            except TypeError:
                warnings.warn("The input iterable can not be deepcopied, please be aware of in-place modification "
                              "would affect source data.", stacklevel=2)
        yield from source

    def __len__(self):
        return len(self.iterable)


# ------------------------------------------------------------------ each item
@functional_datapipe("map")
class Mapper(IterDataPipe):
    """fn(item) for each item. With `input_col`, an index or several, fn gets these parts of the item, and its result
    replaces the part at `output_col` (default: the input's; -1: appended)."""

    def __init__(self, datapipe, fn, input_col=None, output_col=None):
        if input_col is None and output_col is not None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        if isinstance(output_col, (list, tuple)):
            if len(output_col) > 1:
                raise ValueError("`output_col` must be a single-element list or tuple")
            output_col = output_col[0]
        self.datapipe, self.fn, self.input_col, self.output_col = datapipe, fn, input_col, output_col

    def _applied(self, data):
        if self.input_col is None:
            return self.fn(data)
        several = isinstance(self.input_col, (list, tuple))
        result = self.fn(*[data[c] for c in self.input_col]) if several else self.fn(data[self.input_col])
        is_tuple = isinstance(data, tuple)
        data = list(data) if is_tuple else copy.copy(data)
        if self.output_col is None:
            data[self.input_col[0] if several else self.input_col] = result
            if several:
                for place in sorted(self.input_col[1:], reverse=True):
                    del data[place]
        elif self.output_col == -1:
            data.append(result)
        else:
            data[self.output_col] = result
        return tuple(data) if is_tuple else data

    def __iter__(self):
        for data in self.datapipe:
            yield self._applied(data)

    def __len__(self):
        return _length(self, self.datapipe)


def _length(pipe, *sources):
    """The sum of the lengths of the sources. TypeError if a source has no length."""
    try:
        return sum([len(source) for source in sources])
    except TypeError:
        raise TypeError(f"{type(pipe).__name__} instance doesn't have valid length") from None


@functional_datapipe("collate")
class Collator(Mapper):
    """Each item, a batch, collated to tensors."""

    def __init__(self, datapipe, conversion=default_collate, collate_fn=None):
        super().__init__(datapipe, fn=conversion if collate_fn is None else collate_fn)


@functional_datapipe("filter")
class Filter(IterDataPipe):
    """The items for which filter_fn is true. With `input_col`, it gets the part at this index."""

    def __init__(self, datapipe, filter_fn, input_col=None):
        self.datapipe, self.filter_fn, self.input_col = datapipe, filter_fn, input_col

    def _kept(self, data):
        if self.input_col is None:
            kept = self.filter_fn(data)
        elif isinstance(self.input_col, (list, tuple)):
            kept = self.filter_fn(*[data[c] for c in self.input_col])
        else:
            kept = self.filter_fn(data[self.input_col])
        if not isinstance(kept, bool):
            raise ValueError("Boolean output is required for `filter_fn` of FilterIterDataPipe, got", type(kept))
        return kept

    def __iter__(self):
        for data in self.datapipe:
            if self._kept(data):
                yield data


# ------------------------------------------------------------------ several items
@functional_datapipe("batch")
class Batcher(IterDataPipe):
    """Lists of `batch_size` items. With drop_last a shorter last list is left out."""

    def __init__(self, datapipe, batch_size, drop_last=False, wrapper_class=DataChunk):
        assert batch_size > 0, "Batch size is required to be larger than 0!"
        self.datapipe, self.batch_size, self.drop_last = datapipe, batch_size, drop_last
        self.wrapper_class = wrapper_class

    def __iter__(self):
        batch = []
        for x in self.datapipe:
            batch.append(x)
            if len(batch) == self.batch_size:
                yield self.wrapper_class(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.wrapper_class(batch)

    def __len__(self):
        whole, rest = divmod(_length(self, self.datapipe), self.batch_size)
        return whole + bool(rest and not self.drop_last)


@functional_datapipe("unbatch")
class UnBatcher(IterDataPipe):
    """The elements of items that are lists, unpacked `unbatch_level` times; -1 unpacks all lists."""

    def __init__(self, datapipe, unbatch_level=1):
        self.datapipe, self.unbatch_level = datapipe, unbatch_level

    def __iter__(self):
        for element in self.datapipe:
            yield from self._dive(element, self.unbatch_level)

    def _dive(self, element, level):
        if level < -1:
            raise ValueError("unbatch_level must be -1 or >= 0")
        is_list = isinstance(element, (list, DataChunk))
        if level == 0 or level == -1 and not is_list:
            yield element
        elif not is_list:
            raise IndexError(f"unbatch_level {self.unbatch_level} exceeds the depth of the DataPipe")
        else:
            for item in element:
                yield from self._dive(item, level if level == -1 else level - 1)


@functional_datapipe("groupby")
class Grouper(IterDataPipe):
    """Groups of items with the same group_key_fn(item). A group is yielded when it has `group_size` items; the largest
    group is yielded when `buffer_size` items wait; the rest is yielded at the end."""

    def __init__(self, datapipe, group_key_fn, *, keep_key=False, buffer_size=10000, group_size=None,
                 guaranteed_group_size=None, drop_remaining=False):
        if group_size is not None and buffer_size is not None:
            assert 0 < group_size <= buffer_size, "group_size must be > 0 and <= buffer_size"
        if guaranteed_group_size is not None:
            assert group_size is not None and 0 < guaranteed_group_size <= group_size, (
                "guaranteed_group_size must be > 0 and <= group_size and group_size must be set")
        self.datapipe, self.group_key_fn, self.keep_key = datapipe, group_key_fn, keep_key
        self.max_buffer_size, self.group_size, self.drop_remaining = buffer_size, group_size, drop_remaining
        self.guaranteed_group_size = group_size if guaranteed_group_size is None else guaranteed_group_size
        self.wrapper_class = DataChunk

    def _largest(self, waiting):
        key = max(waiting, key=lambda key: len(waiting[key]))
        group = waiting.pop(key)
        if self.guaranteed_group_size is not None and len(group) < self.guaranteed_group_size:
            if not self.drop_remaining:
                raise RuntimeError("Failed to group items", str(group))
            return None
        return key, group

    def _shown(self, key, group):
        group = self.wrapper_class(group)
        return (key, group) if self.keep_key else group

    def __iter__(self):
        waiting = defaultdict(list)
        for x in self.datapipe:
            key = self.group_key_fn(x)
            waiting[key].append(x)
            if self.group_size is not None and self.group_size == len(waiting[key]):
                yield self._shown(key, waiting.pop(key))
            if sum(map(len, waiting.values())) == self.max_buffer_size:
                found = self._largest(waiting)
                if found is not None:
                    yield self._shown(key, found[1])       # torch also yields the key of the last item
        for key in tuple(waiting):
            yield self._shown(key, waiting.pop(key))


# ------------------------------------------------------------------ several pipes
def _check_pipes(datapipes, name="IterDataPipe"):
    if not datapipes:
        raise ValueError("Expected at least one DataPipe, but got nothing")
    if not all([isinstance(dp, IterDataPipe) for dp in datapipes]):
        raise TypeError(f"Expected all inputs to be `{name}`")


@functional_datapipe("concat")
class Concater(IterDataPipe):
    """The items of several pipes, one pipe after the other."""

    def __init__(self, *datapipes):
        _check_pipes(datapipes)
        self.datapipes = datapipes

    def __iter__(self):
        for dp in self.datapipes:
            yield from dp

    def __len__(self):
        return _length(self, *self.datapipes)


@functional_datapipe("zip")
class Zipper(IterDataPipe):
    """Tuples of the items of several pipes, until one of them ends."""

    def __init__(self, *datapipes):
        _check_pipes(datapipes)
        self.datapipes = datapipes

    def __iter__(self):
        yield from zip(*self.datapipes)

    def __len__(self):
        _length(self, *self.datapipes)
        return min([len(dp) for dp in self.datapipes])


@functional_datapipe("mux")
class Multiplexer(IterDataPipe):
    """One item of each pipe in turn, until one of them ends."""

    def __init__(self, *datapipes):
        self.datapipes = datapipes

    def __iter__(self):
        for items in zip(*self.datapipes):
            yield from items

    def __len__(self):
        _length(self, *self.datapipes)
        return min([len(dp) for dp in self.datapipes]) * len(self.datapipes)


class _Branches:
    """The items of a pipe for several pipes: an item goes to the pipes that `goes_to` names, and waits there."""

    def __init__(self, datapipe, number, goes_to, buffer_size, name):
        self.source, self.goes_to, self.buffer_size, self.name = datapipe, goes_to, buffer_size, name
        self.waiting: list[deque] = [deque() for _ in range(number)]
        self.iterator: Any = None
        self.begun = [True] * number

    def restart(self, i):
        if self.begun[i]:                      # a second iteration restarts all pipes
            self.iterator, self.begun = iter(self.source), [False] * len(self.begun)
            for items in self.waiting:
                items.clear()
        self.begun[i] = True

    def items(self, i):
        while True:
            while not self.waiting[i]:
                try:
                    x = next(self.iterator)
                except StopIteration:
                    return
                for j in self.goes_to(x):
                    self.waiting[j].append(x)
                if 0 <= self.buffer_size < max([len(w) for j, w in enumerate(self.waiting) if j != i], default=0):
                    raise BufferError(f"{self.name} buffer overflow,buffer size {self.buffer_size} is insufficient.")
            yield self.waiting[i].popleft()


class _Branch(IterDataPipe):
    """One of the pipes of _Branches."""

    def __init__(self, branches, place, copied):
        self.branches, self.place, self.copied = branches, place, copied

    def __iter__(self):
        self.branches.restart(self.place)
        return map(self.copied, self.branches.items(self.place))

    def __len__(self):
        return _length(self, self.branches.source)


def _itself(x):
    return x


@functional_datapipe("fork")
class Forker(IterDataPipe):
    """Several pipes, each with all items of a pipe. `copy`: None, "shallow" or "deep". `buffer_size`: the number of
    items by which a pipe may be ahead of another (else BufferError); -1 for no limit."""

    def __new__(cls, datapipe, num_instances, buffer_size=1000, copy=None):
        if num_instances < 1:
            raise ValueError(f"Expected `num_instances` larger than 0, but {num_instances} is found")
        if num_instances == 1:
            return datapipe
        if copy not in _COPIES:
            raise ValueError(f"Unknown copy method `{copy}` requested, choose one of None, `shallow` or `deep`.")
        branches = _Branches(datapipe, num_instances, lambda x: range(num_instances), buffer_size,
                             "ForkerIterDataPipe")
        return [_Branch(branches, i, _COPIES[copy]) for i in range(num_instances)]


_COPIES = {None: _itself, "shallow": copy.copy, "deep": copy.deepcopy}


@functional_datapipe("demux")
class Demultiplexer(IterDataPipe):
    """Several pipes. An item goes to the pipe with the number classifier_fn(item). With drop_none items with the number
    None are left out; otherwise None, like other invalid numbers, raises ValueError."""

    def __new__(cls, datapipe, num_instances, classifier_fn, drop_none=False, buffer_size=1000):
        if num_instances < 1:
            raise ValueError(f"Expected `num_instances` larger than 0, but {num_instances} is found")

        def goes_to(x):
            number = classifier_fn(x)
            if number is None and drop_none:
                return ()
            if number is None or not 0 <= number < num_instances:
                raise ValueError(f"Output of the classification fn should be between 0 and {num_instances - 1}. "
                                 f"{number} is returned.")
            return (number,)
        branches = _Branches(datapipe, num_instances, goes_to, buffer_size, "DemultiplexerIterDataPipe")
        return [_Part(branches, i, _itself) for i in range(num_instances)]


class _Part(_Branch):
    """One of the pipes of a Demultiplexer. Its length is not known."""

    def __len__(self):
        raise TypeError(f"{type(self).__name__} instance doesn't have valid length")


# ------------------------------------------------------------------ order and choice
@functional_datapipe("shuffle")
class Shuffler(IterDataPipe):
    """The items in random order: each time, one of the next `buffer_size` items is drawn."""

    def __init__(self, datapipe, *, buffer_size=10000, unbatch_level=0):
        if buffer_size <= 0:
            raise ValueError("buffer_size should be larger than 0")
        self.datapipe = datapipe if unbatch_level == 0 else datapipe.unbatch(unbatch_level=unbatch_level)
        self.buffer_size, self._enabled, self._seed, self._rng = buffer_size, True, None, random.Random()

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
            yield from self.datapipe
            return
        buffer: list = []
        for x in self.datapipe:
            if len(buffer) == self.buffer_size:
                place = self._rng.randint(0, len(buffer) - 1)
                chosen, buffer[place] = buffer[place], x
                yield chosen
            else:
                buffer.append(x)
        while buffer:
            yield buffer.pop(self._rng.randint(0, len(buffer) - 1))

    def reset(self):
        """Draws a new order."""
        if self._enabled:
            self._rng.seed(drawn_seed() if self._seed is None else self._seed)
            self._seed = None

    def __len__(self):
        return _length(self, self.datapipe)


class Sampler(IterDataPipe):
    """The keys that a sampler draws for a pipe."""

    def __init__(self, datapipe, sampler=SequentialSampler, sampler_args=None, sampler_kwargs=None):
        self.datapipe = datapipe
        self.sampler_args, self.sampler_kwargs = sampler_args or (), {**(sampler_kwargs or {}), "data_source": datapipe}
        self.sampler = sampler(*self.sampler_args, **self.sampler_kwargs)

    def __iter__(self):
        return iter(self.sampler)

    def __len__(self):
        return len(self.sampler)


@functional_datapipe("sharding_filter")
class ShardingFilter(IterDataPipe):
    """Every n-th item, once `apply_sharding` has set n and the first item; all items before that."""

    def __init__(self, source_datapipe, sharding_group_filter=None):
        self.source_datapipe, self.num_of_instances, self.instance_id = source_datapipe, 1, 0

    def is_shardable(self):
        """True."""
        return True

    def apply_sharding(self, num_of_instances, instance_id, sharding_group=None):
        """Takes every num_of_instances-th item from instance_id on. ValueError for a number that is too large."""
        if instance_id >= num_of_instances:
            raise ValueError(f"instance_id({instance_id}) should be smaller than num_of_instances({num_of_instances})")
        self.num_of_instances, self.instance_id = num_of_instances, instance_id

    def __iter__(self):
        for i, item in enumerate(self.source_datapipe):
            if i % self.num_of_instances == self.instance_id:
                yield item

    def __len__(self):
        whole, rest = divmod(_length(self, self.source_datapipe), self.num_of_instances)
        return whole + (self.instance_id < rest)


# ------------------------------------------------------------------ files
@functional_datapipe("list_files")
class FileLister(IterDataPipe):
    """The paths of the files in folders whose names match one of `masks`; with `recursive` also in subfolders."""

    def __init__(self, root=".", masks="", *, recursive=False, abspath=False, non_deterministic=False, length=-1):
        if isinstance(root, (str, os.PathLike)):
            root = IterableWrapper([root])
        elif not isinstance(root, IterDataPipe):
            root = IterableWrapper(root)
        self.datapipe, self.masks, self.recursive, self.abspath = root, masks, recursive, abspath
        self.non_deterministic, self.length = non_deterministic, length

    def _fits(self, name):
        masks = [self.masks] if isinstance(self.masks, str) else self.masks
        return not self.masks or any([fnmatch.fnmatch(name, mask) for mask in masks])

    def __iter__(self):
        for root in self.datapipe:
            root = os.path.abspath(root) if self.abspath else root
            for folder, folders, files in os.walk(root):
                if not self.non_deterministic:
                    folders.sort()
                    files.sort()
                for name in files:
                    if self._fits(name):
                        yield os.path.join(folder, name)
                if not self.recursive:
                    break

    def __len__(self):
        if self.length == -1:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
        return self.length


@functional_datapipe("open_files")
class FileOpener(IterDataPipe):
    """(path, open file) of each path."""

    def __init__(self, datapipe, mode="r", encoding=None, length=-1):
        if mode not in ("b", "t", "rb", "rt", "r"):
            raise ValueError(f"Invalid mode {mode}")
        if "b" in mode and encoding is not None:
            raise ValueError("binary mode doesn't take an encoding argument")
        self.datapipe, self.encoding, self.length = datapipe, encoding, length
        self.mode = mode if mode[0] == "r" else "r" + mode

    def __iter__(self):
        for path in self.datapipe:
            yield path, open(path, self.mode, encoding=self.encoding)

    def __len__(self):
        if self.length == -1:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
        return self.length


@functional_datapipe("read_from_stream")
class StreamReader(IterDataPipe):
    """(path, content) for each (path, open file): `chunk` bytes each time, or the whole content."""

    def __init__(self, datapipe, chunk=None):
        self.datapipe, self.chunk = datapipe, chunk

    def __iter__(self):
        for path, stream in self.datapipe:
            while True:
                data = stream.read(self.chunk)
                if not data:
                    stream.close()
                    break
                yield path, data
