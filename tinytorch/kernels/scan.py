"""Running extremes, products, and evenly spaced numbers, for float32 arrays in C (native/scan.c). Each function of
floats returns None where C does not take the arrays, and the caller uses NumPy."""
from functools import lru_cache
from math import prod

import numpy as np

from . import native
from .rows import around

_FLOAT = np.dtype(np.float32)


def running_extremes(x, dim, smallest):
    """(the largest or smallest elements so far along `dim`, their positions: the last of equal elements, the last
    NaN)."""
    if x.dtype != _FLOAT:
        return None
    found, index = np.empty(x.shape, _FLOAT), np.empty(x.shape, np.int64)
    done = native.done("running_extremes", *around(x.shape, dim), smallest, x, found, index)
    return (found, index) if done else None


def products(x, axes, keepdims):
    """Products over `axes`, which are all axes or the last ones."""
    sizes = _rows(x.shape, axes, keepdims)
    return sizes and native.made("row_products", *sizes, x)


@lru_cache(1024)
def _rows(shape, axes, keepdims):
    """(the shape of a reduction, the numbers of rows and of columns); None if `axes` are not the last ones."""
    last = len(shape) - len(axes)
    if axes != tuple(range(last, len(shape))):
        return None
    rows = shape[:last]
    return rows + (1,) * len(axes) if keepdims else rows, prod(rows), prod(shape[last:])


def steps(start, step, count):
    """start + i * step as float32, as in torch.arange."""
    return native.result("steps", (count,), count, start, step) if native.many("steps", count) else None


def whole_steps(start, count):
    """The `count` integers from `start` on, all of them in 64 bits."""
    if native.many("whole_steps", count):
        return native.result("whole_steps", (count,), count, start)
    return np.arange(start, start + count, dtype=np.int64)


def spaced(start, last, step, count):
    """Numbers from `start` to `last`, each half computed from its own end by `step`, as in torch.linspace."""
    return native.result("spaced", (count,), count, start, last, step) if native.many("spaced", count) else None
