"""The logarithm of the gamma function and its derivatives, on arrays; computed in double precision.

All by Stirling's asymptotic series, after moving small arguments up with the recurrence.
"""
import math

import numpy as np

# Bernoulli numbers B2, B4, ...
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)
#: From here on the series is exact to rounding.
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


@in_double
def lgamma(x):
    """log |gamma(x)|: infinite at zero and the negative whole numbers."""
    reflect = x < 0.5
    y = np.where(reflect, 1.0 - x, x)
    small = y < _LARGE
    product = np.ones_like(y)
    for k in range(_LARGE):
        product *= np.where(small, y + k, 1.0)
    z = np.where(small, y + _LARGE, y)
    series = np.zeros_like(z)
    for k in range(7, 0, -1):
        series = series / (z * z) + _BERNOULLI[k - 1] / (2 * k * (2 * k - 1))
    result = (z - 0.5) * np.log(z) - z + 0.5 * math.log(2.0 * math.pi) + series / z - np.log(product)
    result = np.where((y == 1.0) | (y == 2.0), 0.0, np.where(y == np.inf, np.inf, result))
    return np.where(reflect, np.where(x == -np.inf, np.inf, np.log(math.pi / np.abs(_sin_pi(x))) - result), result)


@in_double
def digamma(x):
    """The derivative of lgamma: infinite at zero, NaN at the negative whole numbers."""
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
    """Sum of (q + k)^-s over k = 0, 1, ... for a whole s > 1: infinite at zero and the negative whole numbers."""
    below = q < 0
    if below.any():                            # the terms of negative numbers are those of two sums of positive ones
        part = np.where(below, -q - np.floor(-q), 0.5)
        negative = hurwitz_zeta(s, part) - hurwitz_zeta(s, np.where(below, 1.0 - q, 1.0))
        positive = hurwitz_zeta(s, np.where(below, 1.0 - part, q))
        result = np.where(below, (-1.0) ** s * negative + positive, positive)
        return np.where(below & (q == np.floor(q)), np.inf, result)
    result = np.zeros_like(q)
    z = q.copy()
    for _ in range(_LARGE):
        small = z < _LARGE
        result += np.where(small, z ** float(-s), 0.0)
        z = np.where(small, z + 1.0, z)
    result += z ** (1.0 - s) / (s - 1.0) + 0.5 * z ** float(-s)
    factor = z ** (-s - 1.0) * s
    for k in range(1, 11):
        result += _BERNOULLI[k - 1] / math.factorial(2 * k) * factor
        factor = factor * ((s + 2 * k - 1) * (s + 2 * k)) / (z * z)
    return np.where(q == 0, np.inf, result)


def trigamma(x):
    """The derivative of digamma: by reflection below 1/2, where torch's pi is that of the dtype (in half precision of
    float32). So it is finite at the negative whole numbers, where the sine of a multiple of that is not quite zero."""
    pi = np.float64(math.pi) if x.dtype == np.float64 else np.float32(math.pi)
    angle = (pi * x.astype(pi.dtype)).astype(np.float64)
    y = x.astype(np.float64)
    reflect = y < 0.5
    result = hurwitz_zeta(2, np.where(reflect, 1.0 - y, y))
    return np.where(reflect, math.pi ** 2 / np.sin(angle) ** 2 - result, result).astype(x.dtype)


def polygamma(n, x):
    """The n-th derivative of digamma, n >= 1."""
    if n == 1:
        return trigamma(x)
    if x.dtype != np.float64:
        return polygamma(n, x.astype(np.float64)).astype(x.dtype)
    values = (-1.0) ** (n + 1) * math.factorial(n) * hurwitz_zeta(n + 1, x)
    return np.where(x == np.inf, np.nan, values)           # as torch, whose sum has a term of zero times infinity
