"""Convolutions, pooling and the like of batches: their samples are further examples, or further groups of channels."""
import numpy as np

from ... import dtypes as dt
from ...kernels import softmax as losses
from ...kernels.conv import columns
from ...ops.nn import (
    adaptive_pool,
    conv,
    cross_entropy,
    embedding,
    gelu,
    norm,
    pad,
    softmax,
)
from ..batched import Batched, NotBatchable, level_of, physical_of
from ..dispatch import backward_rule, forward_rule
from .functions import apart, axis_of, batch, side_by_side, size_of, some_of, spread
from .layout import family


def is_batch(x, level):
    return type(x) is Batched and x.level == level


# ------------------------------------------------------------------ examples one after the other
@family(adaptive_pool._mean)
def _mean(compute, level, n, input):
    physical = input.physical
    if input.ndim < n + 2:
        return batch(compute(n, physical), level)
    return apart(compute(n, side_by_side(input, level, len(physical))), level, len(physical))


@family(pad._by_index_backward)
def _by_index_backward(compute, level, last, picks, shape, grad):
    if last:                                   # the order in memory is that of the examples
        size = len(grad.physical)
        return apart(compute(True, picks, (size * shape[0], *shape[1:]), side_by_side(grad, level, size)), level, size)
    picks = tuple([(axis + 1, index) for axis, index in picks])
    return batch(compute(False, picks, (len(grad.physical), *shape), grad.physical), level)


# ------------------------------------------------------------------ convolution
def _with_bias(result, bias):
    return result if bias is None else result + bias.reshape(bias.shape + (1,) * (result.ndim - 2))


def _convolved(compute, level, groups, input, weight, bias):
    """compute(groups, input, weight, bias) of batches."""
    size = some_of(level, input, weight, bias)
    if level_of(bias):
        return _with_bias(_convolved(compute, level, groups, input, weight, None) if level_of(input, weight) else
                          compute(groups, input, weight, None), bias)
    if not is_batch(weight, level):
        return apart(compute(groups, side_by_side(input, level, size), weight, bias), level, size)
    if not is_batch(input, level) and groups == 1 and not compute.of_inputs:
        result = compute(1, input, side_by_side(weight, level, size), None)
    else:
        result = compute(groups * size, side_by_side(input, level, size, 1), side_by_side(weight, level, size), None)
    return _with_bias(apart(result, level, size, 1), bias)


@forward_rule(conv._conv)
def _conv(level, last, learns, out, stride, padding, dilation, groups, input, weight, bias, keep=False):
    kept = []

    def compute(groups, input, weight, bias):
        result, windows = _call_conv(conv._FIRST, learns, out, stride, padding, dilation, groups, input, weight, bias,
                                     keep and not level_of(input))
        kept.append(windows)
        return result
    compute.of_inputs = False
    result = _convolved(compute, level, groups, input, weight, bias)
    windows = kept.pop() if is_batch(input, level) and not is_batch(weight, level) else None
    return result, None if windows is None else apart(windows, level, size_of(level, input))


@forward_rule(conv._conv_input_grad)
def _conv_input_grad(level, last, size, stride, padding, dilation, groups, input, weight, bias):
    def compute(groups, input, weight, bias):
        return _call_input_grad(conv._FIRST, size, stride, padding, dilation, groups, input, weight, bias)
    compute.of_inputs = True                   # the filters of one input channel each: not those of further outputs
    return _convolved(compute, level, groups, input, weight, bias)


@forward_rule(conv._conv_weight_grad)
def _conv_weight_grad(level, last, kernel, stride, padding, dilation, groups, saved, input, grad):
    """The gradient of each sample's weight. For samples of one example these are the products for each example."""
    size = size_of(level, input, grad)
    if not size or level_of(physical_of(input, level), physical_of(grad, level)):
        raise NotBatchable("no samples, or several batches")
    if input.shape[0] == 1 and input.dtype.kind == dt.NATIVE and input.itemsize > 2:
        saved = saved.physical[:, 0] if is_batch(saved, level) else None
        input, grad = spread(input, level, size)[:, 0], spread(grad, level, size)[:, 0]
        return batch(columns.weight_grads(input, grad, kernel, stride, padding, dilation, groups, saved), level)
    input, grad = side_by_side(input, level, size, 1), side_by_side(grad, level, size, 1)
    result = _call_weight_grad(conv._FIRST, kernel, stride, padding, dilation, groups * size, None, input, grad)
    return apart(result, level, size)


_call_conv, _call_input_grad, _call_weight_grad = (
    call.op.forward for call in (conv._conv, conv._conv_input_grad, conv._conv_weight_grad))


# ------------------------------------------------------------------ softmax
@backward_rule(softmax._softmax, softmax._log_softmax)
def _softmax_gradient(level, run, g, saved, edges):
    input, dim, ans, *rest = saved
    size = size_of(level, g, ans)
    arrays = spread(g, level, size), (input, dim if dim == () else axis_of(dim, ans.ndim), spread(ans, level, size))
    return batch(list(run(arrays[0], (*arrays[1], *rest), edges)), level)


# ------------------------------------------------------------------ losses of classes
@forward_rule(cross_entropy._cross_entropy)
def _cross_entropy(level, input, target, weight, ignored, reduction, keep=False):
    size = size_of(level, input, target, weight)
    if not size or level_of(*[physical_of(x, level) for x in (input, target, weight)]):
        raise NotBatchable("no samples, or several batches")
    x, classes = side_by_side(input, level, size), side_by_side(target, level, size)
    if level_of(weight):
        found, (e, sums, where, _, _) = losses.cross_entropy(x, classes, None, ignored, "none", True)
        counts = _counts(level, weight, classes, losses.pick(classes, x.shape[1], ignored)[1], x.dtype, size)
        found = found * counts
    else:
        found, (e, sums, where, counts, _) = losses.cross_entropy(x, classes, weight, ignored, "none", True)
    result, norm = _reduced(found, counts, reduction, size, target.shape)
    return batch(result.astype(input.dtype, copy=False), level), (
        apart(e, level, size), sums, where, counts, norm)


def _counts(level, weight, classes, kept, dtype, size):
    """The weight of each target, from the weights of its sample; None stands for 1."""
    if not level_of(weight):
        return losses.share(classes, weight, kept, dtype, False)[0]
    rows = (classes if kept is None else np.where(kept, classes, 0)).reshape(size, -1)
    counts = np.take_along_axis(spread(weight, level, size), rows, 1).reshape(classes.shape)
    return counts if kept is None else counts * kept


def _reduced(found, counts, reduction, size, shape):
    """(the losses of all examples, reduced for each sample; the divisors)."""
    if reduction == "none":
        return found.reshape(size, *shape), None
    found = found.reshape(size, -1)
    if reduction == "sum":
        return found.sum(1), None
    norm = np.full(size, found.shape[1], found.dtype) if counts is None else counts.reshape(size, -1).sum(1)
    norm = np.where(norm == 0, np.nan, norm).astype(found.dtype)
    return found.sum(1) / norm, norm


@backward_rule(cross_entropy._cross_entropy)
def _cross_entropy_gradient(level, run, g, saved, edges):
    e, sums, where, counts, norm = saved[-1]
    if not is_batch(e, level):
        raise NotBatchable("a batch of gradients")
    size, count = e.physical.shape[:2]
    g = spread(g, level, size)
    if norm is not None:
        g = np.where(np.isnan(norm), 0, g / norm)
    rows = np.broadcast_to(g.reshape(size, *(g.shape[1:] or (1,) * (e.ndim - 1))),
                           (size, count, *e.shape[2:])).reshape(sums.shape)
    flat = e.physical.reshape(-1, *e.physical.shape[2:])
    result = losses.cross_entropy_backward(rows, (flat, sums, where, counts, 1), "none")
    return [apart(result, level, size), None, None]


@forward_rule(cross_entropy._nll_loss)
def _nll_loss(level, input, target, weight, ignored, reduction):
    size = some_of(level, input, target, weight)
    if input.itemsize == 2:
        return dt.cast(_nll_loss(level, *[norm.wide(x) if x is None or x.dtype == input.dtype else x for x in (
            input, target, weight)], ignored, reduction), input.dtype)
    x, classes = side_by_side(input, level, size), side_by_side(target, level, size)
    counts = _counts(level, weight, classes, losses.pick(classes, x.shape[1], ignored)[1], x.dtype, size)
    found = losses.nll(x, classes, None, ignored, "none")
    found = found if weight is None else found * counts
    return batch(_reduced(found, counts, reduction, size, target.shape)[0].astype(input.dtype, copy=False), level)


@forward_rule(cross_entropy._nll_backward)
def _nll_backward(level, grad, input, target, weight, ignored, reduction):
    size = some_of(level, grad, input, target, weight)
    if input.itemsize == 2:
        return dt.cast(_nll_backward(level, *[norm.wide(x) if x is None or x.dtype == input.dtype else x for x in (
            grad, input, target, weight)], ignored, reduction), input.dtype)
    classes = side_by_side(target, level, size)
    counts = _counts(level, weight, classes, losses.pick(classes, input.shape[1], ignored)[1], input.dtype, size)
    g = spread(grad, level, size)
    if reduction == "mean":
        count = classes.size // size
        g = g / (count if counts is None else np.where((n := counts.reshape(size, -1).sum(1)) == 0, np.nan, n))
    g = np.broadcast_to(g.reshape(size, *(g.shape[1:] or (1,) * target.ndim)), (size, *target.shape))
    g = np.ascontiguousarray(g.reshape(classes.shape) * (1 if weight is None else counts), input.dtype)
    result = losses.nll_backward(g, classes, None, (len(classes), *input.shape[1:]), ignored, "none")
    return apart(result, level, size)


# ------------------------------------------------------------------ embedding
@forward_rule(embedding._embedding)
def _embedding(level, weight, indices, padding, by_frequency):
    """Rows of one table. If the samples have tables of their own, these are laid one after the other."""
    if not is_batch(weight, level):
        return batch(_lookup(weight, indices.physical, padding, by_frequency), level)
    size, count = weight.physical.shape[:2]
    places = spread(indices, level, size)
    if places.size and not 0 <= places.min() <= places.max() < count:
        raise NotBatchable("an index out of range")
    places = places + np.arange(0, size * count, count).reshape((-1,) + (1,) * indices.ndim)
    return batch(_lookup(weight.physical.reshape(size * count, -1), places, -1, False), level)


@forward_rule(embedding._embedding_backward)
def _embedding_backward(level, grad, indices, count, padding, by_frequency):
    """Into the tables of all samples, one after the other."""
    size = some_of(level, grad, indices)
    grad, indices = spread(grad, level, size), spread(indices, level, size)
    if padding >= 0:
        grad = np.where((indices == padding)[..., None], np.zeros((), grad.dtype), grad)
    places = indices + np.arange(0, size * count, count or 1)[:size].reshape((-1,) + (1,) * (indices.ndim - 1))
    result = _lookup_backward(grad, places, size * count, -1, by_frequency)
    return batch(result.reshape(size, count, *result.shape[1:]), level)


_lookup, _lookup_backward = embedding._embedding.op.forward, embedding._embedding_backward.op.forward


# ------------------------------------------------------------------ activation
@forward_rule(gelu._gelu)
def _gelu(level, input, approximate, keep=False):
    result, share = _call_gelu(input.physical, approximate, keep)
    return batch(result, level), share if share is None else batch(share, level)


_call_gelu = gelu._gelu.op.forward
