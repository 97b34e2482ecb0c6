"""Optimiser steps that treat a parameter as matrices: Adafactor and Muon."""
import numpy as np

from .. import dtypes as dt
from . import native
from .optim import add_scaled, lerp
from .optim_half import moved, plus, rounding
from .sums import norm_of_rows

_FLOAT32 = np.dtype(np.float32)


def adafactor(p, g, row, col, variance, rho, share, shrink, eps1, eps2, clip, maximize):
    """Adafactor (Shazeer and Stern 2018), in place. For matrices `row` and `col` are running averages of the rows and
    columns of squared gradients; for others `variance` is that of each square. `share`: the weight of new squares."""
    if p.dtype.itemsize == 2:
        return _adafactor_half(p, g, row, col, variance, rho, share, shrink, eps1, eps2, clip, maximize)
    size = max(eps2, _norm(p) / p.size ** 0.5) * rho
    if shrink is not None:
        p *= shrink
    t = np.multiply(g, g, out=np.empty_like(g))
    if variance is not None:
        lerp(variance, t.copy(), share, t)
        np.maximum(variance, eps1 * eps1, out=t)
        np.reciprocal(np.sqrt(t, out=t), out=t)
        t *= g
    else:
        for average, sums, axis in ((row, t @ np.ones(t.shape[-1], t.dtype), -1),      # BLAS adds up faster than NumPy
                                    (col, np.ones(t.shape[-2], t.dtype) @ t, -2)):
            mean = np.expand_dims(np.sqrt(sums, sums), axis)
            mean *= mean
            mean /= t.shape[axis]
            lerp(average, mean, share, np.empty_like(mean))
        least = np.maximum(np.add.reduce(row, axis=-2, keepdims=True) / row.shape[-2], eps1)
        _factored(t, g, row, col, least, eps1 * eps1)
    rate = float(size / max(1.0, _norm(t) / (t.size ** 0.5 * clip)))
    add_scaled(p, t, rate if maximize else -rate, t)


def _factored(t, g, row, col, least, floor):
    """t = g / sqrt(max(row * col / least, floor))."""
    if native.done("factored", least.size, *g.shape[-2:], floor, g, row, col, least, t):
        return
    np.multiply(row, col, out=t)
    t /= least
    np.maximum(t, floor, out=t)
    np.reciprocal(np.sqrt(t, out=t), out=t)
    t *= g


def _norm(a):
    flat = a.reshape(-1) if a.flags.c_contiguous else a.T.reshape(-1)
    if a.dtype == _FLOAT32:
        return float(norm_of_rows(flat.reshape(1, -1))[0])
    return float(np.dot(flat, flat)) ** 0.5


def _adafactor_half(p, g, row, col, variance, rho, share, shrink, eps1, eps2, clip, maximize):
    """`adafactor` in half precision, which follows torch kernel by kernel (see optim_half.py)."""
    q = rounding(p.dtype)
    store = p, row, col, variance
    p, row, col, variance, g = [None if a is None else np.array(dt.cast(a, _FLOAT32)) for a in (*store, g)]
    g = -g if maximize else g
    size = max(eps2, float(q(np.sqrt(np.sum(p * p)))) / p.size ** 0.5) * rho
    if shrink is not None:
        p = q(p * np.float32(shrink))
    if variance is None:
        for average, axis in ((row, -1), (col, -2)):
            mean = q(q(q(np.sqrt((g * g).sum(axis, keepdims=True))) ** 2) / np.float32(g.shape[axis]))
            average[...] = moved(q, average, mean, share)
        least = np.maximum(q(q(row.sum(-2, keepdims=True)) / np.float32(row.shape[-2])), q(np.float32(eps1)))
        estimate = q(q(row * col) / least)
    else:
        variance[...] = moved(q, variance, q(g * g), share)
        estimate = variance
    change = q(q(1 / np.sqrt(np.maximum(estimate, q(np.float32(eps1 * eps1))))) * g)
    scale = max(1.0, float(q(np.sqrt(np.sum(change * change)))) / (change.size ** 0.5 * clip))
    p = plus(q, p.reshape(-1), float(-size / scale), change.reshape(-1)).reshape(p.shape)
    for array, values in zip(store, (p, row, col, variance)):
        if array is not None:
            array[...] = dt.cast(values, array.dtype)


def muon(p, g, buf, rate, shrink, momentum, nesterov, coefficients, steps, eps):
    """Muon (Jordan et al. 2024), in place: the update is the orthogonalised momentum."""
    if p.dtype.itemsize == 2:
        q = rounding(p.dtype)
        wide, before = dt.cast(g, _FLOAT32), dt.cast(buf, _FLOAT32)
        mean = moved(q, before, wide, 1 - momentum)
        buf[...] = dt.cast(mean, buf.dtype)
        change = moved(q, wide, mean, momentum) if nesterov else mean
        change = orthogonal(change, coefficients, steps, eps)
        wide = q(dt.cast(p, _FLOAT32) * np.float32(shrink))
        p[...] = dt.cast(plus(q, wide.reshape(-1), -rate, change.reshape(-1)).reshape(p.shape), p.dtype)
        return
    change = np.empty_like(buf)
    lerp(buf, g, 1 - momentum, change)
    if nesterov:
        ahead = g.copy()
        lerp(ahead, buf, momentum, change)
    change = orthogonal(ahead if nesterov else buf, coefficients, steps, eps).astype(p.dtype, copy=False)
    p *= shrink
    add_scaled(p, change, -rate, np.empty_like(p))


def orthogonal(g, coefficients, steps, eps):
    """The matrix nearest to `g` with singular values near 1, in float32, by the iteration of Newton and Schulz, which
    is rounded to bfloat16."""
    a, b, c = [np.float32(x) for x in coefficients]
    q = rounding(dt.bfloat16.numpy)
    turned = g.shape[0] > g.shape[1]
    x = q(np.asarray(g.T if turned else g, np.float32))
    x = q(x / np.maximum(q(np.sqrt(np.sum(x * x))), q(np.float32(eps))))
    for _ in range(steps):
        gram = _rounded(x @ x.T)
        change = gram @ gram.T                 # gram is symmetric: BLAS computes A @ A.T in half the time
        change *= c
        gram *= b
        change += gram
        product = _rounded(change) @ x
        x *= a
        product += x
        x = _rounded(product)
    return x.T if turned else x


def _rounded(x):
    """Rounds float32 numbers to bfloat16 in place, ties to even. Any NaN must have NumPy's bits."""
    bits = x.view(np.uint32)
    up = bits >> np.uint32(16)
    up &= np.uint32(1)
    up += np.uint32(0x7fff)
    bits += up
    bits &= np.uint32(0xffff0000)
    return x
