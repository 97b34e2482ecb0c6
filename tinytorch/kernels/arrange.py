"""Arrays turned round and without a triangle, and the gradient of resized images: what native/arrange.c makes of
float32; None for the caller's NumPy where it does not."""
from math import prod

import numpy as np

from . import native

_FLOAT = np.dtype(np.float32)


def flipped(x, dim):
    """`x` with the order along `dim` reversed."""
    if not native.takes("flip_rows", x):
        return None
    result = np.empty(x.shape, _FLOAT)
    native.run("flip_rows", prod(x.shape[:dim]), x.shape[dim], prod(x.shape[dim + 1:]), x, result)
    return result


def triangle(x, diagonal, upper):
    """The lower or upper triangle of matrices from `diagonal` on, and zeros."""
    if not native.takes("triangle", x):
        return None
    result = np.empty(x.shape, _FLOAT)
    *outer, rows, columns = x.shape
    limit = rows + columns + 1
    native.run("triangle", prod(outer), rows, columns, max(-limit, min(diagonal, limit)), upper, x, result)
    return result


def resized_back(g, axes, size):
    """The gradient of images of `size` whose rows and columns were resized: see `interpolate.resized_grad`."""
    if len(axes) != 2 or not native.takes("resize_backward", g):
        return None
    rows, columns = axes
    if len(rows) != len(columns) or any([outputs is not None for outputs, _, _ in (*rows, *columns)]):
        return None
    weights = [None if along[0][2] is None else np.concatenate([w for _, _, w in along]) for along in axes]
    if any([w is not None and w.dtype != _FLOAT for w in weights]):
        return None
    outer, high, wide = g.shape[:-2], *g.shape[-2:]
    result = np.empty((*outer, *size), _FLOAT)
    places = [np.concatenate([p for _, p, _ in along], dtype=np.int64) for along in axes]
    native.run("resize_backward", prod(outer), *size, high, wide, len(rows), g, *places, *weights, result)
    return result
