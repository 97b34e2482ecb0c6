"""Sums and maxima along the last axis, where NumPy's own reductions are slow for short rows."""
import numpy as np

_SHORT = 40          # rows up to this length are faster turned into columns first


def row_sum(x):
    """Sum over the last axis (not kept): as a product with ones BLAS does it several times as fast."""
    if x.dtype.char not in "fd":
        return np.add.reduce(x, axis=-1)
    return x.dot(np.ones(x.shape[-1], x.dtype))


def row_max(x):
    """Largest element along the last axis (kept as size 1)."""
    width = x.shape[-1]
    if width > _SHORT or x.size < 100:
        return np.maximum.reduce(x, axis=-1, keepdims=True)
    columns = np.ascontiguousarray(x.reshape(-1, width).T)
    return np.maximum.reduce(columns, axis=0).reshape(x.shape[:-1] + (1,))
