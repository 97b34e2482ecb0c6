"""Sums and maxima along the last axis, where NumPy's own reductions are slow."""
from functools import lru_cache

import numpy as np

_SHORT = 64          # rows below this length are faster turned into columns first


@lru_cache(16)
def _ones(n, char):
    return np.ones(n, char)


def row_sum(x):
    """Sum over the last axis (not kept): as a product with ones BLAS does it several times as fast."""
    if x.dtype.char not in "fd":
        return np.add.reduce(x, axis=-1)
    return x.dot(_ones(x.shape[-1], x.dtype.char))


def row_max(x):
    """Largest element along the last axis (kept as size 1); NaN if there is one."""
    width = x.shape[-1]
    if x.size < 100 or x.dtype.char not in "fd":
        return np.maximum.reduce(x, axis=-1, keepdims=True)
    rows = x.reshape(-1, width)
    if width < _SHORT:
        found = np.maximum.reduce(np.ascontiguousarray(rows.T), axis=0)
    else:                                      # to find where it is takes a quarter of the time of np.maximum.reduce
        where = rows.argmax(axis=1)
        where += np.arange(0, x.size, width)
        found = rows.reshape(-1).take(where)
    return found.reshape(x.shape[:-1] + (1,))
