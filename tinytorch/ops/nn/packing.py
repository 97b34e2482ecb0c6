"""Batches of sequences of different lengths: padded, and packed without the padding.

A packed batch holds the first step of all sequences, then the second step of those that have one,
and so on; the sequences stand in the order of falling length.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...autograd.op import op
from ...autograd.promotion import check_broadcast, converted, refuse_complex_gradient, stored_as
from ...autograd.public import public
from ...errors import sizes_do_not_match, type_name
from ...tensor import Tensor, wrap
from ...types import Number
from ..layout.join import cat

__all__ = ["_pack_padded_sequence", "_pad_packed_sequence"]


def sizes_of_steps(batch_sizes: Tensor) -> list[int]:
    """The number of rows of each step of a packed batch. IndexError or TypeError unless `batch_sizes` is 1-D and
    not empty."""
    n = batch_sizes._array
    if not n.ndim:
        raise IndexError("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ "
                         "to convert a 0-dim tensor to a number")
    if n.ndim > 1:
        raise TypeError(f"batch_sizes should be a 1-D tensor, but got {n.ndim}-D")
    if not n.size:
        raise IndexError("index 0 is out of bounds for dimension 0 with size 0")
    return [int(k) for k in n.tolist()]


def check_steps(sizes: Sequence[int], count: int, dim: int = 0) -> int:
    """The number of packed rows that the steps use, of `count`. RuntimeError for a step with a negative number of rows,
    with more than the step before it, or with more than are left. `dim`: the batch dimension, for the message."""
    if sizes[0] < 0:
        raise RuntimeError("zeros: Dimension size must be non-negative.")
    start, before = 0, sizes[0]
    for n in sizes:
        if n < 0:
            raise RuntimeError("narrow(): length must be non-negative.")
        if start + n > count:
            raise RuntimeError(f"start ({start}) + length ({n}) exceeds dimension size ({count}).")
        if n > before:
            raise sizes_do_not_match(before, n, dim)
        start, before = start + n, n
    return start


def places(batch_sizes, batch_first):
    """Where the packed rows stand in a padded array: two index arrays for its first two dimensions."""
    batch_sizes = np.asarray(batch_sizes, np.intp)
    steps = np.repeat(np.arange(len(batch_sizes)), batch_sizes)
    sequences = np.arange(len(steps)) - np.repeat(np.cumsum(batch_sizes) - batch_sizes, batch_sizes)
    return (sequences, steps) if batch_first else (steps, sequences)


@op(name="_pack_padded_sequence", input=lambda g, shape, at: _unpack(g, tuple(shape), at, 0))
def _pack(input, at):
    return input[at]


@op(name="_pad_packed_sequence", data=lambda g, at: _pack(g, at))
def _unpack(data, shape, at, value):
    out = np.full(shape, value, data.dtype)
    out[at] = data
    return out


@public()
def _pack_padded_sequence(input: Tensor, lengths: Tensor, batch_first: bool) -> tuple[Tensor, Tensor]:
    """(packed rows, batch sizes) of a padded batch (steps, batch, *) whose lengths fall.

    RuntimeError if a length is not positive, longer than the batch or longer than the one before it.
    """
    n = lengths._array
    if n.ndim != 1 or n.dtype != np.int64:
        raise RuntimeError(f"'lengths' argument should be a 1D CPU int64 tensor, but got {n.ndim}D cpu "
                           f"{type_name(lengths)} tensor")
    if input.numel() == 0:
        raise RuntimeError("Cannot pack empty tensors.")
    steps, batch = input.shape[:2][::-1] if batch_first else input.shape[:2]
    if len(n) != batch:
        raise RuntimeError(f"Expected `len(lengths)` to be equal to batch_size, but got {len(n)} (batch_size={batch})")
    if n[-1] <= 0:
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element in 'lengths' "
                           "that is <= 0")
    if (n[1:] > n[:-1]).any():
        raise RuntimeError("`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can "
                           "pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep "
                           "this requirement if you do not need ONNX exportability.")
    if n[0] > steps:
        raise RuntimeError(f"Expected all lengths to be at most {steps}, the steps of the padded input, but got {n[0]}")
    sizes = np.searchsorted(-n, -np.arange(n[0]))      # the number of lengths above each step's number
    refuse_complex_gradient("_pack_padded_sequence", input)
    return _pack(input, places(sizes, batch_first)), wrap(sizes)


@public()
def _pad_packed_sequence(data: Tensor, batch_sizes: Tensor, batch_first: bool, padding_value: Number,
                         total_length: int) -> tuple[Tensor, Tensor]:
    """(padded batch, lengths) of packed rows; `total_length` steps, or as many as the longest has if it is not
    positive."""
    if batch_sizes._array.ndim == 1 and not batch_sizes._array.size:
        raise RuntimeError("batch_sizes can not be empty")
    sizes = sizes_of_steps(batch_sizes)
    used = check_steps(sizes, len(data._array), 1)
    if used < len(data._array):
        data = data[:used]
    falling = -np.array(sizes)
    lengths = np.searchsorted(falling, -np.arange(sizes[0]))       # the number of steps with a row for each sequence
    if total_length <= 0:
        total_length = len(sizes)
    elif total_length < len(sizes):
        raise RuntimeError("Expected total_length to be at least the length of the longest sequence in input, but got "
                           f"total_length={total_length} and max sequence length being {len(sizes)}")
    padded = _unpack(data, (total_length, sizes[0]) + data._array.shape[1:], places(sizes, False),
                     stored_as(padding_value, data._array.dtype))
    return padded.transpose(0, 1) if batch_first else padded, wrap(lengths)


@public()
def pad_sequence(sequences: Any, batch_first: bool = False, padding_value: float = 0.0,
                 padding_side: str = "right") -> Tensor:
    """Tensors (length, *) stacked into (longest, batch, *), or (batch, longest, *), and padded.

    The trailing dimensions must broadcast to those of the first; the dtype is the first one's.

    >>> import tinytorch as torch
    >>> pad_sequence([torch.ones(2), torch.ones(1)], batch_first=True)
    tensor([[1., 1.],
            [1., 0.]])
    """
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    for k, s in enumerate(sequences):
        if not isinstance(s, Tensor):
            raise TypeError(f"expected Tensor as element {k} in argument 0, but got {type(s).__name__}")
        if not s.ndim:
            raise RuntimeError("pad_sequence: expected sequences of at least one dimension")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    rest, dtype = sequences[0]._array.shape[1:], sequences[0]._array.dtype
    same = []
    for s in sequences:
        shape = s._array.shape
        if shape[1:] != rest:
            check_broadcast(shape[:1] + rest, shape)
            s = s.expand(shape[:1] + rest)
        same.append(converted(s, dtype))
    lengths = [len(s._array) for s in same]
    longest = max(lengths)
    steps = np.concatenate([np.arange(n) + (longest - n if padding_side == "left" else 0) for n in lengths])
    members = np.repeat(np.arange(len(same)), np.asarray(lengths, np.intp))
    front, at = ((len(same), longest), (members, steps)) if batch_first else ((longest, len(same)), (steps, members))
    return _unpack(cat(same), front + rest, at, stored_as(padding_value, dtype))
