"""Convolutions with stride 1 in C (native/conv.c, native/pixels.c). Their twins are in columns.py, and in
few_outputs.py for images with channels last in memory."""
from functools import lru_cache
from math import prod

import numpy as np

from .. import native

_FLOAT = np.dtype(np.float32)
_FEW = 1 << 12            # for fewer multiplications per image windows.py is as fast
_FEW_TERMS = 32           # terms of a window
_PIECE = 1 << 21          # so many multiplications take longer than waking a thread


def suits(x, other, outputs, kernel, out, stride, groups, bias=None):
    """Whether C takes the arrays (an input and a weight, or an input and the gradient of the output) and is faster than
    BLAS. It is not for a few numbers, nor for many channels of small images."""
    if groups != 1 or max(stride) != 1:
        return False
    each, size = outputs * x.shape[1] * prod(kernel), prod(out)
    return each * size >= _FEW and (size >= 128 or each < 1 << 15) and x.shape[-1] > 1 and (
        native.takes("convolve", x, other, bias))


def suits_weight(x, grad, kernel, stride, groups):
    """`suits` for the gradient of the weight, whose sums run over the places: BLAS is faster where outputs and windows
    are large."""
    outputs, out = grad.shape[1], grad.shape[2:]
    few = outputs < 32 or x.shape[1] * prod(kernel) < _FEW_TERMS
    return few and suits(x, grad, outputs, kernel, out, stride, groups)


@lru_cache(256)
def _plan(channels, size, out, kernel, padding, dilation, beside=1):
    """((lines of an image, their width, the length of a padded image), (terms of a sum, rows of output, their width,
    all places of the output), an array). The array joins the starts of the lines in a padded image, the offsets of
    the terms, and the starts of the rows of output. `beside`: the number of channels of an image with channels last. It
    counts as one channel with pixels of that width, except for the starts of the rows of output."""
    around = tuple([n + lo + hi for n, (lo, hi) in zip(size, padding)])
    steps = [prod(around[axis + 1:]) for axis in range(len(around))]
    per_channel = prod(around)

    def places(*ranges):
        found = np.zeros(1, np.int64)
        for r in ranges:
            found = np.add.outer(found, np.array(r, np.int64))
        return found.reshape(-1)
    every = range(0, channels * per_channel, per_channel)
    inside = [[(i + lo) * step for i in range(n)] for n, (lo, _), step in zip(size, padding, steps)]
    taps = [[i * d * step for i in range(k)] for k, d, step in zip(kernel, dilation, steps)]
    lines, offsets = (beside * places(every, *rest) for rest in ([*inside[:-1], [padding[-1][0]]], taps))
    rows = places(*[[i * step for i in range(m)] for m, step in zip(out[:-1], steps)])
    return ((len(lines), beside * size[-1], beside * channels * per_channel),
            (len(offsets), len(rows), out[-1], int(rows[-1]) + out[-1]), np.concatenate([lines, offsets, rows]))


def forward(x, weight, bias, out, padding, dilation):
    """`columns.forward`."""
    outputs, shape = len(weight), x.shape
    image, (terms, *windows, places), plan = _plan(shape[1], shape[2:], out, weight.shape[2:], tuple(padding), dilation)
    result = np.empty((shape[0], outputs) + out, _FLOAT)
    grain = max(1, _PIECE // max(outputs * terms * places, 1))
    native.run("convolve", shape[0], *image, outputs, terms, *windows, places, grain, x, weight, bias, plan, result)
    return result


def of_pixels(x, weight, bias, out, padding, dilation):
    """`few_outputs.forward` of `x` (N, *size, C)."""
    (count, *size, channels), (outputs, _, *kernel) = x.shape, weight.shape
    (lines, width, length), (taps, *windows, places), plan = _plan(
        1, tuple(size), out, tuple(kernel), tuple(padding), dilation, channels)
    grain = max(1, _PIECE // max(outputs * taps * channels * places, 1))
    return native.result("convolve_pixels", (count, outputs) + out, count, lines, width, length, outputs, channels,
                         taps, *windows, places, grain, x, weight, bias, plan)


def weight_grad(x, grad, kernel, padding, dilation):
    """`columns.weight_grad`."""
    shape, outputs, out = x.shape, grad.shape[1], grad.shape[2:]
    image, (terms, *windows, places), plan = _plan(shape[1], shape[2:], out, kernel, tuple(padding), dilation)
    pieces = min(16, max(1, shape[0] * outputs * terms * places // _PIECE))
    grain = -(-shape[0] // pieces)
    pieces = -(-shape[0] // grain)
    parts = np.empty((pieces, outputs, terms), _FLOAT)
    native.run("convolve_weights", shape[0], *image, outputs, terms, *windows, places, grain, pieces, x, grad, plan,
               parts)
    total = parts[0] if pieces == 1 else np.add.reduce(parts, axis=0)
    return total.reshape((outputs, shape[1]) + kernel)
