"""Reads and writes at the places of an index: routines for indexing, gather and scatter, and their gradients."""
from functools import lru_cache
from math import prod

import numpy as np

from .. import dtypes as dt
from . import native
from .threads import number

#: The number of ranges of rows into which the result is divided; each range reads the whole index.
_PARTS, _INT64, _FLOAT = 4, np.dtype(np.int64), np.dtype(np.float32)
#: From _MANY elements on two threads copy or check faster than NumPy; rows of _LONG elements one thread copies faster.
_MANY, _LONG = 1 << 16, 4096


_UNSIGNED = {8: np.dtype(np.uint64), 4: np.dtype(np.uint32)}


def owned(index):
    """An advanced index (a tuple or one array) with copies of its arrays. NumPy's indexing first checks the numbers of
    an index, and then reads them again, so that no other thread may write to them meanwhile. (`take` uses the numbers
    that it has checked.)"""
    if index.__class__ is tuple:
        return tuple([owned(i) if isinstance(i, np.ndarray) else i for i in index])
    return index.copy("K")                     # the index decides the memory order of the result


def add_rows(result, index, g):
    """result[index] += g for matrices, where rows may repeat. `result` and `g` are C-contiguous."""
    width = result.shape[1]
    if type(result) is np.ndarray and native.done("add_rows", *_slices(result.shape, 0, index.shape, g.shape), g, index,
                                                  result, result):
        return
    if width % 2 == 0 and g.dtype.char in "fd":
        # Two numbers at a time: the addition of complex numbers is the same.
        pair = np.dtype(f"c{2 * g.itemsize}")
        g, result, width = g.view(pair), result.view(pair), width // 2
    # One flat index is several times as fast as adding rows.
    add_flat(result, (index * width)[:, None] + np.arange(width), g)


@lru_cache(1024)
def _slices(shape, dim, places, values):
    """(outer, count, width, n, grain): the sizes for the kernel that adds arrays of shape `values` to the slices
    `places` of dimension `dim`. None if the shapes do not fit."""
    if dim >= len(shape) or values != shape[:dim] + places + shape[dim + 1:]:
        return None
    outer, parts = prod(shape[:dim]), min(_PARTS, 1 + (prod(values) >> 14))
    return outer, shape[dim], prod(shape[dim + 1:]), prod(places), max(1, -(-outer * shape[dim] // parts))


def slices_added(base, shape, dim, index, values):
    """`base`, or zeros of `shape` if it is None, with `values` added to the slices `index` of dimension `dim`. None
    where C does not take the arrays."""
    if values.dtype != _FLOAT or (sizes := _slices(shape, dim, index.shape, values.shape)) is None:
        return None
    try:
        return native.made("add_rows", shape, *sizes, values, index, base)
    except IndexError:                         # an index from the end
        return None


def added_at(shape, index, values):
    """Zeros of `shape` with `values` added at an advanced index. None where C does not take the arrays."""
    last = index[-1]
    if len(index) == 1 or all([i.__class__ is slice for i in index[:-1]]):
        return slices_added(None, shape, len(index) - 1, last, values)
    if not _are_pairs(shape, index) or values.shape != last.shape:
        return None
    try:
        return native.made("add_pairs", shape, *shape, last.size, values, *index)
    except IndexError:
        return None


def picked_at(array, index):
    """array[index] for the rows and columns of elements of a matrix. None where C does not take the arrays."""
    if not _are_pairs(array.shape, index):
        return None
    try:
        return native.made("take_pairs", index[0].shape, *array.shape, index[0].size, array, *index)
    except IndexError:
        return None


def _are_pairs(shape, index):
    return len(index) == len(shape) == 2 and index[0].__class__ is np.ndarray and index[0].shape == index[1].shape


def add_at(array, index, values, wide=False):
    """array[index] += values in place, where a place that occurs twice in `index` is added to twice.

    `array` must be C-contiguous. One flat index for all is much faster than one per dimension. `wide`: see `add_flat`.
    """
    last = index[-1]
    if array.dtype == _FLOAT and last.__class__ is values.__class__ is np.ndarray and last.dtype == _INT64 and all(
            [i.__class__ is slice for i in index[:-1]]):
        sizes = _slices(array.shape, len(index) - 1, last.shape, values.shape)
        try:
            if sizes is not None and native.done("add_rows", *sizes, values, last, array, array):
                return
        except IndexError:                     # an index from the end: nothing has been added
            pass
    add_flat(array, positions(array.shape, index), values, wide)


def add_flat(array, places, values, wide=False):
    """array.flat[places] += values in place, repeated places included. `array` must be C-contiguous.

    `wide`: sums of half precision are computed in float32 and rounded once.
    """
    combine_flat(array, places, values, np.add, wide)


def combine_flat(array, places, values, ufunc, wide=False):
    """`add_flat` with another ufunc of two operands."""
    if not isinstance(values, np.ndarray) or values.shape != places.shape:
        values = np.broadcast_to(values, places.shape)
    values = values.reshape(-1)
    flat, places = array.reshape(-1), places.reshape(-1)
    kind = array.dtype.kind
    if array.itemsize != 2 and kind not in dt.WIDENED or kind not in dt.FLOATING:
        ufunc.at(flat, places, values)
    elif wide and array.itemsize == 2:
        sums = dt.cast(flat, np.dtype(np.float32))
        ufunc.at(sums, places, dt.cast(values, sums.dtype))
        flat[...] = dt.cast(sums, array.dtype)
    elif kind in dt.NATIVE:
        ufunc.at(flat, places, values)
    else:
        for turn in _turns(places):            # each place once, so that every addition is rounded
            at = places[turn]
            flat[at] = dt.stored(ufunc(dt.numbers(flat[at]), dt.numbers(values[turn])), array.dtype)


def _turns(places):
    """The numbers 0 .. places.size - 1 in groups: the first occurrences of all places, the second ones, and so on."""
    order = places.argsort(kind="stable")
    new = np.append(True, places[order[1:]] != places[order[:-1]])[:places.size]
    start = new.nonzero()[0]
    turn = np.arange(places.size) - np.repeat(start, np.diff(np.append(start, places.size)))
    return np.split(order[turn.argsort(kind="stable")], np.bincount(turn).cumsum()[:-1])


def positions(shape, index):
    """The flat positions of the elements array[index] in a C-contiguous array of `shape`."""
    if len(index) == 1 and index[0].dtype != bool:
        rows, block = index[0], prod(shape[1:])
        if block == 1:
            flat = np.where(rows < 0, rows + shape[0], rows)
            return flat.reshape(rows.shape + shape[1:])
        first = np.where(rows < 0, rows + shape[0], rows).astype(np.intp, copy=False) * block
        return (first[..., None] + np.arange(block)).reshape(rows.shape + shape[1:])
    if len(index) == len(shape) and all([i.__class__ is np.ndarray and i.dtype != bool for i in index]):
        flat = 0
        for i, n in zip(index, shape):
            flat = flat * n + np.where(i < 0, i + n, i)
        return flat
    return np.arange(int(np.prod(shape))).reshape(shape)[owned(index)]


def along(shape, dim, index):
    """The flat positions that gather(dim, index) reads in a C-contiguous array of `shape`."""
    if not shape or not index.size:
        return np.zeros(index.shape, np.intp)
    step, firsts = _firsts(shape, dim, index.shape)
    places = index.astype(np.intp, copy=False)
    if step != 1 or not firsts:
        places = places * step                 # a copy, to which no other thread writes
    for first in firsts:
        places = places + first
    return places


@lru_cache(256)
def _firsts(shape, dim, places):
    """(the distance of the elements along `dim`, arrays whose sum is the position of the first of these elements for
    each place of an index of shape `places`): one array if it is small, else one for each dimension."""
    firsts = []
    for i, n in enumerate(places):
        if i != dim and n > 1:
            firsts.append((np.arange(n) * prod(shape[i + 1:])).reshape((-1,) + (1,) * (len(places) - 1 - i)))
    if len(firsts) > 1 and prod(places) < _MANY >> 4:
        firsts = [sum(firsts)]
    return prod(shape[dim + 1:]), firsts


def picked(array, index, dim):
    """np.take_along_axis for an index in range that has the shape of the array, except along `dim`."""
    if type(array) is np.ndarray and type(index) is np.ndarray and index.size:
        sizes = _sizes_along(array.shape, dim, index.shape)
        if sizes is not None and (result := native.made("gather", index.shape, *sizes, array, index)) is not None:
            return result
        if index.size < native.LEAST:
            return array.reshape(-1).take(along(array.shape, dim, index))
    return np.take_along_axis(array, index, dim)


def in_last_place(array, dim):
    """np.moveaxis(array, dim, -1), which takes longer than to sort a few numbers."""
    return array if dim == array.ndim - 1 else np.moveaxis(array, dim, -1)


def in_its_place(array, dim):
    """The opposite: np.moveaxis(array, -1, dim)."""
    return array if dim == array.ndim - 1 else np.moveaxis(array, -1, dim)


@lru_cache(256)
def _sizes_along(shape, dim, places):
    """(outer, n, m, inner) if an array of `shape` is (outer, n, inner) for an index of shape `places`, (outer, m,
    inner); else None."""
    if not shape or len(places) != len(shape) or shape[:dim] != places[:dim] or shape[dim + 1:] != places[dim + 1:]:
        return None
    return prod(shape[:dim]), shape[dim], places[dim], prod(shape[dim + 1:])


def gathered(array, dim, index):
    """The result of `gather` in C, which looks at the index itself: IndexError if it is out of range. None where C does
    not take the arrays."""
    if type(array) is not np.ndarray or (sizes := _sizes_along(array.shape, dim, index.shape)) is None:
        return None
    if index.dtype != _INT64 or not index.flags.c_contiguous:
        index = np.ascontiguousarray(index, _INT64)
    return native.made("gather", index.shape, *sizes, array, index)


def gather(array, dim, index):
    """result[i][j] = array[index[i][j]][j] for dim 0, and so on. `index` is not empty, and in range."""
    result = gathered(array, dim, index)
    if result is not None:
        return result
    return array.reshape(-1).take(along(array.shape, dim, index))


def add_along(array, dim, index, values, wide=False):
    """array[index[i][j]][j] += values[i][j] in place for dim 0, and so on, as in `gather`. `wide`: see `add_flat`."""
    if type(array) is np.ndarray and values.shape == index.shape:
        sizes = _sizes_along(array.shape, dim, index.shape)
        if sizes is not None and native.done("add_along", *sizes, np.ascontiguousarray(values),
                                             np.ascontiguousarray(index, _INT64), array, array):
            return
    add_flat(array, along(array.shape, dim, index), values, wide)


def added_along(base, shape, dim, index, values):
    """`base`, or zeros of `shape` if it is None, with `values` added as in `add_along`. None where C does not take the
    arrays."""
    if values.dtype != _FLOAT or values.shape != index.shape or (
            sizes := _sizes_along(shape, dim, index.shape)) is None:
        return None
    return native.made("add_along", shape, *sizes, np.ascontiguousarray(values), np.ascontiguousarray(index, _INT64),
                       base)


def set_along(base, shape, dim, index, values):
    """`base`, or zeros of `shape` if it is None, with `values`, an array or a number, written to the places of
    `gather`: of several with the same place the last one stays. None where C does not take the arrays."""
    array = values if isinstance(values, np.ndarray) and values.ndim else None
    if (base if array is None else array).dtype != _FLOAT or array is not None and array.shape != index.shape or (
            sizes := _sizes_along(shape, dim, index.shape)) is None:
        return None
    index = np.ascontiguousarray(index, _INT64)
    if array is None:
        return native.made("set_along", shape, *sizes, float(values), index, None, base)
    return native.made("set_along", shape, *sizes, 0.0, index, np.ascontiguousarray(array), base)


def take_rows(array, index):
    """The rows array[index] if C is faster than NumPy, else None. IndexError if a row does not exist."""
    width = prod(array.shape[1:])
    if index.size * width < _MANY or number() < 2 and width < _LONG:
        return None
    return native.made("take_rows", index.shape + array.shape[1:], len(array), width, index.size, array, index)


def any_outside(index, n):
    """Whether one of the integers is not in range(n)."""
    size = index.size
    if 0 < size < native.LEAST or size >= _MANY and number() > 1:
        try:
            if native.done("in_range", size, n, index):
                return False
        except IndexError:
            return True
    # As an unsigned number a negative one is large.
    if not size:
        return False
    index = index.view(_UNSIGNED[index.itemsize])
    return (np.maximum.reduce(index, None) if type(index) is np.ndarray else index.max()) >= n
