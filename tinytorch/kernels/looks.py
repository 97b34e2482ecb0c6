"""Checks of all elements of an array. For small arrays they avoid NumPy's reductions, which take several times as
long."""
import numpy as np

from . import native

#: Arrays with fewer elements are checked without reductions.
_FEW = 65


def all_true(x):
    """Whether all elements of an array of bools are true."""
    if type(x) is np.ndarray and x.size < _FEW and x.dtype.char == "?":
        return b"\0" not in x.tobytes()
    return bool(x.all())


def are_equal(x, y):
    """Whether arrays of one shape and one dtype have equal elements."""
    try:
        if native.done("all_equal", x.size, x, y):
            return True
    except ValueError:
        return False
    return all_true(np.asarray(x == y))


def any_true(x):
    """Whether any element of an array of bools is true."""
    if type(x) is np.ndarray and x.size < _FEW and x.dtype.char == "?":
        return x.tobytes().count(0) < x.size
    return bool(x.any())


def any_nan(x):
    """Whether an array of floats has a NaN, which NumPy then gives as the maximum."""
    if type(x) is np.ndarray and 0 < x.size < _FEW:
        most = x.item(x.argmax())
        return most != most
    return any_true(np.isnan(x))


def extremes_of(x):
    """The minimum and the maximum of an array that is not empty; NaN if it has a NaN."""
    if isinstance(x, np.generic):
        return x.item(), x.item()
    if x.size < _FEW and type(x) is np.ndarray:
        if x.size == 1:
            return (x.item(),) * 2
        return x.item(x.argmin()), x.item(x.argmax())
    return x.min(), x.max()


def all_between(x, low, high):
    """Whether low < x < high for all elements of an array of real numbers; False if there is a NaN."""
    least, most = extremes_of(x)
    return bool(low < least and most < high)


def all_within(x, low, high):
    """Whether low <= x <= high for all elements of an array of real numbers; False if there is a NaN."""
    try:
        if native.done("all_within", x.size, low, high, x):
            return True
    except ValueError:
        return False
    least, most = extremes_of(x)
    return bool(low <= least and most <= high)
