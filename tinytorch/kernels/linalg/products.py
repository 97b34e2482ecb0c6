"""Large matrix products, shared by threads: BLAS computes each on one (blas.py).

Rows or columns of the result are shared, so that every number is one product of a row and a column, as without threads.
"""
import numpy as np

from ..threads import number, split

#: Multiplications that take a thread longer than it takes to share them.
HEAVY = 1 << 24


def dot(a, b):
    """The product of two matrices of one dtype."""
    rows, columns = len(a), b.shape[-1]
    if a.size * columns < HEAVY or number() < 2 or type(a) is not np.ndarray:      # what stands in sees to itself
        return a.dot(b)
    result = np.empty((rows, columns), a.dtype)
    if rows >= columns:
        split(rows, lambda first, last: np.matmul(a[first:last], b, out=result[first:last]))
    else:
        split(columns, lambda first, last: np.matmul(a, b[:, first:last], out=result[:, first:last]))
    return result


def matmul(a, b):
    """The products of two arrays of matrices of one dtype; np.matmul, the first axis shared."""
    if a.size * b.shape[-1] < HEAVY or a.ndim < 3 or a.shape[:-2] != b.shape[:-2] or (
            number() < 2 or type(a) is not np.ndarray):
        return np.matmul(a, b, order="C")      # whatever the order of the operands' dimensions in memory
    result = np.empty(a.shape[:-1] + b.shape[-1:], a.dtype)
    split(len(a), lambda first, last: np.matmul(a[first:last], b[first:last], out=result[first:last]))
    return result
