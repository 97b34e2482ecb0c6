"""Sums of arrays over some axes."""
from functools import lru_cache
from math import prod

import numpy as np

from ..kinds.record_dtypes import BFLOAT16, from_bfloat16
from . import native
from .rows import ones

PIECE = 16384            # so many elements are one piece of work for a thread
_BITS = np.dtype(np.uint16)
_FEW = min(native.LEAST, np.getbufsize())      # below, the layout does not change a sum


def add_up(x, axes, keepdims=False):
    """The sum over `axes` (not negative), in the dtype of `x`."""
    if x.size >= _FEW:
        if axes and native.takes("row_sums", x):
            shape, n, found = x.shape, x.ndim, None
            if axes == tuple(range(n - len(axes), n)):
                found = _of_rows(x, prod(shape[:-len(axes)]), prod(shape[-len(axes):]))
            elif axes == tuple(range(len(axes))) and x.size >= PIECE:
                found = _of_columns(x, prod(shape[:len(axes)]), prod(shape[len(axes):]))
            elif axes[-1] == n - 1:            # first over the last axes, which leaves few numbers
                inner = next((i for i in range(n - 1, 0, -1) if i - 1 not in axes), 0)
                found = add_up(_of_rows(x, prod(shape[:inner]), prod(shape[inner:])).reshape(shape[:inner]),
                               tuple([i for i in axes if i < inner]))
            if found is not None:
                return found.reshape([1 if i in axes else m for i, m in enumerate(shape) if keepdims or i not in axes])
        if not x.flags.aligned:
            x = x.copy("K")                    # NumPy copies these in buffers, and adds in another order
    return np.add.reduce(x, axis=axes, keepdims=keepdims)


def add_up_halves(x, axes, keepdims=False):
    """`add_up` of float16 or bfloat16, in float32: the sums are not rounded to 16 bits yet. TypeError for the other
    dtypes that are stored as records."""
    if x.dtype.kind != "f" and x.dtype != BFLOAT16:
        raise TypeError(f"no sums of {x.dtype}")
    if axes and x.size >= _FEW and native.level() and type(x) is np.ndarray and x.flags.c_contiguous and (
            axes == tuple(range(x.ndim - len(axes), x.ndim))):
        shape, half = x.shape, x.dtype.kind == "f"
        rows, width = prod(shape[:-len(axes)]), prod(shape[-len(axes):])
        pieces = -(-width // PIECE) if rows == 1 else 0
        found = native.result("half_row_sums", (rows,), rows, width, PIECE, pieces, half, np.frombuffer(x, _BITS),
                              np.empty(pieces) if pieces > 1 else None)
        return found.reshape([1 if i in axes else m for i, m in enumerate(shape) if keepdims or i not in axes])
    return add_up(x.astype(np.float32) if x.dtype.kind == "f" else from_bfloat16(x), axes, keepdims)


def of_batch(x):
    """The sum of floats over the first axis. For few elements a product with ones takes half the time of a sum."""
    if x.ndim == 2 and x.size < PIECE:
        return ones(len(x), x.dtype.char).dot(x)
    return add_up(x, (0,))


def _of_rows(x, rows, width):
    pieces = -(-width // PIECE) if rows == 1 else 0
    return native.result("row_sums", (rows,), rows, width, PIECE, pieces, x, np.empty(pieces) if pieces > 1 else None)


def _of_columns(x, rows, width):
    grain = max(32, PIECE // width)           # with fewer rows there are too many partial sums
    pieces = -(-rows // grain)
    parts = np.empty((pieces, width), x.dtype)
    native.run("column_sums", rows, width, grain, pieces, x, parts)
    return parts[0] if pieces == 1 else parts[0].copy()


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
