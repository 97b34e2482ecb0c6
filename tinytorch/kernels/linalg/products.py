"""Large matrix products, shared by threads: BLAS computes each on one (blas.py).

Rows or columns of the result are shared, so that every number is one product of a row and a column, as without threads.
"""
import numpy as np

from .. import native
from ..threads import number, split

#: Multiplications that take a thread longer than it takes to share them: in C, and here.
HEAVY, _HEAVY_HERE = 1 << 22, 1 << 24
_FLOAT = np.dtype(np.float32)


def _stored(a):
    """(whether it lies transposed, the matrix as it lies), whose rows are runs of memory; None if neither way."""
    rows, columns = a.strides
    if columns == 4 and rows >= 4 * a.shape[1] and not rows % 4:
        return False, a
    if rows == 4 and columns >= 4 * len(a) and not columns % 4:
        return True, a.T
    return None


def _cut(m, n, k):
    """(how many rows or columns, whichever are more, or terms of the sums are a piece in C; how many pieces beside the
    first, if they are terms): 4 million multiplications or more, of up to 16 pieces, a power of two. For rows and
    columns each piece handles all of the other operand, so there are 64 or more; for terms each has all results."""
    pieces, heavy, longest = 1, m * n * k >> 23, max(m, n)
    if k >= 1024 and k >= 4 * longest:
        while pieces < 16 and k >= 512 * pieces and heavy >= pieces:
            pieces *= 2
        grain = -(-k // pieces)
        return grain, (k - 1) // grain
    while pieces < 16 and longest >= 128 * pieces and heavy >= pieces:
        pieces *= 2
    return (-(-longest // pieces) + 15) // 16 * 16 if pieces > 1 else longest, 0


def _native(a, b, bias=None):
    """The product in C, plus bias, cut in the same pieces for any number of threads; None where C does not know the
    operands."""
    if not (type(a) is type(b) is np.ndarray and a.dtype == b.dtype == _FLOAT and a.flags.aligned and b.flags.aligned):
        return None
    left, right = _stored(a), _stored(b)
    if left is None or right is None or a.shape[1] != len(b):
        return None
    result = np.empty((len(a), b.shape[1]), _FLOAT)
    (ta, left), (tb, right) = left, right
    grain, more = _cut(*result.shape, len(b))
    inside = bias is not None and not more and bias.shape == result.shape[1:] and native.takes("product", bias)
    parts = np.empty((more, *result.shape), _FLOAT) if more else None
    native.run("product", ta, tb, *result.shape, len(b), left.strides[0] // 4, right.strides[0] // 4, grain, more, left,
               right, bias if inside else None, result, parts)
    if bias is not None and not inside:
        result += bias
    return result


def dot(a, b, bias=None):
    """The product of two matrices of one dtype, plus bias (columns) of that dtype."""
    rows, columns = len(a), b.shape[-1]
    if a.size * columns >= HEAVY and native.MULTIPLIES:
        result = _native(a, b, bias)
        if result is not None:
            return result
    if bias is not None:
        result = dot(a, b)
        result += bias
        return result
    if a.size * columns < _HEAVY_HERE or number() < 2 or type(a) is not np.ndarray:    # what stands in sees to itself
        return a.dot(b)
    result = np.empty((rows, columns), a.dtype)
    if rows >= columns:
        split(rows, lambda first, last: np.matmul(a[first:last], b, out=result[first:last]))
    else:
        split(columns, lambda first, last: np.matmul(a, b[:, first:last], out=result[:, first:last]))
    return result


def matmul(a, b):
    """The products of two arrays of matrices of one dtype; np.matmul, the first axis shared."""
    if a.size * b.shape[-1] < _HEAVY_HERE or a.ndim < 3 or a.shape[:-2] != b.shape[:-2] or (
            number() < 2 or type(a) is not np.ndarray):
        return np.matmul(a, b, order="C")      # whatever the order of the operands' dimensions in memory
    result = np.empty(a.shape[:-1] + b.shape[-1:], a.dtype)
    split(len(a), lambda first, last: np.matmul(a[first:last], b[first:last], out=result[first:last]))
    return result
