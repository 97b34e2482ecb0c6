"""flip, roll, triu, tril, diagonals, borders, and the gradient of resized images, for float32 arrays in C
(native/arrange.c). Each function returns None where C does not take the arrays, and the caller uses NumPy."""
from functools import lru_cache
from math import prod

import numpy as np

from . import native
from .allocator import MMAP_THRESHOLD
from .rows import around
from .threads import number

_FLOAT = np.dtype(np.float32)
_MANY = 1 << 20                                # bytes from which on several threads fill memory in less time


def flipped(x, dim):
    """`x` with the order along `dim` reversed."""
    return native.made("flip_rows", x.shape, *around(x.shape, dim), x)


def rolled(x, shift, dim):
    """`x` with its elements moved along `dim`; those moved beyond the end come in at the start."""
    outer, n, inner = around(x.shape, dim)
    return native.made("roll_rows", x.shape, outer, n * inner, shift % n * inner, x)


def on_diagonals(x, offset):
    """Square matrices of zeros with the rows of `x` on the diagonal `offset`."""
    *outer, size = x.shape
    side = size + abs(offset)
    return native.made("diagonals", (*outer, side, side), prod(outer), size, max(-offset, 0), max(offset, 0), x)


def triangle(x, diagonal, upper):
    """The lower or upper triangle of matrices from `diagonal` on, with zeros elsewhere."""
    return native.made("triangle", x.shape, *_sizes_of_triangle(x.shape, diagonal), upper, x)


def bordered(x, widths, value):
    """`x` in borders of the number `value`, if two neighbouring dimensions at most have any."""
    if x.dtype != _FLOAT or (sizes := _sizes_of_border(x.shape, widths)) is None:
        return None
    return native.made("border", *sizes, value, x)


def fill(array, value):
    """Fills an array with a float, as its method does."""
    if array.size >= native.LEAST and array.dtype == _FLOAT and array.flags.c_contiguous:
        native.run("fill", array.size, float(value), array)
    else:
        array.fill(value)


def filled(shape, value):
    """A new array of one float."""
    n = prod(shape)
    return native.result("fill", shape, n, float(value)) if n and native.many("fill", n) else None


def zeros(shape, dtype):
    """np.zeros(shape, dtype). Threads write the zeros where NumPy would write them on its own; larger blocks are zeros
    already when the operating system gives them (allocator.py)."""
    by_threads = dtype == _FLOAT and number() > 1 and _MANY <= prod(shape) * 4 <= MMAP_THRESHOLD
    found = filled(shape, 0.0) if by_threads else None
    return np.zeros(shape, dtype) if found is None else found


def pixels_shuffled(x, factor, back, size):
    """The channels of images as pixels of images of `size`, which are factor times as high and as wide, or `back`."""
    *outer, high, wide = x.shape if back else size
    return native.made("shuffle_pixels", size, prod(outer), factor, high // factor, wide // factor, back, x)


@lru_cache(1024)
def _sizes_of_border(shape, widths):
    """The arguments of the kernel `border` before its number."""
    result = tuple([n + a + b for n, (a, b) in zip(shape, widths)])
    while len(shape) > 2 and widths[-1] == (0, 0):     # the last two dimensions as one
        *shape, m, n = shape
        *widths, (before, after), _ = widths
        shape, widths = (*shape, m * n), (*widths, (before * n, after * n))
    inside = (1, 1, *shape)[-2:]
    (top, bottom), (left, right) = ((0, 0), (0, 0), *widths)[-2:]
    if any([a or b for a, b in widths[:-2]]) or min(top, bottom, left, right) < 0:
        return None
    return result, prod(shape[:-2]), *inside, top, bottom, left, right


@lru_cache(1024)
def _sizes_of_triangle(shape, diagonal):
    """The numbers of matrices, rows and columns, and the diagonal, or the nearest one that is as far outside."""
    *outer, rows, columns = shape
    limit = rows + columns + 1
    return prod(outer), rows, columns, max(-limit, min(diagonal, limit))


def taps_of_two_axes(rows, columns):
    """(the number of taps, their places in rows and in columns, their weights), as kernels take the taps of
    `interpolate.taps`; None for taps that they do not take."""
    if len(rows) != len(columns) or any([outputs is not None for outputs, _, _ in (*rows, *columns)]):
        return None
    weights = [None if along[0][2] is None else np.concatenate([w for _, _, w in along]) for along in (rows, columns)]
    places = [np.concatenate([p for _, p, _ in along], dtype=np.int64) for along in (rows, columns)]
    return len(rows), *places, *weights


def resized(x, out, taps):
    """Images (*, height, width) of the size `out`; `taps`: a result of `taps_of_two_axes`."""
    shape, (count, *places_and_weights) = x.shape, taps
    return native.made("resize", shape[:-2] + out, prod(shape[:-2]), *shape[-2:], *out, count, x, *places_and_weights)


def resized_back(g, size, taps):
    """The gradient of images of `size` that `resized` takes."""
    shape, (count, *places_and_weights) = g.shape, taps
    return native.made("resize_backward", shape[:-2] + size, prod(shape[:-2]), *size, *shape[-2:], count, g,
                       *places_and_weights)
