"""Indexing where indices may be out of range, with a mask of the indices that count."""
from __future__ import annotations

from functools import reduce

import numpy as np

from ... import dtypes as dt
from ...autograd.op import op
from ...autograd.promotion import scalar_as
from ...autograd.public import public
from ...errors import type_name
from ...tensor import Tensor
from ...types import Number, Tensors
from .broadcast import common_shape

__all__ = ["_unsafe_masked_index", "_unsafe_masked_index_put_accumulate"]


def _clamped(shape, indices):
    return tuple([np.clip(index, -size, size - 1) for index, size in zip(indices, shape)])


@op(name="unsafe_masked_index", first=3,
    input=lambda g, shape, mask, indices: _put_in_zeros(shape, mask, indices, g))
def _index(mask, indices, fill, input):
    fill = scalar_as(fill, input.dtype)
    if not input.size:
        return np.full(mask.shape, fill)
    return np.where(mask, input[_clamped(input.shape, indices)], fill)


@op(name="unsafe_masked_index_put_accumulate", first=3, values=lambda g, mask, indices: _index(mask, indices, 0, g))
def _put_in_zeros(shape, mask, indices, values):
    return _added(mask, indices, np.zeros(shape, values.dtype), values)


def _added(mask, indices, input, values):
    result = input.copy()
    if result.size:
        zero = scalar_as(0, values.dtype)
        np.add.at(result, _clamped(result.shape, indices), np.where(mask, values, zero))
    return result


@op(name="unsafe_masked_index_put_accumulate", first=2, input=lambda g: g,
    values=lambda g, mask, indices: _index(mask, indices, 0, g))
def _put(mask, indices, input, values):
    return _added(mask, indices, input, values)


def _arrays(input, mask, indices):
    """The arrays of a mask and of indices, checked. Raises torch's RuntimeError or IndexError."""
    for index in indices:
        if index._array.dtype not in (np.int64, np.int32):
            raise RuntimeError(f"_unsafe_masked_index found unexpected index type {type_name(index)}")
    if not indices:
        raise IndexError("at least one index must be provided")
    if len(indices) > input._array.ndim:
        raise IndexError(f"too many indices for tensor of dimension {input._array.ndim} (got {len(indices)})")
    if mask._array.dtype.kind not in dt.BOOL:
        mask = mask.bool()
    return mask._array, tuple([index._array for index in indices])


def _shape_of(input, indices):
    """The shape of input[indices]."""
    return reduce(common_shape, [index.shape for index in indices]) + input._array.shape[len(indices):]


@public(widen=True)
def _unsafe_masked_index(input: Tensor, mask: Tensor, indices: Tensors, fill: Number) -> Tensor:
    """input[indices] where `mask` is True, else `fill`. An index out of range counts as the nearest valid one.

    >>> import tinytorch as torch
    >>> torch._unsafe_masked_index(torch.tensor([5., 6.]), torch.tensor([True, False]), [torch.tensor([1, 9])], 0.)
    tensor([6., 0.])
    """
    mask, indices = _arrays(input, mask, indices)
    common_shape(mask.shape, _shape_of(input, indices))
    return _index(mask, indices, fill, input)


@public(widen=True)
def _unsafe_masked_index_put_accumulate(input: Tensor, mask: Tensor, indices: Tensors, values: Tensor) -> Tensor:
    """`input` with `values` added at `indices` where `mask` is True. An index out of range counts as the nearest valid
    one.

    >>> import tinytorch as torch
    >>> at = [torch.tensor([1, 9])]
    >>> torch._unsafe_masked_index_put_accumulate(torch.zeros(2), torch.tensor([True, False]), at, torch.ones(2))
    tensor([0., 1.])
    """
    if input._array.dtype != values._array.dtype:
        raise RuntimeError(f"Index put requires the source and destination dtypes match, got {type_name(input)} for "
                           f"the destination and {type_name(values)} for the source.")
    mask, indices = _arrays(input, mask, indices)
    given, wanted = common_shape(mask.shape, values._array.shape), _shape_of(input, indices)
    if len(given) > len(wanted) or any([n not in (1, m) for n, m in zip(given[::-1], wanted[::-1])]):
        raise RuntimeError(f"shape mismatch: value tensor of shape {list(given)} cannot be broadcast to indexing "
                           f"result of shape {list(wanted)}")
    return _put(mask, indices, input, values)
