"""Sums, differences, products and quotients of large arrays; the second one may be repeated for each row."""
import sys

import numpy as np

from . import native
from .threads import number

_FLOAT = np.dtype(np.float32)
#: Below so many elements of the first operand NumPy is faster than C.
MANY = 16384 if native.level() else sys.maxsize
#: The same for two operands of one shape, or for a number as the second one. There NumPy is as fast on one thread.
_MORE = 1 << 17


def many(name, x, y):
    """The result of the kernel `name` for `x`, which has at least `MANY` elements, and `y`: a number, or an array with
    the shape of `x` or of its last dimensions. None where NumPy is to compute it."""
    if y.__class__ is float or y.__class__ is int:
        if x.size < _MORE or number() == 1 or x.dtype != _FLOAT:
            return None
        y = np.array([y], _FLOAT)
    elif type(y) is not np.ndarray or y.shape == x.shape and (x.size < _MORE or number() == 1):
        return None
    elif y.size != 1 and y.shape != x.shape[-y.ndim:] or y.ndim > x.ndim:
        return None
    return native.made(name, x.shape, x.size, y.size, x, y)
