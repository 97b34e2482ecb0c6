"""Convolution with stride 1 and fewer output channels than input channels: the outputs are shifted, not the inputs.

For every place of the kernel a product sums over the channels. Its results, one image of outputs for each place, are
shifted and added up. The input is neither copied nor padded. Its memory may have the channels first, (N, C, *size), or
last, (N, *size, C), as the words of an embedding have in a 1-d convolution: then one product serves the whole batch,
and the gradient of the input has its channels last too.
"""
from functools import lru_cache
from itertools import product
from math import prod

import numpy as np

from .. import native
from ..pool import axis_taps
from . import direct


def suits(outputs, channels, kernel, stride, groups):
    """Whether shifting the outputs of each place of the kernel is cheaper than copying the inputs into columns."""
    return groups == 1 and max(stride) == 1 and 2 * outputs <= channels and max(kernel) > 1


def by_pixel(x):
    """Whether the memory of `x` (N, C, *size) is (N, *size, C)."""
    return not x.flags.c_contiguous and _with_channels_last(x).flags.c_contiguous


def _with_channels_last(x):
    return x.transpose((0, *range(2, x.ndim), 1))


def _pixels(x):
    """`x` with channels last in memory as a matrix (pixels of all images, C)."""
    return _with_channels_last(x).reshape(-1, x.shape[1])


def _by_place(weight):
    """A weight (O, C, *kernel) as a matrix (places * O, C)."""
    outputs, channels = weight.shape[:2]
    flat = weight.reshape(outputs, channels, -1).transpose(2, 0, 1)
    return np.ascontiguousarray(flat).reshape(-1, channels)


@lru_cache(256)
def _reaches(kernel, size, out, padding, dilation):
    """For each place of the kernel, indices of images (N, C, *size): (the outputs it adds to, the inputs it multiplies
    for them), or None if it meets padding alone."""
    per_axis = [axis_taps(n, k, 1, before, d, m)
                for n, k, (before, _), d, m in zip(size, kernel, padding, dilation, out)]
    images = (slice(None), slice(None))
    return [None if None in taps else tuple([images + slices for slices in zip(*taps)]) for taps in product(*per_axis)]


def forward(x, weight, bias, out, padding, dilation):
    """Convolution of `x` (N, C, *size) with `weight` (O, C, *kernel), plus `bias` (O,) if it is not None."""
    count, outputs, size = len(x), len(weight), x.shape[2:]
    pixels = _with_channels_last(x)
    if native.takes("convolve_pixels", pixels, weight, bias):
        return direct.of_pixels(pixels, weight, bias, out, padding, dilation)
    taps, places = _by_place(weight), prod(weight.shape[2:])
    if by_pixel(x):
        parts = np.dot(taps, _pixels(x).T).reshape((places, outputs, count) + size).swapaxes(1, 2)
    else:
        parts = np.matmul(taps, np.ascontiguousarray(x).reshape(count, x.shape[1], prod(size)))
        parts = parts.reshape((count, places, outputs) + size).swapaxes(0, 1)
    padded = any([before or after for before, after in padding])
    result = (np.zeros if padded else np.empty)((count, outputs) + out, x.dtype)
    for k, reach in enumerate(_reaches(weight.shape[2:], size, out, padding, dilation)):
        if reach is None:
            continue
        to, source = reach
        if k or padded:
            result[to] += parts[k][source]
        else:
            result[...] = parts[k][source]
    if bias is not None:
        result += bias.reshape((outputs,) + (1,) * len(out))
    return result


def _moved(grad, kernel, size, padding, dilation):
    """The gradient of the outputs (N, O, *out), shifted for each place of the kernel and zero elsewhere: a matrix
    (places * O, pixels of all images)."""
    count, outputs = grad.shape[:2]
    moved = np.zeros((prod(kernel), outputs, count) + size, grad.dtype)
    for part, reach in zip(moved.swapaxes(1, 2), _reaches(kernel, size, grad.shape[2:], padding, dilation)):
        if reach is not None:
            part[reach[1]] = grad[reach[0]]
    return moved.reshape(prod(kernel) * outputs, count * prod(size))


def weight_grad(x, grad, kernel, padding, dilation):
    """The gradient of the weight, given that of the output, `grad`."""
    outputs, channels, size = grad.shape[1], x.shape[1], x.shape[2:]
    if by_pixel(x):
        result = np.dot(_moved(grad, kernel, size, padding, dilation), _pixels(x))
        return np.ascontiguousarray(result.reshape(-1, outputs, channels).transpose(1, 2, 0)).reshape(
            (outputs, channels) + kernel)
    result = np.zeros((outputs, channels) + kernel, x.dtype)
    every = (slice(None), slice(None))
    for place, reach in zip(np.ndindex(kernel), _reaches(kernel, size, grad.shape[2:], padding, dilation)):
        if reach is None:
            continue
        g, seen = grad[reach[0]], x[reach[1]]
        length = prod(g.shape[2:])
        products = np.matmul(g.reshape(g.shape[:2] + (length,)),
                             seen.reshape(seen.shape[:2] + (length,)).swapaxes(1, 2))
        result[every + place] = np.add.reduce(products, axis=0)
    return result


def input_grad(grad, weight, size, padding, dilation):
    """The gradient, with channels last in memory, of the input, given that of the output, `grad`."""
    moved = _moved(grad, weight.shape[2:], size, padding, dilation)
    result = np.dot(moved.T, _by_place(weight)).reshape((len(grad),) + size + weight.shape[1:2])
    return result.transpose((0, result.ndim - 1, *range(1, result.ndim - 1)))
