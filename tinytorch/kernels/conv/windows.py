"""Convolutions of any stride, dilation and number of groups, in C (native/windows.c, native/window_weights.c).

Their twins are in columns.py, which explains the shapes. A plan lists the positions of lines, terms and places, so that
the gradient of the input can be computed as a convolution too: with stride s, inputs at a distance of s meet the same
places of the kernel, and each such set of inputs is one convolution.
"""
from functools import lru_cache
from itertools import product
from math import prod

import numpy as np

from .. import native

_FLOAT = np.dtype(np.float32)


def suits(*arrays):
    """Whether C takes these arrays (None for a missing bias), in any memory order."""
    for array in arrays:
        if array is not None and (type(array) is not np.ndarray or array.dtype != _FLOAT or not array.size):
            return False
    return native.many("convolve_windows", arrays[0].size)


def in_order(*arrays):
    """The arrays, or copies of them that are contiguous."""
    for a in arrays:
        if a is not None and not a.flags.c_contiguous:
            return [a if a is None else np.ascontiguousarray(a) for a in arrays]
    return arrays


def _sums(*ranges):
    """All sums of one number from each range, as a flat array; the last range changes fastest."""
    found = np.zeros(1, np.int64)
    for r in ranges:
        found = np.add.outer(found, np.array(r, np.int64))
    return found.reshape(-1)


def _steps(shape):
    return [prod(shape[axis + 1:]) for axis in range(len(shape))]


def _lines(channels, size, padding):
    """((number of lines of an image, their width, the length of the padded image, whether there is padding), the starts
    of the lines in the padded image, its strides with the channels first)."""
    around = tuple([n + lo + hi for n, (lo, hi) in zip(size, padding)])
    steps = _steps((channels, *around))
    if around == tuple(size):
        return (1, channels * prod(size), channels * prod(size), 0), np.zeros(1, np.int64), steps
    inside = [[(i + lo) * step for i in range(n)] for n, (lo, _), step in zip(size[:-1], padding, steps[1:])]
    at = _sums(range(0, channels * steps[0], steps[0]), *inside, [padding[-1][0]])
    return (len(at), size[-1], channels * steps[0], 1), at, steps


@lru_cache(256)
def _plan(channels, groups, size, out, kernel, stride, padding, dilation):
    """(image settings as in `_lines`, number of terms, stride, plan). `channels`: the number for each group."""
    image, lines, steps = _lines(groups * channels, size, padding)
    terms = channels * prod(kernel)
    offsets = _sums(range(0, channels * steps[0], steps[0]),
                    *[range(0, k * d * step, d * step) for k, d, step in zip(kernel, dilation, steps[1:])])
    starts = _sums(*[range(0, m * s * step, s * step) for m, s, step in zip(out, stride, steps[1:])])
    return image, terms, stride[-1], np.concatenate(
        [lines, offsets, np.arange(terms), starts, np.arange(len(starts))])


def forward(x, weight, bias, *settings):
    """`columns.forward`."""
    return computed(*prepared(x.shape, weight.shape, *settings), *in_order(x, weight, bias))


def computed(shape, numbers, plan, x, weight, bias):
    """`forward` of C-contiguous arrays, by a result of `prepared`."""
    return native.result("convolve_windows", shape, *numbers, x, weight, bias, plan)


def prepared(shape, of_weight, out, stride, padding, dilation, groups):
    """(the shape of the result, the numbers that the kernel takes, its plan) for arrays of these shapes."""
    (outputs, channels, *kernel), count = of_weight, shape[0]
    rows, places = outputs // groups, prod(out)
    image, terms, step, plan = _plan(channels, groups, shape[2:], out, tuple(kernel), stride, tuple(padding), dilation)
    numbers = (count, *image, groups, rows, terms, prod(of_weight), places, places, step, terms, rows * terms)
    return (count, outputs) + out, numbers, plan


@lru_cache(256)
def _plans_of_input(outputs, channels, groups, size, out, kernel, stride, padding, dilation):
    """(whether every input meets a place of the kernel, a list with (image settings, terms, places, stride, plan) for
    each set of inputs that meets any)."""
    seen, found = 0, []
    for phase in product(*map(range, stride)):
        along = []                             # (inputs, [(place of the kernel, shift of the output it meets)])
        for first, n, k, s, (lo, _), d in zip(phase, size, kernel, stride, padding, dilation):
            along.append((range(first, n, s), [(t, (first + lo - t * d) // s) for t in range(k)
                                               if not (first + lo - t * d) % s]))
        count = prod([len(inputs) for inputs, _ in along])
        if not count or not all([taps for _, taps in along]):
            continue
        least = [min(0, *[ahead for _, ahead in taps], 0) for _, taps in along]
        around = [(-low, max(0, len(inputs) + max([ahead for _, ahead in taps]) - m))
                  for low, (inputs, taps), m in zip(least, along, out)]
        image, lines, steps = _lines(groups * outputs, out, around)
        of_outputs = range(0, outputs * steps[0], steps[0])
        offsets = _sums(of_outputs, *[[(ahead - low) * step for _, ahead in taps]
                                      for low, (_, taps), step in zip(least, along, steps[1:])])
        each = channels * prod(kernel)
        weights = _sums(range(0, outputs * each, each),
                        *[[t * step for t, _ in taps] for (_, taps), step in zip(along, _steps(kernel))])
        starts = _sums(*[range(0, len(inputs) * step, step) for (inputs, _), step in zip(along, steps[1:])])
        ends = _sums(*[[i * step for i in inputs] for (inputs, _), step in zip(along, _steps(size))])
        found.append((image, len(offsets), count, 1, np.concatenate([lines, offsets, weights, starts, ends])))
        seen += count
    return seen == prod(size), found


def input_grad(grad, weight, bias, size, stride, padding, dilation, groups):
    """`columns.input_grad`."""
    grad, weight, bias = in_order(grad, weight, bias)
    kernel, outputs, channels = weight.shape[2:], len(weight) // groups, weight.shape[1]
    every, plans = _plans_of_input(outputs, channels, groups, size, grad.shape[2:], kernel, stride, tuple(padding),
                                   dilation)
    result = np.empty((len(grad), groups * channels) + size, _FLOAT)
    if not every:
        result[...] = 0 if bias is None else bias.reshape((-1,) + (1,) * len(size))
    for image, terms, places, step, plan in plans:
        native.run("convolve_windows", len(grad), *image, groups, channels, terms, weight.size, places, prod(size),
                   step, prod(kernel), outputs * channels * prod(kernel), grad, weight, bias, plan, result)
    return result


def weight_grad(x, grad, kernel, stride, padding, dilation, groups):
    """`columns.weight_grad`."""
    x, grad = in_order(x, grad)
    channels, out = x.shape[1] // groups, grad.shape[2:]
    image, terms, step, plan = _plan(channels, groups, x.shape[2:], out, kernel, stride, tuple(padding), dilation)
    places, lines = prod(out), image[0]
    plan = np.concatenate([plan[:lines + terms], plan[lines + 2 * terms:lines + 2 * terms + places]])
    return native.result("convolve_window_weights", (grad.shape[1], channels) + kernel, len(x), *image, groups,
                         grad.shape[1] // groups, terms, places, step, x, grad, plan)
