"""Elements selected by a mask, and their places, in C (native/masked.c). Each function returns None where C does not
take the arrays, and the caller uses NumPy."""
import numpy as np

from . import native

_FLOAT, _BOOL = np.dtype(np.float32), np.dtype(bool)


def selected(x, mask):
    """x[mask] for float32 and a mask of the same shape."""
    if x.dtype != _FLOAT or x.shape != mask.shape or type(mask) is not np.ndarray:
        return None
    count = int(np.count_nonzero(mask))
    return native.made("selected", (count,), x.size, count, mask, x) if count else None


def true_places(mask):
    """The places of the true elements of a mask of one or two dimensions: an array (dimensions, places)."""
    if type(mask) is not np.ndarray or mask.dtype != _BOOL or not 1 <= mask.ndim <= 2:
        return None
    count, both = int(np.count_nonzero(mask)), mask.ndim == 2
    rows, columns = mask.shape if both else (1, mask.size)
    return native.made("true_places", (mask.ndim, count), rows, columns, both, count, mask) if count else None
