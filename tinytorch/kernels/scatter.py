"""Writes to repeated places: ndarray routines behind indexing, scatter and their gradients."""
import numpy as np

from .. import dtypes as dt


def add_at(array, index, values):
    """array[index] += values in place, where a place that `index` names twice is added to twice.

    `array` must be C-contiguous. One flat index for all is much faster than one per dimension.
    """
    add_flat(array, positions(array.shape, index), values)


def add_flat(array, places, values):
    """array.flat[places] += values in place, repeated places included. `array` must be C-contiguous."""
    values = np.broadcast_to(values, places.shape).reshape(-1)
    if array.dtype == dt.BFLOAT16:
        wide = dt.from_bfloat16(array)
        add_flat(wide, places.reshape(-1), dt.from_bfloat16(values))
        array[...] = dt.to_bfloat16(wide)
    elif array.dtype == bool:
        np.logical_or.at(array.reshape(-1), places.reshape(-1), values)
    else:
        np.add.at(array.reshape(-1), places.reshape(-1), values)


def positions(shape, index):
    """Which elements array[index] picks from a C-contiguous array of `shape`, as flat numbers."""
    if len(index) == 1 and index[0].dtype != bool:
        rows, block = index[0], int(np.prod(shape[1:]))
        if block == 1:
            flat = np.where(rows < 0, rows + shape[0], rows) if rows.size and rows.min() < 0 else rows
            return flat.reshape(rows.shape + shape[1:])
        first = np.where(rows < 0, rows + shape[0], rows).astype(np.intp, copy=False) * block
        return (first[..., None] + np.arange(block)).reshape(rows.shape + shape[1:])
    return np.arange(int(np.prod(shape))).reshape(shape)[index]


def along(shape, dim, index):
    """The flat places that gather(dim, index) reads from a C-contiguous array of `shape`."""
    steps = [1] * len(shape)
    for i in range(len(shape) - 1, 0, -1):
        steps[i - 1] = steps[i] * shape[i]
    places = index.astype(np.intp, copy=False) * steps[dim]
    for i, n in enumerate(index.shape):
        if i != dim and n > 1:
            places = places + (np.arange(n) * steps[i]).reshape((-1,) + (1,) * (index.ndim - 1 - i))
    return places
