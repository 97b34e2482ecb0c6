"""Whether the numbers of an array are such. Few are looked at in other ways than by NumPy's reductions, which take
several times as long."""
import numpy as np

#: Fewer elements are looked at without reductions.
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


def extremes_of(x):
    """The smallest and the largest number of an array that is not empty; NaN if there is one."""
    if isinstance(x, np.generic):
        return x.item(), x.item()
    if x.size < _FEW and type(x) is np.ndarray:
        return x.item(x.argmin()), x.item(x.argmax())
    return x.min(), x.max()


def all_between(x, low, high):
    """Whether all of an array's real numbers are above `low` and below `high`: no NaN is."""
    least, most = extremes_of(x)
    return bool(low < least and most < high)


def all_within(x, low, high):
    """The same, of numbers that may be `low` or `high`."""
    least, most = extremes_of(x)
    return bool(low <= least and most <= high)
