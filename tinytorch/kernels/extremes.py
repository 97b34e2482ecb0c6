"""The largest and the smallest elements along axes, and their positions. A NaN counts as both."""
from functools import lru_cache
from math import prod

import numpy as np

from . import native
from .rows import SHORT, row_extremes
from .threads import number

#: Below _FEW elements in long rows, or _FEW_SHORT in short rows, one call of NumPy is fastest for doubles. Below _SOME
#: elements NumPy finds positions along the last axis as fast as two threads of C.
_FEW, _FEW_SHORT, _SOME = 8192, 512, 1 << 18
_LONG = np.dtype(np.int64)


def extreme_of(ufunc, x, axes, keepdims=False):
    """np.maximum or np.minimum (`ufunc`) along `axes` (not negative), or along all of them (None)."""
    plan = _plan(x.shape, axes, keepdims)
    if plan is not None:
        if x.dtype.char == "f":
            found = native.made("extremes", *plan, ufunc is np.minimum, x)
            if found is not None:
                return found
        if axes is None and x.dtype == _LONG and (x.size <= native.ONE_PIECE or number() > 1):
            found = native.made("extreme_integers", plan[0], 1, x.size, ufunc is np.minimum, x)
            if found is not None:
                return found
        if axes is None and type(x) is np.ndarray and x.dtype.kind in "iub":
            return np.array(x.item(x.argmin() if ufunc is np.minimum else x.argmax()), x.dtype)
        if x.size >= _FEW_SHORT and (x.size >= _FEW or x.shape[-1] < SHORT) and type(x) is np.ndarray and (
                plan[1] > 1 == plan[3] and x.dtype.char in "fd" and x.flags.c_contiguous):
            return row_extremes(ufunc, x.reshape(*plan[1:3])).reshape(plan[0])
    return ufunc.reduce(x, axis=axes, keepdims=keepdims)


def range_of(x, axes, keepdims=False):
    """The smallest and the largest elements along `axes` (not negative), or along all of them (None)."""
    plan = _plan(x.shape, axes, keepdims)
    if plan is not None and x.dtype.char == "f":
        shape, outer, n, inner = plan
        if inner > 1 or x.size < _FEW_SHORT:   # few numbers are read twice in less time than a result is parted
            low = native.made("extremes", shape, outer, n, inner, True, x)
            if low is not None:
                return low, native.made("extremes", shape, outer, n, inner, False, x)
        low = np.empty(shape, x.dtype)
        high = None if inner > 1 else native.made("ranges", shape, outer, n, x, low)
        if high is not None:
            return low, high
    return tuple([np.asarray(extreme_of(ufunc, x, axes, keepdims), order="C") for ufunc in (np.minimum, np.maximum)])


@lru_cache(1024)
def _plan(shape, axes, keepdims):
    """(the shape of a reduction, the numbers of elements before, along and behind its axes). None for axes that do not
    follow each other, without elements, and if there are too many."""
    axes = tuple(range(len(shape))) if axes is None else axes
    outer, n, inner = _around(shape, axes) if axes else (1, prod(shape), 1)
    if not 0 < n < 1 << 31 or not outer * inner:
        return None
    return tuple([1 if i in axes else m for i, m in enumerate(shape) if keepdims or i not in axes]), outer, n, inner


def place_of(function, x, axis, keepdims):
    """np.argmax or np.argmin along one axis: the position of the first of equal elements, or of the first NaN."""
    # On one thread NumPy is as fast along the last axis.
    many = x.size >= _FEW and (axis < x.ndim - 1 or x.size >= _SOME and number() > 1)
    if (many or native.listening) and native.takes("extreme_places", x):
        shape = x.shape
        outer, n, inner = _around(shape, (axis,))
        if outer * inner > 1 and n < 1 << 31:
            return native.result("extreme_places", shape[:axis] + (1,) * keepdims + shape[axis + 1:], outer, n, inner,
                                 function is np.argmin, x)
    if type(x) is np.ndarray:                  # which takes a quarter of the time of NumPy's function
        return (x.argmax if function is np.argmax else x.argmin)(axis, keepdims=keepdims)
    return function(x, axis=axis, keepdims=keepdims)


def _around(shape, axes):
    """The numbers of elements before, along and behind axes that follow each other; zeros for other axes."""
    first, last = min(axes), max(axes) + 1
    if last - first != len(axes):
        return 0, 0, 0
    return prod(shape[:first]), prod(shape[first:last]), prod(shape[last:])
