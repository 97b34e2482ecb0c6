"""Sorting that leaves equal elements in the order in which the C++ standard library leaves them.

torch sorts by std::sort, std::nth_element and std::partial_sort, which are not stable: the order of equal elements
follows from the steps of the algorithm. The functions here take the steps of libstdc++, and compare keys by `<` alone.
Steps that do not depend on each other (those on the parts that a partition leaves) are taken at once.
"""
from __future__ import annotations

import numpy as np

from .. import dtypes as dt
from . import native

_SHORT = 16                                    # shorter parts are left to the final insertion sort


def rising(array, descending=False):
    """Integers whose increasing order is that of `array`, or its reverse if `descending`. All NaN are equal, and the
    largest."""
    if array.dtype.kind == "f":
        bits = (array + array.dtype.type(0)).view(f"i{array.itemsize}")              # + 0 turns -0 into 0
        most = (1 << 8 * array.itemsize - 1) - 1
        array = np.where(np.isnan(array), most, np.where(bits < 0, bits ^ most, bits))
    return ~array if descending else array


def sort(keys):
    """std::sort of each row of the 2-D `keys`: the positions in increasing order of their keys."""
    rows, n = keys.shape
    if n <= _SHORT:
        return np.argsort(keys, axis=-1, kind="stable")
    flat = np.array(keys, order="C").reshape(-1)
    order = np.tile(np.arange(n), rows)
    starts = np.arange(0, rows * n, n)
    ends, depth = starts + n, 2 * (n.bit_length() - 1)
    while starts.size:
        if not depth:
            for start, end in zip(starts.tolist(), ends.tolist()):
                part = slice(start, end)
                found = np.array(_partially_sorted(flat[part].tolist(), end - start))
                flat[part], order[part] = flat[part][found], order[part][found]
            break
        depth -= 1
        cuts = _partition(flat, order, starts, ends)
        starts, ends = np.concatenate((starts, cuts)), np.concatenate((cuts, ends))
        long = ends - starts > _SHORT
        starts, ends = np.sort(starts[long]), np.sort(ends[long])
    last = np.argsort(flat.reshape(rows, n), axis=-1, kind="stable")
    return np.take_along_axis(order.reshape(rows, n), last, -1)


def _partition(keys, order, starts, ends):
    """Partitions each of the ranges [start, end) of `keys` and `order` in place, by the median of three of its
    elements, which moves to its start. Returns the starts of the upper parts."""
    _median_first(keys, order, starts, ends)
    lengths = ends - starts - 1
    firsts = np.cumsum(lengths) - lengths      # the start of each range in the array of all but the pivots
    part = np.repeat(np.arange(starts.size), dt.as_intp(lengths))
    place = np.arange(part.size) + (starts + 1 - firsts)[part]
    values, pivots = keys[place], keys[starts][part]
    # The search from below finds elements that are not less than the pivot, the search from above those that are not
    # greater. The k-th ones of both are swapped until the searches meet.
    up, down = np.flatnonzero(~(values < pivots)), np.flatnonzero(~(pivots < values))
    ups, downs = (np.bincount(part[found], minlength=starts.size) for found in (up, down))
    up_first, down_last = np.cumsum(ups) - ups, np.cumsum(downs) - 1
    owner = part[up]
    rank = np.arange(up.size) - up_first[owner]
    opposite = down[np.maximum(down_last[owner] - rank, 0)]
    swap = (rank < downs[owner]) & (up < opposite)
    low, high = place[up[swap]], place[opposite[swap]]
    keys[low], keys[high] = keys[high], keys[low]
    order[low], order[high] = order[high], order[low]
    swaps = np.bincount(owner[swap], minlength=starts.size)
    # The search from below ends at the next element that it finds, or at the last one that was moved up.
    next_up = np.where(swaps < ups, up[np.minimum(up_first + swaps, up.size - 1)], keys.size)
    last_down = np.where(swaps > 0, down[down_last + 1 - np.maximum(swaps, 1)], keys.size)
    return starts + 1 - firsts + np.minimum(next_up, last_down)


def _median_first(keys, order, starts, ends):
    second, middle, last = starts + 1, starts + (ends - starts) // 2, ends - 1
    a, b, c = keys[second], keys[middle], keys[last]
    at = np.where(a < b, np.where(b < c, middle, np.where(a < c, last, second)),
                  np.where(a < c, second, np.where(b < c, last, middle)))
    for array in (keys, order):
        array[starts], array[at] = array[at], array[starts]


def nth_element(keys, nth):
    """std::nth_element of each row of the 2-D `keys`: positions, with those of smaller keys before that of rank
    `nth`."""
    rows, n = keys.shape
    flat, order = np.array(keys, order="C").reshape(-1), np.tile(np.arange(n), rows)
    starts = np.arange(0, rows * n, n)
    ends, at, depth = starts + n, starts + nth, 2 * (n.bit_length() - 1)
    while True:
        long = ends - starts > 3
        for start, end in zip(starts[~long].tolist(), ends[~long].tolist()):
            order[start:end] = order[start:end][np.argsort(flat[start:end], kind="stable")]
        starts, ends, at = starts[long], ends[long], at[long]
        if not starts.size:
            return order.reshape(rows, n)
        if not depth:
            for start, end, place in zip(starts.tolist(), ends.tolist(), at.tolist()):
                found = np.array(_heap_selected(flat[start:end].tolist(), place + 1 - start)[1])
                found[[0, place - start]] = found[[place - start, 0]]
                order[start:end] = order[start:end][found]
            return order.reshape(rows, n)
        depth -= 1
        cuts = _partition(flat, order, starts, ends)
        above = cuts <= at
        starts, ends = np.where(above, cuts, starts), np.where(above, ends, cuts)


def top(keys, k, ordered):
    """The positions of the `k` smallest keys in each row of the 2-D `keys`, in the order of torch.topk: by key if
    `ordered`, else as the algorithm leaves them."""
    if k * 64 <= keys.shape[1]:
        return np.array([_partially_sorted(row, k)[:k] for row in keys.tolist()])
    found = nth_element(keys, k - 1)[:, :k]
    if ordered and k > 2:
        first = found[:, :-1]
        found[:, :-1] = np.take_along_axis(first, sort(np.take_along_axis(keys, first, 1)), 1)
    return found


def first_of(array, k, largest, ordered):
    """The positions of the `k` smallest or largest elements in each row of a 2-D array, as `top` finds them."""
    found = first_along(array, k, 1, largest, ordered)
    return top(rising(array, largest), k, ordered) if found is None else found


def first_along(array, k, dim, largest, ordered):
    """The positions of the `k` smallest or largest elements along `dim`. None where C does not look for them."""
    if dim < array.ndim - 1:
        return _turned(lambda rows, last: first_along(rows, k, last, largest, ordered), array, dim)
    *before, width = array.shape
    if width >> 31:
        return None
    return native.made("top", (*before, k), array.size // width, width, k, largest, ordered, array)


def ranked(array, k, dim, middle=False):
    """The positions (of size 1 along `dim`) of the elements of rank `k` along `dim`: as `quick_select` finds them or,
    for the median (`middle`), those that a stable sort puts there, or the first NaN. None where C does not look for
    them."""
    if dim < array.ndim - 1:
        return _turned(lambda rows, last: ranked(rows, k, last, middle), array, dim)
    *before, width = array.shape
    if width >> 31:
        return None
    return native.made("ranked", (*before, 1), array.size // width, width, k, middle, array)


def _turned(find, array, dim):
    """find(array, dim) by rows along `dim`."""
    if type(array) is not np.ndarray or array.dtype.char != "f":
        return None
    found = find(np.ascontiguousarray(np.moveaxis(array, dim, -1)), array.ndim - 1)
    return None if found is None else np.ascontiguousarray(np.moveaxis(found, -1, dim))


def sorted_along(array, dim):
    """The positions that sort along `dim`, in a stable order with NaN as the largest. None where C does not look for
    them."""
    if dim < array.ndim - 1:
        return _turned(sorted_along, array, dim)
    width = array.shape[-1]
    if width >> 31:
        return None
    return native.made("sorted_places", array.shape, array.size // (width or 1), width, array)


def searched(sequence, values, right):
    """The places in a sorted sequence before which the values belong, as np.searchsorted finds them. None where C does
    not look for them."""
    return native.made("searched", values.shape, values.size, sequence.size, right, values, sequence)


def quick_select(keys, k):
    """The position at which torch.kthvalue finds the key of rank `k` in a list, by torch's own partition."""
    keys, order = list(keys), list(range(len(keys)))

    def swap(i, j):
        keys[i], keys[j] = keys[j], keys[i]
        order[i], order[j] = order[j], order[i]

    low, high = 0, len(keys) - 1
    while high > low + 1:
        swap(low + (high - low) // 2, low + 1)
        for small, large in ((low + 1, high), (low, high), (low + 1, low)):
            if keys[small] > keys[large]:
                swap(small, large)
        i, j, pivot = low + 1, high, keys[low]
        while True:
            i, j = i + 1, j - 1
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if j < i:
                break
            swap(i, j)
        swap(low, j)
        if j <= k:
            low = i
        if j >= k:
            high = j - 1
    if high == low + 1 and keys[low] > keys[high]:
        swap(low, high)
    return order[k]


# ------------------------------------------------------------------ heaps
def _partially_sorted(keys, middle):
    """std::partial_sort of a list: its positions, the `middle` smallest sorted at the front."""
    keys, order = _heap_selected(keys, middle)
    for last in range(middle - 1, 0, -1):
        _pop_heap(keys, order, last, last)
    return order


def _heap_selected(keys, middle):
    order = list(range(len(keys)))
    for parent in range((middle - 2) // 2, -1, -1):
        _adjust_heap(keys, order, parent, middle, keys[parent], order[parent])
    for i in range(middle, len(keys)):
        if keys[i] < keys[0]:
            _pop_heap(keys, order, middle, i)
    return keys, order


def _pop_heap(keys, order, length, result):
    key, position = keys[result], order[result]
    keys[result], order[result] = keys[0], order[0]
    _adjust_heap(keys, order, 0, length, key, position)


def _adjust_heap(keys, order, hole, length, key, position):
    top = child = hole
    while child < (length - 1) // 2:
        child = 2 * (child + 1)
        if keys[child] < keys[child - 1]:
            child -= 1
        keys[hole], order[hole] = keys[child], order[child]
        hole = child
    if not length & 1 and child == (length - 2) // 2:
        child = 2 * child + 1
        keys[hole], order[hole] = keys[child], order[child]
        hole = child
    while hole > top and keys[(hole - 1) // 2] < key:
        parent = (hole - 1) // 2
        keys[hole], order[hole] = keys[parent], order[parent]
        hole = parent
    keys[hole], order[hole] = key, position
