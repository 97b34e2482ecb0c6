"""Orthogonal polynomials of arrays of degrees, in the precision of the arguments, by their recurrences.

Degrees are truncated to whole numbers. A polynomial of negative degree is 0.
"""
import numpy as np


def _degrees(n):
    """Degrees as int64; -1 for negative ones, NaN, and those too large for an int64."""
    return np.where((n > -1.0) & (n < 2.0 ** 63), np.trunc(n), -1.0).astype(n.dtype, copy=False)


def _fused(a, b, c):
    """a * b - c, in single precision rounded once, as torch's fused multiply-add rounds."""
    if a.dtype == np.float32:
        return (a.astype(np.float64) * b - c).astype(np.float32)
    return a * b - c


def _recurrence(first, step, x, n, most=np.inf):
    """The polynomial of degree n, from p[0] = 1, p[1] = first and p[k] = step(k, x, p[k-1], p[k-2]), until NaN. Degrees
    above `most` get the value of that degree."""
    before, last = np.ones_like(x), first
    k = 2
    while k <= most and ((n >= k) & ~np.isnan(last)).any():
        before, last = last, np.where(n >= k, step(k, x, last, before), last)
        k += 1
    return np.where(n == 0, 1.0, last).astype(x.dtype, copy=False)


#: For each kind of Chebyshev polynomial: p[1] - 2 y (None for kind t, where p[1] is y); the degree from which on it is
#: computed by angles within (-1, 1); the same degree for shifted polynomials.
_KINDS = {"t": (None, 7, 7), "u": (0.0, 9, 7), "v": (-1.0, 9, 7), "w": (1.0, 9, 5)}


def _at_angle(kind, y, n, sign, shifted):
    """The polynomial at y = cos(angle). Where half the angle rounds to its end, torch uses the value at -1 (at 1 for
    the kind w, not shifted)."""
    angle = np.arccos(y)
    if kind == "t":
        return np.cos(n * angle)
    if kind == "u":
        return np.sin((n + 1) * angle) / np.sin(angle)
    half = angle / 2
    sine, cosine = np.sin(half), np.cos(half)
    if kind == "v":
        return np.where(sine != 1, np.cos((n + 0.5) * angle) / cosine, sign * (2 * n + 1))
    return np.where(cosine != 1, np.sin((n + 0.5) * angle) / sine, sign if shifted else 2 * n + 1)


def chebyshev(kind, x, n, shifted=False):
    """The Chebyshev polynomial of kind t, u, v or w (first to fourth), with `shifted` at 2 x - 1."""
    x, n = np.broadcast_arrays(x, _degrees(n))
    y = x + x - 1.0 if shifted else x
    start, *degrees = _KINDS[kind]
    upper, lower = x == 1.0, x == (0.0 if shifted else -1.0)
    by_angle = (n >= degrees[shifted]) & (np.abs(y) < 1.0) & ~upper & ~lower
    sign = np.where(n % 2 == 0, 1.0, -1.0).astype(x.dtype, copy=False)
    result = _recurrence(y if start is None else y + y + start,
                         lambda k, y, last, before: _fused(y + y, last, before), y,
                         np.where(by_angle | upper | lower, 0.0, n))
    if by_angle.any():
        result = np.where(by_angle, _at_angle(kind, np.where(by_angle, y, 0.0), n, sign, shifted), result)
    ends = {"t": (1.0, sign), "u": (n + 1, sign * (n + 1)), "v": (1.0, sign * (2 * n + 1)), "w": (2 * n + 1, sign)}
    result = np.where(upper, ends[kind][0], np.where(lower, ends[kind][1], result))
    return np.where(n < 0, 0.0, result).astype(x.dtype, copy=False)


def _hermite(first, step, x, n):
    x, n = np.broadcast_arrays(x, _degrees(n))
    most = 128 if x.dtype == np.float32 else 512
    result = _recurrence(first(x), step, x, n, most)
    result = np.where(n > most, np.nan, result)
    return np.where(n < 0, 0.0, result).astype(x.dtype, copy=False)


def hermite_h(x, n):
    """The physicists' Hermite polynomial: NaN for degrees above 128 (in double precision 512)."""
    return _hermite(lambda x: x + x, lambda k, x, last, before: _fused(x + x, last, (2 * k - 2) * before), x, n)


def hermite_he(x, n):
    """The probabilists' Hermite polynomial: NaN for degrees above 128 (in double precision 512)."""
    return _hermite(lambda x: x.copy(), lambda k, x, last, before: _fused(x, last, (k - 1) * before), x, n)


def laguerre(x, n):
    """The Laguerre polynomial."""
    x, n = np.broadcast_arrays(x, _degrees(n))
    result = _recurrence(
        1.0 - x, lambda k, x, last, before: _fused(2 * k - 2 + (1.0 - x), last, (k - 1) * before) / k, x,
        np.where(x == 0.0, 0.0, n))
    return np.where(n < 0, 0.0, result).astype(x.dtype, copy=False)


def legendre(x, n):
    """The Legendre polynomial."""
    x, n = np.broadcast_arrays(x, _degrees(n))
    end = np.abs(x) == 1.0
    result = _recurrence(
        x, lambda k, x, last, before: _fused((2 * k - 1) * x, last, (k - 1) * before) / k, x, np.where(end, 0.0, n))
    result = np.where(end, np.where((x > 0.0) | (n % 2 == 0), 1.0, -1.0), result)
    return np.where(n < 0, 0.0, result).astype(x.dtype, copy=False)
