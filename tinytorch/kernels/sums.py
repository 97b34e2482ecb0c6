"""Sums of arrays over some axes."""
from functools import lru_cache
from math import prod

import numpy as np

from ..kinds.record_dtypes import BFLOAT16, from_bfloat16, to_bfloat16
from . import native
from .rows import ones

PIECE = 16384            # so many elements are one piece of work for a thread
_BITS, _LONG = np.dtype(np.uint16), np.dtype(np.int64)
MANY_SQUARES = native.LEAST_OF["sums_of_squares"]         # from so many numbers on it is worth asking for a kernel
_FEW = min(native.LEAST, np.getbufsize())      # below, the layout does not change a sum


def add_up(x, axes, keepdims=False):
    """The sum over `axes` (not negative), in the dtype of `x`."""
    plan = _plan(x.shape, axes, keepdims)
    if plan is not None:
        shape, rows, width, grain, pieces, rest = plan
        if grain:
            found = native.made("column_sums", shape, rows, width, grain, pieces, x)
        else:
            found = native.made("row_sums", shape, rows, width, PIECE, pieces, x,
                                np.empty(pieces) if pieces > 1 else None)
        if found is not None:
            if rest is None:
                return found
            return found[0].copy() if grain else add_up(found, rest, keepdims)
    if x.size >= _FEW and not x.flags.aligned:
        x = x.copy("K")                        # NumPy copies these in buffers, and adds in another order
    return np.add.reduce(x, axis=axes, keepdims=keepdims)


def sum_of_squares(x, y=None):
    """The sum of the squares of a contiguous vector, or of its differences from another one, which are rounded to
    float32, in C; None where NumPy is to compute it."""
    n = x.size
    pieces = -(-n // PIECE)
    found = native.made("sums_of_squares", (pieces,), n, PIECE, pieces, x, y)
    return None if found is None else np.float32(np.add.reduce(found))


@lru_cache(1024)
def _plan(shape, axes, keepdims):
    """How C adds up contiguous arrays: (the shape of its result, the numbers of rows and columns, the rows of a piece
    if columns are added up, the number of pieces, what is left to do). None for axes that it does not add up over."""
    over, n = sorted(axes), len(shape)
    if not over or not prod(shape):
        return None
    left = tuple([1 if i in over else m for i, m in enumerate(shape) if keepdims or i not in over])
    last = max([i for i, m in enumerate(shape) if m > 1], default=over[-1])
    if last in over:                           # first over the last axes, which leaves few numbers
        first = last
        while first and (first - 1 in over or shape[first - 1] == 1):
            first -= 1
        rest = tuple([i for i in over if i < first])
        if rest:
            left = shape[:first] + (1,) * (n - first) * keepdims
        rows, width = prod(shape[:first]), prod(shape[first:])
        return left, rows, width, 0, -(-width // PIECE) if rows == 1 else 0, rest or None
    stop = max([i for i in over if shape[i] > 1], default=0) + 1
    rows, width = prod(shape[:stop]), prod(shape[stop:])
    if any([shape[i] > 1 and i not in over for i in range(stop)]):
        return None
    grain = max(32, PIECE // width)           # with fewer rows there are too many partial sums
    pieces = -(-rows // grain)
    return left if pieces == 1 else (pieces, *left), rows, width, grain, pieces, () if pieces > 1 else None


def add_up_whole(x, axes, keepdims, dtype):
    """The sum over `axes` of bools or whole numbers, in this dtype of whole numbers."""
    if dtype.itemsize == 8 and type(x) is np.ndarray:
        plan = _plan(x.shape, axes, keepdims)
        if plan is not None and x.dtype.char == "?" and len(axes) == x.ndim:
            counts = None
            if x.size <= native.ONE_PIECE and dtype == _LONG:
                counts = native.made("true_counts", plan[0], 1, x.size, x)
            return np.full(plan[0], np.count_nonzero(x), dtype) if counts is None else counts
        if plan is not None and not plan[3] and plan[5] is None:
            found = native.made("whole_sums", *plan[:3], x)
            if found is not None:
                return found
    return np.add.reduce(x, axis=axes, dtype=dtype, keepdims=keepdims)


def add_up_halves(x, axes, keepdims=False, rounded=False):
    """`add_up` of float16 or bfloat16, in float32. The sums are rounded to 16 bits if `rounded`. TypeError for the
    other dtypes that are stored as records."""
    dtype = x.dtype
    half = dtype.kind == "f"
    if not half and dtype is not BFLOAT16 and dtype != BFLOAT16:
        raise TypeError(f"no sums of {dtype}")
    name = "rounded_row_sums" if rounded else "half_row_sums"
    plan = _plan(x.shape, axes, keepdims)
    if plan is not None and not plan[3] and plan[5] is None and native.many(name, x.size) and (
            type(x) is np.ndarray and x.flags.c_contiguous):
        shape, rows, width, _, pieces, _ = plan
        found = native.result(name, shape, rows, width, PIECE, pieces, half, np.frombuffer(x, _BITS),
                              np.empty(pieces) if pieces > 1 else None)
        return found.view(dtype) if rounded else found
    found = add_up(x.astype(np.float32) if half else from_bfloat16(x), axes, keepdims)
    if not rounded:
        return found
    found = _in_c_order(found)
    return found.astype(dtype) if half else to_bfloat16(found)


def _in_c_order(x):
    return x if x.flags.c_contiguous else x.copy()


def powers(x, power, axes, keepdims=False):
    """Sums of |x| ** power over `axes`, for a power of 3 or 4 in C, where a sum is rounded once."""
    plan = _plan(x.shape, axes, keepdims) if power in (3, 4) else None
    if plan is not None and not plan[3] and plan[5] is None:
        found = native.made("power_sums", *plan[:3], int(power), x)
        if found is not None:
            return found
    return _in_c_order(add_up(np.abs(x) ** power, axes, keepdims))


def variances(x, axes, keepdims, freedom, root):
    """The sums of squared differences from the mean, divided by `freedom`, or (`root`) the roots of that. None where C
    does not compute them. Where squares over- or underflow they are computed in double precision."""
    plan = _plan(x.shape, axes, keepdims)
    if plan is None or plan[5]:
        return None
    shape, rows, width, grain, pieces, _ = plan
    if grain:
        shape = shape[1:] if pieces > 1 else shape
        return native.made("column_variances", shape, rows, width, grain, root, freedom, x)
    return native.made("row_variances", shape, rows, width, PIECE if rows == 1 else width, root, freedom, x)


def of_batch(x):
    """The sum of floats over the first axis. For few elements a product with ones takes half the time of a sum."""
    if x.ndim == 2 and x.size < PIECE:
        return ones(len(x), x.dtype.char).dot(x)
    return add_up(x, (0,))


def runs(x, axes):
    """`x` as a matrix whose rows are reduced over `axes` (not negative), if each row is one run of memory; else
    None."""
    plan = _plan_of_runs(x.shape, x.strides, x.itemsize, axes)
    if plan is None:
        return None
    order, width = plan
    return (x if order is None else x.transpose(order)).reshape(-1, width)


@lru_cache(1024)
def _plan_of_runs(shape, strides, itemsize, axes):
    """(the order of the dimensions, or None if they are in order; the length of a row), or None if rows are no runs."""
    over = sorted([i for i in axes if shape[i] > 1], key=lambda i: strides[i])
    step = itemsize
    for i in over:
        if strides[i] != step:
            return None
        step *= shape[i]
    order = [i for i in range(len(shape)) if i not in over] + over[::-1]
    return None if order == sorted(order) else tuple(order), step // itemsize


def norm_of_rows(x):
    """The root of the sum of squares of each row of floats, added up in torch's order: eight partial sums, which are
    added to each other, then a group of four and the last one to three squares. A long row has torch's error: 3e-4 of
    the sum for a million elements."""
    rows, width = x.shape
    if not rows:
        return np.empty(0, x.dtype)
    if (result := native.made("row_norms", (rows,), rows, width, x)) is not None:
        return result
    squares, whole, fours = x * x, width // 8 * 8, width // 4 * 4
    sums = np.add.reduce(squares[:, :whole].reshape(rows, -1, 8), axis=1)
    total = sums[:, 0].copy()
    for i in range(1, 8):
        total += sums[:, i]
    for i in range(whole, fours):
        total += squares[:, i]
    for i in range(fours, width):
        total = (x[:, i].astype(np.float64) ** 2 + total).astype(np.float32)       # nearly as if rounded once
    return np.sqrt(total)
