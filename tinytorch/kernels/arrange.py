"""flip, triu, tril, and the gradient of resized images, for float32 arrays in C (native/arrange.c). Each function
returns None where C does not take the arrays, and the caller uses NumPy."""
from functools import lru_cache
from math import prod

import numpy as np

from . import native
from .rows import around

_FLOAT = np.dtype(np.float32)


def flipped(x, dim):
    """`x` with the order along `dim` reversed."""
    return native.made("flip_rows", x.shape, *around(x.shape, dim), x)


def triangle(x, diagonal, upper):
    """The lower or upper triangle of matrices from `diagonal` on, with zeros elsewhere."""
    return native.made("triangle", x.shape, *_sizes_of_triangle(x.shape, diagonal), upper, x)


@lru_cache(1024)
def _sizes_of_triangle(shape, diagonal):
    """The numbers of matrices, rows and columns, and the diagonal, or the nearest one that is as far outside."""
    *outer, rows, columns = shape
    limit = rows + columns + 1
    return prod(outer), rows, columns, max(-limit, min(diagonal, limit))


def resized_back(g, axes, size):
    """The gradient of images of `size` whose rows and columns were resized: see `interpolate.resized_grad`."""
    if len(axes) != 2 or not native.takes("resize_backward", g):
        return None
    rows, columns = axes
    if len(rows) != len(columns) or any([outputs is not None for outputs, _, _ in (*rows, *columns)]):
        return None
    weights = [None if along[0][2] is None else np.concatenate([w for _, _, w in along]) for along in axes]
    outer, high, wide = g.shape[:-2], *g.shape[-2:]
    places = [np.concatenate([p for _, p, _ in along], dtype=np.int64) for along in axes]
    return native.made("resize_backward", (*outer, *size), prod(outer), *size, high, wide, len(rows), g, *places,
                       *weights)
