"""Pooling of N-d images. Windows are never gathered: the output is built up tap by tap, where a tap is the strided
slice of the input that meets one place of the kernel. Arrays are (M, *size), M images in all.
"""
from functools import lru_cache
from itertools import product
from math import prod

import numpy as np

from .. import dtypes as dt
from . import native
from .extremes import place_of
from .scatter import add_flat, owned, picked
from .sums import PIECE, add_up
from .threads import split

_CACHE = 1 << 19          # bytes of input at a time: the arrays of a chunk stay in the cache
_SHORT = 64               # for shorter rows the overhead of a row is as long as the work on it
_LARGE = 1 << 22          # from so many bytes of input on several threads are worth their overhead
_EVERY, _FLOAT = slice(None), np.dtype(np.float32)


@lru_cache(1024)
def axis_taps(n, kernel, stride, before, dilation, out):
    """For each place of the kernel along one axis two slices: (the outputs it adds to, the inputs it meets for them),
    or None if it meets padding alone."""
    taps = []
    for k in range(kernel):
        offset = k * dilation - before
        first = max(0, -(offset // stride))
        last = min(out - 1, (n - 1 - offset) // stride)
        taps.append((slice(first, last + 1), slice(offset + first * stride, offset + last * stride + 1, stride))
                    if first <= last else None)
    return taps


@lru_cache(256)
def _taps(size, out, kernel, stride, padding, dilation):
    """Pairs of index tuples (outputs, inputs) for every place of the kernel, in row-major order."""
    per_axis = [axis_taps(*settings) for settings in zip(size, kernel, stride, padding, dilation, out)]
    return [((_EVERY,) + tuple([t[0] for t in tap]), (_EVERY,) + tuple([t[1] for t in tap]))
            for tap in product(*per_axis) if None not in tap]


def _chunks(x):
    """Slices of the first axis of `x`, each about as large as the cache."""
    count = len(x)
    step = max(1, _CACHE * count // max(x.nbytes, 1))
    return [slice(first, min(first + step, count)) for first in range(0, count, step)]


def _for_each(parts, work, x):
    """Calls work(part) for every part of `x`, on several threads if `x` is large."""
    def run(first, last):
        for part in parts[first:last]:
            work(part)
    if x.nbytes >= _LARGE:
        split(len(parts), run)
    else:
        run(0, len(parts))


def lowest(dtype):
    """The padding of max pooling: the lowest number of a dtype."""
    return -np.inf if dtype.kind == dt.NATIVE else np.iinfo(dtype).min


def _along(x, axis, combine, start, *settings):
    """`combine` (np.maximum, np.add) over windows along one axis; `start` is its neutral element."""
    taps = [t for t in axis_taps(*settings) if t is not None]
    out = settings[-1]
    lead = (_EVERY,) * axis
    if len(taps) == 2 and axis < x.ndim - 1 and prod(x.shape[axis + 1:]) < _SHORT and x.size and x.flags.c_contiguous \
            and all([to.stop - to.start == out for to, _ in taps]):
        return _with_neighbour(x, axis, combine, taps[1][1].start - taps[0][1].start)[lead + taps[0][1:]]
    if len(taps) > 1 and all([to.stop - to.start == out for to, _ in taps[:2]]):
        result = combine(x[lead + taps[0][1:]], x[lead + taps[1][1:]])
        taps = taps[2:]
    else:
        result = np.full(x.shape[:axis] + (out,) + x.shape[axis + 1:], start, x.dtype)
    for to, source in taps:
        target = result[lead + (to,)]
        combine(target, x[lead + (source,)], out=target)
    return result


def _with_neighbour(x, axis, combine, distance):
    """`combine` of every element and the one `distance` further along `axis`, in one pass over all images: where rows
    are short, that is faster than a pass over the wanted elements alone. Elements without such a neighbour are
    undefined."""
    flat, shift = x.reshape(-1), distance * prod(x.shape[axis + 1:])
    result = np.empty_like(x)
    combine(flat[:-shift], flat[shift:], out=result.reshape(-1)[:-shift])
    return result


def _windowed(x, out, combine, start, *settings):
    """`combine` over windows, one axis at a time, from the first, whose slices are the longest runs, to the last."""
    def combined(block):
        for axis, along in enumerate(zip(x.shape[1:], *settings, out), 1):
            block = _along(block, axis, combine, start, *along)
        return block
    if x.nbytes <= _CACHE:
        return combined(x)
    result = np.empty((len(x),) + out, x.dtype)

    def work(part):
        result[part] = combined(x[part])
    _for_each(_chunks(x), work, x)
    return result


@lru_cache(256)
def _apart(size, out, kernel, stride, padding, dilation):
    """(sizes, kernel and outputs of two axes) for windows that are adjacent and lie within images of one or two axes;
    None for others, such as those with windows that `ceil_mode` adds."""
    if kernel != stride or len(kernel) > 2 or any(padding) or max(dilation) > 1:
        return None
    for n, k, m in zip(size, kernel, out):
        if k * m > n:
            return None
    return (*size, *kernel, *out) if len(kernel) == 2 else (1, *size, 1, *kernel, 1, *out)


def max_pool(x, out, kernel, stride, padding, dilation):
    """The largest element of each window (NaN if there is one)."""
    apart = _apart(x.shape[1:], out, kernel, stride, padding, dilation)
    if apart is not None:
        result = native.made("max_pool", (len(x), *out), len(x), *apart, x)
        if result is not None:
            return result
    return _windowed(x, out, np.maximum, lowest(x.dtype), kernel, stride, padding, dilation)


def sum_pool(x, out, kernel, stride, padding):
    """The sum of each window."""
    apart = None
    if x.dtype == _FLOAT:
        apart = _apart(x.shape[1:], out, kernel, stride, padding, (1,))
    if apart is not None:
        result = native.made("sum_pool", (len(x), *out), len(x), *apart, len(out) == 1, 1.0, x)
        if result is not None:
            return result
    return _windowed(x, out, np.add, 0, kernel, stride, padding, (1,) * len(out))


@lru_cache(16)
def counts(size, out, kernel, stride, padding, include_pad):
    """The number of elements that each window averages: one number if it is the same for all, else a shared array,
    which must not be changed."""
    divisor = np.ones((), np.int64)
    for n, m, k, s, p in zip(size, out, kernel, stride, padding):
        start = np.arange(m) * s - p
        stop = np.minimum(start + k, n + p)
        if not include_pad:
            start, stop = np.maximum(start, 0), np.minimum(stop, n)
        divisor = divisor[..., None] * (stop - start)
    return int(divisor.flat[0]) if (divisor == divisor.flat[0]).all() else divisor


def sum_pool_grad(g, size, kernel, stride, padding):
    """Adds every element of `g` to all elements of its window, one axis at a time: the adjoint of `sum_pool`."""
    for axis, (n, k, s, p) in enumerate(zip(size, kernel, stride, padding), 1):
        lead = (_EVERY,) * axis
        result = np.zeros(g.shape[:axis] + (n,) + g.shape[axis + 1:], g.dtype)
        for tap in axis_taps(n, k, s, p, 1, g.shape[axis]):
            if tap is not None:
                result[lead + tap[1:]] += g[lead + tap[:1]]
        g = result
    return g


def _any_nan(array):
    flat = array.reshape(-1)
    total = flat.dot(flat)
    return total != total                      # a sum of squares is NaN only if an element is


def max_indices(x, ans, kernel, stride, padding, dilation):
    """The position in its image of the maximum `ans` of each window: the first of equal elements, the last NaN. For a
    window of padding alone it is, as in torch, its first place that is not before the image."""
    size, out = x.shape[1:], ans.shape[1:]
    positions = np.arange(prod(size)).reshape((1,) + size)
    first = np.zeros((), np.int64)
    for n, m, s, p, d in zip(size, out, stride, padding, dilation):
        start = np.arange(m) * s - p
        first = first[..., None] * n + np.where(start < 0, start % d, start)
    result = np.empty(ans.shape, np.int64)
    result[...] = first
    taps = _taps(size, out, kernel, stride, padding, dilation)
    for to, source in reversed(taps):
        np.copyto(result[to], positions[source], where=x[source] == ans[to])
    if x.dtype.kind == dt.NATIVE and _any_nan(ans):
        for to, source in taps:
            np.copyto(result[to], positions[source], where=np.isnan(x[source]))
    return result


def max_pool_grad(x, ans, g, kernel, stride, padding, dilation):
    """The gradient of `x`, whose max pooling is `ans`: each element of `g` goes to the first maximum of its window."""
    if x.dtype.kind == dt.NATIVE and _any_nan(ans):
        return scatter(max_indices(x, ans, kernel, stride, padding, dilation), g, x.shape[1:], x.shape[:1])
    inside = _apart(x.shape[1:], ans.shape[1:], kernel, stride, padding, dilation)
    if inside is not None:
        result = native.made("max_pool_backward", x.shape, len(x), *inside, x, ans, g)
        if result is not None:
            return result
    taps = _taps(x.shape[1:], ans.shape[1:], kernel, stride, padding, dilation)
    apart = all([s >= d * (k - 1) + 1 for k, s, d in zip(kernel, stride, dilation)])
    covered = apart and not any(padding) and all([
        n == k * m == s * m for n, k, s, m in zip(x.shape[1:], kernel, stride, ans.shape[1:])])
    result = np.empty(x.shape, g.dtype) if covered else np.zeros(x.shape, g.dtype)
    bits = np.dtype(f"i{g.itemsize}")

    def work(part):
        # `rest` holds the remaining part of g. A tap takes its share as bits, so that a later equal element gets
        # nothing.
        rest, block, largest, target = g[part].copy(), x[part], ans[part], result[part]
        for number, (to, source) in enumerate(taps, 1):
            left = rest[to].view(bits)
            if number == len(taps) and covered:
                target[source] = rest
                break
            share = (block[source] == largest[to]).astype(bits)     # faster than a product of ints and bools
            share *= left
            left ^= share
            if apart:
                target[source] = share.view(g.dtype)
            else:
                target[source] += share.view(g.dtype)
    _for_each(_chunks(x), work, x)
    return result


def max_pool_pick(x, ans, values, kernel, stride, padding, dilation):
    """The element of `values` at the first maximum of each window in `x`: the adjoint of max_pool_grad."""
    return gather(max_indices(x, ans, kernel, stride, padding, dilation), values)


def scatter(indices, g, size, leading):
    """`g` (M, ...) added up at flat positions `indices` of images of `size`, with the axes `leading` before them."""
    shape = (*leading, *size)
    try:
        sums = native.made("add_along", shape, len(g), prod(size), prod(g.shape[1:]), 1, g, indices, None)
        if sums is not None:
            return sums
    except IndexError:
        pass
    if indices.size and indices.max() >= prod(size):
        raise IndexError(f"max index {indices.max()} is outside of the image: its window contains padding alone")
    result = np.zeros(len(g) * prod(size), g.dtype)
    rows = (np.arange(len(g)) * prod(size)).reshape((-1,) + (1,) * (g.ndim - 1))
    add_flat(result, (rows + indices).reshape(-1), g.reshape(-1))
    return result.reshape(shape)


def gather(indices, values):
    """The elements of images `values` (M, *size) at flat positions `indices` (M, ...)."""
    return picked(_in_rows(values), owned(_in_rows(indices)), 1).reshape(indices.shape)


def _in_rows(a):
    return a.reshape(len(a), prod(a.shape[1:]))


def put(indices, x, size):
    """Zero images of `size` with `x` (M, ...) written at flat positions `indices`."""
    result = np.zeros((len(x), prod(size)), x.dtype)
    if result.size:
        np.put_along_axis(result, owned(_in_rows(indices)), _in_rows(x), 1)
    return result.reshape((len(x),) + tuple(size))


# ------------------------------------------------------------------ windows of uneven length
def _bounds(n, out):
    """The first input, and one past the last, of each of `out` windows into which `n` inputs are divided."""
    i = np.arange(out)
    return i * n // out, -(-(i + 1) * n // out)


def whole_maxima(x, n):
    """(the largest element of each image, its flat position) of a C-contiguous array (*, n axes), where the first of
    equal elements counts; None if an image has a NaN."""
    shape, images, width = _sizes_of_images(x.shape, n)
    if not x.size:
        return None
    if x.dtype is _FLOAT and type(x) is np.ndarray and native.level() and width < 1 << 31:
        top, indices = native.result("extremes", shape, images, width, 1, False, x), np.empty(shape, np.int64)
        native.run("extreme_places", images, width, 1, False, x, indices)
    else:
        rows = x.reshape(images, width)
        indices = place_of(np.argmax, rows, 1, True)
        top, indices = picked(rows, indices, 1).reshape(shape), indices.reshape(shape)
    return None if x.dtype.kind == dt.NATIVE and _any_nan(top) else (top, indices)


def means(x, *settings):
    """The mean of each window of an array (*, n axes) by one kernel. `settings`: outputs, kernel, stride, padding,
    whether padding counts, and what sums are divided by, or None for the number of elements. None where no kernel
    computes it: it takes floats in C order."""
    plan = _plan_of_means(x.shape, *settings)
    if plan is None:
        return None
    name, divisor, shape, before = plan
    if name != "row_sums":
        result = native.made(name, shape, *before, x)
    elif x.dtype is not _FLOAT or not x.flags.c_contiguous or type(x) is not np.ndarray:
        return None
    else:
        result = native.result(name, shape, *before, x, None)
    if divisor is not None and result is not None:
        result /= divisor
    return result


def shares_of_means(g, size, kernel, stride, padding, include_pad, divisor):
    """The gradient of `means` for images of `size`; None where no kernel computes it."""
    plan = _plan_of_shares(g.shape, size, kernel, stride, padding, include_pad, divisor)
    return None if plan is None else native.made("mean_pool_backward", *plan, g)


@lru_cache(1024)
def _plan_of_shares(shape, size, kernel, stride, padding, include_pad, divisor):
    """(the shape of the result of `shares_of_means`, the numbers that its kernel takes), or None."""
    n = len(size)
    images, out = prod(shape[:-n]), shape[-n:]
    divisor = divisor or counts(size, out, kernel, stride, padding, include_pad)
    whole = kernel == size and out == (1,) * n
    apart = _apart(size, out, kernel, kernel if whole else stride, padding, (1,) * n)
    if apart is None or divisor.__class__ is not int:
        return None
    return shape[:-n] + size, images, *apart, whole, float(divisor)


@lru_cache(1024)
def _plan_of_means(shape, out, kernel, stride, padding, include_pad, divisor):
    """(the kernel of `means`, what its result is divided by, the shape of the result, the numbers that the kernel
    takes), or None."""
    n = len(out)
    images, size = prod(shape[:-n]), shape[-n:]
    divisor = divisor or counts(size, out, kernel, stride, padding, include_pad)
    if native.level() is None or 0 in shape or divisor.__class__ is not int:
        return None
    name, before, apart = "", (), _apart(size, out, kernel, stride, padding, (1,) * n)
    if is_even(out, kernel, stride, padding, size):
        if max(out) == 1 and (images > 1 or prod(size) <= PIECE):      # of the whole images
            name, before = "row_sums", (images, prod(size), PIECE, images == 1)
        elif max(out) > 1 and n < 3:
            name, before = "window_sums", (images, *_windows(out, kernel))
    elif apart is not None:
        name, before, divisor = "sum_pool", (images, *apart, n == 1, float(divisor)), None
    return (name, divisor, shape[:-n] + out, before) if name else None


#: Windows of at least so many elements are summed along the axes of a reshaped array, smaller ones place by place.
_WINDOW = 16


def is_even(out, kernel, stride, padding, size):
    """Whether windows are summed by `even_sums`: they are large, lie beside each other and cover the image."""
    return prod(kernel) >= _WINDOW and not any(padding) and (tuple(stride) == tuple(kernel) or max(out) == 1) and (
        divides(out, kernel, size))


def divides(out, kernel, size):
    """Whether windows of the size `kernel` beside each other are the whole image."""
    return tuple([m * k for m, k in zip(out, kernel)]) == tuple(size)


def _windows(out, kernel):
    """The numbers of rows and columns of windows, and of elements in a window, in the order of `window_sums`."""
    (high, wide), (rows, columns) = (1, *out)[-2:], (1, *kernel)[-2:]
    return high, rows, wide, columns


@lru_cache(1024)
def _sizes_of_images(shape, n):
    """(the shape of one number for each image, the number of images, the elements of an image)."""
    return shape[:-n] + (1,) * n, prod(shape[:-n]), prod(shape[-n:])


def even_sums(x, out, kernel):
    """The sum of each window of images (M, *size), where the windows have one size and cover the images."""
    if max(out) == 1:                          # of the whole images
        return add_up(x.reshape(len(x), -1), (1,)).reshape(len(x), *out)
    if len(out) < 3:
        result = native.made("window_sums", (len(x), *out), len(x), *_windows(out, kernel), x)
        if result is not None:
            return result
    shape = [len(x)]
    for m, k in zip(out, kernel):
        shape += [m, k]
    return add_up(x.reshape(shape), tuple(range(2, len(shape), 2)))


def adaptive_indices(x, out):
    """The flat position of the largest element of each uneven window: the first of equal ones, the last NaN."""
    size = x.shape[1:]
    bounds = [_bounds(n, m) for n, m in zip(size, out)]
    lengths = [int((stop - start).max(initial=0)) for start, stop in bounds]
    positions = np.arange(prod(size)).reshape(size)
    best = chosen = None
    for offsets in np.ndindex(*lengths):
        # Windows that are shorter than the longest one read their last element again, which changes nothing.
        grid = np.ix_(*[np.minimum(start + o, stop - 1) for o, (start, stop) in zip(offsets, bounds)])
        values = x[(_EVERY,) + grid]
        if best is None:
            best, chosen = values, np.broadcast_to(positions[grid], values.shape).copy()
        else:
            better = (values > best) | np.isnan(values)
            best = np.where(better, values, best)
            np.copyto(chosen, positions[grid], where=better)
    return np.zeros((len(x),) + tuple(out), np.int64) if best is None else chosen


def uneven_sums(x, out):
    """The sum of each of the windows into which the last axes of `x` are divided."""
    for axis, m in enumerate(out, x.ndim - len(out)):
        start, stop = _bounds(x.shape[axis], m)
        total = x.take(start, axis)
        for k in range(1, int((stop - start).max(initial=0))):
            inside = np.flatnonzero(start + k < stop)
            total[(_EVERY,) * axis + (inside,)] += x.take(start[inside] + k, axis)
        x = total
    return x


def uneven_counts(size, out):
    """The number of elements of each window of `uneven_sums`."""
    counts = np.ones((), np.int64)
    for n, m in zip(size, out):
        start, stop = _bounds(n, m)
        counts = counts[..., None] * (stop - start)
    return counts


def averaging(n, out, dtype):
    """A matrix (out, n) whose rows average the windows into which `n` inputs are divided."""
    start, stop = _bounds(n, out)
    i = np.arange(n)
    inside = (i >= start[:, None]) & (i < stop[:, None])
    return (inside / np.maximum(stop - start, 1)[:, None]).astype(dtype)


# ------------------------------------------------------------------ windows at random places
def fractional_starts(draws, size, out, kernel, rounded):
    """For each axis the first inputs (M, out) of the windows of fractional pooling, from random numbers (M, axes) in
    [0, 1). `rounded` is applied after each step."""
    starts = []
    for axis, (n, m, k) in enumerate(zip(size, out, kernel)):
        first = np.full((len(draws), m), n - k, np.int64)
        if m > 1:
            draw = draws[:, axis, None]
            alpha = rounded(np.asarray(n - k, draw.dtype) / np.asarray(m - 1, draw.dtype))
            shifted = rounded(rounded(np.arange(m - 1, dtype=draw.dtype) + draw) * alpha)
            first[:, :-1] = shifted.astype(np.int64) - rounded(draw * alpha).astype(np.int64)
        starts.append(first)
    return starts


def windows_from(x, starts, kernel):
    """The largest element of each window that begins at `starts` (for each axis (M, out)), and its flat position: that
    of the first of equal elements, or of the last NaN."""
    n, flat = len(starts), _in_rows(x)
    places = np.zeros((len(x),) + (1,) * n, np.int64)
    for axis, first in enumerate(starts):
        places = places * x.shape[1 + axis] + first.reshape(
            (len(x),) + (1,) * axis + first.shape[1:] + (1,) * (n - 1 - axis))
    best, chosen = np.full(places.shape, -np.inf, x.dtype), places.copy()
    for offsets in product(*map(range, kernel)):
        there = places + int(np.ravel_multi_index(offsets, x.shape[1:]))
        values = np.take_along_axis(flat, _in_rows(there), 1).reshape(there.shape)
        better = (values > best) | np.isnan(values)
        np.copyto(best, values, where=better)
        np.copyto(chosen, there, where=better)
    return best, chosen
