"""Running sums and products along an axis."""
import numpy as np

from . import native
from .rows import around

_PIECE = 16384                                 # so many results in double precision stay in the cache
#: Up to _FEW elements one call of NumPy is fastest. At least _MANY lines are added up step by step, all at once.
_FEW, _MANY = 512, 256
_WIDE = {np.dtype(x): np.dtype(y) for x, y in (("e", "f"), ("f", "d"), ("F", "D"))}
_ZEROS = {np.dtype(x): np.zeros((), x) for x in "efdFD"}
_SINGLE = np.dtype(np.float32)


def running(x, dim, product, backward, wide):
    """Running sums along `dim`, or with `product` running products; from the end if `backward`.

    As in torch the running value is kept in the next higher precision, and each result is rounded. Unless `wide`,
    float32 stays in float32: its numbers were bfloat16 before.
    """
    dtype = x.dtype
    if wide and dtype.char == "f":
        shape = x.shape
        if (result := native.made("running", shape, *around(shape, dim), product, backward, x)) is not None:
            return result
    kept = _WIDE.get(dtype, dtype) if wide or dtype != _SINGLE else dtype
    if kept is not dtype and type(x) is np.ndarray and x.size > _FEW:
        shape = x.shape
        return _by_pieces(np.ascontiguousarray(x).reshape(around(shape, dim)), kept, product, backward).reshape(shape)
    given = np.flip(x, dim) if backward else x
    if product:
        found = np.multiply.accumulate(given, dim, kept)
    else:                                      # torch begins with 0, so no result is -0
        zero = _ZEROS.get(dtype)
        found = np.add.accumulate(given if zero is None else given + zero, dim, kept)
    if not backward:
        return found.astype(dtype, "C", copy=False)
    return np.flip(found, dim).astype(dtype, "C")            # a copy: strides must not be negative


def _by_pieces(x, kept, product, backward):
    """`running` along the second of three axes."""
    result = np.empty(x.shape, x.dtype)
    given, to = (x[:, ::-1], result[:, ::-1]) if backward else (x, result)
    ufunc = np.multiply if product else np.add
    outer, n, inner = x.shape
    if inner > 1 and outer * inner >= _MANY:
        total = np.full((outer, inner), product, kept)
        for i in range(n):
            ufunc(total, given[:, i], out=total)
            to[:, i] = total
        return result
    rows = min(outer, max(1, _PIECE // (n * inner)))
    steps = _PIECE // (rows * inner)
    for i in range(0, outer, rows):
        total = kept.type(product)
        for k in range(0, n, steps):
            part = given[i:i + rows, k:k + steps].astype(kept)
            part[:, :1] = ufunc(total, part[:, :1])
            ufunc.accumulate(part, 1, out=part)
            to[i:i + rows, k:k + steps] = part
            total = part[:, -1:]
    return result
