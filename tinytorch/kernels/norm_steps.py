"""Batch normalisation in half precision where each step is rounded.

torch uses such a routine for inputs whose memory is neither in C order nor has channels last, or whose gradients have
another memory order. Arrays are in single precision here, and `rounded` rounds them to half precision. If the
parameters are in single precision `rounded` does nothing, and `stored` rounds what torch stores between its steps.
"""
import math

import numpy as np


def _spread(vector, like):
    return vector.reshape((1, -1) + (1,) * (like.ndim - 2))


def _sum(x):
    """Sums by channel."""
    return np.add.reduce(np.ascontiguousarray(x.swapaxes(0, 1)).reshape(x.shape[1], -1), axis=1)


def scale_shift(x, weight, bias, mean, rate, rounded):
    """Batch norm with given statistics, in C order."""
    x = np.ascontiguousarray(x)
    result = rounded(rounded(x - _spread(mean, x)) * _spread(rounded(rate), x))
    if weight is not None:
        result = rounded(result * _spread(weight, x))
    return result if bias is None else result + _spread(bias, x)


def _products(g, wanted, x, mean, rate, rounded, stored):
    """(deviations from the mean, sums by channel of their products with the gradient, gradients of weight and bias)."""
    deviation = rounded(np.ascontiguousarray(x) - _spread(mean, x))
    dot = _sum(rounded(deviation * g))
    return deviation, dot, dot * rate if wanted[1] else None, stored(_sum(g))


def batch_norm_backward(g, wanted, x, weight, mean, rate, rounded, stored):
    """Gradients of input, weight and bias, where the statistics are those of the batch."""
    deviation, dot, g_weight, total = _products(g, wanted, x, mean, rate, rounded, stored)
    if not wanted[0]:
        return None, g_weight, total
    count = np.float32(math.prod(x.shape) // x.shape[1])
    slope = stored(rounded(rounded(stored(dot) * rate) * rate) / rounded(count))
    along = stored(deviation * _spread(slope, x))
    rest = stored(stored(g - _spread(stored(total / stored(count)), x)) - along)
    return _weighted(rest, weight, rate, rounded), g_weight, total


def scale_shift_backward(g, wanted, x, weight, mean, rate, rounded, stored):
    """Gradients of input, weight and bias, where the statistics are given."""
    rate = rounded(rate)
    _, _, g_weight, total = _products(g, wanted, x, mean, rate, rounded, stored)
    return _weighted(g, weight, rate, rounded) if wanted[0] else None, g_weight, total


def _weighted(g, weight, rate, rounded):
    result = np.ascontiguousarray(g) * _spread(rate, g)
    return result if weight is None else rounded(result) * _spread(weight, g)
