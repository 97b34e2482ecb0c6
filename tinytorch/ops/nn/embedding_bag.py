"""embedding_bag: sums, means or maxima of rows of a table."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...arguments import int_of
from ...autograd.op import op
from ...autograd.public import public
from ...errors import not_implemented
from ...kernels import embedding as kernels
from ...tensor import Tensor, wrap
from ..reduction.reductions import _sum
from .embedding import _check_lookup, _embedding, _embedding_backward, _padding_row, _renorm, gradient_of_rows


# ------------------------------------------------------------------ primitive
def _wide(x):
    """An array or Tensor of half precision in float32, anything else as it is."""
    if isinstance(x, Tensor):
        return x.float() if x._array.itemsize == 2 else x
    return dt.cast(x, np.dtype(np.float32)) if x.itemsize == 2 else x


def _rounded(x, like):
    """`x` in the dtype of `like`."""
    if isinstance(x, Tensor):
        return x.to(like.dtype)
    return x if x.dtype == like.dtype else dt.cast(x, like.dtype)


def _halves_up(x):
    """float32 numbers rounded to bfloat16 as in torch's routine for bags: a tie goes to the larger magnitude."""
    bits = (x.view(np.uint32) + np.uint32(1 << 15)) & np.uint32(0xffff0000)
    return np.where(np.isnan(x), x, bits.view(np.float32))


def _rows(x, numbers):
    return _embedding(x, numbers, -1, False)


def _added(rows, numbers, shape):
    """An array of zeros of `shape`, to which `rows` are added at `numbers`."""
    return _embedding_backward(rows, numbers, shape[0], -1, False).reshape(shape)


def _table_gradient(g, shape, indices, offsets, per_sample_weights, mode, by_frequency, sparse, aux):
    chosen, index, bag_of, found = aux
    if mode == "max":                          # the gradient goes to the elements that were the largest
        elements = np.flatnonzero(found >= 0)
        places = found.reshape(-1)[elements] * shape[1] + elements % (shape[1] or 1)
        return _added(_rows(g.reshape(g.shape[0] * g.shape[1], 1), elements), places, (shape[0] * shape[1], 1)).reshape(
            shape)
    if mode == "mean":
        g = _rounded(_wide(g) * (wrap(found) if isinstance(g, Tensor) else found), g)
    rows = _rows(g, bag_of)
    if per_sample_weights is not None:
        weights = per_sample_weights.reshape(-1, 1)
        rows = rows * (weights if chosen is None else _rows(weights, chosen))
    if sparse:
        return gradient_of_rows(rows, shape, index, -1, by_frequency)
    if by_frequency:
        times = _times(indices, index)[:, None]
        rows = _rounded(_wide(rows) / (wrap(times) if isinstance(rows, Tensor) else times.astype(_wide(rows).dtype)), g)
    return _embedding_backward(rows, index, shape[0], -1, False)


def _times(indices, index):
    """The divisors of the gradients of the rows `index`, as torch computes them. The divisor of the k-th smallest of
    the numbers that occur is not its own count, but the count of the k-th of the sorted `indices`: torch's loop over
    the different numbers reads from the list of all numbers."""
    numbers, counts = np.unique(indices, return_counts=True)
    read = np.searchsorted(numbers, np.sort(indices, axis=None)[:len(numbers)])
    return counts[read][np.searchsorted(numbers, index)]


def _weights_gradient(g, shape, weight, indices, offsets, per_sample_weights, aux):
    chosen, index, bag_of, _ = aux
    d = _rounded(_sum(_wide(_rows(g, bag_of)) * _wide(_rows(weight, index)), (1,), False), g)
    return d.reshape(shape) if chosen is None else _added(d.reshape(-1, 1), chosen, (shape[0], 1)).reshape(shape)


@op(name="embedding_bag", aux=True, weight=_table_gradient, per_sample_weights=_weights_gradient, steps=True)
def _embedding_bag(weight, indices, offsets, per_sample_weights, starts, mode, padding, by_frequency, sparse):
    """`starts`: (where each bag starts, number of bags). Half precision is rounded as in torch: first the sums, then
    the means computed from them."""
    chosen, (first, count) = None, starts
    if not count:
        indices = indices[:0]                  # the numbers belong to no bag
    bag_of = np.searchsorted(first, np.arange(indices.size), side="right") - 1
    rows = _wide(kernels.lookup(weight, indices))
    if per_sample_weights is not None:
        rows *= _wide(per_sample_weights)[:, None]
    if padding >= 0:
        chosen = np.flatnonzero(indices != padding)
        rows, bag_of, indices = rows[chosen], bag_of[chosen], indices[chosen]
    if mode == "max":
        result, at = kernels.largest_of_bags(rows, bag_of, count)
        found = np.where(at >= 0, indices[at], -1) if indices.size else at
    else:
        result, found = kernels.sums_of_bags(rows, bag_of, count), None
        if weight.dtype == dt.BFLOAT16 and padding < 0:
            result = _halves_up(result)
    if mode == "mean":
        times = np.maximum(np.bincount(dt.as_intp(bag_of), minlength=count), 1).astype(rows.dtype)[:, None]
        result = _wide(_rounded(result, weight)) / times       # torch rounds the sums first
        found = _wide(_rounded(1 / times, weight))             # and multiplies gradients by this
    return _rounded(result, weight), (chosen, indices, bag_of, found)


# ------------------------------------------------------------------ public
@public(python=True)
def embedding_bag(input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None,
                  norm_type: float = 2, scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
                  per_sample_weights: Tensor | None = None, include_last_offset: bool = False,
                  padding_idx: int | None = None) -> Tensor:
    """The sum, mean or maximum of the rows of `weight` in each bag: (B, D).

    `input` (B, N): each row is a bag; or (N), and bag i starts at offsets[i]. An empty bag gives 0.
    `per_sample_weights` (mode "sum") scales rows. The row `padding_idx` is left out. With `sparse` the gradient of
    `weight` is a sparse tensor of the rows that were read.

    >>> import tinytorch as torch
    >>> table = torch.tensor([[1., 2.], [3., 4.]])
    >>> torch.nn.functional.embedding_bag(torch.tensor([0, 1, 1]), table, torch.tensor([0, 2]), mode="sum")
    tensor([[4., 6.],
            [3., 4.]])
    """
    if per_sample_weights is not None and per_sample_weights._array.shape != input._array.shape:
        raise ValueError(f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, "
                         f"then it must have the same shape as the input ({input.shape})")
    if weight._array.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight._array.ndim}")
    starts, count = _bags(input._array, offsets, include_last_offset)
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    _check_lookup(input, weight, "embedding_bag")
    rows = weight._array.shape[0]
    if padding_idx is not None:
        padding_idx = int_of(padding_idx, "embedding_bag", "padding_idx", None)
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise RuntimeError(f"padding_idx must be within the number of embeddings, -{rows} through {rows - 1}, but got "
                           f"{padding_idx}")
    _check_rows(input._array, rows)
    if max_norm is not None:
        _renorm(weight, input, max_norm, norm_type)
    _check_weights(weight, per_sample_weights, mode)
    if offsets is not None:
        offsets = offsets.contiguous()
    if per_sample_weights is not None:
        per_sample_weights = per_sample_weights.reshape(-1)
    return _embedding_bag(weight, input.contiguous().reshape(-1), offsets, per_sample_weights, (starts, count), mode,
                          _padding_row(padding_idx, weight), scale_grad_by_freq, sparse)


def _check_weights(weight, per_sample_weights, mode):
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError("embedding_bag: per_sample_weights was not None. per_sample_weights is only "
                                  f"supported for mode='sum' (got mode='{mode}'). "
                                  "Please open a feature request on GitHub.")
    if dt.kind(weight._array.dtype) not in dt.FLOATING:
        raise RuntimeError("Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, "
                           f"BFloat16, Float, Double; but got torch.{weight.dtype.tensor_type} instead (while "
                           "checking arguments for embedding_bag)")
    if per_sample_weights is not None and per_sample_weights._array.dtype != weight._array.dtype:
        names = ["CPUBFloat16Type" if x._array.dtype.kind == "V" else f"torch.{x.dtype.tensor_type}"
                 for x in (weight, per_sample_weights)]
        raise RuntimeError("Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
                           f"'per_sample_weights'; but type {names[0]} does not equal {names[1]} (while checking "
                           "arguments for embedding_bag)")


def _check_rows(numbers, rows):
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < rows:
        wrong = numbers[(numbers < 0) | (numbers >= rows)]
        raise RuntimeError("embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be "
                           f"{wrong.flat[0]}")


def _bags(input, offsets, include_last):
    """(where each bag starts, number of bags)."""
    if input.ndim == 2:
        if offsets is not None:
            raise ValueError("if input is 2D, then offsets has to be None, as input is treated is a mini-batch of "
                             "fixed length sequences. However, found offsets of type <class 'torch.Tensor'>")
        if input.dtype.kind in dt.BOOL + dt.COMPLEX:   # torch computes the starts in the input's dtype
            raise not_implemented("arange_cpu", input)
        if not input.shape[1]:
            raise RuntimeError("step must be nonzero")
        return np.arange(0, input.size, input.shape[1]), len(input)
    if input.ndim != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}")
    if offsets is None or offsets._array.ndim != 1:
        raise ValueError("offsets has to be a 1D Tensor" + (" but got None" if offsets is None else ""))
    if offsets._array.dtype.kind not in dt.INTEGER:
        raise RuntimeError("Expected tensor for argument #1 'offsets' to have one of the following scalar types: Long, "
                           f"Int; but got torch.{offsets.dtype.tensor_type} instead (while checking arguments for "
                           "embedding_bag)")
    starts = offsets._array
    if starts.size and starts[0] != 0:
        raise RuntimeError(f"offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
                           f"position 0. However, got {starts[0]}")
    if starts.size and starts[-1] > input.size:
        raise RuntimeError(f"offsets[-1] can not be greater than input's length {input.size} but got offsets[-1] of "
                           f"{starts[-1]}")
    if include_last and not starts.size:
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    return (starts[:-1], len(starts) - 1) if include_last else (starts, len(starts))
