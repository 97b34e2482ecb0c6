"""Conversion between sparse and dense: to_dense, to_sparse, coalesce, values, sparse_mask and their gradients."""
from __future__ import annotations

import numpy as np

from .. import dtypes as dt
from ..memory_format import sparse_coo
from ..tensor import Tensor
from .array import SparseArray
from .tensor import array_of, as_tensor, is_sparse, sparse_op


# ------------------------------------------------------------------ from parts
@sparse_op("sparse_coo_tensor_with_dims_and_tensors", values=lambda g, ans: values_at(g, ans))
def coo_of_values(values, indices, shape, coalesced):
    return SparseArray(sparse_coo, indices, values, shape, coalesced)


@sparse_op("sparse_compressed_tensor", values=lambda g, ans: values_at(g, ans))
def compressed_of_values(values, layout, plan, shape):
    return SparseArray(layout, plan, values, shape)


@sparse_op("values_at", input=lambda g, places, input: _like(in_places(g, places), input))
def values_at(input, places):
    """The elements of `input`, dense or sparse, at the places of the sparse array `places`."""
    if isinstance(input, SparseArray):
        return input.at(places.keys())[0]
    return np.asarray(input)[tuple(places.indices)]


@sparse_op("in_places", values=lambda g, places: values_at(g, places))
def in_places(values, places):
    """A sparse array with `values` at the places of the sparse array `places`."""
    return places.with_values(values)


@sparse_op("values", input=lambda g, input: in_places(g, input))
def values_of(input):
    return input.values


def _like(x, input):
    return x if is_sparse(input) else dense_of(x, None)


# ------------------------------------------------------------------ to dense
def _to_dense_rule(g, input, masked):
    if is_sparse(g):
        return g
    if masked is False:
        coo = input.layout is sparse_coo
        return to_sparse_of(g, array_of(input).sparse_dim) if coo else to_layout(g, input.layout)
    return masked_by(g, coalesced(detached(input)))


@sparse_op("to_dense", input=_to_dense_rule)
def dense_of(input, masked):
    return input.dense()


def detached(x):
    return x.detach() if isinstance(x, Tensor) else x


def dense_gradient(g):
    """`g` as the gradient of a dense tensor."""
    return dense_of(g, None) if is_sparse(g) else g


# ------------------------------------------------------------------ to sparse
@sparse_op("to_sparse.1", input=dense_gradient)
def to_sparse_of(input, sparse_dim):
    """The non-zero elements of an ndarray. Dimensions from `sparse_dim` on are dense."""
    numbers = dt.numbers(input) if input.dtype.kind == dt.WIDENED else input
    there = numbers != 0
    if sparse_dim < input.ndim:
        there = there.any(tuple(range(sparse_dim, input.ndim)))
    if not input.ndim:
        count = int(bool(there))
        return SparseArray(sparse_coo, np.zeros((0, count), np.int64), input.reshape(1)[:count].copy(), (), True)
    places = np.nonzero(there)
    return SparseArray(sparse_coo, np.stack(places).astype(np.int64, copy=False), input[places], input.shape, True)


@sparse_op("to_sparse.0", input=dense_gradient)
def to_sparse_of_dims(input, sparse_dim):
    return to_sparse_of.__wrapped__(input, sparse_dim)


def _restored(g, input):
    if not is_sparse(g):
        return g
    return as_layout(g, input.layout) if is_sparse(input) else dense_of(g, None)


def _to_layout(input, layout):
    x = input if isinstance(input, SparseArray) else to_sparse_of.__wrapped__(input, input.ndim)
    return x.as_layout(layout)


to_layout = sparse_op("to_sparse.1", input=_restored)(_to_layout)
to_csr = sparse_op("to_sparse_csr", input=_restored)(_to_layout)
to_csc = sparse_op("to_sparse_csc", input=_restored)(_to_layout)
as_layout = sparse_op("to_sparse", input=_restored)(_to_layout)


@sparse_op("coalesce", input=lambda g: g)
def _coalesced(input):
    return input.as_coalesced()


def coalesced(x):
    """`x` coalesced if its layout is sparse_coo, else `x` itself."""
    array = array_of(x)
    return x if array.layout is not sparse_coo or array.coalesced else _coalesced(x)


# ------------------------------------------------------------------ sparse_mask
def _mask_rule(g, input, mask):
    if is_sparse(input):
        return g
    return dense_of(g, None) * dense_of(ones_at(mask), None) if is_sparse(g) else g * dense_of(ones_at(mask), None)


def ones_at(mask):
    array = array_of(mask)
    ones = array.with_values(np.ones(array.values.shape, array.dtype))
    return as_tensor(ones) if isinstance(mask, Tensor) else ones


@sparse_op("sparse_mask", input=_mask_rule)
def masked_by(input, mask):
    """The elements of `input`, dense or sparse, at the places of the sparse array `mask`."""
    if input is mask:                          # even if it is not coalesced
        return input
    return mask.with_values(values_at.__wrapped__(input, mask))
