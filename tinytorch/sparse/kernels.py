"""What sparse tensors are computed by, on ndarrays."""
import numpy as np

from .. import dtypes as dt
from ..kernels.scatter import add_flat, add_rows


def flat_places(indices, shape):
    """The places that `indices` (S, N) name in an array of `shape`, as flat numbers."""
    keys = np.zeros(indices.shape[1], np.int64)
    for row, n in zip(indices, shape):
        keys = keys * n + row
    return keys


def sorting(numbers, n):
    """The stable order of `numbers` from 0 to n - 1. NumPy sorts those of 16 bits by their digits, in a tenth of the
    time that others take."""
    order = None
    for shift in range(0, max(int(n - 1).bit_length(), 1), 16):
        digits = (numbers >> shift & 0xffff).astype(np.uint16)
        turn = np.argsort(digits if order is None else digits[order], kind="stable")
        order = turn if order is None else order[turn]
    return order


def row_starts(rows, n):
    """Where each of `n` rows begins, given the sorted rows of the elements: n + 1 numbers."""
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(dt.as_intp(rows), minlength=n), out=starts[1:])
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


#: Products of elements and rows, numbers in all, up to which one pass over them is quickest.
FEW = 1 << 13
#: Elements of a row from which on a BLAS product of vector and matrix is quicker than adding row by row.
LONG = 32
#: Numbers of the rows that are added to together: what stays in the cache.
BLOCK = 1 << 16


def product(starts, inner, values, dense):
    """The matrix given by rows (`starts`, the column `inner` of each element, `values`) times `dense` (K, M)."""
    n, width = len(starts) - 1, dense.shape[1]
    result = np.zeros((n, width), dense.dtype)
    if not len(values) or not width:
        return result
    if inner.min() < 0 or inner.max() >= len(dense):
        raise IndexError("an index of a sparse tensor is out of range")
    counts = np.diff(starts)
    half = dense.dtype.char == "e" or dense.dtype.kind == dt.WIDENED
    if not half and (width == 1 or len(values) * width <= FEW):
        rows = np.flatnonzero(counts)
        terms = dense.take(inner, axis=0) * values[:, None]
        terms, at = (terms[:, 0], (rows, 0)) if width == 1 else (terms, rows)
        result[at] = np.add.reduceat(terms, dt.as_intp(starts[rows]), axis=0, dtype=dense.dtype)
        return result
    order = np.argsort(-counts, kind="stable")
    long = np.count_nonzero(counts >= LONG) if dense.dtype.kind in dt.NATIVE + dt.COMPLEX and not half else 0
    _long_rows(result, order[:long], starts, counts, inner, values, dense)
    block = max(16, BLOCK // width)
    for i in range(long, np.count_nonzero(counts), block):
        rows = order[i:i + block]
        result[rows] = _short_rows(rows, starts, counts, inner, values, dense)
    return result


def _long_rows(result, order, starts, counts, inner, values, dense):
    """Rows of many elements: those of equal number by BLAS, a vector of values times the rows that they pick."""
    lengths, first = np.unique(-counts[order], return_index=True)
    for length, begin, end in zip(-lengths, first, np.append(first[1:], len(order))):
        step = max(1, 2 * BLOCK // (length * dense.shape[1]))
        for i in range(begin, end, step):
            rows = order[i:min(i + step, end)]
            at = starts[rows][:, None] + np.arange(length)
            result[rows] = np.matmul(values[at][:, None], dense.take(inner[at], axis=0))[:, 0]


def _short_rows(rows, starts, counts, inner, values, dense):
    """Rows of about as many elements each, most first: the first elements of all of them, then the second ones. In half
    precision each product and each sum is rounded."""
    counts, first = counts[rows], starts[rows]
    result = np.zeros((len(rows), dense.shape[1]), dense.dtype)
    for k in range(counts[0]):
        m = len(rows) if k < counts[-1] else np.count_nonzero(counts > k)
        at = first[:m] + k
        terms = dense.take(inner[at], axis=0)
        if dense.dtype.kind == dt.WIDENED:
            terms = dt.narrowed(dt.widened(terms) * dt.widened(values[at])[:, None])
            result[:m] = _sum(result[:m], terms)
        else:
            terms *= values[at][:, None]
            result[:m] += terms
    return result
