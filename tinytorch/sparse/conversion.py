"""Between sparse and dense: to_dense, to_sparse, coalesce, values, sparse_mask and their gradients."""
from __future__ import annotations

import numpy as np

from .. import dtypes as dt
from ..errors import layout_expected
from ..memory_format import LAYOUT_NAMES, layout as Layout, sparse_coo, sparse_csc, sparse_csr, strided
from ..tensor import Tensor, wrap
from .array import SparseArray
from .tensor import as_tensor, is_sparse, sparse_op


# ------------------------------------------------------------------ from parts
@sparse_op("sparse_coo_tensor_with_dims_and_tensors", values=lambda g, ans: values_at(g, ans))
def coo_of_values(values, indices, shape, coalesced):
    return SparseArray(sparse_coo, indices, values, shape, coalesced)


@sparse_op("sparse_compressed_tensor", values=lambda g, ans: values_at(g, ans))
def compressed_of_values(values, layout, plan, shape):
    return SparseArray(layout, plan, values, shape)


@sparse_op("values_at", input=lambda g, places, input: _like(in_places(g, places), input))
def values_at(input, places):
    """The elements of `input`, dense or sparse, in the places of a sparse array."""
    if isinstance(input, SparseArray):
        return input.at(places.keys())[0]
    return np.asarray(input)[tuple(places.indices)]


@sparse_op("in_places", values=lambda g, places: values_at(g, places))
def in_places(values, places):
    """A sparse array of `values` in the places of another one."""
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
        return to_sparse_of(g, sparse_dim_of(input)) if layout_of(input) is sparse_coo else to_layout(
            g, layout_of(input))
    return masked_by(g, coalesced(detached(input)))


@sparse_op("to_dense", input=_to_dense_rule)
def dense_of(input, masked):
    return input.dense()


def detached(x):
    return x.detach() if isinstance(x, Tensor) else x


def layout_of(x):
    return x.layout


def sparse_dim_of(x):
    return (x.array if isinstance(x, Tensor) else x).sparse_dim


def dense_gradient(g):
    """A gradient as that of a dense tensor."""
    return dense_of(g, None) if is_sparse(g) else g


# ------------------------------------------------------------------ to sparse
@sparse_op("to_sparse.1", input=dense_gradient)
def to_sparse_of(input, sparse_dim):
    """Elements of an ndarray that are not zero; dimensions from `sparse_dim` on are dense."""
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
    return g if not is_sparse(g) else as_layout(g, layout_of(input)) if is_sparse(input) else dense_of(g, None)


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
    """`x` coalesced, itself if it is; another layout as it is."""
    array = x.array if isinstance(x, Tensor) else x
    return x if array.layout is not sparse_coo or array.coalesced else _coalesced(x)


# ------------------------------------------------------------------ the elements in the places of another
def _mask_rule(g, input, mask):
    if is_sparse(input):
        return g
    return dense_of(g, None) * dense_of(in_ones(mask), None) if is_sparse(g) else g * dense_of(in_ones(mask), None)


def in_ones(mask):
    array = mask.array if isinstance(mask, Tensor) else mask
    ones = array.with_values(np.ones(array.values.shape, array.dtype))
    return as_tensor(ones) if isinstance(mask, Tensor) else ones


@sparse_op("sparse_mask", input=_mask_rule)
def masked_by(input, mask):
    """The elements of `input`, dense or sparse, in the places of the sparse array `mask`."""
    return mask.with_values(values_at.__wrapped__(input, mask))


# ------------------------------------------------------------------ methods of tensors
def _check_coo(function, self, kind="sparse coordinate "):
    if self.layout is not sparse_coo:
        raise layout_expected(function, kind, self)


def to_sparse(self, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
    if isinstance(sparse_dim, Layout):
        layout, sparse_dim = sparse_dim, None
    if layout not in (None, sparse_coo, sparse_csr, sparse_csc) or blocksize is not None:
        raise NotImplementedError(f"tinytorch has no sparse tensors of blocks: layout {layout}")
    if is_sparse(self):
        if sparse_dim is not None and sparse_dim != self.array.sparse_dim:
            raise RuntimeError("to_sparse: conversion from Sparse to Sparse with sparse_dim argument "
                               "!=self.sparse_dim() is not supported")
        target = sparse_coo if layout is None else layout
        return self if target is self.layout else to_layout(self, target)
    ndim = self.array.ndim
    if layout in (sparse_csr, sparse_csc):
        _check_two(ndim, layout)
        return to_layout(self, layout)
    if sparse_dim is None:
        if dense_dim:
            return to_sparse_of(self, ndim - dense_dim)
        return to_sparse_of(self, ndim)
    if not 0 <= sparse_dim <= ndim:
        raise RuntimeError(f"dense_to_sparse: sparse_dim argument must be in [0,{ndim}] range, but {sparse_dim} is "
                           "given")
    if ndim and not sparse_dim:
        raise RuntimeError("dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0")
    return to_sparse_of_dims(self, sparse_dim)


def _check_two(ndim, layout):
    if ndim < 2:
        raise RuntimeError(f"to_sparse: conversion from Strided to {LAYOUT_NAMES[layout]} is only possible for tensors "
                           f"of at least 2 dimensions, but got {ndim}")
    if ndim > 2:
        raise NotImplementedError(f"tinytorch has {layout} of matrices only, but got {ndim} dimensions")


def to_sparse_coo(self):
    return to_sparse(self)


def _compressed(layout, primitive):
    def convert(self, dense_dim=None):
        if dense_dim:
            raise NotImplementedError(f"tinytorch has {layout} without dense dimensions only")
        if self.layout is layout:
            return self
        _check_two(self.array.ndim, layout)
        if is_sparse(self) and self.array.dense_dim:
            raise NotImplementedError(f"tinytorch has {layout} without dense dimensions only")
        return primitive(self, layout)
    return convert


to_sparse_csr, to_sparse_csc = _compressed(sparse_csr, to_csr), _compressed(sparse_csc, to_csc)


def to_dense(self, dtype=None, *, masked_grad=None):
    if not is_sparse(self):
        return self if dtype is None else self.to(dtype)
    if dtype is not None:
        kind = "sparse" if self.is_sparse else "sparse_csr"
        raise RuntimeError(f"dtype argument is not supported by {kind}_to_dense")
    return dense_of(self, masked_grad)


def coalesce(self):
    _check_coo("coalesce", self)
    return coalesced(self)


def is_coalesced(self):
    _check_coo("is_coalesced", self)
    return self.array.coalesced


def _check_coalesced(self, what):
    if not self.array.coalesced:
        raise RuntimeError(f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first")


def indices(self):
    _check_coo("indices", self)
    _check_coalesced(self, "indices")
    return wrap(self.array.plan)


def values(self):
    if not is_sparse(self):
        raise layout_expected("values", "sparse ", self)
    if self.layout is sparse_coo:
        _check_coalesced(self, "values")
    return values_of(self)


def plain_indices(self):
    if self.layout is not sparse_coo:
        _refuse_backend("_indices", self)
    return wrap(self.array.plan)


def plain_values(self):
    if self.layout is not sparse_coo:
        _refuse_backend("_values", self)
    return wrap(self.array.values)


def _refuse_backend(name, self):
    backend = "CPU" if self.layout is strided else "SparseCsrCPU"
    raise NotImplementedError(f"Could not run 'aten::{name}' with arguments from the '{backend}' backend.")


def nnz(self):
    if not is_sparse(self):
        _refuse_backend("_nnz", self)
    return self.array.nnz


def sparse_dim(self):
    return self.array.sparse_dim if is_sparse(self) else 0


def dense_dim(self):
    return self.array.dense_dim if is_sparse(self) else self.array.ndim


def _part(name, layout, kind, i):
    def part(self):
        if self.layout is not layout:
            raise layout_expected(name, kind, self)
        return wrap(self.array.plan[i])
    return part


def sparse_mask(self, mask):
    if not is_sparse(mask):
        raise layout_expected("sparse_mask", "sparse ", mask)
    if self.array.shape != mask.array.shape:
        raise RuntimeError("sparse_mask(): operands have incompatible sizes; self has size "
                           f"{list(self.array.shape)} but mask has size {list(mask.array.shape)}")
    return masked_by(self, mask)


METHODS = {
    "sparse_mask": sparse_mask,
    "to_sparse": to_sparse, "to_sparse_coo": to_sparse_coo, "to_sparse_csr": to_sparse_csr,
    "to_sparse_csc": to_sparse_csc, "to_dense": to_dense, "coalesce": coalesce, "is_coalesced": is_coalesced,
    "indices": indices, "values": values, "_indices": plain_indices, "_values": plain_values, "_nnz": nnz,
    "sparse_dim": sparse_dim, "dense_dim": dense_dim, "_dimI": sparse_dim, "_dimV": dense_dim,
    "crow_indices": _part("crow_indices", sparse_csr, "sparse row compressed ", 0),
    "col_indices": _part("col_indices", sparse_csr, "sparse row compressed ", 1),
    "ccol_indices": _part("ccol_indices", sparse_csc, "sparse column compressed ", 0),
    "row_indices": _part("row_indices", sparse_csc, "sparse column compressed ", 1),
}
