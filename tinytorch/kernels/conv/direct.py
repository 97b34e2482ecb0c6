"""Convolutions with stride 1 in C (native/conv.c). Their twins are those of columns.py."""
from functools import lru_cache
from math import prod

import numpy as np

from .. import native

_FLOAT = np.dtype(np.float32)
_FEW = 1 << 17            # multiplications that take NumPy no longer
_PIECE = 1 << 21          # multiplications that take longer than it takes to wake a thread


def suits(x, other, outputs, kernel, out, stride, groups, bias=None):
    """Whether C convolves an input with a weight, or with the gradient of the output, and is the faster one: not for a
    few numbers, nor for many channels of small images, where BLAS has more to do at a time."""
    if groups != 1 or max(stride) != 1 or not native.takes("convolve", x, other, bias):
        return False
    each, size = outputs * x.shape[1] * prod(kernel), prod(out)
    return each * size * len(x) >= _FEW and (size >= 128 or each < 1 << 15) and x.shape[-1] > 1


def suits_weight(x, grad, kernel, stride, groups):
    """The same for the gradient of the weight, whose sums are over the places: AVX2 has too few registers for it."""
    return suits(x, grad, grad.shape[1], kernel, grad.shape[2:], stride, groups) and prod(grad.shape[2:]) >= 512 and (
        native.level() != "avx2")


@lru_cache(256)
def _places(channels, size, out, kernel, padding, dilation):
    """(length of a padded image, where its lines begin, the offset of each term of a sum, where rows of output begin,
    all places of the output)."""
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
    rows = places(*[[i * step for i in range(m)] for m, step in zip(out[:-1], steps)])
    return (channels * per_channel, places(every, *inside[:-1], [padding[-1][0]]), places(every, *taps), rows,
            int(rows[-1]) + out[-1])


def forward(x, weight, bias, out, padding, dilation):
    """As columns.forward."""
    outputs, kernel, (count, channels, *size) = len(weight), weight.shape[2:], x.shape
    length, lines, offsets, starts, places = _places(channels, tuple(size), out, kernel, tuple(padding), dilation)
    blocks, failed = -(-outputs // 8), np.empty(1, np.int64)
    packed = np.empty(blocks * 8 * len(offsets), _FLOAT)
    result = np.empty((count, outputs, *out), _FLOAT)
    grain = max(1, _PIECE // max(outputs * len(offsets) * places, 1))
    native.run("convolve", count, len(lines), size[-1], length, outputs, len(offsets), len(starts), out[-1], places,
               grain, blocks, x, weight, bias, lines, offsets, starts, packed, result, failed)
    if failed[0]:
        raise MemoryError("no memory for a convolution")
    return result


def weight_grad(x, grad, kernel, padding, dilation):
    """As columns.weight_grad."""
    (count, channels, *size), outputs, out = x.shape, grad.shape[1], grad.shape[2:]
    length, lines, offsets, starts, places = _places(channels, tuple(size), out, kernel, tuple(padding), dilation)
    failed, each = np.empty(1, np.int64), outputs * len(offsets) * places
    pieces = min(16, max(1, count * each // _PIECE))
    grain = -(-count // pieces)
    pieces = -(-count // grain)
    parts = np.empty((pieces, outputs, len(offsets)), _FLOAT)
    native.run("convolve_weights", count, len(lines), size[-1], length, outputs, len(offsets), len(starts), out[-1],
               places, grain, pieces, x, grad, lines, offsets, starts, parts, failed)
    if failed[0]:
        raise MemoryError("no memory for the gradient of a convolution")
    total = parts[0] if pieces == 1 else np.add.reduce(parts, axis=0)
    return total.reshape(outputs, channels, *kernel)
