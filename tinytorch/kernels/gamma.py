"""The logarithm of the gamma function and its derivatives, on arrays; computed in double precision.

All use Stirling's asymptotic series, after the recurrence has moved small arguments up.
"""
import math
from functools import lru_cache

import numpy as np

from .expressions import expression, word
from .series import piecewise, polynomial

# Bernoulli numbers B2, B4, ...
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)
#: From this argument on the series is accurate to rounding.
_LARGE = 10


def in_double(function):
    """`function` of a float64 array, for arrays of any floating dtype."""
    def convert(x):
        return function(x) if x.dtype == np.float64 else function(x.astype(np.float64)).astype(x.dtype)
    return convert


def _sin_pi(x):
    """sin(pi x), exactly zero at whole numbers."""
    whole = np.round(x)
    return np.sin(math.pi * (x - whole)) * np.where(whole % 2 == 0, 1.0, -1.0)


def stirling(z):
    """log gamma(z) - ((z - 1/2) log z - z + log(2 pi) / 2), for z >= 10."""
    series = np.zeros_like(z)
    for k in range(7, 0, -1):
        series = series / (z * z) + _BERNOULLI[k - 1] / (2 * k * (2 * k - 1))
    return series / z


@lru_cache
def _powers_at_two():
    """The coefficients of the Taylor series of log gamma at 2, from Euler's constant and the zeta function."""
    degrees = np.arange(2.0, 30.0)
    beyond_one = hurwitz_zeta(degrees, np.full_like(degrees, 2.0))
    return (0.0, 0.42278433509846714, *(beyond_one * (-1.0) ** degrees / degrees))


def _near_two(y):
    """log gamma from 0.5 to 2.5. A difference would lose digits near its zeros, 1 and 2."""
    below = y < 1.5
    z = y - np.where(below, 1.0, 2.0)
    return polynomial(_powers_at_two(), z) - np.where(below, np.log1p(np.where(below, z, 0.0)), 0.0)


def _by_stirling(z):
    return (z - 0.5) * np.log(z) - z + 0.5 * math.log(2.0 * math.pi) + stirling(z)


def _moved_up(y):
    """log gamma above 2.5, by the recurrence and Stirling's series."""
    product = np.ones_like(y)
    for k in range(_LARGE - 2):
        product *= y + k
    return _by_stirling(y + (_LARGE - 2)) - np.log(product)


@in_double
def _lgamma(x):
    reflect = x < 0.5
    y = np.where(reflect, 1.0 - x, x)
    result = piecewise(y, (y < 2.5, _near_two), (y < _LARGE, _moved_up), (y == np.inf, np.inf), (y == y, _by_stirling))
    if not reflect.any():
        return result
    return np.where(reflect, np.where(x == -np.inf, np.inf, np.log(math.pi / np.abs(_sin_pi(x))) - result), result)


@in_double
def _digamma(x):
    reflect = x < 0
    y = np.where(reflect, 1.0 - x, x)
    small = y < _LARGE
    below = np.zeros_like(y)
    for k in range(_LARGE):
        below += np.where(small, 1.0 / (y + k), 0.0)
    z = np.where(small, y + _LARGE, y)
    series = np.zeros_like(z)
    for k in range(8, 0, -1):
        series = (series + _BERNOULLI[k - 1] / (2 * k)) / (z * z)
    result = np.log(z) - 0.5 / z - series - below
    fraction = x - np.round(x)
    result = np.where(reflect, result - math.pi / np.tan(math.pi * fraction), result)
    result = np.where(reflect & (fraction == 0), np.nan, result)
    return np.where(x == 0, -np.copysign(np.inf, x), result)


def hurwitz_zeta(s, q):
    """The sum of (q + k)^-s over k = 0, 1, ... for s > 1: infinite at q = 0 and at negative whole q, NaN at other
    negative q if s is not whole."""
    below = q < 0
    if below.any():                            # for q < 0 the terms are those of two sums with positive q
        part = np.where(below, -q - np.floor(-q), 0.5)
        positive = hurwitz_zeta(s, np.where(below, 1.0 - part, q))
        sign = np.where(s == np.floor(s), np.where(s % 2 == 0, 1.0, -1.0), np.nan)
        # The first two terms nearly cancel for odd s, and are added first, so that their sum keeps its digits.
        result = positive + sign * hurwitz_zeta(s, part) - sign * hurwitz_zeta(s, np.where(below, 1.0 - q, 1.0))
        result = np.where(below, result, positive)
        return np.where(below & ((q == np.floor(q)) | (s > 2.0 ** 53)), np.inf, result)
    total = np.zeros_like(q + s)
    for k in range(_LARGE):
        power = np.power(q + k, -s)            # ** of two scalars is rounded otherwise than np.power
        total += power
    done = power < 2.0 ** -53 * total          # for large s, where the powers below overflow (False if all are 0)
    z = q + _LARGE
    power = np.power(z, -s)
    result = total + power * z / (s - 1.0) + 0.5 * power
    power, factor = power / z, s
    for k in range(1, 11):
        result += _BERNOULLI[k - 1] / math.factorial(2 * k) * (factor * power)
        factor, power = factor * ((s + 2 * k - 1) * (s + 2 * k)), power / (z * z)
    return np.where(q == 0, np.inf, np.where(done, total, result))


def zeta(s, q):
    """The sum of (q + k)^-s with torch's values elsewhere: infinite at s = 1, NaN below."""
    if s.dtype != np.float64:
        return zeta(s.astype(np.float64), q.astype(np.float64)).astype(s.dtype)
    result = hurwitz_zeta(np.where(s <= 1.0, 2.0, s), q)
    return np.where(s == 1.0, np.inf, np.where(s < 1.0, np.nan, result))


def _trigamma(x):
    """The derivative of digamma. Below 1/2 it is reflected, with pi rounded to the dtype (float32 for half precision)
    as in torch. So it is finite at negative whole numbers, where the sine of a multiple of that pi is not quite
    zero."""
    pi = np.float64(math.pi) if x.dtype == np.float64 else np.float32(math.pi)
    angle = (pi * x.astype(pi.dtype)).astype(np.float64)
    y = x.astype(np.float64)
    reflect = y < 0.5
    result = np.where(y == np.inf, 0.0, hurwitz_zeta(2.0, np.where(reflect, 1.0 - y, y)))
    return np.where(reflect, math.pi ** 2 / np.sin(angle) ** 2 - result, result).astype(x.dtype)


def polygamma(n, x):
    """The n-th derivative of digamma, n >= 1. torch reads n as a 32-bit int: an n that wraps around to 0 gives the pole
    of the zeta function, an n that wraps around to a negative number NaN."""
    n = (n + (1 << 31)) % (1 << 32) - (1 << 31)
    if n < 1:
        return np.full_like(x, np.nan if n else -np.inf)
    if n == 1:
        return trigamma(x)
    dtype = x.dtype if x.dtype == np.float64 else np.dtype(np.float32)         # both factors have its range
    factor = np.asarray(math.factorial(n) if n <= 170 else np.inf).astype(dtype)
    zeta = hurwitz_zeta(n + 1.0, x.astype(np.float64)).astype(dtype)
    values = (factor if n % 2 else -factor) * zeta
    values = np.where(x == np.inf, np.nan, values)         # in torch's sum one term is 0 times infinity
    return values.astype(x.dtype)


#: The words for expressions, and the functions: log |gamma(x)|, infinite at 0 and the negative whole numbers, and its
#: derivatives, the first of which is infinite at 0 and NaN at the negative whole numbers.
word_lgamma, word_digamma = word("lgamma", _lgamma), word("digamma", _digamma)
word_trigamma = word("trigamma", _trigamma)
lgamma, digamma, trigamma = (expression(text) for text in (
    lambda x: word_lgamma(x), lambda x: word_digamma(x), lambda x: word_trigamma(x)))
