"""Arithmetic with the last bit of compiled C: fused multiply-add, and the functions of libm."""
import math

import numpy as np

_TIE = 0x10000000                       # the low 29 bits of a float64 that is halfway between two float32
_LOW29 = 0x1FFFFFFF
_CHUNK = 16384                          # elements at a time: temporaries stay in the cache


def _sum_to_odd(a, b):
    """a + b in float64, rounded to odd: rounding the result again, to fewer bits, is then exact."""
    total = a + b
    part = total - a
    error = (a - (total - part)) + (b - part)
    bits = total.view(np.int64)
    inexact = (error != 0) & ((bits & 1) == 0)
    if inexact.any():
        outwards = (error > 0) == (total > 0)
        total = np.where(inexact, np.where(outwards, bits + 1, bits - 1), bits).view(np.float64)
    return total


def fma32(a, b, c, out):
    """The correctly rounded float32 a * b + c of a float32 array and scalars b, c, into `out`.

    The product is exact in float64. The sum is rounded to 53 and then to 24 bits, which is wrong only if
    it lies halfway between two float32 after the first rounding: those few are redone.
    """
    source, target = a.reshape(-1), out.reshape(-1)
    b, c = float(np.float32(b)), float(np.float32(c))
    for i in range(0, source.size, _CHUNK):
        product = source[i:i + _CHUNK].astype(np.float64)
        product *= b
        total = product + c
        low = total.view(np.int64) & _LOW29
        low -= _TIE
        if not low.all():
            tie = low == 0
            total[tie] = _sum_to_odd(product[tie], np.float64(c))
        target[i:i + _CHUNK] = total
    return out


def near_tie(values):
    """Bools: where float64 values are so close to halfway between two float32 that their last bits decide."""
    low = values.view(np.int64) & _LOW29
    low -= _TIE
    return np.abs(low) < 64


_SPLIT = float((1 << 27) + 1)


def fma64(a, b, c):
    """The correctly rounded float64 a * b + c of a 1-D float64 array and scalars b, c."""
    if not (math.isfinite(b) and math.isfinite(c)):
        return a * b + c
    if max(abs(b), abs(c)) > 2.0 ** 990:       # splitting `b` would overflow
        return fma64(a, b * 2.0 ** -100, c * 2.0 ** -100) * 2.0 ** 100
    out = np.empty_like(a)
    for i in range(0, a.size, _CHUNK // 2):
        out[i:i + _CHUNK // 2] = _fma64_chunk(a[i:i + _CHUNK // 2], float(b), float(c))
    return out


def _fma64_chunk(a, b, c):
    # Dekker: product + error == a * b exactly.
    product = a * b
    t = _SPLIT * a
    a_high = t - (t - a)
    a_low = a - a_high
    t = _SPLIT * b
    b_high = t - (t - b)
    b_low = b - b_high
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    # Boldo and Melquiond: error + c, then + product, are kept as sums of two numbers, the small ones rounded to odd.
    u_high = c + error
    t = u_high - c
    u_low = (c - (u_high - t)) + (error - t)
    high = product + u_high
    t = high - product
    low = (product - (high - t)) + (u_high - t)
    return high + _sum_to_odd(low, u_low)


class _Libm:
    """float64 log, log1p, exp and tan with the last bit of the C library.

    NumPy calls the C library for them, except on processors with AVX512, where its vector code may differ in
    the last bit. There Python's `math` computes the values one by one. For sin and cos every NumPy 2 calls the
    C library.
    """

    sin, cos = staticmethod(np.sin), staticmethod(np.cos)

    def __init__(self):
        features = getattr(np._core._multiarray_umath, "__cpu_features__", {})
        self.vectorised = features.get("AVX512_SKX", False)
        for name, at_edge in (("log", -math.inf), ("log1p", -math.inf), ("exp", math.inf), ("tan", math.nan)):
            setattr(self, name, _one_by_one(getattr(math, name), at_edge) if self.vectorised else getattr(np, name))


def _one_by_one(function, at_edge):
    def apply(x):
        try:
            values = list(map(function, x.ravel().tolist()))
        except (ValueError, OverflowError):
            values = [_or_edge(function, v, at_edge) for v in x.ravel().tolist()]
        return np.array(values, np.float64).reshape(x.shape)
    return apply


def _or_edge(function, value, at_edge):
    try:
        return function(value)
    except (ValueError, OverflowError):                      # log(0), exp(1000): C gives an infinity
        return at_edge


libm = _Libm()
