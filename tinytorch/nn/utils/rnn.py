"""Sequences of different lengths in one batch: padded tensors and PackedSequence."""
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ... import dtypes as dt
from ...autograd.torch_function import state
from ...ops.nn import packing
from ...tensor import Tensor, wrap

__all__ = ["PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence",
           "pad_sequence", "unpack_sequence", "unpad_sequence"]


class _Fields(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor
    unsorted_indices: Tensor


class PackedSequence(_Fields):
    """A batch of sequences without padding, which every recurrent layer accepts. The functions below make it.

    data (rows, *): the first step of all sequences, then the second step of the sequences that have one, and so on.
    batch_sizes (steps): the number of rows of each step. sorted_indices, unsorted_indices (batch): the permutation that
    sorted the sequences by falling length, and its inverse. None: the sequences were sorted already.

    >>> import tinytorch as torch
    >>> pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4, 5]), torch.tensor([6])]).data
    tensor([1, 4, 6, 2, 5, 3])
    """

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not (isinstance(data, (list, tuple)) and len(data) == 2):
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        """The same sequences with `data.to(*args, **kwargs)`. `self` if nothing changes."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else type(self)(data, *self[1:])

    def cpu(self, *args, **kwargs):
        return self.to(*args, **{"device": "cpu", **kwargs})

    def cuda(self, *args, **kwargs):
        return self.to(*args, **{"device": "cuda", **kwargs})

    def pin_memory(self):
        return type(self)(self.data.pin_memory(), *self[1:])

    def double(self):
        return self.to(dtype=dt.float64)

    def float(self):
        return self.to(dtype=dt.float32)

    def half(self):
        return self.to(dtype=dt.float16)

    def long(self):
        return self.to(dtype=dt.int64)

    def int(self):
        return self.to(dtype=dt.int32)

    def short(self):
        return self.to(dtype=dt.int16)

    def char(self):
        return self.to(dtype=dt.int8)

    def byte(self):
        return self.to(dtype=dt.uint8)

    @property
    def is_cuda(self):
        return self.data.is_cuda

    def is_pinned(self):
        return self.data.is_pinned()


def invert_permutation(permutation):
    """The inverse of a permutation (a 1-D integer tensor). None for None.

    >>> import tinytorch as torch
    >>> invert_permutation(torch.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    inverse = np.empty_like(permutation._array)
    inverse[permutation._array] = np.arange(len(inverse))
    return wrap(inverse)


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Packs a padded batch (steps, batch, *), or (batch, steps, *) if `batch_first`.

    `lengths`: the length of each sequence, as a list or tensor. They must fall unless `enforce_sorted` is False, which
    sorts the sequences first. RuntimeError for lengths that do not fit.

    >>> import tinytorch as torch
    >>> pack_padded_sequence(torch.tensor([[1, 2], [3, 0]]), [2, 1], batch_first=True).batch_sizes
    tensor([2, 1])
    """
    for mode in state.modes:
        if hasattr(mode, "cannot_record"):
            mode.cannot_record("pack_padded_sequence", "how many rows it gives depends on the lengths; layers take "
                               "padded sequences too")
    lengths = lengths.to(dt.int64) if isinstance(lengths, Tensor) else wrap(np.array(lengths, np.int64))
    sorted_indices = None
    if not enforce_sorted:
        lengths, sorted_indices = lengths.sort(descending=True)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    data, batch_sizes = packing._pack_padded_sequence(input, lengths, batch_first)
    return PackedSequence(data, batch_sizes, sorted_indices, None)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """(padded batch, lengths (batch)), in the order before packing. The padded batch is (steps, batch, *), or (batch,
    steps, *) if `batch_first`.

    `total_length`: pad to this many steps; ValueError if a sequence is longer.

    >>> import tinytorch as torch
    >>> pad_packed_sequence(pack_sequence([torch.tensor([1, 2]), torch.tensor([3])]), batch_first=True)[0]
    tensor([[1, 2],
            [3, 0]])
    """
    longest = sequence.batch_sizes.size(0)
    if total_length is not None:
        if total_length < longest:
            raise ValueError("Expected total_length to be at least the length of the longest sequence in input, but "
                             f"got total_length={total_length} and max sequence length being {longest}")
        longest = total_length
    padded, lengths = packing._pad_packed_sequence(sequence.data, sequence.batch_sizes, batch_first, padding_value,
                                                   longest)
    order = sequence.unsorted_indices
    if order is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, order), lengths[order]


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Stacks tensors (length, *) into (longest, batch, *) or (batch, longest, *), with padding at their end ("right")
    or start ("left").

    >>> import tinytorch as torch
    >>> pad_sequence([torch.ones(25, 300), torch.ones(22, 300)]).shape
    torch.Size([25, 2, 300])
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError("pad_sequence: Expected iterable for input sequences, but got arg of type: "
                           f"{type(sequences)}")
    return packing.pad_sequence(tuple(sequences), batch_first, padding_value, padding_side)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The sequences of a padded batch as a list of tensors (length, *).

    >>> import tinytorch as torch
    >>> unpad_sequence(torch.tensor([[1, 2], [3, 0]]), torch.tensor([2, 1]), batch_first=True)
    [tensor([1, 2]), tensor([3])]
    """
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    if len(padded_sequences) != len(lengths):
        raise ValueError(f"unpad_sequence: {len(padded_sequences)} sequences, but {len(lengths)} lengths")
    return [padded_sequences[k, :int(n)].clone() for k, n in enumerate(lengths)]


def pack_sequence(sequences, enforce_sorted=True):
    """Packs a list of tensors (length, *). The longest must come first unless `enforce_sorted` is False.

    >>> import tinytorch as torch
    >>> pack_sequence([torch.tensor([1]), torch.tensor([2, 3])], enforce_sorted=False).data
    tensor([2, 1, 3])
    """
    return pack_padded_sequence(pad_sequence(sequences), [v.size(0) for v in sequences], enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    """The sequences of a packed batch as a list of tensors (length, *).

    >>> import tinytorch as torch
    >>> unpack_sequence(pack_sequence([torch.tensor([1, 2]), torch.tensor([3])]))
    [tensor([1, 2]), tensor([3])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
