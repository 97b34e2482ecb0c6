"""Resizing of sparse tensors (sparse_resize_ and its like), and matrices of diagonals."""
from __future__ import annotations

import numpy as np

from .. import dtypes as dt
from ..autograd.public import public
from ..memory_format import layout as layout_class, sparse_coo, sparse_csc, sparse_csr, strided
from ..tensor import Tensor
from .arithmetic import empty_array, written
from .array import SparseArray
from .conversion import coo_of_values, to_layout
from .tensor import of_sparse

__all__ = ["spdiags"]

_OPTIONS = """
You could try the following options:
1. If you need an empty sparse tensor of this size, call `x = torch.sparse_coo_tensor(size)`.
2. If you need to resize this tensor, you have the following options:
    1. For both sparse and dense dimensions, keep the number of them constant and the size of them non-shrinking, and \
then try the same call again.
    2. Or, create a new sparse tensor with the correct indices and values from this sparse tensor."""
_LAYOUTS = {sparse_csr: "SparseCsr", sparse_csc: "SparseCsc", strided: "Strided"}


# ------------------------------------------------------------------ sizes
def _check(size, sparse_dim, dense_dim):
    if len(size) != sparse_dim + dense_dim:
        raise RuntimeError(f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, "
                           f"sparse_dim = {sparse_dim}, dense_dim = {dense_dim}")


def _refuse_change(array, size, sparse_dim, dense_dim):
    """RuntimeError if elements would be lost or would have no place."""
    change = ""
    for kind, before, after in (("sparse", array.sparse_dim, sparse_dim), ("dense", array.dense_dim, dense_dim)):
        if before != after and not change:
            change = f"changing the number of {kind} dimensions (from {before} to {after})"
    k = array.sparse_dim
    for kind, before, after in (("sparse", array.shape[:k], size[:k]), ("dense", array.shape[k:], size[k:])):
        if not change and any([a < b for a, b in zip(after, before)]):
            change = f"shrinking the size of {kind} dimensions (from {list(before)} to {list(after)})"
    if change:
        raise RuntimeError(f"{change} on a non-empty sparse tensor is not supported.{_OPTIONS}")


def resized(self: Tensor, size: tuple[int, ...], sparse_dim: int, dense_dim: int) -> Tensor:
    """sparse_resize_. The values keep their order in memory: with larger dense dimensions they move to other places,
    and zeros follow."""
    array, size = self._array, tuple(size)
    _check(size, sparse_dim, dense_dim)
    if not array.nnz:
        return cleared(self, size, sparse_dim, dense_dim)
    _refuse_change(array, size, sparse_dim, dense_dim)
    values = np.zeros((array.nnz, *size[sparse_dim:]), array.dtype)
    values.reshape(-1)[:array.values.size] = array.values.reshape(-1)
    return written(self, SparseArray(sparse_coo, array.plan, values, size, array.coalesced))


def cleared(self: Tensor, size: tuple[int, ...], sparse_dim: int, dense_dim: int) -> Tensor:
    """sparse_resize_and_clear_."""
    _check(size, sparse_dim, dense_dim)
    negative = [n for n in (sparse_dim, dense_dim, *size) if n < 0]
    if negative:
        raise RuntimeError(f"Trying to create tensor with negative dimension {negative[0]}: {list(size)}")
    array = empty_array(sparse_coo, tuple(size), self._array.dtype, sparse_dim)
    return written(self, array)


def resized_as(self: Tensor, other: Tensor) -> Tensor:
    """resize_as_sparse_."""
    sparse_dim = other._array.sparse_dim if other.layout is sparse_coo else 0
    return resized(self, other._array.shape, sparse_dim, other._array.ndim - sparse_dim)


@of_sparse("resize_as_")
def _resize_as(input, the_template, *, memory_format=None):
    return resized_as(input, the_template)


# ------------------------------------------------------------------ diagonals
@public("_spdiags", any_layout=True)
def spdiags(diagonals: Tensor, offsets: Tensor, shape: Ints,     # noqa: F821
            layout: layout_class | None = None) -> Tensor:
    """The sparse matrix of `shape` with the rows of `diagonals` on its diagonals. Row i lies `offsets`[i] above the
    main diagonal (below it, if negative), and its element k goes to column k.

    RuntimeError for offsets that are not int64, that repeat or that lie outside the matrix.

    >>> import tinytorch as torch
    >>> torch.sparse.spdiags(torch.tensor([[1, 2, 3], [4, 5, 6]]), torch.tensor([0, 1]), (3, 3)).to_dense()
    tensor([[1, 5, 0],
            [0, 2, 6],
            [0, 0, 3]])
    """
    rows = diagonals.unsqueeze(0) if diagonals._array.ndim == 1 else diagonals
    places = np.atleast_1d(offsets._array)
    _check_diagonals(rows, offsets, places, shape, layout)
    n, m = shape
    found = []
    for i, k in enumerate(places.tolist()):
        if not -n <= k <= m:
            raise RuntimeError(f"Offset {k} lies outside of a matrix of shape {[n, m]}")
        columns = np.arange(max(k, 0), max(min(m, n + k, rows._array.shape[1]), max(k, 0)))
        found.append(np.stack([np.full(len(columns), i), columns, columns - k]))
    which, columns, at = np.concatenate([np.zeros((3, 0), np.int64), *found], axis=1)
    values = rows[which.tolist(), columns.tolist()] if len(which) else rows.new_zeros((0,))
    result = coo_of_values(values, np.stack([at, columns]), (n, m), len(at) < 2)
    return result if layout in (None, sparse_coo) else to_layout(result, layout)


def _check_diagonals(rows, offsets, places, shape, layout):
    if rows._array.ndim != 2:
        raise RuntimeError("Diagonals must be vector or matrix")
    if len(shape) != 2:
        raise RuntimeError("Output shape must be 2d")
    if offsets._array.ndim > 1:
        raise RuntimeError("Offsets must be scalar or vector")
    if len(places) != len(rows._array):
        raise RuntimeError(f"Number of diagonals ({len(rows._array)}) does not match the number of offsets "
                           f"({len(places)})")
    if offsets.dtype is not dt.int64:
        raise RuntimeError(f"Offset Tensor must have dtype Long but got {offsets.dtype.type_name}")
    if layout not in (None, sparse_coo, sparse_csr, sparse_csc):
        raise RuntimeError("Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got "
                           f"{_LAYOUTS.get(layout, layout)}")
    if len(set(places.tolist())) != len(places):
        raise RuntimeError("Offset tensor contains duplicate values")
    if min(shape) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(shape)}: {list(shape)}")
