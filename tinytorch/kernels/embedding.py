"""Embedding lookups on ndarrays."""
import math

import numpy as np

from .. import dtypes as dt
from . import native
from .scatter import add_rows, any_outside, owned, slices_added, take_rows
from .sums import norm_of_rows


def lookup(weight, index):
    """The rows weight[index]. IndexError if a row does not exist, RuntimeError if the table has no rows."""
    found = take_rows(weight, index)
    if found is not None:
        return found
    if index.size and any_outside(index, len(weight)):
        if not len(weight):
            raise RuntimeError("index_select(): self indexing axis dim should be positive")
        if not weight.size:                    # torch has another routine, with another message, here
            outside = index[(index < 0) | (index >= len(weight))]
            raise RuntimeError(f"INDICES element is out of DATA bounds, id={outside.flat[0]} axis_dim={len(weight)}")
        raise IndexError("index out of range in self")
    return weight.take(index, axis=0, mode="clip")


def lookup_backward(g, index, count, padding, by_frequency):
    """The sum of the gradients of each row; the row `padding` (-1 for no row) gets zeros. `by_frequency` divides by the
    number of times that the row was looked up."""
    width = g.shape[-1]
    index = index.reshape(-1).astype(np.int64, copy=False)
    g = g.reshape(-1, width) if g.size else g.reshape(index.size, width)
    if by_frequency:
        index = owned(index)
        g = g / np.bincount(dt.as_intp(index), minlength=count)[index].astype(g.dtype)[:, None]
    result = slices_added(None, (count, width), 0, index, g)
    if result is None:
        result = np.zeros((count, width), g.dtype)
        if g.size:
            g = np.ascontiguousarray(g)
            in_c = native.takes("add_rows", g, result)
            add_rows(result, *(index, g) if in_c else _write_first(result, owned(index), g))
    if padding >= 0:
        result[padding] = 0
    return result


def _write_first(result, index, g):
    """Writes the first gradient of each row to `result`, if at most half of the gradients then remain to be added:
    writing a row takes a third of the time of adding to it. Returns (index, gradients) of the remaining ones."""
    n, count = len(index), len(result)
    if n > 2 * count:
        return index, g
    numbers, first = np.arange(n), np.empty(count, np.intp)
    first[index[::-1]] = numbers[::-1]         # for equal indices the last write stays: the first position
    left = np.flatnonzero(first[index] != numbers)
    if 2 * len(left) > n:
        return index, g
    row = np.dtype((np.void, result.strides[0]))
    result.view(row)[index[::-1], 0] = g.view(row)[::-1, 0]
    return index[left], g[left]


def sums_of_bags(rows, bag_of, count):
    """The sum of the rows of each of `count` bags."""
    result = np.zeros((count, rows.shape[1]), rows.dtype)
    if rows.size:
        add_rows(result, bag_of, rows)
    return result


def largest_of_bags(rows, bag_of, count):
    """The largest elements of the rows of each of `count` bags, and the rows that hold them; 0 and -1 for an empty bag.
    The rows come bag after bag. The first of equal elements is taken; a NaN is taken in a first row alone."""
    result = np.zeros((count, rows.shape[1]), rows.dtype)
    found = np.full(result.shape, -1)
    sizes, first = np.bincount(dt.as_intp(bag_of), minlength=count), np.searchsorted(bag_of, np.arange(count))
    for k in range(sizes.max(initial=0)):
        bags = np.flatnonzero(sizes > k)
        at = first[bags] + k
        larger = rows[at] > result[bags] if k else np.ones((len(bags), rows.shape[1]), bool)
        result[bags] = np.where(larger, rows[at], result[bags])
        found[bags] = np.where(larger, at[:, None], found[bags])
    return result, found


def limit_norms(weight, index, max_norm, norm_type):
    """Scales the rows in use whose norm is above `max_norm` down to it, in place."""
    rows = np.unique(index)
    if rows.size and (rows[0] < 0 or rows[-1] >= len(weight)):
        raise IndexError("index out of range in self")
    half, single = weight.itemsize == 2, np.dtype(np.float32)
    values = dt.cast(weight[rows], single) if half else weight[rows]

    def rounded(x):                            # torch rounds this to the dtype of the rows
        return dt.cast(dt.cast(x, weight.dtype), single) if half else x.astype(values.real.dtype)
    norms = rounded(_norms(values, norm_type)).astype(np.float64)
    long = norms > max_norm
    scales = rounded(max_norm / (norms[long] + 1e-7))
    weight[rows[long]] = dt.cast(values[long] * scales[:, None], weight.dtype)


def _norms(rows, p):
    if p == 2 and rows.dtype == np.float32:
        return norm_of_rows(rows)
    sizes = np.abs(rows)
    if math.isinf(p):
        return sizes.max(1) if p > 0 else sizes.min(1)
    return (sizes != 0).sum(1).astype(sizes.dtype) if p == 0 else (sizes ** p).sum(1) ** (1 / p)
