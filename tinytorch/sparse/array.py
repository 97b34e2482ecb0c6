"""SparseArray: the array of a sparse tensor, in place of an ndarray.

It has a shape and a dtype, and can be added as autograd adds gradients. Any other use raises NotImplementedError, so
that a function written for ndarrays fails clearly when it gets one.
"""
from __future__ import annotations

import math

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .. import dtypes as dt
from ..errors import refuse_sparse, warn_once
from ..kernels.memory import READ_ONLY
from ..memory_format import LAYOUT_NAMES, sparse_coo, sparse_csc, sparse_csr
from . import kernels


class SparseArray:
    """The non-zero elements of an array and their places.

    layout     sparse_coo, sparse_csr or sparse_csc
    plan       the indices. sparse_coo: one int64 array (S, N). sparse_csr (sparse_csc): a pair of the positions where
               each row (column) begins, and the column (row) of each element
    values     (N, *): the elements
    shape      the shape of the whole array
    coalesced  whether the indices of sparse_coo are known to be sorted and without repetition
    """

    __slots__ = ("layout", "plan", "values", "shape", "coalesced")

    def __init__(self, layout, plan, values, shape, coalesced=False):
        if layout is not sparse_coo:
            name = LAYOUT_NAMES[layout].removeprefix("Sparse").upper()
            warn_once(f"Sparse {name} tensor support is in beta state. If you miss a functionality in the sparse "
                      "tensor support, please submit a feature request to https://github.com/pytorch/pytorch/issues.",
                      "sparse layouts")
        self.layout, self.plan, self.values, self.shape = layout, plan, values, tuple(shape)
        self.coalesced = coalesced

    # ------------------------------------------------------------------ the parts of ndarray's interface that exist
    @property
    def dtype(self):
        return self.values.dtype

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return math.prod(self.shape)

    @property
    def itemsize(self):
        return self.values.dtype.itemsize

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        dense = inputs[0]
        if ufunc in (np.add, np.subtract) and method == "__call__" and isinstance(dense, np.ndarray) and (
                dense.shape == self.shape and (out is None or out[0] is dense)):
            x = self if ufunc is np.add else self.with_values(-self.values)
            return x.added_to(dense, out is None)
        refuse_sparse(ufunc.__name__, self)

    def __array__(self, *args, **kwargs):
        refuse_sparse("__array__", self)

    # Autograd reads these: a dense gradient of a sparse leaf has its own strides, and no memory is shared.
    strides, base = (), None

    def __array_function__(self, function, types, args, kwargs):
        if function is np.empty_like and args[0] is self:
            return np.empty(self.shape, args[1] if len(args) > 1 else self.dtype)
        if function is np.may_share_memory:
            return False
        refuse_sparse(function.__name__, self)

    def __getattr__(self, name):
        if name[:1] == "_":                    # such as hasattr() asks for
            raise AttributeError(name)
        refuse_sparse(name, self)

    def __getitem__(self, index):
        refuse_sparse("__getitem__", self)

    def __add__(self, other):
        if isinstance(other, SparseArray):     # torch puts the later of two gradients first
            return added(other, self)
        return self.added_to(other, True)

    __radd__ = __add__

    # ------------------------------------------------------------------ parts
    @property
    def nnz(self):
        return len(self.values)

    @property
    def indices(self):
        """The indices in the form of sparse_coo."""
        if self.layout is sparse_coo:
            return self.plan
        starts, inner = self.plan
        outer = np.repeat(np.arange(len(starts) - 1), dt.as_intp(np.diff(starts)))
        return np.stack([outer, inner] if self.layout is sparse_csr else [inner, outer]).astype(np.int64)

    @property
    def sparse_dim(self):
        return len(self.plan) if self.layout is sparse_coo else 2

    @property
    def dense_dim(self):
        return len(self.shape) - self.sparse_dim

    def with_values(self, values):
        """A sparse array of other values in the same places."""
        return SparseArray(self.layout, self.plan, values, self.shape, self.coalesced)

    def taken_over(self):
        """This array as the gradient of a leaf. torch then forgets whether it was coalesced."""
        return SparseArray(self.layout, self.plan, self.values, self.shape, self.nnz < 2)

    def duplicate(self):
        plan = self.plan.copy() if self.layout is sparse_coo else tuple([x.copy() for x in self.plan])
        return SparseArray(self.layout, plan, self.values.copy(), self.shape, self.coalesced)

    def keys(self):
        """The place of each element as one number."""
        return kernels.flat_places(self.indices, self.shape[:self.sparse_dim])

    # ------------------------------------------------------------------ other forms
    def as_coalesced(self):
        """This array in sparse_coo, sorted by place, with the elements of equal places summed."""
        if self.layout is not sparse_coo:
            found = SparseArray(sparse_coo, self.indices, self.values, self.shape, self.layout is sparse_csr)
            return found.as_coalesced()
        if self.coalesced:
            return self
        if self.nnz < 2:
            return SparseArray(sparse_coo, self.plan, self.values, self.shape, True)
        keys = self.keys()
        order = kernels.stable_order(keys, math.prod(self.shape[:self.sparse_dim]))
        keys = keys[order]
        starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
        values = kernels.sums_of_segments(self.values[order], starts)
        return SparseArray(sparse_coo, self.plan[:, order[starts]], values, self.shape, True)

    def as_layout(self, layout):
        """This array in another layout."""
        if layout is self.layout:
            return self
        c = self.as_coalesced()
        if layout is sparse_coo:
            return c
        rows, columns = c.indices
        values, n = c.values, self.shape[0]
        if layout is not sparse_csr:
            order = np.argsort(columns, kind="stable")
            rows, columns, values, n = columns[order], rows[order], values[order], self.shape[1]
        return SparseArray(layout, (kernels.row_starts(rows, n), columns), values, self.shape)

    def dense(self):
        """This array as an ndarray."""
        return self.added_to(np.zeros(self.shape, self.dtype))

    def added_to(self, array, copy=False):
        """`array` plus the elements: in place, or in a copy if `copy`. An ndarray that is not C-contiguous is summed in
        a contiguous buffer."""
        whole = array
        if copy:
            whole = dt.cast(array, dt.promote_types(dt.of(array), dt.of(self.values)).numpy)
            whole = whole.copy() if whole is array else whole
        if not whole.flags.writeable:          # NumPy's add.at does not check this
            raise RuntimeError(READ_ONLY)
        target = np.ascontiguousarray(whole)
        if target.size:
            kernels.add_places(target.reshape((-1,) + self.shape[self.sparse_dim:]), self.keys(), self.values)
        if target is not whole:
            whole[...] = target
        return whole

    def at(self, keys):
        """(values, found): the values at the places numbered `keys`, and whether there is an element. Absent values
        are zero."""
        c = self.as_coalesced()
        own = c.keys()
        found = np.zeros(keys.shape, bool)
        values = np.zeros(keys.shape + c.values.shape[1:], c.dtype)
        if len(own):
            at = np.minimum(np.searchsorted(own, keys), len(own) - 1)
            found = own[at] == keys
            values[found] = c.values[at[found]]
        return values, found

    def transposed(self, dims):
        """This array with its dimensions permuted. Dense dimensions stay behind the sparse ones."""
        shape, k = [self.shape[d] for d in dims], self.sparse_dim
        if self.layout is not sparse_coo:
            other = sparse_csc if self.layout is sparse_csr else sparse_csr
            return SparseArray(other, self.plan, self.values, shape) if list(dims) == [1, 0] else self
        values = self.values.transpose(0, *[d - k + 1 for d in dims[k:]])
        return SparseArray(sparse_coo, self.plan[list(dims[:k])], values, shape,
                           self.coalesced and list(dims[:k]) == sorted(dims[:k]))


def added(a, b):
    """a + b, both of the same shape, with the elements in torch's order: a merge of the two lists of places, or one
    list after the other if the values of either are not contiguous."""
    if a.layout is not sparse_coo or b.layout is not sparse_coo:
        return added(a.as_layout(sparse_coo), b.as_layout(sparse_coo)).as_layout(a.layout)
    dtype = dt.promote_types(dt.of(a.values), dt.of(b.values)).numpy
    one, two = dt.cast(a.values, dtype), dt.cast(b.values, dtype)
    indices, values = np.concatenate([a.plan, b.plan], 1), np.concatenate([one, two])
    together = SparseArray(sparse_coo, indices, values, a.shape)
    if not a.values.flags.c_contiguous or not b.values.flags.c_contiguous:
        return together
    if a.coalesced and b.coalesced:
        return together.as_coalesced()
    places, partner = kernels.merge_order(a.keys().tolist(), b.keys().tolist())
    picked = values[places]
    pairs = np.flatnonzero(partner >= 0)
    kernels.add_places(picked, pairs, values[partner[pairs]])
    return SparseArray(sparse_coo, indices[:, places], picked, a.shape)


def _refuse_operators():
    for name, value in vars(NDArrayOperatorsMixin).items():
        in_place = name[:3] == "__i" and name != "__invert__"          # Python derives these from the others
        if callable(value) and not in_place and name not in vars(SparseArray):
            setattr(SparseArray, name, lambda self, *other, name=name[2:-2]: refuse_sparse(name, self))


_refuse_operators()
SparseArray.__hash__ = object.__hash__
