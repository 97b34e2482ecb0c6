"""Normalisation of batches: rows and groups are those of all samples, channels stand side by side."""
import math

import numpy as np

from ...kernels import norm as kernels
from ...kernels.layout import as_array
from ...ops.nn import group_norm, norm
from ..batched import NotBatchable, Refusal, aligned, level_of
from ..dispatch import backward_rule
from .functions import apart, batch, side_by_side, size_of, spread
from .layout import family
from .nn import is_batch


def _of_channels(vector, ndim):
    """A vector by channel, laid out along dimension 1 of `ndim`."""
    return vector.reshape(vector.shape + (1,) * (ndim - 2))


# ------------------------------------------------------------------ rows
@family(norm._layer_norm)
def _layer_norm(compute, level, input, weight, bias, size, eps, center):
    """Layer norm treats the rows of all samples alike."""
    if not is_batch(input, level):
        result, statistics = compute(input, None, None, size, eps, center)
    else:
        count = len(input.physical)
        result, statistics = compute(input.physical, None, None, size, eps, center)
        result = batch(result, level)
        statistics = tuple([x if x is None else batch(x.reshape(count, x.shape[0] // max(count, 1), 1), level)
                            for x in statistics])
    dtype = input.dtype
    if weight is not None:
        result = norm.wide(result) * norm.wide(weight)
    if bias is not None:
        result = norm.wide(result) + norm.wide(bias)
    return norm._as(dtype)(result), statistics


def _row_gradients(wanted, g, x, weight, width, mean, rate):
    """(The gradient of rows `x` of all samples, the normed rows), of arrays (samples, rows, width)."""
    g_input = None
    if wanted:
        g = g if weight is None else g * weight
        flat = [v if v is None else v.reshape(v.shape[0] * v.shape[1], v.shape[2]) for v in (g, x, mean, rate)]
        g_input = kernels.layer_norm_backward(flat[0], (True, False, False), flat[1], None, width, *flat[2:])[0]
        g_input = g_input.reshape(x.shape)
    return g_input, (x if mean is None else x - mean) * rate


@backward_rule(norm._layer_norm)
def _layer_norm_gradient(level, run, g, saved, edges):
    input, weight, bias, size, _, center, _, (mean, rate) = saved
    count, width = size_of(level, g, saved), math.prod(size)
    rows = math.prod(input.shape[:input.ndim - len(size)])
    wanted = [edge is not None for edge in edges]
    if not count * rows * width:               # rows without elements have no statistics
        return [batch(np.zeros((count, *like.shape), like.dtype), level) if want else None
                for want, like in zip(wanted, (input, weight, bias))]

    g, x, mean, rate = [v if v is None else norm.wide(spread(v, level, count)).reshape(count, rows, n)
                        for v, n in ((g, width), (input, width), (mean, 1), (rate, 1))]
    w = None if weight is None else aligned(norm.wide(weight).reshape(-1), level, 2)
    g_input, normed = _row_gradients(wanted[0], g, x, w, width, mean, rate)
    found = [None, None, None]
    if wanted[0]:
        found[0] = g_input.reshape(count, *input.shape)
    if wanted[1]:
        found[1] = (g * normed).sum(1).reshape(count, *weight.shape)
    if wanted[2]:
        found[2] = g.sum(1).reshape(count, *bias.shape)
    return [None if d is None else batch(norm._as(like.dtype)(d), level)
            for d, like in zip(found, (input, weight, bias))]


# ------------------------------------------------------------------ groups of channels
@family(group_norm._group_norm)
def _group_norm(compute, level, input, weight, bias, groups, eps):
    if not is_batch(input, level):
        result, (mean, rate, _) = compute(input, None, None, groups, eps)
    else:
        size = len(input.physical)
        result, (mean, rate, _) = compute(side_by_side(input, level, size), None, None, groups, eps)
        result, mean, rate = apart((result, mean, rate), level, size)
    result = norm.wide(result)
    if weight is not None:
        result = result * _of_channels(norm.wide(weight), input.ndim)
    if bias is not None:
        result = result + _of_channels(norm.wide(bias), input.ndim)
    return norm._as(input.dtype)(result), (mean, rate, norm.about(bias))


@backward_rule(group_norm._group_norm)
def _group_norm_gradient(level, run, g, saved, edges):
    input, weight, _, groups, _, _, (mean, rate, bias) = saved
    wanted, count = [edge is not None for edge in edges], size_of(level, g, saved)
    like = g if input is None else input       # the input is not kept if only the bias needs a gradient
    shape, axes = like.shape, (1, *range(3, like.ndim + 1))
    g, x, mean, rate = [x if x is None else norm.wide(spread(x, level, count)) for x in (g, input, mean, rate)]
    found = [None, None, g.sum(axes) if wanted[2] else None]
    if (wanted[0] or wanted[1]) and (x is None or not x.size):
        found = _gradients_of_nothing(wanted, g, shape, count)
    elif wanted[0] or wanted[1]:
        rows = (count, shape[0] * groups, -1)
        w = None if weight is None else aligned(_of_channels(norm.wide(weight), like.ndim), level, like.ndim)
        scaled = g if w is None else g * w
        found[0], normed = _row_gradients(wanted[0], scaled.reshape(rows), x.reshape(rows), None,
                                          math.prod(shape[1:]) // groups, mean, rate)
        if wanted[0]:
            found[0] = found[0].reshape(x.shape)
        if wanted[1]:
            found[1] = (g * normed.reshape(x.shape)).sum(axes)
    dtypes = [like.dtype, weight if weight is None else weight.dtype, bias and bias[1]]
    return [None if d is None else batch(norm._as(dtype)(d), level) for d, dtype in zip(found, dtypes)]


def _gradients_of_nothing(wanted, g, shape, count):
    """The gradients of the input, weight and bias for an input without elements."""
    weights = np.full((count, shape[1]), math.nan if shape[0] else 0, g.dtype)     # NaN from the mean over nothing
    found = np.zeros_like(g), weights, np.zeros_like(weights)
    return [v if want else None for v, want in zip(found, wanted)]


# ------------------------------------------------------------------ channels
def _channels(x, level, size):
    """An array with channels in dimension 1, or a vector of channels, with the channels of all samples side by side."""
    return side_by_side(x, level, size, int(x.ndim > 1)) if isinstance(x, np.ndarray) else x


def _apart(x, level, size):
    """The result of `_channels`, divided into samples again."""
    return x if x is None else apart(x, level, size, int(x.ndim > 1))


@family(norm._batch_norm)
def _batch_norm(compute, level, input, weight, bias, running_mean, running_var, momentum, eps):
    if running_mean is not None and level_of(input) and not (level_of(running_mean) and level_of(running_var)):
        raise Refusal("Batch norm got a batched tensor as input while the running_mean or running_var, which will be "
                      "updated in place, were not batched.\nIf you are using a module and do not need eval mode, "
                      "please set `track_running_stats` to be False.If you are using a prebuilt module and do not need "
                      "eval mode, please see the functorch website for resources on how to patch your module to work "
                      "with vmap")
    size, running = size_of(level, input, weight, bias, running_mean, running_var), (running_mean, running_var)
    moved = [v if v is None else _channels(v, level, size).copy() for v in running]
    x, w, b = [_channels(v, level, size) for v in (input, weight, bias)]
    result, statistics = compute(x, w, b, *moved, momentum, eps)
    for old, new in zip(running, moved):
        if new is not None:
            if not is_batch(old, level):
                raise NotBatchable("statistics that are the same for all samples")
            old.physical[...] = new.reshape(old.physical.shape)
    return _result_apart(result, statistics, bias, level, size)


@family(norm._scale_shift)
def _scale_shift(compute, level, *args):
    size = size_of(level, args)
    result, statistics = compute(*[_channels(x, level, size) for x in args])
    return _result_apart(result, statistics, args[2], level, size)


def _result_apart(result, statistics, bias, level, size):
    return _apart(result, level, size), (*[_apart(v, level, size) for v in statistics[:2]], norm.about(bias))


@backward_rule(norm._batch_norm, norm._scale_shift)
def _batch_norm_gradient(level, run, g, saved, edges):
    size, aux = size_of(level, g, saved), saved[-1]
    arrays = [_channels(x, level, size) for x in saved[:-1]]
    about = aux[2] and ((size * aux[2][0][0],), aux[2][1])
    kept = [_channels(as_array(x), level, size) for x in aux[:2]]
    found = run(_channels(g, level, size), (*arrays, (*kept, about)), edges)
    return [_apart(d, level, size) for d in found]
