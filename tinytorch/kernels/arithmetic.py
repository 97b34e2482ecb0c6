"""Sums, differences, products and quotients of large arrays, and of rows with one that is repeated."""
import sys

import numpy as np

from . import native
from .threads import number

_FLOAT = np.dtype(np.float32)
#: Elements of the first operand below which NumPy is the quicker one.
MANY = 16384 if native.level() else sys.maxsize
#: The same for two operands of one shape, or a number, which NumPy makes as quickly on one thread.
_MORE = 1 << 17


def many(name, x, y):
    """What a kernel makes of `x`, of `MANY` elements, and `y`: a number, or an array of its shape or of that of its
    last dimensions. None where NumPy is to do it."""
    if y.__class__ is float or y.__class__ is int:
        if x.size < _MORE or number() == 1 or x.dtype != _FLOAT:
            return None
        y = np.array([y], _FLOAT)
    elif type(y) is not np.ndarray or y.shape == x.shape and (x.size < _MORE or number() == 1):
        return None
    elif y.size != 1 and y.shape != x.shape[-y.ndim:] or y.ndim > x.ndim:
        return None
    return native.made(name, x.shape, x.size, y.size, x, y)
