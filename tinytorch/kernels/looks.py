"""Whether the numbers of an array are such. Few are looked at by Python, in a fifth of the time of NumPy's reductions.
"""
import numpy as np

#: Fewer elements are looked through by Python.
_FEW = 65


def all_true(x):
    """Whether all elements of an array of bools are true."""
    if type(x) is np.ndarray and x.size < _FEW and x.dtype.char == "?":
        return b"\0" not in x.tobytes()
    return bool(x.all())


def any_true(x):
    """Whether one of the elements of an array of bools is."""
    if type(x) is np.ndarray and x.size < _FEW and x.dtype.char == "?":
        return x.tobytes().count(0) < x.size
    return bool(x.any())


def all_between(x, low, high):
    """Whether all of an array's real numbers are above `low` and below `high`: no NaN is."""
    if x.size < _FEW and (type(x) is np.ndarray or isinstance(x, np.generic)):
        return all([low < n < high for n in x.ravel().tolist()])
    if not x.ndim:
        return bool(low < x < high)
    return bool(low < np.minimum.reduce(x, None) and np.maximum.reduce(x, None) < high)
