"""Routines on ndarrays that sparse tensors are computed with."""
import numpy as np

from .. import dtypes as dt
from ..kernels.scatter import add_flat, add_rows


def flat_places(indices, shape):
    """The flat numbers of the places `indices` (S, N) in an array of `shape`."""
    keys = np.zeros(indices.shape[1], np.int64)
    for row, n in zip(indices, shape):
        keys = keys * n + row
    return keys


def stable_order(numbers, n):
    """The stable order of `numbers` from 0 to n - 1. NumPy sorts numbers of 16 bits by their digits, in a tenth of the
    time that wider numbers take, so the order is found 16 bits at a time."""
    order = None
    for shift in range(0, max(int(n - 1).bit_length(), 1), 16):
        digits = (numbers >> shift & 0xffff).astype(np.uint16)
        turn = np.argsort(digits if order is None else digits[order], kind="stable")
        order = turn if order is None else order[turn]
    return order


def row_starts(rows, n):
    """The positions (n + 1) where each of `n` rows begins, given the sorted rows of the elements."""
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(dt.as_intp(rows), minlength=n), out=starts[1:])
    return starts


def add_places(array, places, values):
    """array[places] += values, where places may repeat and the elements may be arrays."""
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
    """The sums of values[starts[i]:starts[i + 1]]; no segment is empty. In half precision each addition is rounded."""
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


def merge_order(a, b):
    """(places, partner): the merge of two lists of places, made as torch makes it by comparing the heads. `places`: the
    positions in a + b of the merged elements. `partner`: for each, the position of the element added to it, or -1."""
    places, partner, i, j, n = [], [], 0, 0, len(a)
    while i < n or j < len(b):
        if j == len(b):
            order = -1
        else:
            order = 1 if i == n else (a[i] > b[j]) - (a[i] < b[j])
        places.append(i if order <= 0 else n + j)
        partner.append(-1 if order else n + j)
        i, j = i + (order <= 0), j + (order >= 0)
    return np.array(places, np.int64), np.array(partner, np.int64)


#: Largest number of terms (elements times the width of a row) for which a single pass over all terms is quickest.
FEW = 1 << 13
#: From this number of elements in a row on, a BLAS product of vector and matrix is quicker than adding row by row.
LONG = 32
#: How many numbers of the result are added to together, so that they stay in the cache.
BLOCK = 1 << 16


def product(starts, inner, values, dense):
    """The product of a matrix in compressed rows (`starts`, the column `inner` of each element, `values`) and `dense`
    (K, M)."""
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
    """Computes rows of many elements by BLAS, rows of equal length together: the values (a vector) times the rows of
    `dense` that they pick."""
    lengths, first = np.unique(-counts[order], return_index=True)
    for length, begin, end in zip(-lengths, first, np.append(first[1:], len(order))):
        step = max(1, 2 * BLOCK // (length * dense.shape[1]))
        for i in range(begin, end, step):
            rows = order[i:min(i + step, end)]
            at = starts[rows][:, None] + np.arange(length)
            result[rows] = np.matmul(values[at][:, None], dense.take(inner[at], axis=0))[:, 0]


def _short_rows(rows, starts, counts, inner, values, dense):
    """Computes rows of similar lengths, sorted by falling length: the first element of every row, then the second, and
    so on. In half precision each product and each sum is rounded."""
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
