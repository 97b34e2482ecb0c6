"""Copies of large arrays from one layout to another, and arrays put side by side."""
from math import prod

import numpy as np

from . import native
from .linalg.products import laid_apart
from .threads import number

_FLOAT = np.dtype(np.float32)
#: Elements that C copies sooner than NumPy, where it does so at all: runs of fewer than `_SHORT`, and those that are
#: to lie across. Others only by several threads, and from so many on.
_FEW, _SHORT, _MANY = max(4096, native.LEAST), 64, max(1 << 18, native.LEAST)
#: Whether NumPy says that it would have to copy, instead of doing it: from 2.1 on.
_ASKS = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


def in_rows(x):
    """A copy in C order."""
    if x.size < _FEW or x.shape[-1] >= _SHORT and x.strides[-1] == 4 and (x.size < _MANY or number() == 1):
        return x.copy("C")
    found = _matrices(x, x.shape, ())
    if found is None:
        return x.copy("C")
    result = np.empty(x.shape, _FLOAT)
    _place(*found, 0, 0, result)
    return result


def viewable(array, size):
    """Whether `array` can take shape `size`, which is of as many elements, without a copy."""
    try:
        if array.flags.c_contiguous:
            return True
        if not _ASKS or type(array) is not np.ndarray:
            return np.may_share_memory(array, array.reshape(size))
        array.reshape(size, copy=False)
        return True
    except (ValueError, MemoryError):          # it would have to make a copy, or was about to
        return False


def reshaped(x, shape):
    """x.reshape(shape), of an array or a Tensor."""
    if type(x) is not np.ndarray or x.size < _FEW or viewable(x, shape):
        return x.reshape(shape)
    return in_rows(x).reshape(shape)


def side_by_side(parts, dim):
    """np.concatenate of arrays of one dtype."""
    first, found = parts[0], []
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
    """`x`, whose shape is `rows` and `columns` in a row, as a view (outer, inner, m, n), the rows in the first two
    dimensions if there are columns: (whether the last two are transposed to make runs of memory of the last, how far
    apart the first three lie, the view). None of an array that is not to be seen so."""
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
    """The sizes of dimensions, those as one that are walked through in equal steps."""
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
    """Write matrices to each row of `result` behind `before` elements of others, with `after` behind them."""
    outer, inner, m, n = x.shape
    if turned:
        m, n = n, m
    native.run("copy", turned, m, n, apart[2], outer, inner, *apart[:2], before, after, x, result)
