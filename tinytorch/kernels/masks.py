"""Elements selected by a mask, and their places, in C (native/masked.c). `selected` and `true_places` return None where
C does not take the arrays, and the caller uses NumPy."""
import numpy as np

from . import native

_FLOAT, _BOOL = np.dtype(np.float32), np.dtype(bool)


def selected(x, mask):
    """x[mask] for float32 and a mask of the same shape."""
    if x.dtype != _FLOAT or x.shape != mask.shape or type(mask) is not np.ndarray:
        return None
    count = int(np.count_nonzero(mask))
    return native.made("selected", (count,), x.size, count, mask, x) if count else None


def chosen(mask, x, y):
    """np.where of arrays, or of Python floats beside arrays."""
    if type(mask) is np.ndarray and mask.size >= native.LEAST_OF["choose"]:
        p, a = _number_or_array(x)
        q, b = _number_or_array(y)
        arrays = [z for z in (a, b) if z is not None]
        if arrays and all([type(z) is np.ndarray and z.dtype == _FLOAT and z.shape == mask.shape for z in arrays]):
            made = native.made("choose", mask.shape, mask.size, p, q, mask, a, b)
            if made is not None:
                return made
    return np.where(mask, x, y)


def _number_or_array(x):
    """(a number, None), or (0.0, an array)."""
    if type(x) is np.ndarray and not x.ndim and x.dtype == _FLOAT:
        native.note_reading()
        return x.item(), None
    return (x, None) if x.__class__ is float else (0.0, x)


def true_places(mask):
    """The places of the true elements of a mask of one or two dimensions: an array (dimensions, places)."""
    if type(mask) is not np.ndarray or mask.dtype != _BOOL or not 1 <= mask.ndim <= 2:
        return None
    count, both = int(np.count_nonzero(mask)), mask.ndim == 2
    rows, columns = mask.shape if both else (1, mask.size)
    return native.made("true_places", (mask.ndim, count), rows, columns, both, count, mask) if count else None
