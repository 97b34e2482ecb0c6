"""The error function and its relatives, on arrays.

Coefficients: Chebyshev interpolation of the functions computed with 60 digits (double) and a weighted
least-squares fit (single).
"""
import math

import numpy as np

from . import native
from .layout import operand_order
from .series import polynomial

# erf(x) / x in powers of x^2, |x| < 1
_SMALL = (
    1.1283791670955126, -0.37612638903183543, 0.11283791670945006, -0.02686617064323777, 0.0052239776071164225,
    -0.0008548325975389692, 0.00012055294904839707, -1.492473690741966e-05, 1.6447424703317362e-06,
    -1.6208483801871705e-07, 1.3720064546777686e-08, -7.795898827002142e-10)
# exp(x^2) erfc(x) (1 + 2 x) in powers of t = (x - 4) / (x + 4), x >= 0
_TAIL = (
    1.2329951186255526, -0.1396211168405625, 0.015379652102610162, 0.0680970542546862, -0.10103906603585294,
    0.09373283499865172, -0.06633036582050367, 0.0371675155318432, -0.01619773397992426, 0.005031970032548695,
    -0.0007577737141838885, -0.00019925700412184815, 0.0001506231178516207, -2.439811794207995e-05,
    -1.1225140354449658e-05, 5.707239573693257e-06, 2.980596055322769e-07, -8.218020654813044e-07,
    7.111912428010423e-08, 1.0683442926744586e-07, -1.6357383982124768e-08, -1.2544825403855518e-08,
    1.5712153638319064e-09, 9.655408225482863e-10)
# artanh(erf(x)) / x in powers of x^2 up to 16: in single precision erf is right to 3 units in the last place
_SINGLE = (1.128379225730896, 0.10276956856250763, -0.0001940045622177422, -0.0006167006213217974,
           8.575973333790898e-05, -5.134919319971232e-06, 7.298903881292063e-08, 3.217174082692509e-09)

#: Elements worked on at a time: what a polynomial needs stays in the cache.
_CHUNK = 1 << 16


def erf(x):
    """The error function, in the precision of `x` (half in single)."""
    if x.dtype == np.float64:
        small = np.abs(x) < 1.0
        if small.all():
            return x * _erf_ratio(x)
        tail = np.copysign(1.0 - erfc(np.abs(x)), x)
        return np.where(small, x * _erf_ratio(x), tail)
    result = native.each("erf_each", x)
    if result is not None:
        return result
    flat = np.ascontiguousarray(x, np.float32).reshape(-1)
    result = np.empty_like(flat)
    squares, most = np.empty((2, min(_CHUNK, flat.size)), np.float32)
    most[...] = 16                             # an array: NumPy compares with a number one by one
    for start in range(0, flat.size, _CHUNK):
        part, out = flat[start:start + _CHUNK], result[start:start + _CHUNK]
        z = squares[:part.size]
        np.multiply(part, part, z)
        np.minimum(z, most[:part.size], out=z)
        polynomial(_SINGLE, z, out)
        out *= part                            # beyond 4 ever larger: tanh makes it 1
        np.tanh(out, out)
    result = result.reshape(x.shape).astype(x.dtype, copy=False)
    return result if x.flags.c_contiguous else operand_order(result, x)


def _erf_ratio(x):
    z = np.minimum(x * x, 1.0)
    return polynomial(_SMALL, z)


def _squared_exp(x):
    """exp(-x^2): the rounding error of x^2 would cost digits where x is large."""
    high = x.astype(np.float32).astype(np.float64)
    return np.exp(-high * high) * np.exp((high - x) * (high + x))


def _tail(x):
    """exp(x^2) erfc(x), x >= 0."""
    t = (x - 4.0) / (x + 4.0)
    return polynomial(_TAIL, t) / (1.0 + 2.0 * x)


def erfc(x):
    """1 - erf(x), exact where erf(x) is nearly 1."""
    if x.dtype != np.float64:
        return erfc(x.astype(np.float64)).astype(x.dtype)
    size = np.minimum(np.abs(x), 30.0)         # erfc(30) is below the smallest double
    tail = _tail(size) * _squared_exp(size)
    tail = np.where(x < 0, 2.0 - tail, tail)
    return np.where(np.abs(x) < 0.5, 1.0 - x * _erf_ratio(x), tail)


def erfcx(x):
    """exp(x^2) erfc(x): infinite where exp(x^2) is."""
    size = np.abs(x).astype(np.float64)
    tail = np.where(size > 5e7, 1.0 / (math.sqrt(math.pi) * size), _tail(np.minimum(size, 5e7))).astype(x.dtype)
    return np.where(x < 0, 2.0 * np.exp(x * x) - tail, tail)


def erfinv(y):
    """The x with erf(x) = y: infinite at -1 and 1, NaN outside."""
    if y.dtype != np.float64:
        return erfinv(y.astype(np.float64)).astype(y.dtype)
    size = np.abs(y)
    inner = np.minimum(size, 1.0 - 2.0 ** -53)
    rest = 1.0 - inner                         # exact
    # Winitzki's estimate, two digits; each Halley step triples them.
    log = np.log(rest * (1.0 + inner))
    u = 2.0 / (math.pi * 0.147) + 0.5 * log
    x = np.sqrt(np.sqrt(u * u - log / 0.147) - u)
    for _ in range(3):
        error = np.where(inner < 0.5, erf(x) - inner, rest - erfc(x))
        step = error / (2.0 / math.sqrt(math.pi) * np.exp(-x * x))
        x = x - step / (1.0 + x * step)
    x = np.where(size < 1.0, x, np.where(size == 1.0, np.inf, np.nan))
    return np.copysign(x, y)
