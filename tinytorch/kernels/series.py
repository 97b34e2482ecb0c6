"""Polynomials and other series on arrays, and functions defined by pieces."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np


def polynomial(coefficients: tuple[float, ...], x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The polynomial in x with these coefficients, lowest first."""
    out = np.multiply(x, coefficients[-1], out=np.empty_like(x) if out is None else out)
    for c in coefficients[-2:0:-1]:
        out += c
        out *= x
    out += coefficients[0]
    return out


def ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], x: np.ndarray) -> np.ndarray:
    """The quotient of two polynomials."""
    above, below = coefficients
    return polynomial(above, x) / polynomial(below, x)


def chebyshev(coefficients: tuple[float, ...], x: np.ndarray) -> np.ndarray:
    """The Chebyshev series in x / 2, highest term first; the last coefficient counts half (Clenshaw)."""
    before, last = np.zeros_like(x), np.zeros_like(x)
    total = np.full_like(x, coefficients[0])
    for c in coefficients[1:]:
        before, last = last, total
        total = x * last - before + c
    return 0.5 * (total - before)


def piecewise(x: np.ndarray, *pieces: tuple[np.ndarray, float | Callable],
              beside: tuple[np.ndarray, ...] = ()) -> np.ndarray:
    """For each element the value of the first condition that holds there, else NaN. A value is a number, or a function
    of the elements for which it holds (and of those of the arrays `beside`)."""
    result = np.full_like(sum(beside, x), np.nan)          # in the memory order of a ufunc's result
    rest = np.ones(x.shape, bool)
    for holds, value in pieces:
        here = rest & holds
        if here.any():
            result[here] = value(x[here], *[y[here] for y in beside]) if callable(value) else value
        rest &= ~here
    return result
