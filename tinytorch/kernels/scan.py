"""Running extremes, products, and evenly spaced numbers, for float32 arrays in C (native/scan.c). Each function returns
None where C does not take the arrays, and the caller uses NumPy."""
from math import prod

import numpy as np

from . import native

_FLOAT = np.dtype(np.float32)


def running_extremes(x, dim, smallest):
    """(the largest or smallest elements so far along `dim`, their positions: the last of equal elements, the last
    NaN)."""
    if not native.takes("running_extremes", x):
        return None
    shape = x.shape
    found, index = np.empty(shape, _FLOAT), np.empty(shape, np.int64)
    native.run("running_extremes", prod(shape[:dim]), shape[dim], prod(shape[dim + 1:]), smallest, x, found, index)
    return found, index


def products(x, axes, keepdims):
    """Products over `axes`, which are all axes or the last ones."""
    if axes != tuple(range(x.ndim - len(axes), x.ndim)):
        return None
    rows, width = x.shape[:x.ndim - len(axes)], prod(x.shape[x.ndim - len(axes):])
    return native.made("row_products", rows + (1,) * len(axes) if keepdims else rows, prod(rows), width, x)


def steps(start, step, count):
    """start + i * step as float32, as in torch.arange."""
    return native.result("steps", (count,), count, start, step) if native.many("steps", count) else None


def spaced(start, last, step, count):
    """Numbers from `start` to `last`, each half computed from its own end by `step`, as in torch.linspace."""
    return native.result("spaced", (count,), count, start, last, step) if native.many("spaced", count) else None
