"""Copies of large arrays from one layout to another, and concatenation."""
from functools import lru_cache
from math import prod

import numpy as np

from . import native
from .linalg.products import laid_apart
from .threads import number

_FLOAT = np.dtype(np.float32)
#: _FEW: from so many elements on C copies faster than NumPy, if the runs are transposed or shorter than _SHORT
#: elements. _MANY: from so many elements on C copies other arrays faster, if there are several threads.
_FEW, _SHORT, _MANY = max(4096, native.LEAST), 64, max(1 << 18, native.LEAST)
#: Whether reshape takes copy=False, which raises instead of copying: from NumPy 2.1 on.
_ASKS = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


def copied(x):
    """A copy of an array without gaps, in its memory order."""
    if x.nbytes < native.LEAST_OF["copy_bytes"] or type(x) is not np.ndarray:
        return x.copy("K")
    if x.dtype == _FLOAT and x.flags.c_contiguous:             # once, with fewer calls
        made = native.made("repeat_rows", x.shape, 1, x.size, 1, x)
        if made is not None:
            return made
    result = np.empty_like(x)
    native.run("copy_bytes", x.nbytes, _bytes_of(x), _bytes_of(result))
    return result


def write(target, x):
    """Writes an array into another one of its shape and dtype, which lies apart from it."""
    if x.nbytes >= native.LEAST_OF["copy_bytes"] and type(x) is type(target) is np.ndarray and (
            x.flags.c_contiguous and target.flags.c_contiguous):
        if x.dtype != _FLOAT or not native.done("repeat_rows", 1, x.size, 1, x, target):
            native.run("copy_bytes", x.nbytes, _bytes_of(x), _bytes_of(target))
    else:
        np.copyto(target, x)


def _bytes_of(x):
    return x.ravel("K").view(bool)


def in_rows(x):
    """A copy in C order."""
    if x.flags.c_contiguous:
        return copied(x)
    if x.dtype == _FLOAT and 0 in x.strides and x.size and type(x) is np.ndarray:
        runs = _runs(x.shape, x.strides)
        if runs is not None and (made := native.made("repeat_rows", x.shape, *runs[:3], x[runs[3]])) is not None:
            return made
    if x.size < _FEW or x.shape[-1] >= _SHORT and x.strides[-1] == 4 and (x.size < _MANY or number() == 1):
        return x.copy("C")
    found = _matrices(x, x.shape, ())
    if found is None:
        return x.copy("C")
    result = np.empty(x.shape, _FLOAT)
    _place(*found, 0, 0, result)
    return result


@lru_cache(1024)
def _runs(shape, strides):
    """(rows, width, times, the index of one of the repeated parts) of an array whose expanded dimensions are
    neighbours. None for another array."""
    expanded = [i for i, (n, step) in enumerate(zip(shape, strides)) if n != 1 and not step]
    if not expanded:
        return None
    first, end = expanded[0], expanded[-1] + 1
    if any([strides[i] for i in range(first, end) if shape[i] != 1]):
        return None
    return prod(shape[:first]), prod(shape[end:]), prod(shape[first:end]), (
        *(slice(None),) * first, *(0,) * (end - first), ...)


def repeated(x, dim, times):
    """np.repeat for a number, with the copies along a dimension of their own behind `dim`. None where C does not take
    the array."""
    shape = x.shape
    if x.dtype != _FLOAT:
        return None
    return native.made("repeat_rows", (*shape[:dim + 1], times, *shape[dim + 1:]), prod(shape[:dim + 1]),
                       prod(shape[dim + 1:]), times, x)


def tiled(x, repeats):
    """np.tile in C order. `repeats` has a number for each dimension of the result."""
    if type(x) is not np.ndarray or x.size < native.LEAST:
        return np.asarray(np.tile(x, repeats), order="C")
    shape = (1,) * (len(repeats) - x.ndim) + x.shape
    result = tuple([k * n for k, n in zip(repeats, shape)])
    along = [d for d, k in enumerate(repeats) if k != 1]
    if len(along) == 1 and x.dtype == _FLOAT:
        dim, = along
        made = native.made("repeat_rows", result, prod(shape[:dim]), prod(shape[dim:]), repeats[dim], x)
        if made is not None:
            return made
    spread = np.broadcast_to(x.reshape([n for size in shape for n in (1, size)]),
                             [n for pair in zip(repeats, shape) for n in pair])
    return in_rows(spread).reshape(result)


def beside(x, y, dim, new=False):
    """The concatenation of two arrays along `dim` or, if that is `new`, their stack. None where C does not take the
    arrays."""
    if x.dtype != _FLOAT or (sizes := _sizes_beside(x.shape, y.shape, dim, new)) is None:
        return None
    return native.made("beside", *sizes, x, y)


@lru_cache(1024)
def _sizes_beside(first, second, dim, new):
    """The arguments of the kernel `beside` before its arrays, None for shapes that do not fit."""
    before, after = first[:dim], first[dim + 1 - new:]
    if len(first) != len(second) or second[:dim] != before or second[dim + 1 - new:] != after:
        return None
    length = 2 if new else first[dim] + second[dim]
    return (*before, length, *after), prod(before), prod(first[dim:]), prod(second[dim:])


def viewable(array, size):
    """Whether `array` can be seen in the shape `size`, which has as many elements, without a copy."""
    try:
        if array.flags.c_contiguous:
            return True
        if not _ASKS or type(array) is not np.ndarray:
            return np.may_share_memory(array, array.reshape(size))
        array.reshape(size, copy=False)
        return True
    except (ValueError, MemoryError):          # a copy was needed, or did not fit into memory
        return False


def reshaped(x, shape):
    """x.reshape(shape) for an array or a Tensor."""
    if type(x) is not np.ndarray or x.size < _FEW or viewable(x, shape):
        return x.reshape(shape)
    return in_rows(x).reshape(shape)


def side_by_side(parts, dim):
    """np.concatenate for arrays of one dtype."""
    first, found = parts[0], []
    if len(parts) == 2 and (made := beside(*parts, dim)) is not None:
        return made
    if number() > 1 and sum([x.size for x in parts]) >= _MANY:
        before, after = first.shape[:dim], first.shape[dim + 1:]
        for x in parts:
            alike = x.dtype == first.dtype and x.shape[:dim] == before and x.shape[dim + 1:] == after
            found.append(_matrices(x, before, x.shape[dim:]) if alike else None)
    if not found or None in found:
        return np.concatenate(parts, dim)
    result = np.empty((*before, sum([x.shape[dim] for x in parts]), *after), _FLOAT)
    width, start = prod(result.shape[dim:]), 0
    for matrices, x in zip(found, parts):
        stop = start + prod(x.shape[dim:])
        _place(*matrices, start, width - stop, result)
        start = stop
    return result


def _matrices(x, rows, columns):
    """`x`, whose shape is (*rows, *columns), as a view (outer, inner, m, n); if there are columns, the first two
    dimensions are the rows. Returns (whether the last two dimensions were swapped, so that the last one is contiguous,
    the strides of the first three, the view), or None if there is no such view."""
    if type(x) is not np.ndarray or not x.size:
        return None
    outer, inner = _together(rows, x.strides), _together(columns, x.strides[len(rows):])
    if columns:
        outer, inner = [1] * (2 - len(outer)) + outer, [1] * (2 - len(inner)) + inner
    sizes = [1] * (4 - len(outer) - len(inner)) + outer + inner
    if len(sizes) != 4:
        return None
    x = x.reshape(sizes)
    turned = x.strides[2] == 4 < x.strides[3]
    x = x.swapaxes(2, 3) if turned else x
    apart = laid_apart(x)
    return apart and (turned, apart, x)


def _together(shape, strides):
    """The sizes of the dimensions, where neighbours that have a common stride are merged."""
    sizes, last = [], None
    for n, step in zip(shape, strides):
        if n == 1:
            continue
        if last == n * step:
            sizes[-1] *= n
        else:
            sizes.append(n)
        last = step
    return sizes


def _place(turned, apart, x, before, after, result):
    """Writes matrices from `_matrices` into the rows of `result`, between `before` and `after` other elements."""
    outer, inner, m, n = x.shape
    if turned:
        m, n = n, m
    native.run("copy", turned, m, n, apart[2], outer, inner, *apart[:2], before, after, x, result)
