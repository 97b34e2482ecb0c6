"""Convolutions, transposed ones, and windows as columns."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ..registry import Refusal, Unwritable, entered, translation
from ..writer import Value


def batched(g, x, spatial):
    """(tensor with a batch dimension, whether it had none before)."""
    if x.rank == spatial + 2:
        return x, False
    history = x.history and ((1,) * len(x.history[0]), *x.history)
    return Value(g.unsqueeze(x, [0]), (1, *x.shape), x.dtype, history), True


def _unbatched(g, result, single):
    return g.squeeze(result, [0]) if single else result


def _conv(spatial):
    def write(g, x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        stride, dilation = [list(y) * (spatial // len(y)) for y in (stride, dilation)]
        if isinstance(padding, str):
            total = [d * (k - 1) if padding == "same" else 0 for d, k in zip(dilation, weight.shape[2:])]
            pads = [n // 2 for n in total] + [n - n // 2 for n in total]
        else:
            pads = list(padding) * (spatial // len(padding)) * 2
        x, single = batched(g, x, spatial)
        return _unbatched(g, g.op("Conv", x, weight, bias, strides=stride, pads=pads, dilations=dilation, group=groups,
                                  kernel_shape=list(weight.shape[2:])), single)
    return write


entered([(f"conv{n}d", _conv(n)) for n in (1, 2, 3)])


def _transposed(spatial):
    def write(g, x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        if any([extra >= step for extra, step in zip(output_padding, stride)]):
            raise Refusal("output_padding that is not smaller than the stride")
        x, single = batched(g, x, spatial)
        return _unbatched(g, g.op("ConvTranspose", x, weight, bias, strides=list(stride), pads=list(padding) * 2,
                                  output_padding=list(output_padding), dilations=list(dilation), group=groups,
                                  kernel_shape=list(weight.shape[2:])), single)
    return write


entered([(f"conv_transpose{n}d", _transposed(n)) for n in (1, 2, 3)])


@translation("convolution", "_convolution")
def convolution(g, x, weight, bias, stride, padding, dilation, transposed, output_padding, groups, *options):
    spatial = weight.rank - 2
    if transposed:
        return _transposed(spatial)(g, x, weight, bias, stride, padding, output_padding, groups, dilation)
    return _conv(spatial)(g, x, weight, bias, stride, padding, dilation, groups)


# ------------------------------------------------------------------ columns
@translation("im2col")
def im2col(g, x, kernel, dilation, padding, stride):
    if x.dynamic[-1] or x.dynamic[-2]:
        raise Refusal("windows of sizes that may vary")
    x, single = batched(g, x, 2)
    places, sizes = [], []
    for k, d, p, s, n in zip(kernel, dilation, padding, stride, x.shape[2:]):
        count = (n + 2 * p - d * (k - 1) - 1) // s + 1
        places.append(np.arange(k)[:, None] * d + np.arange(count) * s)
        sizes.append(count)
    padded = g.op("Pad", x, g.ints([0, 0, *padding] * 2), g.number(0, x.dtype)) if any(padding) else x
    rows = g.op("Gather", padded, g.constant(places[0], dt.int64), axis=2)
    both = g.op("Gather", rows, g.constant(places[1], dt.int64), axis=4)       # N, C, k, rows, k, columns
    moved = g.transpose(both, [0, 1, 2, 4, 3, 5])
    channels = g.arithmetic("Mul", g.size(x, 1), kernel[0] * kernel[1])
    return _unbatched(g, g.reshape(moved, [g.size(x, 0), channels, sizes[0] * sizes[1]]), single)


@translation("col2im")
def col2im(g, x, size, kernel, dilation, padding, stride):
    if g.opset < 18:
        raise Unwritable(18)
    single = x.rank == 2
    made = g.op("Col2Im", g.unsqueeze(x, [0]) if single else x, g.ints(size), g.ints(kernel), strides=list(stride),
                pads=list(padding) * 2, dilations=list(dilation))
    return _unbatched(g, made, single)
