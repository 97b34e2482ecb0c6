"""Embeddings: rows of a table by number; one_hot."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...arguments import int_of
from ...autograd.grad_mode import mode
from ...autograd.op import op
from ...autograd.promotion import converted, refuse_complex_gradient
from ...autograd.public import public, refuse
from ...errors import not_a_tensor, not_implemented, type_name
from ...kernels import embedding as kernels
from ...kernels.memory import empty
from ...tensor import Tensor, wrap


@op(name="embedding_dense_backward",
    grad=lambda g, indices, padding: _without_padding(_embedding(g, indices, -1, False), indices, padding))
def _embedding_backward(grad, indices, count, padding, by_frequency):
    return kernels.lookup_backward(grad, indices, count, padding, by_frequency)


def _without_padding(rows, indices, padding):
    if padding < 0:
        return rows
    return rows * (indices != padding)[..., None]


@op(name="embedding", weight=lambda g, shape, indices, padding, by_frequency: _embedding_backward(
    g, indices, shape[0], padding, by_frequency))
def _embedding(weight, indices, padding, by_frequency):
    return kernels.lookup(weight, indices)


def _padding_row(padding_idx, weight):
    if padding_idx is None:
        return -1
    count = weight.array.shape[0]
    if not -count <= padding_idx < count:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return int_of(padding_idx, "embedding", "padding_idx", 3) % count


def _check_lookup(input, weight, sparse):
    if sparse and mode.grad and weight._requires_grad:
        raise NotImplementedError("tinytorch has no sparse gradients: use sparse=False")
    if weight.array.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    if input.array.dtype.char not in "ilq":
        found = "CPUBoolType" if input.array.dtype.kind in dt.BOOL else f"torch.{input.dtype.tensor_type}"
        raise RuntimeError("Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, "
                           f"Int; but got {found} instead (while checking arguments for embedding)")


def _renorm(weight, input, max_norm, norm_type):
    if weight.array.dtype.kind in dt.INTEGRAL:
        raise RuntimeError("norm(): input dtype should be either floating point or complex. Got "
                           f"{type_name(weight)} instead.")
    kernels.limit_norms(weight.array, input.array, max_norm, norm_type)
    weight.version[0] += 1


@public(hot=True)
def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None,
              norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    """The rows of `weight` (V, D) that `input` (*, int64 or int32) numbers: (*, D).

    The row `padding_idx` gets no gradient. `max_norm` first scales longer rows down, in place. `scale_grad_by_freq`
    divides each row's gradient by how often it was read. IndexError if a row does not exist.

    >>> import tinytorch as torch
    >>> torch.nn.functional.embedding(torch.tensor([1, 0]), torch.tensor([[1., 2.], [3., 4.]]))
    tensor([[3., 4.],
            [1., 2.]])
    """
    padding = _padding_row(padding_idx, weight)
    try:
        _check_lookup(input, weight, sparse)
        if weight.array.dtype.kind == dt.COMPLEX:
            refuse_complex_gradient("embedding", weight)
        if max_norm is not None:
            _renorm(weight, input, max_norm, norm_type)
    except (AttributeError, RuntimeError, TypeError):
        for i, (name, x) in enumerate((("weight", weight), ("indices", input)), 1):    # torch's function has them so
            if not isinstance(x, Tensor):
                raise not_a_tensor("embedding", name, i, x) from None
        refuse(embedding, input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
        raise
    return _embedding(weight, input, padding, scale_grad_by_freq)


@public(python=True)
def embedding_bag(input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None,
                  norm_type: float = 2, scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
                  per_sample_weights: Tensor | None = None, include_last_offset: bool = False,
                  padding_idx: int | None = None) -> Tensor:
    """The sum, mean or maximum of the rows of `weight` in each bag: (B, D).

    `input` (B, N): each row is a bag; or (N), and bag i starts at offsets[i]. An empty bag gives 0.
    `per_sample_weights` (mode "sum") scales rows. Rows `padding_idx` do not count.

    >>> import tinytorch as torch
    >>> table = torch.tensor([[1., 2.], [3., 4.]])
    >>> torch.nn.functional.embedding_bag(torch.tensor([0, 1, 1]), table, torch.tensor([0, 2]), mode="sum")
    tensor([[4., 6.],
            [3., 4.]])
    """
    if per_sample_weights is not None and per_sample_weights.array.shape != input.array.shape:
        raise ValueError(f"embedding_bag: If per_sample_weights ({list(per_sample_weights.array.shape)}) is not None, "
                         f"then it must have the same shape as the input ({list(input.array.shape)})")
    if weight.array.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.array.ndim}")
    starts, bags = _bags(input.array, offsets, include_last_offset)
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    _check_lookup(input, weight, sparse)
    if max_norm is not None:
        _renorm(weight, input, max_norm, norm_type)
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError("embedding_bag: per_sample_weights was not None. per_sample_weights is only "
                                  f"supported for mode='sum' (got mode='{mode}'). "
                                  "Please open a feature request on GitHub.")
    if weight.array.dtype.kind not in dt.FLOATING:
        raise RuntimeError("Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, "
                           f"BFloat16, Float, Double; but got torch.{weight.dtype.tensor_type} instead (while "
                           "checking arguments for embedding_bag)")
    if per_sample_weights is not None and per_sample_weights.array.dtype != weight.array.dtype:
        names = ["CPUBFloat16Type" if x.array.dtype.kind == "V" else f"torch.{x.dtype.tensor_type}"
                 for x in (weight, per_sample_weights)]
        raise RuntimeError("Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
                           f"'per_sample_weights'; but type {names[0]} does not equal {names[1]} (while checking "
                           "arguments for embedding_bag)")
    flat = input.reshape(-1)
    padding = _padding_row(padding_idx, weight)
    dtype = weight.array.dtype
    rows = _embedding(weight, flat, padding, scale_grad_by_freq)
    if dtype.itemsize == 2:                    # rounded once: the result
        rows = rows.float()
        per_sample_weights = per_sample_weights if per_sample_weights is None else per_sample_weights.float()
    bag_of = np.searchsorted(starts, np.arange(flat.array.size), side="right") - 1
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1, 1)
    if padding >= 0:
        kept = np.flatnonzero(flat.array != padding)
        rows, bag_of = rows[wrap(kept)], bag_of[kept]
    result = wrap(np.zeros((bags, weight.array.shape[1]), rows.array.dtype))
    if mode == "max":
        places = wrap(np.broadcast_to(bag_of[:, None], rows.array.shape).copy())
        return converted(result.scatter_reduce(0, places, rows, "amax", include_self=False), dtype)
    result = result.index_add(0, wrap(bag_of), rows)
    if mode == "mean":
        counts = np.maximum(np.bincount(bag_of, minlength=bags), 1).astype(rows.array.dtype)
        result = result / wrap(counts[:, None])
    return converted(result, dtype)


def _bags(input, offsets, include_last):
    """(where each bag starts, how many there are)."""
    if input.ndim == 2:
        if offsets is not None:
            raise ValueError("if input is 2D, then offsets has to be None, as input is treated is a mini-batch of "
                             "fixed length sequences. However, found offsets of type <class 'torch.Tensor'>")
        if input.dtype.kind in dt.BOOL + dt.COMPLEX:   # in torch the places of the bags have the dtype of the input
            raise not_implemented("arange_cpu", input)
        if not input.shape[1]:
            raise RuntimeError("step must be nonzero")
        return np.arange(0, input.size, input.shape[1]), len(input)
    if input.ndim != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}")
    if offsets is None or offsets.array.ndim != 1:
        raise ValueError("offsets has to be a 1D Tensor" + (" but got None" if offsets is None else ""))
    starts = offsets.array
    if starts.size and starts[0] != 0:
        raise RuntimeError(f"offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
                           f"position 0. However, got {starts[0]}")
    if starts.size and starts[-1] > input.size:
        raise RuntimeError(f"offsets[-1] can not be greater than input's length {input.size} but got offsets[-1] of "
                           f"{starts[-1]}")
    return (starts[:-1], len(starts) - 1) if include_last else (starts, len(starts))


@public()
def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """int64 (*, num_classes): 1 at each class of `input` (*, int64), 0 elsewhere.

    num_classes -1: one more than the largest class. RuntimeError for classes outside of it.

    >>> import tinytorch as torch
    >>> torch.nn.functional.one_hot(torch.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    index = input.array
    if index.dtype != np.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if not index.size:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return wrap(empty(index.shape + (num_classes,), index.dtype, np.zeros))
    if index.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(index.max()) + 1
    elif index.max() >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    result = empty(index.shape + (num_classes,), index.dtype, np.zeros)
    np.put_along_axis(result, index[..., None], 1, -1)
    return wrap(result)
