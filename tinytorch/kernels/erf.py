"""The error function and its relatives, on arrays.

Coefficients: Chebyshev interpolation of the functions computed with 60 digits (double) and a weighted
least-squares fit (single).
"""
import math

import numpy as np

from .expressions import expression, word
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
# erfinv(y) / y, to nine digits: for w = -log(1 - y^2) < 5, in powers of t = 0.4 w - 1 ...
_INVERSE_NEAR = (
    1.5014093511307296, 0.6166006919867009, -0.026108237741432467, -0.019573564270649057, 0.008525432590256501,
    -0.0004878764749554979, -0.0008343272659614886, 0.00029213577974979843, 2.10274531521873e-05,
    -4.140043618074984e-05, 7.820672733815211e-06, 2.931137042117709e-06, -1.2236984334405913e-06)
# ... for larger w, up to the largest y below 1, in powers of t = (sqrt(w) - middle) / half
_INVERSE_FAR = (
    4.022067902290035, 1.9636582346225844, 0.0031988513093181904, -0.004928157132895696, 0.0033584382172853755,
    -0.0020554854702318176, 0.00165548962165773, -0.0016185343988137529, 0.0010874095950102443,
    -0.0012519465062323211, 0.0026583934985707604, -0.0018408286750889245, -0.0010865539512492398,
    0.0014389093547246131, 1.9601429246845168e-05, -0.0002554121513041371)
_MIDDLE, _HALF = (6.125 + math.sqrt(5.0)) / 2, (6.125 - math.sqrt(5.0)) / 2

#: The number of elements computed at a time: the operands of a polynomial stay in the cache.
_CHUNK = 1 << 16


def _erf(x):
    if x.dtype == np.float64:
        small = np.abs(x) < 1.0
        if small.all():
            return x * _erf_ratio(x)
        tail = np.copysign(1.0 - _erfc(np.abs(x)), x)
        return np.where(small, x * _erf_ratio(x), tail)
    # Single precision: tanh of a polynomial.
    flat = np.ascontiguousarray(x, np.float32).reshape(-1)
    result = np.empty_like(flat)
    squares, most = np.empty((2, min(_CHUNK, flat.size)), np.float32)
    most[...] = 16                             # an array, because NumPy compares faster with it
    for start in range(0, flat.size, _CHUNK):
        part, out = flat[start:start + _CHUNK], result[start:start + _CHUNK]
        z = squares[:part.size]
        np.multiply(part, part, z)
        np.minimum(z, most[:part.size], out=z)
        polynomial(_SINGLE, z, out)
        out *= part                            # beyond 4 this grows with x, and tanh makes it 1
        np.tanh(out, out)
    result = result.reshape(x.shape).astype(x.dtype, copy=False)
    return result if x.flags.c_contiguous else operand_order(result, x)


def _erf_ratio(x):
    z = np.minimum(x * x, 1.0)
    return polynomial(_SMALL, z)


def _squared_exp(x):
    """exp(-x^2), corrected for the rounding error of x^2, which would cost digits where x is large."""
    high = x.astype(np.float32).astype(np.float64)
    return np.exp(-high * high) * np.exp((high - x) * (high + x))


def _tail(x):
    """exp(x^2) erfc(x) for x >= 0."""
    t = (x - 4.0) / (x + 4.0)
    return polynomial(_TAIL, t) / (1.0 + 2.0 * x)


def _erfc(x):
    if x.dtype != np.float64:
        return _erfc(x.astype(np.float64)).astype(x.dtype)
    size = np.minimum(np.abs(x), 30.0)         # erfc(30) is below the smallest double
    tail = _tail(size) * _squared_exp(size)
    tail = np.where(x < 0, 2.0 - tail, tail)
    return np.where(np.abs(x) < 0.5, 1.0 - x * _erf_ratio(x), tail)


def erfcx(x):
    """exp(x^2) erfc(x): infinite where exp(x^2) is."""
    size = np.abs(x).astype(np.float64)
    tail = np.where(size > 5e7, 1.0 / (math.sqrt(math.pi) * size), _tail(np.minimum(size, 5e7))).astype(x.dtype)
    return np.where(x < 0, 2.0 * np.exp(x * x) - tail, tail)


def _erfinv(y):
    flat = np.ascontiguousarray(y).reshape(-1)
    result = np.empty_like(flat)
    for start in range(0, flat.size, _CHUNK // 4):
        part, out = flat[start:start + _CHUNK // 4], result[start:start + _CHUNK // 4]
        size = np.abs(part, dtype=np.float64)
        inner = np.minimum(size, 1.0 - 2.0 ** -53)
        x = _inverse(inner)
        if y.dtype == np.float64:
            x = _refined(x, inner)
        beyond = ~(size < 1.0)
        if beyond.any():
            x[beyond] = np.where(size[beyond] == 1.0, np.inf, np.nan)
        np.copysign(x, part, out=out, casting="same_kind")
    result = result.reshape(y.shape)
    return result if y.flags.c_contiguous else operand_order(result, y)


def _inverse(y):
    """erfinv to nine digits for 0 <= y < 1."""
    w = -np.log((1.0 - y) * (1.0 + y))
    x = polynomial(_INVERSE_NEAR, 0.4 * w - 1.0)
    far = w > 5.0
    if far.any():
        x[far] = polynomial(_INVERSE_FAR, (np.sqrt(w[far]) - _MIDDLE) / _HALF)
    x *= y
    return x


def _refined(x, y):
    """erfinv(y) from `x`, which has nine digits of it: a step of Halley's method triples the number of digits."""
    near = y < 0.5
    error = np.empty_like(x)
    error[near] = x[near] * _erf_ratio(x[near]) - y[near]
    error[~near] = (1.0 - y[~near]) - _erfc(x[~near])              # the difference is exact
    step = error / (2.0 / math.sqrt(math.pi) * np.exp(-x * x))
    return x - step / (1.0 + x * step)


#: The words for expressions, and the functions: erf; erfc(x) = 1 - erf(x), accurate where erf(x) is nearly 1; and
#: erfinv(y), the x with erf(x) = y, infinite at -1 and 1, NaN outside.
word_erf, word_erfc, word_erfinv = word("erf", _erf), word("erfc", _erfc), word("erfinv", _erfinv)
erf, erfc, erfinv = (expression(text) for text in (
    lambda x: word_erf(x), lambda x: word_erfc(x), lambda x: word_erfinv(x)))
