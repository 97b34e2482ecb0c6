"""Sampling images (N, C, H, W) or volumes at the places of a grid (N, P, axes), the last axis of the images first.

A coordinate in [-1, 1] becomes a place among the elements of an axis in torch's steps. Half precisions are rounded
after each step (`stepwise`), because that decides between neighbours. Around its place every sample has corners: for
each axis the positions of 1, 2 or 4 elements, whether they are in the image, and their weights.
"""
from functools import lru_cache
from itertools import product

import numpy as np

from . import native
from .scatter import add_flat
from .stepwise import plain, stepwise


class Axis:
    """The corners along one axis.

    elements  the positions of the corners, limited to the axis; `inside`: whether they lay within it
    past      the distance of the sample from the element before it, in elements
    weights   the weights of the corners, or None for 1; `slopes`: their derivatives by `past`
    factor    the derivative of `past` by the coordinate
    """

    def __init__(self, coordinate, size, mode, padding, align_corners, of_two):
        x, factor = _unnormalized(coordinate, size, align_corners)
        self.factor, self.weights = factor, None
        if mode != "bicubic":
            x, turn = _padded(x, size, padding, align_corners, of_two)
            self.factor = turn * factor
        if mode == "nearest":
            self._find([np.rint(x)], size)
            return
        first = np.floor(x)
        self.past = t = x - first
        self.weights, self.slopes = weights(t, mode), slopes(t, mode)
        if mode == "bilinear":
            self._find([first, first + 1], size)
            return
        self._find([_padded(first + k, size, padding, align_corners, of_two)[0] for k in range(-1, 3)], size)

    def _find(self, places, size):
        wide = [np.nan_to_num(_numbers(p), nan=-2.0).clip(-2, size + 1).astype(np.int64) for p in places]
        self.inside = [(p >= 0) & (p < size) for p in wide]
        self.elements = [p.clip(0, size - 1) for p in wide]


def _numbers(x):
    return x if isinstance(x, np.ndarray) else x.wide


def _unnormalized(x, size, align_corners):
    if align_corners:
        return (x + 1) * ((size - 1) / 2), (size - 1) / 2
    return (x + 1) * (size / 2) - 0.5, size / 2


def _padded(x, size, padding, align_corners, of_two):
    """(the place after padding, its derivative by the place `x`). `of_two`: the image has two axes."""
    turn = 1.0
    if padding == "zeros":
        return x, np.ones_like(_numbers(x))
    if padding == "reflection":
        low, span = (0, size - 1) if align_corners else (-0.5, size)
        away = x - low
        negative, away = away < 0, abs(away)
        if not span:
            x, turn = x * 0, 0.0
        elif of_two:                           # torch's routine for images has this formula
            extra = away - np.trunc(away / (2 * span)) * (2 * span)
            beyond = extra > 2 * span - extra
            x = np.minimum(extra, 2 * span - extra) + low
        else:
            extra = np.fmod(away, span)
            beyond = _numbers(np.floor(away / span)) % 2 == 1
            flip, start = [np.where(beyond, a, b).astype(_numbers(x).dtype) for a, b in ((-1, 1), (span, 0))]
            x = extra * flip + start + low
        if span:
            turn = np.where(beyond != negative, -1.0, 1.0)
    inside = (x > 0) & (x < size - 1)
    x = np.minimum(np.fmax(x, 0), size - 1)    # NaN becomes 0
    return x, np.where(inside, turn, 0.0)


#: The parameter of Keys' cubic convolution kernel.
_A = -0.75


def _near(x):
    return ((_A + 2) * x - (_A + 3)) * x * x + 1


def _far(x):
    return ((_A * x - 5 * _A) * x + 8 * _A) * x - 4 * _A


def weights(t, mode):
    """The weights of 2 or 4 elements around a sample; `t`: its distance from the element before it."""
    return [1 - t, t] if mode == "bilinear" else [_far(t + 1), _near(t), _near(1 - t), _far(2 - t)]


def slopes(t, mode):
    """The derivatives of `weights` by `t`."""
    if mode == "bilinear":
        return [-1, 1]
    a, b, c, d = t + 1, t, 1 - t, 2 - t
    return [(3 * _A * a - 10 * _A) * a + 8 * _A, (3 * (_A + 2) * b - 2 * (_A + 3)) * b,
            (-3 * (_A + 2) * c + 2 * (_A + 3)) * c, (-3 * _A * d + 10 * _A) * d - 8 * _A]


def past(axis):
    """`axis.past` as an array."""
    return plain(axis.past)


def axes_of(grid, size, mode, padding, align_corners):
    """An Axis for each axis, in the order of the grid (N, P, axes): the last axis of the images first."""
    of_two = len(size) == 2
    return [Axis(stepwise(np.ascontiguousarray(grid[..., k])), n, mode, padding, align_corners, of_two)
            for k, n in enumerate(size[::-1])]


def corner(axes, which, size):
    """(flat positions in an image, whether they are in it) of one corner. `which`: its number along each axis."""
    place, inside, step = 0, True, 1
    for axis, k, n in zip(axes, which, size[::-1]):
        place = place + axis.elements[k] * step
        inside = inside & axis.inside[k]
        step *= n
    return place, inside


def corners(axes):
    """All corners, as their numbers along each axis; those of the first axis change fastest."""
    return [which[::-1] for which in product(*[range(len(axis.elements)) for axis in axes[::-1]])]


def values(images, place, inside):
    """The elements of images (N, C, P') at positions (N, P): (N, C, P), with zeros for positions not `inside`."""
    result = np.empty(images.shape[:2] + place.shape[1:], images.dtype)
    for image, at, into in zip(images, place, result):
        image.take(at, 1, out=into, mode="clip")
    if not inside.all():
        result[np.broadcast_to(~inside[:, None], result.shape)] = 0
    return result


def _per_channel(weight):
    """(N, P) numbers as factors of (N, C, P); `weight` may be `stepwise`."""
    return weight[:, None] if isinstance(weight, np.ndarray) else type(weight)(weight.wide[:, None])


def _weight(axes, which):
    """The product of the weights of a corner, or None for 1."""
    weights = [axis.weights[k] for axis, k in zip(axes, which) if axis.weights is not None]
    result = None
    for w in weights:
        result = w if result is None else result * w
    return result


def natively(x, grid, mode, padding, align_corners):
    """The result (N, C, H', W') of the native kernel for images (N, C, H, W) and a grid (N, H', W', 2), or None where
    it does not take them."""
    plan = _plan(x.shape, grid.shape, mode, padding, align_corners)
    return None if plan is None else native.made("grid_sample", *plan, x, grid)


@lru_cache(256)
def _plan(shape, places, mode, padding, align_corners):
    """(the shape of the result of `natively`, the numbers that the kernel takes), or None."""
    n, c, *size = shape
    if mode != "bilinear" or padding == "reflection" or len(size) != 2 or size[0] * size[1] >= 1 << 31:
        return None
    high, wide = places[1:-1]
    return (n, c, high, wide), n, c, *size, high * wide, align_corners, padding == "border"


def natively_back(g, size, grid, mode, padding, align_corners):
    """What the kernel makes of gradients (N, C, P) of samples: that of images (N, C, H, W), of which it adds up what
    comes to one place in torch's order; None of what it does not take."""
    if mode != "bilinear" or padding == "reflection" or len(size) != 2 or size[0] * size[1] >= 1 << 31:
        return None
    n, c, points = g.shape
    return native.made("grid_sample_backward", (n, c, *size), n, c, *size, points, align_corners, padding == "border",
                       g, grid)


def sampled(images, axes, size):
    """The samples (N, C, P): sums over the corners."""
    if len(axes[0].elements) == 4:             # first along one axis, then along the other
        rows = [_total([(_per_channel(axes[0].weights[j]), stepwise(values(images, *corner(axes, (j, i), size))))
                        for j in range(4)]) for i in range(4)]
        return plain(_total([(_per_channel(w), row) for w, row in zip(axes[1].weights, rows)]))
    if axes[0].weights is None:
        return values(images, *corner(axes, (0,) * len(axes), size))
    return plain(_total([(stepwise(values(images, *corner(axes, which, size))), _per_channel(_weight(axes, which)))
                         for which in corners(axes)]))


def _total(pairs):
    total = None
    for a, b in pairs:
        total = a * b if total is None else total + a * b
    return total


def input_grad(g, shape, axes, size):
    """The gradient of images of `shape` (N, C, P'), given that of the samples. The terms of one place are added up in
    torch's order, which half precisions show: corner by corner for `_AT_ONCE` samples of images, or one of volumes."""
    result = np.zeros(shape, g.dtype)
    starts = np.arange(shape[0] * shape[1]).reshape(shape[0], shape[1], 1) * shape[2]
    g_steps, parts = stepwise(g), []
    for which in _corners_in_order(axes):
        place, inside = corner(axes, which, size)
        part = g
        if len(axes[0].elements) == 4:
            part = plain(g_steps * _per_channel(axes[0].weights[which[0]]) * _per_channel(axes[1].weights[which[1]]))
        elif axes[0].weights is not None:
            part = plain(g_steps * _per_channel(_weight(axes, which)))
        parts.append((part, starts + place[:, None], np.broadcast_to(inside[:, None], part.shape)))
    if g.itemsize == 2 and len(parts) > 1:
        at_once = _AT_ONCE if len(axes) == 2 else 1
        count = g.shape[-1]
        order = np.argsort(np.tile(np.arange(count) // at_once, len(parts)), kind="stable")
        parts = [tuple([np.concatenate(arrays, -1)[..., order] for arrays in zip(*parts)])]
    for part, places, inside in parts:
        add_flat(result, places[inside], part[inside])
    return result


#: torch's routine for images computes so many samples at a time in half precision: one 512-bit register in float32.
_AT_ONCE = 16


def _corners_in_order(axes):
    """`corners` in the order in which torch adds them up in backward."""
    return list(product(range(4), range(4))) if len(axes[0].elements) == 4 else corners(axes)


def grid_grad(g, images, axes, size):
    """The gradient of the grid, (N, P, axes)."""
    n = len(axes)
    result = np.zeros(g.shape[:1] + g.shape[2:] + (n,), g.dtype)
    if axes[0].weights is None:
        return result
    order = _corners_in_order(axes)
    found = [stepwise(values(images, *corner(axes, which, size))) for which in order]
    for k in range(n):
        if g.itemsize == 2:                    # in torch's order: channel by channel, corner by corner
            total = stepwise(np.zeros_like(result[..., 0]))
            terms = list(_slopes(stepwise(g), found, axes, order, k))
            for c in range(g.shape[1]):
                for term in terms:
                    total = total + _channel(term, c)
        else:
            total = sum([term.sum(1) for term in _slopes(g, found, axes, order, k)])
        result[..., k] = plain(total * axes[k].factor)
    return result


def _channel(x, c):
    return x[:, c] if isinstance(x, np.ndarray) else type(x)(x.wide[:, c])


def _slopes(g, found, axes, order, k):
    """Yields the terms (N, C, P) of the gradient of axis k's coordinate, in torch's order."""
    if len(axes) == 2 and len(order) == 4:
        nw, ne, sw, se = found
        far, near = [_per_channel(w) for w in axes[1 - k].weights]
        yield ((ne - nw) * far + (se - sw) * near) * g if k == 0 else ((sw - nw) * far + (se - ne) * near) * g
        return
    for value, which in zip(found, order):
        others = [_per_channel(axes[i].weights[which[i]]) for i in range(len(axes)) if i != k]
        slope = axes[k].slopes[which[k]]
        if len(axes) == 2:
            yield value * g * _per_channel(slope) * others[0]
        else:
            yield value * others[0] * others[1] * g * slope
