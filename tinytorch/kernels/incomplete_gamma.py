"""The regularised incomplete gamma functions, on arrays; computed in double precision.

One of four expansions is chosen as in torch and SciPy: DLMF 8.7.3, 8.9.2, 8.11.4 or, where x is near a large a, Temme's
uniform expansion, 8.12.3.
"""
from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from .erf import erfc
from .gamma import lgamma, stirling
from .series import piecewise, polynomial

#: torch's largest number of terms.
_TERMS = 2000
#: The numbers of powers of 1 / a, and of eta, in Temme's expansion, which is used for a > 20.
_ORDERS, _POWERS = 12, 25
_EPS, _BIG = 2.0 ** -52, 2.0 ** 52


@lru_cache
def _temme():
    """The coefficients of eta^n / a^k in Temme's expansion, as exact fractions (DiDonato and Morris 1986, formula 17
    ff.)."""
    from fractions import Fraction  # slow to import

    count = _POWERS + 2 * _ORDERS + 2
    a = [Fraction(0), Fraction(1), Fraction(1, 3)]         # lambda - 1 = eta + eta^2 / 3 + ...
    for n in range(3, count):
        a.append((a[n - 1] - sum(j * a[j] * a[n - j + 1] for j in range(2, n))) / (n + 1))
    row = first = [(n + 2) * a[n + 2] for n in range(count - 2)]
    row[0] = first[0] = Fraction(-1, 3)
    table, odd = [], Fraction(1)
    for k in range(1, _ORDERS + 1):
        table.append(tuple(map(float, row[:_POWERS])))
        odd *= -(2 * k + 1)
        row = [odd * a[2 * k + 1] * c + (n + 2) * up for n, (c, up) in enumerate(zip(first, row[2:]))]
    return table


def _near(a, x, lower):
    """Temme's expansion of the lower or the upper function. In the factor of the sum torch has pi as a float32."""
    sign = -1.0 if lower else 1.0
    sigma = (x - a) / a
    eta = np.copysign(np.sqrt(-2.0 * (np.log1p(sigma) - sigma)), sigma)
    total = polynomial([polynomial(row, eta) for row in _temme()], 1.0 / a)
    rest = np.exp(-0.5 * a * eta * eta) * total / np.sqrt(2.0 * float(np.float32(math.pi)) * a)
    return 0.5 * erfc(sign * eta * np.sqrt(a / 2.0)) + sign * rest


def _power(a, x):
    """x^a exp(-x) / gamma(a), without overflow or cancellation: for large a by Stirling's series."""
    mu = (x - a) / a
    large = np.maximum(a, 10.0)
    slope = np.where(np.abs(mu) < 0.5, np.log1p(np.maximum(mu, -0.5)), np.log(x / a)) - mu
    beside = np.exp(large * slope - stirling(large)) * np.sqrt(large / (2.0 * math.pi))
    return np.where(a < 10.0, np.exp(a * np.log(x) - x - lgamma(a)), beside)


def _converged(step, *state):
    """Repeats step(k, *state), which returns the next state and bools that say where it is final, until all elements
    are final. Returns the first array of the state. Final elements are left out every 8 steps."""
    result, places = np.empty_like(state[0]), np.arange(state[0].size)
    for k in range(1, _TERMS + 1):
        state, final = step(k, *state)
        if final.all():
            break
        if k % 8 == 0:
            result[places[final]] = state[0][final]
            places, state = places[~final], [x[~final] for x in state]
    result[places] = state[0]
    return result


def _lower_series(a, x):
    def step(k, total, term, a, x):
        term = term * x / (a + k)
        total = total + term
        return (total, term, a, x), ~(term > _EPS * total)
    return _converged(step, np.ones_like(x), np.ones_like(x), a, x) * _power(a, x) / a


def _upper_series(a, x):
    """The upper function for small x, without a subtraction from 1."""
    def step(k, total, factor, a, x):
        factor = factor * (-x / k)
        term = factor / (a + k)
        total = total + term
        return (total, factor, a, x), ~(np.abs(term) > _EPS * np.abs(total))
    log = a * np.log(x)
    total = _converged(step, np.zeros_like(x), np.ones_like(x), a, x)
    return -np.expm1(log - lgamma(1.0 + a)) - np.exp(log - lgamma(a)) * total


def _upper_fraction(a, x):
    """The continued fraction of the upper function, by the recurrence of its numerators and denominators, which are
    scaled down when they grow."""
    def step(k, result, p, p_before, q, q_before, y, z):
        y, z = y + 1.0, z + 2.0
        p, p_before = p * z - p_before * (y * k), p
        q, q_before = q * z - q_before * (y * k), q
        value = np.where(q != 0.0, p / np.where(q != 0.0, q, 1.0), result)
        final = ~(np.abs(result - value) > _EPS * np.abs(value)) & (q != 0.0)
        scale = np.where(np.abs(p) > _BIG, 1.0 / _BIG, 1.0)
        return (value, p * scale, p_before * scale, q * scale, q_before * scale, y, z), final
    p, q = x + 1.0, (x - a + 2.0) * x
    power = _power(a, x)
    return np.where(power == 0.0, 0.0,
                    _converged(step, p / q, p, np.ones_like(x), q, x, 1.0 - a, x - a + 2.0) * power)


def _is_near(a, x):
    distance = np.abs(x - a) / a
    return (a > 20.0) & (a < 200.0) & (distance < 0.3) | (a > 200.0) & (distance < 4.5 / np.sqrt(a))


def lower(a, x):
    """The lower function: the integral up to x. NaN where a or x is negative."""
    if a.dtype != np.float64:
        return lower(a.astype(np.float64), x.astype(np.float64)).astype(a.dtype)
    a, x = np.broadcast_arrays(a, x)
    return piecewise(
        a, ((x < 0.0) | (a < 0.0) | (a == 0.0) & ~(x > 0.0), np.nan), (a == 0.0, 1.0), (x == 0.0, 0.0),
        (np.isinf(a), lambda a, x: np.where(np.isinf(x), np.nan, 0.0)), (np.isinf(x), 1.0),
        (_is_near(a, x), lambda a, x: _near(a, x, True)),
        ((x > 1.0) & (x > a), lambda a, x: 1.0 - upper(a, x)), (x <= np.maximum(a, 1.0), _lower_series), beside=(x,))


def upper(a, x):
    """The upper function: the integral from x on. NaN where a or x is negative."""
    if a.dtype != np.float64:
        return upper(a.astype(np.float64), x.astype(np.float64)).astype(a.dtype)
    a, x = np.broadcast_arrays(a, x)
    from_one = np.where(x > 1.1, x, np.where(x <= 0.5, -0.4 / np.log(np.clip(x, 1e-300, 0.5)), x * 1.1)) < a
    return piecewise(
        a, ((x < 0.0) | (a < 0.0) | (a == 0.0) & ~(x > 0.0), np.nan), (a == 0.0, 0.0), (x == 0.0, 1.0),
        (np.isinf(a), lambda a, x: np.where(np.isinf(x), np.nan, 1.0)), (np.isinf(x), 0.0),
        (_is_near(a, x), lambda a, x: _near(a, x, False)), (np.isnan(a) | np.isnan(x), np.nan),
        (from_one, lambda a, x: 1.0 - _lower_series(a, x)), (x > 1.1, _upper_fraction), (x <= 1.1, _upper_series),
        beside=(x,))
