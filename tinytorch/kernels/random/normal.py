"""PyTorch's CPU normal numbers on ndarrays, bit for bit.

There are two algorithms, and PyTorch's rule decides between them. Fewer than 16 numbers, or the numbers of an array
that is not contiguous, are made one by one in float64, and the second one of a pair is cached in the stream. Others are
made in blocks of 16, for float32 by the vectorised polynomials of PyTorch's AVX2 build, including every rounding.
"""
import math

import numpy as np

from ... import dtypes as dt
from .. import native
from .exact import fma32, fma64, libm
from .samplers import f16, f64, fills, in_precisions, parts_of, rounded, store

_CHUNK = 16384                          # pairs per pass: the work arrays stay in the cache
_SHORT = 16                             # up to so many pairs, plain Python is faster


_ONE_BY_ONE, _IN_BLOCKS = in_precisions("normals"), in_precisions("normal")


def normal_natively(out, mean, std, stream):
    """Fills an array by a native kernel, if one takes it. Returns whether it did."""
    if type(out) is not np.ndarray or (kernel := _IN_BLOCKS.get(out.dtype)) is None or not out.flags.carray:
        return False
    if (n := out.size) < 16:
        return stream.rejected(_ONE_BY_ONE[out.dtype], n, (mean, std, False), out)
    return stream.natively(kernel, n, (mean, std), out)


@fills(normal_natively)
def normal(out, mean, std, stream):
    """Fills `out` with normal numbers. The parts of complex ones are independent, with deviation std / sqrt(2)."""
    n, dtype = out.size, out.dtype
    if n == 0:
        return out
    if dt.is_complex(dtype):
        normal(parts_of(out), mean, std / math.sqrt(2), stream)
        return out
    if n < 16 or not out.flags.c_contiguous:
        return store(out, rounded(_drawn(n, mean, std, False, stream), dtype))
    tail = n % 16
    body = n - tail
    # If n is no multiple of 16, the last numbers are drawn and then overwritten: the last 16 elements get a
    # new block. For the 16-bit types these last numbers are drawn in the new block alone.
    half = dtype == f16 or dtype == dt.BFLOAT16
    draw = stream.uniform64 if dtype == f64 else stream.uniform32
    u = draw((body if half else n) + 16 * (tail > 0))
    if tail and not half:
        u[body:body + 16] = u[n:]
        u = u[:body + 16]
    if dtype == f64:
        _box_muller64(u, mean, std)
    else:
        _box_muller32(u, mean, std)
    if half:
        u = rounded(u, dtype)
    flat = out.reshape(-1)
    flat[:body] = u[:body]
    if tail:
        flat[n - 16:] = u[body:]
    return out


def _log_normal_natively(out, mean, std, stream):
    return out.dtype in _ONE_BY_ONE and out.flags.carray and stream.rejected(
        _ONE_BY_ONE[out.dtype], out.size, (mean, std, True), out)


@fills(_log_normal_natively)
def log_normal(out, mean, std, stream):
    """exp of normal numbers."""
    return store(out, rounded(_drawn(out.size, mean, std, True, stream), out.dtype)) if out.size else out


# ------------------------------------------------------------------ float64, one by one
def _drawn(n, mean, std, exponents, stream):
    """n normal numbers in float64, or exp of them."""
    out = np.empty(n)
    if stream.rejected("normals53", n, (mean, std, exponents), out):
        return out
    values = scaled(one_by_one(n, stream), mean, std)
    return libm.exp(values) if exponents else values


def one_by_one(n, stream):
    """n standard normal numbers in float64; the second one of the last pair may stay in the stream's cache."""
    z = np.empty(n)
    start = 0
    if n and stream.cached_normal is not None:
        z[0] = stream.cached_normal
        stream.cached_normal = None
        start = 1
    missing = n - start
    if not missing:
        return z
    pairs = (missing + 1) // 2
    u = stream.uniform64(2 * pairs)
    if pairs <= _SHORT:
        both = []
        for a, b in zip(u[0::2].tolist(), u[1::2].tolist()):
            both += normal_pair(a, b)
    else:
        radius = np.sqrt(-2.0 * libm.log1p(-u[1::2]))
        angle = (2.0 * math.pi) * u[0::2]
        both = np.empty(2 * pairs)
        np.multiply(radius, libm.cos(angle), out=both[0::2])
        np.multiply(radius, libm.sin(angle), out=both[1::2])
    z[start:] = both[:missing]
    if missing % 2:
        stream.cached_normal = float(both[missing])
    return z


def normal_pair(u1, u2):
    """Two independent normal numbers from two uniform ones."""
    radius = math.sqrt(-2.0 * math.log1p(-u2))
    angle = 2.0 * math.pi * u1
    return radius * math.cos(angle), radius * math.sin(angle)


def scaled(z, mean, std):
    """z * std + mean, rounded once (and -0 made +0)."""
    return z * std + 0.0 if mean == 0 else fma64(z, std, mean)


# ------------------------------------------------------------------ float64, blocks of 16
def _box_muller64(u, mean, std):
    """Uniform to normal numbers, in place: in each block of 16, number k and k + 8 make a pair."""
    pairs = u.reshape(-1, 2, 8)
    radius = np.sqrt(-2.0 * libm.log(1.0 - pairs[:, 0, :]))
    angle = (2.0 * math.pi) * pairs[:, 1, :]
    for k, wave in enumerate((libm.cos, libm.sin)):
        pairs[:, k, :] = scaled((radius * wave(angle)).reshape(-1), mean, std).reshape(-1, 8)


# ------------------------------------------------------------------ float32, blocks of 16
# The polynomials are those of Cephes. PyTorch's compiler has fused some of their multiply-adds: here these are
# computed in float64 and rounded (which was found exact for every possible input). The others are rounded after each
# operation. Constants are 0-dim arrays, which NumPy converts faster than Python numbers.
def _rounded32(*values):
    return [np.array(np.float32(v), np.float64) for v in values]


def _single(value):
    return np.array(value, np.float32)


def _integer(value):
    return np.array(value, np.int32)


_LOG = _rounded32(7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
                  -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)
_COS = _rounded32(2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
_SIN = _rounded32(-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_SQRT_HALF = _single(math.sqrt(0.5)).view(np.int32)
_LN2_LOW, _LN2_HIGH = _single(-2.12194440e-4), _single(0.693359375)
_MINUS_TWO, _HALF, _ONE, _ZERO = _single(-2), _single(0.5), _single(1), _single(0)
_TWO_PI, _FOUR_BY_PI = _single(2 * math.pi), _single(1.27323954473516)
_QUARTER_HIGH, _QUARTER_MIDDLE = _single(-0.78515625), _single(-2.4187564849853515625e-4)
_QUARTER_LOW, = _rounded32(-3.77489497744594108e-8)          # the sum of the three is -pi/4
_HALF64 = np.array(0.5)
_MANTISSA, _EXPONENT_SHIFT = _integer(0x007FFFFF), _integer(23)
_I1, _I2, _I4, _EVEN, _29, _30, _31 = (_integer(v) for v in (1, 2, 4, -2, 29, 30, 31))


class _Work:
    """Scratch arrays for n pairs."""

    def __init__(self, n):
        self.single = np.empty((7, n), np.float32)
        self.double = np.empty((4, n))
        self.integer = np.empty((2, n), np.int32)

    def first(self, n):
        """The first n pairs of the same arrays."""
        return list(self.single[:, :n]), list(self.double[:, :n]), list(self.integer[:, :n])


def _box_muller32(u, mean, std):
    """Uniform to normal numbers, in place: in each block of 16, number k and k + 8 make a pair."""
    if native.done("box_muller", u.size // 16, mean, std, u):
        return
    mean, std = np.float32(mean), np.float32(std)
    work = _Work(min(u.size // 2, _CHUNK))
    for i in range(0, u.size, 2 * _CHUNK):
        block = u[i:i + 2 * _CHUNK].reshape(-1, 2, 8)
        n = block.size // 2
        singles, doubles, integers = work.first(n)
        radius, angle = singles[5:]
        np.subtract(_ONE, block[:, 0, :], out=radius.reshape(-1, 8))
        angle.reshape(-1, 8)[...] = block[:, 1, :]
        _to_radius(radius, singles, doubles, integers)
        waves = _cos_sin(angle, singles, doubles, integers)
        for k, wave in enumerate(waves):
            wave *= radius
            if mean:
                fma32(wave, std, mean, out=wave)
            else:
                if std != 1:
                    wave *= std
                wave += _ZERO                                # -0 becomes +0
            block[:, k, :] = wave.reshape(-1, 8)


def _to_radius(u, singles, doubles, integers):
    """u in (0, 1] -> sqrt(-2 log u), in place."""
    z, y, t, e = singles[:4]
    x64, y64 = doubles[:2]
    exponent, mantissa = integers
    # u = m * 2**e with m in [sqrt(1/2), sqrt(2)); x = m - 1 is exact
    np.subtract(u.view(np.int32), _SQRT_HALF, mantissa)
    np.right_shift(mantissa, _EXPONENT_SHIFT, exponent)
    e[...] = exponent
    np.bitwise_and(mantissa, _MANTISSA, mantissa)
    np.add(mantissa, _SQRT_HALF, mantissa)
    x = mantissa.view(np.float32)
    np.subtract(x, _ONE, x)
    np.multiply(x, x, z)
    x64[...] = x
    np.multiply(x64, _LOG[0], y64)
    for c in _LOG[1:-1]:                                     # y = fma(y, x, c)
        np.add(y64, c, y64)
        y[...] = y64
        y64[...] = y
        np.multiply(x64, y64, y64)
    np.add(y64, _LOG[-1], y64)
    y[...] = y64
    np.multiply(y, x, y)
    x64[...] = z
    y64[...] = y
    np.multiply(x64, y64, y64)                               # y = fma(y, z, e * low)
    np.multiply(e, _LN2_LOW, t)
    x64[...] = t
    np.add(y64, x64, y64)
    y[...] = y64
    np.multiply(z, _HALF, z)
    np.subtract(y, z, y)
    np.add(x, y, x)
    np.multiply(e, _LN2_HIGH, e)                             # exact
    np.add(x, e, x)
    np.multiply(x, _MINUS_TWO, x)
    np.sqrt(x, u)


def _cos_sin(u, singles, doubles, integers):
    """u in [0, 1) -> cos and sin of 2 pi u, in two of the scratch arrays."""
    x, z, cos, sin, octant = singles[:5]
    x64, y64, z64, half64 = doubles
    j, k = integers
    # j: the octant of the angle, made even; x = angle - j * pi/4
    np.multiply(u, _TWO_PI, x)
    np.multiply(x, _FOUR_BY_PI, octant)
    j[...] = octant
    np.add(j, _I1, j)
    np.bitwise_and(j, _EVEN, j)
    octant[...] = j
    np.multiply(octant, _QUARTER_HIGH, z)
    np.add(x, z, x)
    np.multiply(octant, _QUARTER_MIDDLE, z)
    np.add(x, z, x)
    y64[...] = octant
    x64[...] = x
    np.multiply(y64, _QUARTER_LOW, y64)
    np.add(y64, x64, y64)
    x[...] = y64
    x64[...] = x
    np.multiply(x, x, z)
    z64[...] = z
    _cubic(_COS, z, z64, cos, y64)
    np.multiply(z64, y64, y64)                               # cos = fma(z, y, -z/2) + 1
    np.multiply(z64, _HALF64, half64)
    np.subtract(y64, half64, y64)
    cos[...] = y64
    np.add(cos, _ONE, cos)
    _cubic(_SIN, z, z64, sin, y64)
    np.multiply(x64, y64, y64)                               # sin = fma(x, y, x)
    np.add(y64, x64, y64)
    sin[...] = y64
    # bit 1 of j exchanges the two, bit 2 gives the signs
    np.left_shift(j, _30, k)
    np.right_shift(k, _31, k)
    sin_bits, cos_bits, t = sin.view(np.int32), cos.view(np.int32), z.view(np.int32)
    np.bitwise_xor(sin_bits, cos_bits, t)
    np.bitwise_and(t, k, t)
    np.bitwise_xor(sin_bits, t, sin_bits)
    np.bitwise_xor(cos_bits, t, cos_bits)
    np.bitwise_and(j, _I4, k)
    np.left_shift(k, _29, k)
    np.bitwise_xor(sin_bits, k, sin_bits)
    np.subtract(j, _I2, j)
    np.invert(j, j)
    np.bitwise_and(j, _I4, j)
    np.left_shift(j, _29, j)
    np.bitwise_xor(cos_bits, j, cos_bits)
    return cos, sin


def _cubic(coefficients, z, z64, y, y64):
    """y = fma(fma(c0, z, c1), z, c2) * z, also left in y64."""
    first, second, third = coefficients
    np.multiply(z64, first, y64)
    np.add(y64, second, y64)
    y[...] = y64
    y64[...] = y
    np.multiply(z64, y64, y64)
    np.add(y64, third, y64)
    y[...] = y64
    np.multiply(y, z, y)
    y64[...] = y
