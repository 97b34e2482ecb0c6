"""The sparse gradient of an embedding: the rows that were looked up."""
import numpy as np

from ..memory_format import sparse_coo
from .array import SparseArray
from .tensor import sparse_op


@sparse_op("embedding_sparse_backward")
def rows_of(grad, shape, indices, padding):
    """A gradient of `shape` (V, D) from `grad` (*, D), the gradients of the rows `indices` (*). The row `padding` gets
    no gradient (-1: there is no such row)."""
    numbers, rows = indices.reshape(-1).astype(np.int64), grad.reshape(indices.size, shape[1])
    if padding >= 0:
        kept = numbers != padding
        numbers, rows = numbers[kept], rows[kept]
    if not shape[1]:                           # torch keeps no rows without elements
        numbers, rows = numbers[:0], rows[:0]
    return SparseArray(sparse_coo, numbers[None], rows, shape)
