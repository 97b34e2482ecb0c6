"""Batch, layer and group normalisation on ndarrays. Deviations from the mean are not saved: backward computes them."""
import math

import numpy as np

from . import native
from .rows import row_sum

#: So many elements at a time are summed for the gradients of weight and bias.
_PIECE = 16384


def _by_channel(x):
    """(x (N, C, *) as (N, C, S), or (N, C) as it is; the shape that broadcasts a vector of channels to it)."""
    if x.ndim == 2:
        return (x if x.flags.c_contiguous else np.ascontiguousarray(x)), (1, -1)
    return np.ascontiguousarray(x).reshape(x.shape[0], x.shape[1], math.prod(x.shape[2:])), (1, -1, 1)


def _column_sum(x):
    return np.ones(len(x), x.dtype).dot(x)


def _channel_sum(x):
    return _column_sum(x) if x.ndim == 2 else np.add.reduce(row_sum(x), axis=0)


def _channel_dot(a, b):
    return _column_sum(a * b) if a.ndim == 2 else np.add.reduce(np.vecdot(a, b), axis=0)


def batch_norm(x, weight, bias, eps, rounded=None, squares_rounded=None):
    """((x - mean) / deviation * weight + bias, (mean, variance, 1 / deviation)) with statistics by channel, axis 1.
    `rounded` rounds mean and deviation where they are kept in lower precision; `squares_rounded` the sum of squares and
    the variance."""
    rows, spread = _by_channel(x)
    normalised = np.empty(x.shape, x.dtype)
    if eps and rounded is None and rows.ndim == 3:
        statistics = tuple([np.empty(rows.shape[1], x.dtype) for _ in range(3)])
        if native.done("batch_norm", *rows.shape, eps, rows, weight, bias, normalised, *statistics):
            return normalised, statistics
    count = rows.size // (rows.shape[1] or 1) or math.nan
    mean = _channel_sum(rows) / count
    result = np.subtract(rows, mean.reshape(spread), out=normalised.reshape(rows.shape))
    variance = _channel_dot(result, result) / count if squares_rounded is None else \
        squares_rounded(squares_rounded(_channel_dot(result, result)) / count)
    if eps:
        rate = 1 / np.sqrt(variance + eps)
    else:                                      # as in torch, where equal elements become exactly 0
        rate = np.divide(1, np.sqrt(variance), out=np.zeros_like(variance), where=variance != 0)
    if rounded is not None:
        mean, rate = rounded(mean), rounded(rate)
        np.subtract(rows, mean.reshape(spread), out=result)
    result *= (rate if weight is None else rate * weight).reshape(spread)
    if bias is not None:
        result += bias.reshape(spread)
    return normalised, (mean, variance, rate)


def batch_norm_backward(g, wanted, x, weight, mean, rate):
    """Gradients of input, weight and bias; None for those that are not `wanted`."""
    g, spread = _by_channel(g)
    rows, _ = _by_channel(x)
    count = rows.size // (rows.shape[1] or 1) or math.nan
    g_input = np.empty(x.shape, x.dtype)       # no view, so that a leaf can keep it as its gradient
    total, dot = np.empty_like(mean), np.empty_like(mean)
    if wanted[0] and rows.ndim == 3 and native.done(
            "batch_norm_backward", *rows.shape, g, rows, weight, mean, rate, g_input, total, dot):
        return g_input, dot * rate if wanted[1] else None, total
    result = g_input.reshape(rows.shape)
    np.subtract(rows, mean.reshape(spread), out=result)
    total, dot = _channel_sum(g), _channel_dot(g, result)
    g_weight = dot * rate if wanted[1] else None
    if not wanted[0]:
        return None, g_weight, total
    scale = rate if weight is None else rate * weight
    result *= (dot * rate * rate / -count).reshape(spread)
    result += g
    result -= (total / count).reshape(spread)
    result *= scale.reshape(spread)
    return g_input, g_weight, total


def batch_norm_by(x, weight, bias, mean, variance, eps):
    """(batch norm with given statistics, 1 / deviation of each channel)."""
    if x.ndim > 2:
        rate = np.empty(variance.shape, variance.dtype)
        result = native.made("batch_norm_by", x.shape, x.shape[0], x.shape[1], math.prod(x.shape[2:]), eps,
                             -math.inf, math.inf, x, mean, variance, weight, bias, rate)
        if result is not None:
            return result, rate
    rate = 1 / np.sqrt(variance + eps)
    return scale_shift(x, weight, bias, mean, rate), rate


def scale_shift(x, weight, bias, mean, rate):
    """Batch norm with given means and 1 / deviation."""
    rows, spread = _by_channel(x)
    scale = rate if weight is None else rate * weight
    shift = -mean * scale if bias is None else bias - mean * scale
    result = np.empty(x.shape, x.dtype)
    if rows.ndim == 3 and native.done("scale_shift", *rows.shape, rows, scale, shift, result):
        return result
    result = np.multiply(rows, scale.reshape(spread), result.reshape(rows.shape))
    result += shift.reshape(spread)
    return result.reshape(x.shape)


def scale_shift_backward(g, wanted, x, weight, mean, rate):
    g, spread = _by_channel(g)
    rows, _ = _by_channel(x)
    g_input = g_weight = None
    if wanted[0]:
        scale = rate if weight is None else rate * weight
        g_input = native.made("scale_shift", x.shape, *g.shape, g, scale, None) if g.ndim == 3 else None
        if g_input is None:
            g_input = (g * scale.reshape(spread)).reshape(x.shape)
    if wanted[1]:
        g_weight = _channel_dot(g, rows - mean.reshape(spread)) * rate
    return g_input, g_weight, _channel_sum(g) if wanted[2] else None


def _in_rows(*arrays):
    return [a if a is None or a.flags.c_contiguous else np.ascontiguousarray(a) for a in arrays]


def layer_norm(x, weight, bias, width, eps, center):
    """(result, (mean, 1 / root mean square) by row): rows of `width` elements, minus their mean if `center`, divided by
    their root mean square, times weight plus bias."""
    x, weight, bias = _in_rows(x, weight, bias)
    normalised = np.empty(x.shape, x.dtype)
    if center and x.size and (bias is None or weight is not None):
        count = x.size // width
        mean, rate = np.empty((count, 1), x.dtype), np.empty((count, 1), x.dtype)
        if native.done("layer_norm", count, width, eps, x, weight, bias, normalised, mean, rate):
            return normalised, (mean, rate)
    if not center and x.size and bias is None:
        rate = np.empty((x.size // width, 1), x.dtype)
        if native.done("rms_norm", len(rate), width, eps, x, weight, normalised, rate):
            return normalised, (None, rate)
    rows, mean = x.reshape(-1, width) if x.size else x.reshape(0, width), None
    result = normalised.reshape(rows.shape)
    if center:
        mean = np.vecdot(rows, np.ones(width, rows.dtype))[:, None] / (width or math.nan)
        np.subtract(rows, mean, out=result)
        square = np.vecdot(result, result)
    else:
        square = np.vecdot(rows, rows)
    rate = (1 / np.sqrt(square / (width or math.nan) + eps)).astype(x.dtype, copy=False)[:, None]
    np.multiply(result if center else rows, rate, out=result)
    if weight is not None:
        result *= weight.reshape(-1)
    if bias is not None:
        result += bias.reshape(-1)
    return normalised, (mean, rate)


def _added_up(rows, rounded):
    """The sum of rows, which `rounded` rounds after each addition."""
    total = np.zeros(rows.shape[1], rows.dtype)
    for row in rows:
        total = rounded(total + row)
    return total


def layer_norm_backward(g, wanted, x, weight, width, mean, rate, rounded=None):
    """Gradients of input, weight and bias; None for those that are not `wanted`. `rounded` rounds sums over rows after
    each addition, where torch keeps them in lower precision.

    C computes all gradients in one pass, if that of the input is wanted, rows are centred and sums are not rounded.
    Otherwise NumPy computes the gradient of the bias, then that of the weight, then, in place, that of the input.
    """
    g, x, weight = _in_rows(g, x, weight)
    if mean is not None and wanted[0] and rounded is None and x.size:
        g_input, count, grain = np.empty(x.shape, x.dtype), x.size // width, max(1, _PIECE // width)
        pieces = -(-count // grain)
        sums = np.empty((pieces, 2, width), x.dtype) if wanted[1] or wanted[2] else None
        if native.done("layer_norm_backward", count, width, grain, pieces, g, x, weight, mean, rate, g_input, sums):
            if sums is None:
                return g_input, None, None
            return g_input, *(sums[0] if pieces == 1 else np.add.reduce(sums))
    add_up = _column_sum if rounded is None else lambda rows: _added_up(rows, rounded)
    g, rows = (a.reshape(-1, width) if a.size else a.reshape(0, width) for a in (g, x))
    g_bias = add_up(g) if wanted[2] else None
    g_weight = None
    g_input = np.empty(x.shape, x.dtype)       # no view, so that a leaf can keep it as its gradient
    result = g_input.reshape(rows.shape)
    if mean is None:
        np.multiply(rows, rate, out=result)
    else:
        np.subtract(rows, mean, out=result)
        result *= rate
    if wanted[1]:
        g_weight = add_up(g * result)
    if not wanted[0]:
        return None, g_weight, g_bias
    if weight is not None:
        g = g * weight.reshape(-1)
    result *= np.vecdot(g, result)[:, None] / -(width or math.nan)
    result += g
    if mean is not None:
        result -= np.vecdot(g, np.ones(width, g.dtype))[:, None] / (width or math.nan)
    result *= rate
    return g_input, g_weight, g_bias


def group_norm(x, weight, bias, groups, eps):
    """(result, (mean, 1 / root mean square) by group): each of `groups` groups of channels of x (N, C, *), minus its
    mean, divided by its root mean square, times weight plus bias by channel."""
    width = math.prod(x.shape[1:]) // groups
    rows, statistics = layer_norm(x.reshape(x.shape[0] * groups, width), None, None, width, eps, True)
    result = rows.reshape(x.shape)
    if weight is not None:
        shifted = np.empty(x.shape, x.dtype)
        if native.done("scale_shift", *x.shape[:2], math.prod(x.shape[2:]), result, weight, bias, shifted):
            return shifted, statistics
    spread = (1, -1) + (1,) * (x.ndim - 2)
    if weight is not None:
        result *= weight.reshape(spread)
    if bias is not None:
        result += bias.reshape(spread)
    return result, statistics


def group_norm_backward(g, wanted, x, weight, groups, mean, rate):
    """Gradients of input, weight and bias; None for those that are not `wanted`."""
    axes = (0, *range(2, x.ndim))
    if not x.size:                             # the mean of no elements is NaN, as in torch
        weights = np.full(x.shape[1], math.nan if len(x) else 0, x.dtype)
        return np.zeros(x.shape, x.dtype), weights, np.zeros(x.shape[1], x.dtype)
    x, width = np.ascontiguousarray(x), math.prod(x.shape[1:]) // groups
    rows = x.reshape(x.shape[0] * groups, width)
    g_input = g_weight = None
    if wanted[1]:
        g_weight = np.add.reduce(g * ((rows - mean) * rate).reshape(x.shape), axis=axes)
    g_bias = np.add.reduce(g, axis=axes) if wanted[2] else None
    if wanted[0]:
        if weight is not None:
            g = g * weight.reshape((1, -1) + (1,) * (x.ndim - 2))
        g = np.ascontiguousarray(g).reshape(rows.shape)
        g_input = layer_norm_backward(g, (True, False, False), rows, None, width, mean, rate)[0].reshape(x.shape)
    return g_input, g_weight, g_bias
