"""The largest and the smallest elements along axes, and their positions. A NaN counts as both."""
from math import prod

import numpy as np

from . import native
from .rows import SHORT, row_extremes
from .threads import number

#: Below _FEW elements in long rows, or _FEW_SHORT in short rows, one call of NumPy is fastest. Below _SOME elements
#: NumPy finds positions along the last axis as fast as two threads of C.
_FEW, _FEW_SHORT, _SOME = 8192, 512, 1 << 18


def extreme_of(ufunc, x, axes, keepdims=False):
    """np.maximum or np.minimum (`ufunc`) along `axes` (not negative), or along all of them (None)."""
    if x.size < _FEW_SHORT or axes is None or x.size < _FEW and x.shape[-1] >= SHORT or type(x) is not np.ndarray:
        return ufunc.reduce(x, axis=axes, keepdims=keepdims)
    shape = x.shape
    outer, n, inner = _around(shape, axes)
    if outer * inner > 1 and n < 1 << 31 and native.takes("extremes", x):
        found = np.empty(outer * inner, x.dtype)
        native.run("extremes", outer, n, inner, ufunc is np.minimum, x, found, None)
    elif outer > 1 == inner and x.dtype.char in "fd" and x.flags.c_contiguous:
        found = row_extremes(ufunc, x.reshape(outer, n))
    else:
        return ufunc.reduce(x, axis=axes, keepdims=keepdims)
    return found.reshape([1 if i in axes else m for i, m in enumerate(shape) if keepdims or i not in axes])


def place_of(function, x, axis, keepdims):
    """np.argmax or np.argmin along one axis: the position of the first of equal elements, or of the first NaN."""
    # On one thread NumPy is as fast along the last axis.
    if x.size >= _FEW and (axis < x.ndim - 1 or x.size >= _SOME and number() > 1) and native.takes("extremes", x):
        shape = x.shape
        outer, n, inner = _around(shape, (axis,))
        if outer * inner > 1 and n < 1 << 31:
            found = np.empty(shape[:axis] + (1,) * keepdims + shape[axis + 1:], np.int64)
            native.run("extremes", outer, n, inner, function is np.argmin, x, None, found)
            return found
    if type(x) is np.ndarray:                  # which takes a quarter of the time of NumPy's function
        return (x.argmax if function is np.argmax else x.argmin)(axis, keepdims=keepdims)
    return function(x, axis=axis, keepdims=keepdims)


def _around(shape, axes):
    """The numbers of elements before, along and behind axes that follow each other; zeros for other axes."""
    first, last = min(axes), max(axes) + 1
    if last - first != len(axes):
        return 0, 0, 0
    return prod(shape[:first]), prod(shape[first:last]), prod(shape[last:])
