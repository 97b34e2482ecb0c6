"""Convolution of N-d images: forward, and the gradients of input and weight (ndarray -> ndarray).

Every window of the input becomes a column, and one matrix product per image sums over them. Columns are
filled for as many images as fit the cache, and used while they are there. The order of their rows is
(channel, last kernel axis, other kernel axes), because they are filled in two steps: first windows along
the last axis, whose runs are short, then along the other axes, where long runs are copied.

Shapes: input (N, C, *size), weight (O, C / groups, *kernel), output (N, O, *out). `padding` holds a
(before, after) pair for each axis; stride, dilation one number for each.
"""
from functools import lru_cache
from math import prod

import numpy as np
from numpy import ndarray

from .. import native
from ..threads import split
from . import depthwise, direct, few_outputs, windows, winograd

_FLOAT = np.dtype(np.float32)
_CACHE = 1 << 20          # bytes of columns at a time: about the size of a core's second-level cache
_KEPT = 1 << 22           # up to so many bytes of columns are kept for backward; more are filled again in blocks
_SMALL = 1 << 15          # below so many elements two steps cost more than they save
_HEAVY = 1 << 25          # from so many multiplications on several threads are worth their overhead


def output_size(size, kernel, stride, padding, dilation):
    """The number of windows along each axis."""
    return tuple([(n + lo + hi - d * (k - 1) - 1) // s + 1
                  for n, k, s, (lo, hi), d in zip(size, kernel, stride, padding, dilation)])


def pad(x, padding):
    """A contiguous array: `x` with zeros around its spatial axes."""
    if not any([lo or hi for lo, hi in padding]):
        return x if x.flags.c_contiguous and type(x) is ndarray else np.ascontiguousarray(x)
    result = np.zeros(_around(x.shape, padding), x.dtype)
    result[_inside(x.shape[2:], padding)] = x
    return result


def _around(shape, padding):
    return shape[:2] + tuple([n + lo + hi for n, (lo, hi) in zip(shape[2:], padding)])


def _inside(size, padding):
    return (slice(None), slice(None)) + tuple([slice(lo, lo + n) for n, (lo, _) in zip(size, padding)])


def _fill(columns, x, kernel, stride, dilation, out):
    """Writes the windows of contiguous `x` into columns (N, C, kernel[-1], *kernel[:-1], *out)."""
    steps = x.strides[2:]
    reach = tuple([t * d for t, d in zip(steps, dilation)])
    hop = tuple([t * s for t, s in zip(steps, stride)])
    if len(kernel) == 1 or columns.size < _SMALL or max(kernel[:-1]) == 1:
        columns[...] = ndarray(columns.shape, x.dtype, x, 0, x.strides[:2] + reach[-1:] + reach[:-1] + hop)
        return
    rows = np.ascontiguousarray(ndarray(x.shape[:2] + kernel[-1:] + x.shape[2:-1] + out[-1:], x.dtype, x, 0,
                                        x.strides[:2] + reach[-1:] + steps[:-1] + hop[-1:]))
    steps = rows.strides[3:-1]
    columns[...] = ndarray(columns.shape, x.dtype, rows, 0,
                           rows.strides[:3] + tuple([t * d for t, d in zip(steps, dilation)])
                           + tuple([t * s for t, s in zip(steps, stride)]) + rows.strides[-1:])


def _add_tap(result, tap, part, kernel, stride, dilation, out):
    """Adds `part` (N, C, *kernel[:-1], *out), the gradient for the place `tap` of the last kernel axis, to `result`
    (N, C, *size): first along the other axes, in long runs, then once along the last axis."""
    start = tap * dilation[-1]
    target = result[..., start:start + (out[-1] - 1) * stride[-1] + 1:stride[-1]]
    if len(kernel) > 1:
        every = (slice(None), slice(None))
        rows = np.zeros(target.shape, target.dtype)
        for others in np.ndindex(kernel[:-1]):
            place = rows[every + tuple([slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in
                                        zip(others, dilation, out, stride)])]
            place += part[every + others]
        part = rows
    target += part


def _images_at_a_time(count, image_bytes):
    return max(1, min(count, _CACHE // max(image_bytes, 1)))


def _as_matrices(weight, groups):
    """A weight (O, C / groups, *kernel) as (groups, O / groups, rows of a column)."""
    n = weight.ndim
    if n > 3:
        weight = weight.transpose((0, 1, n - 1) + tuple(range(2, n - 1)))
    return np.ascontiguousarray(weight).reshape(groups, weight.shape[0] // groups, prod(weight.shape[1:]))


def _direct(kernel, stride):
    """Whether the pixels of an image are its columns: a kernel of size 1 with stride 1."""
    return max(kernel) == 1 and max(stride) == 1


def _columns(x, kernel, out, stride, padding, dilation, groups, memory=None):
    """The columns of all images, (N, groups, rows, outputs): written to `memory`, if that is given."""
    count, channels = x.shape[:2]
    x = pad(x, padding)
    if not _direct(kernel, stride):
        columns = np.empty((count, channels) + kernel[-1:] + kernel[:-1] + out, x.dtype) if memory is None \
            else memory[:count]
        _fill(columns, x, kernel, stride, dilation, out)
        x = columns
    elif x.shape[2:] != out:                   # the pixels of an output padding are left out
        x = np.ascontiguousarray(x[(Ellipsis, *map(slice, out))])
    return x.reshape(count, groups, channels // groups * prod(kernel), prod(out))


def _column_blocks(x, kernel, out, *settings):
    """Yields (first image, one past the last, their columns) for as many images at a time as fit the cache. All blocks
    share the memory of the columns."""
    count, channels = x.shape[:2]
    step = _images_at_a_time(count, channels * prod(kernel) * prod(out) * x.itemsize)
    memory = np.empty((step, channels) + kernel[-1:] + kernel[:-1] + out, x.dtype)
    for first in range(0, count, step):
        last = min(first + step, count)
        yield first, last, _columns(x[first:last], kernel, out, *settings, memory)


def _unread(shape):
    """A C-contiguous array of this shape without memory, whose elements must not be read."""
    strides = [4 * prod(shape[axis + 1:]) for axis in range(len(shape))]
    return np.lib.stride_tricks.as_strided(np.empty(1, _FLOAT), shape, strides)


@lru_cache(512)
def _choice(shape, of_weight, out, stride, padding, dilation, groups):
    """How C convolves C-contiguous floats of these shapes: the name of the file that does, or what `windows.computed`
    takes. To look for it takes as long as a small convolution."""
    x, weight, outputs, kernel = _unread(shape), _unread(of_weight), of_weight[0] // groups, of_weight[2:]
    if winograd.suits(x, weight, shape[1], outputs, kernel, out, stride, padding, dilation, groups):
        return "winograd"
    if direct.suits(x, weight, outputs, kernel, out, stride, groups):
        return "direct"
    if depthwise.suits(x, weight, of_weight[0], shape[1], kernel, groups, padding):
        return "depthwise"
    return windows.prepared(shape, of_weight, out, stride, padding, dilation, groups)


def forward(x, weight, bias, out, stride, padding, dilation, groups, keep=False):
    """(result, columns or None). The result is the convolution (cross-correlation) of `x` with `weight`, plus `bias`
    (O,) if it is not None; it uses the first `out` windows along each axis. With `keep` the columns are returned for
    `weight_grad`, if they are small."""
    if x.dtype is _FLOAT and x.flags.c_contiguous and weight.flags.c_contiguous and windows.suits(x, weight, bias) and (
            bias is None or bias.flags.c_contiguous):
        choice = _choice(x.shape, weight.shape, out, stride, tuple(padding), dilation, groups)
        if choice.__class__ is tuple:
            return windows.computed(*choice, x, weight, bias), None
        if choice == "direct":
            return direct.forward(x, weight, bias, out, padding, dilation), None
        if choice == "winograd":
            return winograd.forward(x, weight, bias, out, padding), None
        return depthwise.forward(x, weight, bias, out, stride, padding, dilation), None
    kernel, outputs = weight.shape[2:], len(weight) // groups
    if winograd.suits(x, weight, x.shape[1], outputs, kernel, out, stride, padding, dilation, groups, bias):
        return winograd.forward(x, weight, bias, out, padding), None
    if direct.suits(x, weight, outputs, kernel, out, stride, groups, bias):
        return direct.forward(x, weight, bias, out, padding, dilation), None
    if depthwise.suits(x, weight, len(weight), x.shape[1], kernel, groups, padding, bias):
        return depthwise.forward(x, weight, bias, out, stride, padding, dilation), None
    in_c = windows.suits(x, weight, bias)
    if few_outputs.suits(len(weight), x.shape[1], kernel, stride, groups) and not (in_c and x.flags.c_contiguous):
        return few_outputs.forward(x, weight, bias, out, padding, dilation), None
    if in_c:
        return windows.forward(x, weight, bias, out, stride, padding, dilation, groups), None
    length = prod(out)
    result = np.empty((len(x), len(weight)) + out, x.dtype)
    flat = result.reshape(len(x), groups, outputs, length)
    if bias is not None:
        bias = bias.reshape(groups, outputs, 1)
    weight = _as_matrices(weight, groups)
    keep = keep and not _direct(kernel, stride)           # there `x`, which is saved, serves as columns
    size = len(x) * x.shape[1] * prod(kernel) * length
    if size * x.itemsize <= (_KEPT if keep else _CACHE) and size * outputs < _HEAVY:       # one block
        columns = _columns(x, kernel, out, stride, padding, dilation, groups)
        np.matmul(weight, columns, out=flat)
        if bias is not None:
            flat += bias
        return result, columns if keep else None

    def run(start, stop):
        for first, last, columns in _column_blocks(x[start:stop], kernel, out, stride, padding, dilation, groups):
            block = np.matmul(weight, columns, out=flat[start + first:start + last])
            if bias is not None:
                block += bias
    _shared(run, len(x), weight.size * length)
    return result, None


def _shared(run, count, multiplications):
    """Calls run(first image, one past the last) for all `count` images, on several threads if there is much work.
    `multiplications`: the number for each image."""
    if count * multiplications >= _HEAVY:
        split(count, run)
    else:
        run(0, count)


def _as_weight(matrices, channels, kernel):
    """Matrices (groups, O / groups, rows of a column) as a weight (O, C / groups, *kernel)."""
    outputs = prod(matrices.shape[:-1])
    weight = matrices.reshape((outputs, channels) + kernel[-1:] + kernel[:-1])
    weight = np.ascontiguousarray(weight.transpose((0, 1) + tuple(range(3, weight.ndim)) + (2,)))
    # The two reshapes give sizes of 1 the strides of C order.
    return weight if 1 not in kernel else weight.reshape(-1).reshape(weight.shape)


def _products(grad, columns):
    """For each image, the product of its gradient (outputs, places) and its transposed columns (rows, places)."""
    if grad.shape[2] * columns.shape[2] < 64:
        return np.matmul(grad, columns.swapaxes(2, 3))
    # BLAS is faster in this order, unless both are small.
    return np.matmul(columns, grad.swapaxes(2, 3)).swapaxes(2, 3)


def weight_grad(x, grad, kernel, stride, padding, dilation, groups, columns=None):
    """The gradient of the weight, given that of the output, `grad`. `columns`: the columns of all images, if forward
    has kept them."""
    if direct.suits_weight(x, grad, kernel, stride, groups):
        return direct.weight_grad(x, grad, kernel, padding, dilation)
    if depthwise.suits(x, grad, grad.shape[1], x.shape[1], kernel, groups, padding):
        return depthwise.weight_grad(x, grad, kernel, stride, padding, dilation)
    in_c = columns is None and windows.suits(x, grad)
    if few_outputs.suits(grad.shape[1], x.shape[1], kernel, stride, groups) and not (in_c and x.flags.c_contiguous):
        return few_outputs.weight_grad(x, grad, kernel, padding, dilation)
    if in_c:
        return windows.weight_grad(x, grad, kernel, stride, padding, dilation, groups)
    outputs, out = grad.shape[1] // groups, grad.shape[2:]
    flat = np.ascontiguousarray(grad).reshape(len(grad), groups, outputs, prod(out))
    channels = x.shape[1] // groups
    if columns is not None:
        return _as_weight(np.add.reduce(_products(flat, columns), axis=0), channels, kernel)
    totals = []

    def run(start, stop):
        total = None
        for first, last, columns in _column_blocks(x[start:stop], kernel, out, stride, padding, dilation, groups):
            products = _products(flat[start + first:start + last], columns)
            products = products[0] if last - first == 1 else np.add.reduce(products, axis=0)
            total = products if total is None else np.add(total, products, total)
        if total is None:                      # no images
            total = np.zeros((groups, outputs, channels * prod(kernel)), x.dtype)
        totals.append((start, total))
    _shared(run, len(x), groups * outputs * channels * prod(kernel) * prod(out))
    total = totals[0][1]
    if len(totals) > 1:                        # in the order of the images, whichever thread was first
        total = np.add.reduce([total for _, total in sorted(totals, key=lambda pair: pair[0])], axis=0)
    return _as_weight(total, channels, kernel)


def weight_grads(x, grad, kernel, stride, padding, dilation, groups, columns=None):
    """The gradients of the weight for each image: (N, O, C / groups, *kernel). `columns` as in `weight_grad`."""
    outputs, out = grad.shape[1] // groups, grad.shape[2:]
    flat = np.ascontiguousarray(grad).reshape(len(grad), groups, outputs, prod(out))
    channels = x.shape[1] // groups
    if columns is not None:
        found = _products(flat, columns)
    else:
        found = np.empty((len(x), groups, outputs, channels * prod(kernel)), x.dtype)
        for first, last, columns in _column_blocks(x, kernel, out, stride, padding, dilation, groups):
            found[first:last] = _products(flat[first:last], columns)
    weights = _as_weight(found, channels, kernel)
    return weights.reshape(len(x), groups * outputs, *weights.shape[1:])


def input_grad(grad, weight, bias, size, stride, padding, dilation, groups, by_pixel=False):
    """The gradient of an input of spatial `size`, given that of the output, `grad`: the transposed convolution of
    `grad`. `bias` (C,) is added if it is not None. `by_pixel`: the caller prefers channels last in memory.

    The ways to compute it are tried in this order: few outputs with channels last, Winograd, depthwise and general
    windows in C; a convolution of `grad` with the flipped weight (stride 1 and few outputs, or a direct one in C);
    windows of `grad` along all axes but the last (`_gathered`); columns of the input (`_scattered`).
    """
    kernel, outputs, channels = weight.shape[2:], len(weight) // groups, weight.shape[1]
    if by_pixel and bias is None and few_outputs.suits(outputs, channels, kernel, stride, groups):
        return few_outputs.input_grad(grad, weight, size, padding, dilation)
    around = [(2 - lo, 0) for lo, _ in padding]
    if winograd.suits(grad, weight, outputs, channels, kernel, size, stride, around, dilation, groups, bias):
        return winograd.input_grad(grad, weight, bias, size, padding)
    if depthwise.suits(grad, weight, len(weight), groups * channels, kernel, groups, padding, bias):
        return depthwise.input_grad(grad, weight, bias, size, stride, padding, dilation)
    in_direct = max(stride) == 1 and direct.suits(grad, weight, channels, kernel, size, stride, groups)
    if windows.suits(grad, weight, bias) and not in_direct:
        return windows.input_grad(grad, weight, bias, size, stride, padding, dilation, groups)
    before = [d * (k - 1) - lo for d, k, (lo, _) in zip(dilation, kernel, padding)]
    after = [n - m + lo for n, m, (lo, _) in zip(size, grad.shape[2:], padding)]
    if max(stride) == 1 and min(before) >= 0 and min(after) >= 0 and (2 * outputs <= channels or in_direct):
        # With few outputs `grad` has fewer columns than the input. The direct convolution needs no columns.
        flipped = weight[(Ellipsis,) + (slice(None, None, -1),) * len(kernel)]
        flipped = flipped.reshape((groups, outputs) + weight.shape[1:]).swapaxes(1, 2)
        flipped = np.ascontiguousarray(flipped).reshape((groups * channels, outputs) + kernel)
        return forward(grad, flipped, bias, size, stride, tuple(zip(before, after)), dilation, groups)[0]
    if len(kernel) > 1 and outputs > 1 and max(stride[:-1]) == 1 and min(before[:-1]) >= 0 and min(after[:-1]) >= 0 \
            and 2 * prod(size[:-1]) <= 3 * prod(grad.shape[2:-1]):
        return _gathered(grad, weight, bias, size, stride, padding, dilation, groups, list(zip(before, after))[:-1])
    return _scattered(grad, weight, bias, size, stride, padding, dilation, groups)


def _gathered(grad, weight, bias, size, stride, padding, dilation, groups, around):
    """`input_grad` with stride 1 along all axes but the last. Along these axes the windows of `grad`, padded by
    `around`, are gathered as in the forward pass, and one product sums over them. The last axis is summed place by
    place."""
    kernel, out = weight.shape[2:], grad.shape[2:]
    count, outputs, channels = len(grad), len(weight) // groups, weight.shape[1]
    rows, length = outputs * prod(kernel[:-1]), prod(size[:-1]) * out[-1]
    lo, hi = padding[-1]
    result = np.empty((count, groups * channels) + size, grad.dtype)
    weight = weight[(Ellipsis,) + (slice(None, None, -1),) * (len(kernel) - 1) + (slice(None),)]
    weight = weight.reshape(groups, outputs, channels, -1, kernel[-1]).transpose(0, 4, 2, 1, 3)
    weight = np.ascontiguousarray(weight).reshape(groups, kernel[-1] * channels, rows)
    if bias is not None:
        bias = bias.reshape((len(bias),) + (1,) * len(size))
    every = (slice(None), slice(None))
    moves = []                                 # (slices of the windows, slices of the gradient) by place
    for place in np.ndindex(kernel[:-1]):
        ahead = [lo - t * d for (lo, _), t, d in zip(around, place, dilation)]
        moves.append((every + place + tuple([slice(max(a, 0), max(a + n, 0)) for a, n in zip(ahead, out)]),
                      every + tuple([slice(max(-a, 0), max(m - a, 0)) for a, m in zip(ahead, size)])))

    def run(start, stop):
        step = _images_at_a_time(stop - start, groups * max(rows, len(weight[0])) * length * grad.itemsize)
        memory = np.zeros((step, groups * outputs) + kernel[:-1] + size[:-1] + out[-1:], grad.dtype)
        for first in range(start, stop, step):
            n = min(step, stop - first)
            part = grad[first:first + n]
            for to, source in moves:           # outside the gradient the windows stay zero
                memory[:n][to] = part[source]
            taps = np.matmul(weight, memory[:n].reshape(n, groups, rows, length))
            taps = taps.reshape((n, groups, kernel[-1], channels) + size[:-1] + out[-1:])
            wide = np.zeros((n, groups, channels) + size[:-1] + (size[-1] + lo + hi,), grad.dtype)
            for tap in range(kernel[-1]):
                place = tap * dilation[-1]
                wide[..., place:place + (out[-1] - 1) * stride[-1] + 1:stride[-1]] += taps[:, :, tap]
            block = result[first:first + n]
            block[...] = wide[..., lo:lo + size[-1]].reshape(block.shape)
            if bias is not None:
                block += bias
    _shared(run, count, weight.size * length)
    return result


def _scattered(grad, weight, bias, size, stride, padding, dilation, groups):
    """`input_grad` by the columns of the input: for each place of the last kernel axis one matrix product gives the
    columns of all places of the other axes, which are added up while they are in the cache."""
    kernel, out = weight.shape[2:], grad.shape[2:]
    channels, length = weight.shape[1] * groups, prod(out)
    rows = weight.shape[1] * prod(kernel[:-1])
    count, padded = len(grad), any([lo or hi for lo, hi in padding])
    result = (np.empty if padded else np.zeros)((count, channels) + size, grad.dtype)
    flat = np.ascontiguousarray(grad).reshape(count, groups, len(weight) // groups, length)
    weight = np.ascontiguousarray(np.moveaxis(weight, -1, 0)).reshape(kernel[-1], groups, len(weight) // groups, rows)
    product = np.matmul if weight.shape[2] > 1 else np.multiply      # depthwise: an outer product
    if bias is not None:
        bias = bias.reshape((channels,) + (1,) * len(size))

    def run(start, stop):
        step = _images_at_a_time(stop - start, groups * rows * length * grad.itemsize)
        memory = np.empty((step, groups, rows, length), grad.dtype)
        for first in range(start, stop, step):
            last = min(first + step, stop)
            block, part = result[first:last], flat[first:last]
            around = np.zeros(_around(block.shape, padding), grad.dtype) if padded else block
            for tap in range(kernel[-1]):
                columns = product(weight[tap].swapaxes(1, 2), part, out=memory[:last - first])
                _add_tap(around, tap, columns.reshape(block.shape[:2] + kernel[:-1] + out), kernel, stride, dilation,
                         out)
            if padded:
                block[...] = around[_inside(size, padding)]
            if bias is not None:
                block += bias
    _shared(run, count, weight.size * length)
    return result


def im2col(x, kernel, stride, padding, dilation):
    """Windows of images (N, C, H, W) as (N, C * kH * kW, H_out * W_out)."""
    out = output_size(x.shape[2:], kernel, stride, padding, dilation)
    x = pad(x, padding)
    steps = x.strides[2:]
    windows = ndarray(x.shape[:2] + kernel + out, x.dtype, x, 0,
                      x.strides[:2] + tuple([t * d for t, d in zip(steps, dilation)])
                      + tuple([t * s for t, s in zip(steps, stride)]))
    return np.array(windows, order="C").reshape(len(x), x.shape[1] * prod(kernel), prod(out))


def col2im(columns, size, kernel, stride, padding, dilation):
    """The adjoint of im2col: columns added up into images (N, C, *size)."""
    out = output_size(size, kernel, stride, padding, dilation)
    channels = columns.shape[1] // prod(kernel)
    if len(size) == 2:
        made = native.made("fold", (len(columns), channels, *size), len(columns) * channels, *size, *out, *kernel,
                           *stride, padding[0][0], padding[1][0], *dilation, columns)
        if made is not None:
            return made
    columns = columns.reshape((len(columns), channels) + kernel + out)
    around = np.zeros(_around((len(columns), channels) + size, padding), columns.dtype)
    for tap in range(kernel[-1]):
        _add_tap(around, tap, columns[:, :, :, tap], kernel, stride, dilation, out)
    return np.ascontiguousarray(around[_inside(size, padding)])
