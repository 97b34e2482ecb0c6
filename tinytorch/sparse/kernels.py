"""What sparse tensors are computed by, on ndarrays."""
import numpy as np

from .. import dtypes as dt
from ..kernels.embedding import add_rows
from ..kernels.scatter import add_flat


def flat_places(indices, shape):
    """The places that `indices` (S, N) name in an array of `shape`, as flat numbers."""
    keys = np.zeros(indices.shape[1], np.int64)
    for row, n in zip(indices, shape):
        keys = keys * n + row
    return keys


def row_starts(rows, n):
    """Where each of `n` rows begins, given the sorted rows of the elements: n + 1 numbers."""
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=n), out=starts[1:])
    return starts


def add_places(array, places, values):
    """array[places] += values, repeated places included; the elements may be arrays."""
    if not values.size:
        return
    n = len(array)
    places = np.ascontiguousarray(places, np.int64)
    if places.size and (places.min() < 0 or places.max() >= n):
        raise IndexError("an index of a sparse tensor is out of range")
    rows, width = values.reshape(len(values), -1), values[0].size
    flat = array.reshape(n, width)
    if array.dtype.kind in dt.NATIVE and array.itemsize != 2 and rows.dtype == array.dtype and width > 1:
        add_rows(flat, places, np.ascontiguousarray(rows))
    else:
        add_flat(array, (places * width)[:, None] + np.arange(width), dt.cast(rows, array.dtype))


def sums_of_segments(values, starts):
    """The sums of values[starts[i]:starts[i + 1]]; every segment has an element. Half precision is rounded after each
    addition."""
    if not len(starts):
        return values[:0]
    if values.itemsize != 2 or values.dtype.kind not in dt.FLOATING:
        return np.add.reduceat(values, starts, axis=0, dtype=values.dtype)
    result = values[starts]
    counts = np.diff(np.append(starts, len(values)))
    for k in range(1, counts.max()):
        longer = np.flatnonzero(counts > k)
        result[longer] = _sum(result[longer], values[starts[longer] + k])
    return result


def _sum(a, b):
    return dt.narrowed(dt.widened(a) + dt.widened(b)) if a.dtype.kind == dt.WIDENED else a + b


def merged(a, b):
    """How torch merges two lists of places by comparing their heads: the positions in a + b of the elements, and for
    each that of the one added to it, or -1."""
    places, partner, i, j, n = [], [], 0, 0, len(a)
    while i < n or j < len(b):
        order = -1 if j == len(b) else 1 if i == n else (a[i] > b[j]) - (a[i] < b[j])
        places.append(i if order <= 0 else n + j)
        partner.append(-1 if order else n + j)
        i, j = i + (order <= 0), j + (order >= 0)
    return np.array(places, np.int64), np.array(partner, np.int64)


def product(starts, inner, values, dense):
    """The matrix given by rows (`starts`, the column `inner` of each element, `values`) times `dense` (K, M). The
    products of a row are added one after the other."""
    n, width = len(starts) - 1, dense.shape[1]
    result = np.zeros((n, width), dense.dtype)
    if not len(values) or not width:
        return result
    if inner.min() < 0 or inner.max() >= len(dense):
        raise IndexError("an index of a sparse tensor is out of range")
    counts = np.diff(starts)
    if dense.dtype.char == "e" or dense.dtype.kind == dt.WIDENED:
        return _by_turns(result, starts, counts, inner, values, dense)
    rows = np.flatnonzero(counts)
    products = dense.take(inner, axis=0)
    products *= values[:, None]
    if width == 1:
        result[rows] = np.add.reduceat(products[:, 0], starts[rows])[:, None]
    else:
        result[rows] = np.add.reduceat(products, starts[rows], axis=0)
    return result


def _by_turns(result, starts, counts, inner, values, dense):
    """`product`, the first elements of all rows first: each product and each sum is rounded."""
    order = np.argsort(-counts, kind="stable")
    for k in range(counts.max()):
        rows = order[:np.count_nonzero(counts > k)]
        at = starts[rows] + k
        terms = dt.narrowed(dt.widened(values[at])[:, None] * dt.widened(dense[inner[at]])) \
            if dense.dtype.kind == dt.WIDENED else values[at][:, None] * dense[inner[at]]
        result[rows] = _sum(result[rows], terms)
    return result
