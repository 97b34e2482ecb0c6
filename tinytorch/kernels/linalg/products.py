"""Large matrix products. Products of float32 numbers are computed in C (native/product.c), which is faster than
OpenBLAS, most of all with few rows. Others are computed by BLAS on one thread (blas.py) for parts of the rows or
columns, which threads share here. Either way every number is the product of one row and one column, as without threads.
"""
import sys

import numpy as np

from ...kinds.record_dtypes import BFLOAT16
from .. import halves, native
from ..native.objects import loop_of
from ..threads import number, split
from .blas import held

#: From HEAVY multiplications on a product, or from _SEVERAL on an array of products, is worth a call of C. From
#: _HEAVY_HERE on a product by BLAS is worth sharing among threads.
HEAVY, _SEVERAL, _HEAVY_HERE = 1 << 21, 1 << 20, 1 << 24
#: Below so many rows or columns of a result BLAS is faster, by products with vectors.
_FEW = 8
#: The number of rows of a result that use a panel at a time, and of multiplications that make a piece for a thread.
_BLOCK, _PIECE = 128, 1 << 20
#: Above so many rows, or terms of a sum, copying the panels takes less time than cache misses.
_MANY, _LONG = 16, 1024
#: Up to so many rows are the operand in panels if the other one has more rows, as weights have. The transposed result
#: of more rows takes longer to write than the panels of the other operand to copy.
_NARROW = 128
_FLOAT, _BITS = np.dtype(np.float32), np.dtype(np.uint16)
#: Apple's BLAS uses instructions that are not available in C.
NATIVE = native.level() is not None and (sys.platform != "darwin" or held() is not None)
#: The address of NumPy's loop for products of float32 matrices, or 0.
_LOOP = loop_of(np.matmul, "ff->f") if native.level() is not None else 0


def _stored(a):
    """(whether `a` is stored transposed, the matrix as stored, whose rows are contiguous), or None if neither the rows
    nor the columns of `a` are contiguous."""
    rows, columns = a.strides
    size = a.itemsize
    if columns == size and rows >= size * a.shape[1] and not rows % size:
        return False, a
    if rows == size and columns >= size * len(a) and not columns % size:
        return True, a.T
    return None


def _choices(ta, tb, m, n, k):
    """(whether the left operand is read in panels, whether panels are copied, the block, the piece) of a product."""
    turned = tb and 4 * m <= n and (m <= _NARROW or ta)      # the smaller operand is the one that is copied
    return turned, m > _MANY or k > _LONG, _BLOCK, 1 + _PIECE // (48 * k * min(_BLOCK, n if turned else m))


def _native(a, b, bias=None):
    """The product in C, plus bias; None where C does not take the operands."""
    if not (type(a) is type(b) is np.ndarray and a.dtype == b.dtype == _FLOAT):
        return None
    left, right = _stored(a), _stored(b)
    (m, k), n = a.shape, b.shape[1]
    if left is None or right is None or k != len(b) or min(m, n) < _FEW:
        return None
    result = np.empty((m, n), _FLOAT)
    (ta, left), (tb, right) = left, right
    inside = bias is not None and bias.shape == (n,) and native.takes("product", bias)
    native.run("product", ta, tb, m, n, k, left.strides[0] // 4, right.strides[0] // 4, *_choices(ta, tb, m, n, k),
               left, right, bias if inside else None, result)
    if bias is not None and not inside:
        result += bias
    return result


def dot(a, b, bias=None):
    """The product of two matrices of one dtype, plus a bias (columns,) of that dtype."""
    rows, columns = len(a), b.shape[-1]
    if a.size * columns >= HEAVY and NATIVE:
        result = _native(a, b, bias)
        if result is not None:
            return result
    if bias is not None:
        result = dot(a, b)
        result += bias
        return result
    if a.size * columns < _HEAVY_HERE or number() < 2 or type(a) is not np.ndarray:    # a stand-in has a dot of its own
        return a.dot(b)
    result = np.empty((rows, columns), a.dtype)
    if rows >= columns:
        split(rows, lambda first, last: np.matmul(a[first:last], b, out=result[first:last]))
    else:
        split(columns, lambda first, last: np.matmul(a, b[:, first:last], out=result[:, first:last]))
    return result


def of_bfloat16(a, b):
    """The product of two matrices of bfloat16 numbers, in float32: that of the same numbers in float32, in its bits. In
    C, processors that have an instruction for pairs of these numbers compute it in half the time."""
    (m, k), (rows, n) = a.shape, b.shape
    if type(a) is type(b) is np.ndarray and a.dtype == b.dtype == BFLOAT16 and NATIVE:
        if k == rows and min(m, n) >= _FEW and m * n * k >= HEAVY:
            (ta, left), (tb, right) = _stored(a) or (False, a), _stored(b) or (False, b)
            return native.result("bfloat16_product", (m, n), ta, tb, m, n, k, *_choices(ta, tb, m, n, k),
                                 np.ascontiguousarray(left).view(_BITS), np.ascontiguousarray(right).view(_BITS))
    a, b = halves.wide(a), halves.wide(b)
    return light(a, b) if a.size * n < HEAVY else dot(a, b)


def laid_apart(x):
    """The strides (outer, inner, rows), in floats, of a float32 array of 4 dimensions with contiguous rows; None for
    any other array."""
    if type(x) is not np.ndarray or x.dtype != _FLOAT:
        return None
    outer, inner, rows, step = x.strides
    if step != 4 or rows < 4 * x.shape[3] or (outer | inner | rows) % 4:
        return None
    return outer // 4, inner // 4, rows // 4


def _as_read(a, b):
    """What a kernel of many products gets for two arrays of at most 4 dimensions with as many matrices: (ta, tb, m, n,
    k, ...) and the arrays. None if it cannot read them."""
    given = []
    for x in (a, b):
        turned = x.strides[-2] == 4 < x.strides[-1]
        x = (x.swapaxes(-1, -2) if turned else x)[(None,) * (4 - x.ndim)]
        apart = laid_apart(x)
        if apart is None:
            return None
        given.append((turned, apart, x))
    (ta, (*a_apart, lda), left), (tb, (*b_apart, ldb), right) = given
    m, k = a.shape[-2:]
    return (ta, tb, m, b.shape[-1], k, lda, ldb, *left.shape[:2], *a_apart, *b_apart), left, right


def _several(a, b):
    """The products in C of two arrays with as many matrices; None where C does not take them."""
    shape, (m, k), n = a.shape[:-2], a.shape[-2:], b.shape[-1]
    if shape != b.shape[:-2] or not 0 < len(shape) < 3 or min(m, n) < _FEW or k != b.shape[-2]:
        return None
    given = _as_read(a, b)
    if given is None:
        return None
    sizes, a, b = given
    return native.result("products", shape + (m, n), *sizes, 1 + _PIECE // (m * n * k), a, b)


def by_loop(a, b):
    """np.matmul for float32 arrays with as many matrices, by its own loop, which C calls; None where C does not take
    them. It is for records of calls (autograd/repeats.py), which know kernels alone."""
    shape, (m, k), n = a.shape[:-2], a.shape[-2:], b.shape[-1]
    if not _LOOP or shape != b.shape[:-2] or len(shape) > 2 or k != b.shape[-2] or min(m, n, k) < 2:
        return None                            # for one row or column NumPy passes other steps to the loop
    given = _as_read(a, b)
    if given is None:
        return None
    sizes, a, b = given
    return native.result("numpy_products", shape + (m, n), _LOOP, *sizes, a, b)


def light(a, b):
    """a.dot(b) of two matrices."""
    result = by_loop(a, b) if native.listening else None
    return a.dot(b) if result is None else result


def matmul(a, b):
    """np.matmul for two arrays of matrices of one dtype: in C, or with the first axis shared by threads, or by
    NumPy."""
    size = a.size * b.shape[-1]
    if a.ndim > 2 < b.ndim:
        result = None
        if size >= _SEVERAL and NATIVE:
            result = _several(a, b)
        elif native.listening:
            result = by_loop(a, b)
        if result is not None:
            return result
    if size < _HEAVY_HERE or a.ndim < 3 or a.shape[:-2] != b.shape[:-2] or (
            number() < 2 or type(a) is not np.ndarray):
        return np.matmul(a, b, order="C")      # in C order for operands of any memory order
    result = np.empty(a.shape[:-1] + b.shape[-1:], a.dtype)
    split(len(a), lambda first, last: np.matmul(a[first:last], b[first:last], out=result[first:last]))
    return result
