"""Running sums and products along an axis."""
from math import prod

import numpy as np

from . import native

_PIECE = 16384                                 # elements whose results in double precision stay in the cache
_FEW, _MANY = 512, 256                         # elements that one call does best; lines to add up one after the other
_WIDE = {np.dtype(x): np.dtype(y) for x, y in (("e", "f"), ("f", "d"), ("F", "D"))}
_SINGLE = np.dtype(np.float32)


def running(x, dim, product, backward, wide):
    """Running sums along `dim`, or products, from its end if `backward`.

    As torch does, those of a precision are kept in the next one, and each is rounded. Not `wide`: those of float32 in
    float32, for the numbers were bfloat16.
    """
    dtype = x.dtype
    kept = _WIDE.get(dtype, dtype) if wide or dtype != _SINGLE else dtype
    if kept is not dtype and type(x) is np.ndarray:
        shape = x.shape
        sizes = prod(shape[:dim]), shape[dim], prod(shape[dim + 1:])
        if native.takes("running", x):
            result = np.empty(shape, dtype)
            native.run("running", *sizes, product, backward, x, result)
            return result
        if x.size > _FEW and (sizes[2] == 1 or sizes[0] * sizes[2] >= _MANY):
            return _by_pieces(np.ascontiguousarray(x).reshape(sizes), kept, product, backward).reshape(shape)
    source = np.flip(x, dim) if backward else np.ascontiguousarray(x)
    found = (np.multiply if product else np.add).accumulate(source, dim, kept)
    if not product and kept.kind in "fc":
        found += 0                             # where torch begins: there is no -0
    return np.flip(found, dim).astype(dtype, "C") if backward else found.astype(dtype, copy=False)


def _by_pieces(x, kept, product, backward):
    """`running` along the middle one of three axes, of which the last is one or there are many lines."""
    result = np.empty(x.shape, x.dtype)
    given, to = (x[:, ::-1], result[:, ::-1]) if backward else (x, result)
    ufunc = np.multiply if product else np.add
    if x.shape[2] == 1:
        rows = max(1, _PIECE // x.shape[1])
        for i in range(0, len(x), rows):
            found = ufunc.accumulate(given[i:i + rows], 1, kept)
            to[i:i + rows] = found if product else found + 0
        return result
    total = np.full((len(x), x.shape[2]), product, kept)
    for i in range(x.shape[1]):
        ufunc(total, given[:, i], out=total)
        to[:, i] = total
    return result
