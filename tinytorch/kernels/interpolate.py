"""Resizing images axis by axis. Along each axis every output is a weighted sum of a few inputs. The taps of an axis are
a list of (outputs with this tap or None for all, their inputs' positions, their weights or None for 1). Positions rise
with the outputs, so that the gradient of an input is a sum over consecutive outputs."""
from functools import lru_cache

import numpy as np

#: For each mode the number of taps of an axis without antialiasing, which is the width of the filter with it.
_WIDTH = {"nearest": 1, "nearest-exact": 1, "linear": 2, "cubic": 4, "lanczos": 6}


# ------------------------------------------------------------------ where outputs lie among the inputs
def _scale(size, out, align_corners, factor, dtype):
    if align_corners:
        return dtype(size - 1) / dtype(out - 1) if out > 1 else dtype(0)
    return dtype(1.0 / factor) if factor is not None and factor > 0 else dtype(size) / dtype(out)


def _sources(size, out, align_corners, factor, dtype):
    """The places of the outputs' centres among the inputs, rounded once, as a fused multiply-add rounds."""
    scale, place = _scale(size, out, align_corners, factor, dtype), np.arange(out)
    if align_corners:
        return scale * place.astype(dtype)
    if dtype is np.float64:
        return scale * (place + 0.5) - 0.5
    return (np.float64(scale) * (place + 0.5) - 0.5).astype(dtype)


def _nearest(size, out, factor, exact, dtype, vectorised):
    if vectorised:
        if not exact and out in (size, 2 * size):
            return np.arange(out) // (out // size)
        scale, place = _scale(size, out, False, factor, np.float32), np.arange(out)
        source = (place + 0.5) * scale.astype(np.float64) if exact else place.astype(np.float32) * scale
    elif exact:
        source = np.maximum(_sources(size, out, False, factor, dtype), 0) + dtype(0.5)
    else:
        source = _scale(size, out, False, factor, dtype) * np.arange(out).astype(dtype)
    return np.minimum(np.floor(source.astype(np.float32)).astype(np.int64), size - 1)


def _multiply_add(a, b, c):
    """a * b + c for float32, rounded once."""
    return (np.float64(a) * b + c).astype(np.asarray(b).dtype)


def _near(x, A):
    """Keys' cubic convolution kernel for distances in [0, 1]."""
    return _multiply_add(_multiply_add(A + 2, x, -(A + 3)) * x, x, 1)


def _far(x, A):
    """Keys' cubic convolution kernel for distances in [1, 2]."""
    return _multiply_add(_multiply_add(_multiply_add(A, x, -5 * A), x, 8 * A), x, -4 * A)


def _interpolated(mode, size, out, align_corners, factor, dtype):
    """(positions, weights) with a row for each tap. Positions beyond the edge are moved to the edge."""
    if mode == "linear" and size == out:
        place = np.arange(out)
        return np.stack([place, place]), np.stack([np.ones(out, dtype), np.zeros(out, dtype)])
    source = _sources(size, out, align_corners, factor, dtype)
    if mode == "linear":
        source = np.maximum(source, 0)
    first = np.minimum(np.floor(source.astype(np.float32)).astype(np.int64), size - 1)
    t = np.clip(source - first.astype(dtype), 0, 1).astype(dtype)
    if mode == "linear":
        return np.stack([first, np.minimum(first + 1, size - 1)]), np.stack([1 - t, t])
    A = dtype(-0.75)
    places = np.clip(first + np.arange(-1, 3)[:, None], 0, size - 1)
    return places, np.stack([_far(t + 1, A), _near(t, A), _near(1 - t, A), _far(2 - t, A)])


def _smoothed(mode, size, out, align_corners, factor, dtype):
    """(positions, weights, which of the taps exist) with antialiasing: the filter is at least as wide as the distance
    of the outputs."""
    scale, half = _scale(size, out, align_corners, factor, dtype), dtype(_WIDTH[mode] * 0.5)
    wide = scale >= 1
    support = half * scale if wide else half
    centre = scale * (np.arange(out).astype(dtype) + dtype(0.5))
    low = np.maximum((centre - support + dtype(0.5)).astype(np.int64), 0)
    count = np.minimum((centre + support + dtype(0.5)).astype(np.int64), size) - low
    count = np.clip(count, 0, int(np.ceil(support)) * 2 + 1)
    tap = np.arange(max(int(count.max()), 1))[:, None]
    x = np.abs((tap + low - centre + dtype(0.5)) * (1 / scale if wide else dtype(1))).astype(dtype)
    if mode == "linear":
        weights = np.maximum(1 - x, 0)
    elif mode == "cubic":
        weights = np.where(x < 1, _near(x, dtype(-0.5)), np.where(x < 2, _far(x, dtype(-0.5)), 0))
    else:
        weights = np.where(x < 3, np.sinc(x) * np.sinc(x / 3), 0)
    there = tap < count
    weights = np.where(there, weights, 0).astype(dtype)
    total = weights.sum(0)
    return low + tap, weights / np.where(total == 0, 1, total), there


@lru_cache(256)
def taps(mode, size, out, align_corners=False, factor=None, antialias=False, dtype=np.float32, rounding=None,
         vectorised=False):
    """The taps of an axis whose `size` elements become `out`. `factor`: the scale that the user gave, or None.

    `dtype` is that of the computation. `rounding`, if given, rounds the weights to a half precision. `vectorised`:
    torch uses its vectorised routine for these images, which finds the nearest pixel in another way. """
    if _WIDTH[mode] == 1:
        return [(None, _nearest(size, out, factor, mode == "nearest-exact", dtype, vectorised), None)]
    if antialias:
        places, weights, there = _smoothed(mode, size, out, align_corners, factor, dtype)
        return [(None, p, w) if here.all() else (np.flatnonzero(here), p[here], w[here])
                for p, w, here in zip(places, weights, there)]
    places, weights = _interpolated(mode, size, out, align_corners, factor, dtype)
    if rounding is not None:
        weights = rounding(weights)
        if mode == "linear":                   # torch rounds the complement of the second weight
            weights[0] = rounding(1 - weights[1])
    return [(None, p, w) for p, w in zip(places, weights)]


# ------------------------------------------------------------------ resizing and its gradient
def _on(axis, x):
    """A vector laid out along `axis`, which counts from the end."""
    return x.reshape((-1,) + (1,) * (-1 - axis))


def resized(x, axes):
    """Images resized along their last axes, the last one first; `axes`: the taps of each."""
    for axis, along in reversed(list(zip(range(-len(axes), 0), axes))):
        result = None
        for outputs, places, weights in along:
            part = x.take(places, axis)
            if weights is not None:
                part *= _on(axis, weights)
            if result is None and outputs is None:
                result = part
            elif outputs is None:
                result += part
            else:
                if result is None:
                    result = np.zeros(x.shape[:axis] + (_count(along),) + x.shape[x.ndim + axis + 1:], x.dtype)
                result[(..., outputs) + (slice(None),) * (-1 - axis)] += part
        x = result
    return x


def _count(along):
    """The number of outputs of taps that all list their outputs."""
    return max(int(outputs[-1]) for outputs, _, _ in along if outputs is not None) + 1


def resized_grad(g, axes, size):
    """The gradient of images of `size`, given that of `resized`: for each input the weighted sum over its outputs."""
    for axis, along, n in zip(range(-len(axes), 0), axes, size):
        rest = (slice(None),) * (-1 - axis)
        result = np.zeros(g.shape[:axis] + (n,) + g.shape[g.ndim + axis + 1:], g.dtype)
        for outputs, places, weights in along:
            part = g if outputs is None else g.take(outputs, axis)
            if weights is not None:
                part = part * _on(axis, weights)
            starts = np.flatnonzero(np.diff(places, prepend=-1))
            if len(starts) < len(places):
                part = np.add.reduceat(part, starts, axis)
            result[(..., places[starts]) + rest] += part
        g = result
    return g


# ------------------------------------------------------------------ bytes
def resized_bytes(x, axes, size):
    """`resized` for uint8: weights are multiples of a power of two, and the result is rounded after each axis. An axis
    that keeps its size is left alone."""
    for axis, along, n in reversed(list(zip(range(-len(axes), 0), axes, size))):
        if n == x.shape[axis]:
            continue
        weights = np.zeros((n, x.shape[axis]))
        for outputs, places, part in along:
            np.add.at(weights, (np.arange(n) if outputs is None else outputs, places), part)
        largest, bits = weights.max(), 0
        while bits < 22 and int(0.5 + largest * (1 << bits + 1)) < 1 << 15:
            bits += 1
        whole = np.trunc(weights * (1 << bits) + np.where(weights < 0, -0.5, 0.5)).astype(np.int32)
        x = np.moveaxis(x, axis, -1)
        total = np.zeros(x.shape[:-1] + (n,), np.int32)
        most = int((whole != 0).sum(1).max())
        order = np.argsort(whole == 0, axis=1, kind="stable")[:, :most]
        for k in range(most):
            total += x.take(order[:, k], -1).astype(np.int32) * np.take_along_axis(whole, order[:, k:k + 1], 1)[:, 0]
        total += 1 << bits - 1
        x = np.moveaxis(np.clip(total >> bits, 0, 255).astype(np.uint8), -1, axis)
    return x.copy("C")
