"""Convolutions with stride 1 in C (native/conv.c, native/pixels.c). Their twins are those of columns.py, and of
few_outputs.py for images whose channels come last in memory."""
from functools import lru_cache
from math import prod

import numpy as np

from .. import native

_FLOAT = np.dtype(np.float32)
_FEW = 1 << 12            # multiplications of an image that windows.py has done as quickly
_FEW_TERMS = 32           # of a window
_PIECE = 1 << 21          # multiplications that take longer than it takes to wake a thread


def suits(x, other, outputs, kernel, out, stride, groups, bias=None):
    """Whether C convolves an input with a weight, or with the gradient of the output, and is the faster one: not for a
    few numbers, nor for many channels of small images, where BLAS has more to do at a time."""
    if groups != 1 or max(stride) != 1 or not native.takes("convolve", x, other, bias):
        return False
    each, size = outputs * x.shape[1] * prod(kernel), prod(out)
    return each * size >= _FEW and (size >= 128 or each < 1 << 15) and x.shape[-1] > 1


def suits_weight(x, grad, kernel, stride, groups):
    """The same for the gradient of the weight, whose sums are over the places: not for what fills whole panels."""
    outputs, out = grad.shape[1], grad.shape[2:]
    few = outputs < 32 or x.shape[1] * prod(kernel) < _FEW_TERMS
    return few and suits(x, grad, outputs, kernel, out, stride, groups)


@lru_cache(256)
def _plan(channels, size, out, kernel, padding, dilation, beside=1):
    """((lines of an image, their width, the length of a padded image), (terms of a sum, rows of output, their width,
    all places of the output), an array of where lines of a padded image begin, of the offset of each term, and of
    where rows of output begin). Of an image whose channels lie beside each other, `beside` says how many; it counts as
    one channel, of which each pixel is so wide, but for where rows of output begin."""
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
    """As columns.forward."""
    outputs, shape = len(weight), x.shape
    image, (terms, *windows, places), plan = _plan(shape[1], shape[2:], out, weight.shape[2:], tuple(padding), dilation)
    result = np.empty((shape[0], outputs) + out, _FLOAT)
    grain = max(1, _PIECE // max(outputs * terms * places, 1))
    native.run("convolve", shape[0], *image, outputs, terms, *windows, places, grain, x, weight, bias, plan, result)
    return result


def of_pixels(x, weight, bias, out, padding, dilation):
    """As few_outputs.forward, of `x` (N, *size, C)."""
    (count, *size, channels), (outputs, _, *kernel) = x.shape, weight.shape
    (lines, width, length), (taps, *windows, places), plan = _plan(
        1, tuple(size), out, tuple(kernel), tuple(padding), dilation, channels)
    grain = max(1, _PIECE // max(outputs * taps * channels * places, 1))
    return native.result("convolve_pixels", (count, outputs) + out, count, lines, width, length, outputs, channels,
                         taps, *windows, places, grain, x, weight, bias, plan)


def weight_grad(x, grad, kernel, padding, dilation):
    """As columns.weight_grad."""
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
