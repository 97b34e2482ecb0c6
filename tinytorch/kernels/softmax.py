"""Softmax and cross entropy on ndarrays."""
import math

import numpy as np

from . import native
from .layout import as_array
from .rows import row_max, row_sum

_FLOAT = np.dtype(np.float32)


def _shifted(x, axis):
    """x minus its maximum along `axis`."""
    last = axis in (-1, x.ndim - 1)
    return np.subtract(x, row_max(x) if last else np.maximum.reduce(x, axis=axis, keepdims=True))


def _by_rows(kernel, axis, *arrays, options=()):
    """The result of the native kernel `kernel` for the rows along `axis` of arrays of one shape, or None where it does
    not take them. It takes single precision in any memory order."""
    first = arrays[0]
    if type(first) is not np.ndarray or first.dtype != _FLOAT or not first.size or axis == ():
        return None
    last = axis == first.ndim - 1 or axis == -1
    if last and len(arrays) == 1 and first.flags.c_contiguous:
        shape = first.shape
        return native.made(kernel, shape, first.size // shape[-1], shape[-1], *options, first)
    rows = [np.ascontiguousarray(x if last else np.moveaxis(x, axis, -1)) for x in arrays]
    *outer, width = rows[0].shape
    result = native.made(kernel, rows[0].shape, math.prod(outer), width, *options, *rows)
    return result if last or result is None else np.ascontiguousarray(np.moveaxis(result, -1, axis))


def _sum(x, axis):
    if axis in (-1, x.ndim - 1) and x.dtype.char in "fd":
        return np.vecdot(x, np.ones(x.shape[-1], x.dtype))[..., None]      # a row gets the same bits alone
    return np.add.reduce(x, axis=axis, keepdims=True)


def softmax(x, axis):
    """exp(x) / sum(exp(x)) along `axis`."""
    if x.size < 2:
        return np.asarray(x - x + 1)
    result = _by_rows("softmax", axis, x, options=(False,))
    if result is not None:
        return result
    result = _shifted(x, axis)
    np.exp(result, out=result)
    result /= _sum(result, axis)
    return result


def safe_softmax(x, axis):
    """softmax, with zeros where all elements are -inf."""
    result = _by_rows("softmax", axis, x, options=(True,))
    if result is not None:
        return result
    top = np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf)
    result = np.exp(x - np.where(np.isneginf(top), 0, top).astype(x.dtype))
    total = np.add.reduce(result, axis=axis, keepdims=True)
    result /= np.where(total == 0, 1, total).astype(x.dtype)
    return result


def softmax_backward(g, y, axis):
    result = _by_rows("softmax_backward", axis, g, y)
    if result is not None:
        return result
    if axis in (-1, y.ndim - 1):
        result = g - np.vecdot(g, y)[..., None]
        result *= y
        return result
    result = as_array(g * y)
    result -= y * np.add.reduce(result, axis=axis, keepdims=True)
    return result


def log_softmax(x, axis):
    """log(softmax(x)) along `axis`."""
    if x.size < 2:
        return np.asarray(x - x)
    result = _by_rows("log_softmax", axis, x)
    if result is not None:
        return result
    result = _shifted(x, axis)
    total = _sum(np.exp(result), axis)
    result -= np.log(total, out=total)
    return result


def log_of_sums(x, axes, keepdims):
    """log(sum(exp(x))) over `axes`, in C; None where NumPy is to compute it."""
    if type(x) is not np.ndarray or x.dtype != _FLOAT or not x.size or not axes:
        return None
    shape = x.shape
    left = [i for i in range(x.ndim) if i not in axes]
    width = math.prod([shape[i] for i in axes])
    rows = np.ascontiguousarray(x.transpose(left + sorted(axes)))
    kept = tuple([1 if i in axes else n for i, n in enumerate(shape) if keepdims or i not in axes])
    return native.made("log_sums", kept, x.size // width, width, rows)


def log_softmax_backward(g, y, axis):
    if axis == ():
        return as_array(g - g * np.exp(y))
    result = _by_rows("log_softmax_backward", axis, g, y)
    if result is not None:
        return result
    result = np.exp(y)
    result *= _sum(g, axis)
    return np.subtract(g, result, out=result)


def pick(target, classes, ignored):
    """(flat positions of the target classes in a C-contiguous array (N, C, *), bools that are False for ignored
    targets), both with the shape of `target` (N, *). The bools are None if no target is ignored. IndexError for a class
    that does not exist."""
    kept = None
    if target.dtype != np.int64:
        target = target.astype(np.int64)
    if target.size:
        # One maximum finds negative classes too, because they are large as unsigned numbers.
        if np.maximum.reduce(target.view(np.uint64), axis=None) >= classes or 0 <= ignored:
            kept = target != ignored
            target = np.where(kept, target, 0)
            wrong = (target < 0) | (target >= classes)
            if wrong.any():
                raise IndexError(f"Target {target[wrong][0]} is out of bounds.")
    if target.ndim == 1:
        return np.arange(0, target.size * classes, classes or 1) + target, kept
    inner = math.prod(target.shape[1:])
    start = np.arange(len(target)).reshape((-1,) + (1,) * (target.ndim - 1)) * (classes * inner)
    return start + target * inner + np.arange(inner).reshape(target.shape[1:]), kept


def share(target, weight, kept, dtype, mean):
    """(the weight of each target, or None for 1; the sum of the weights if `mean`, else 1)."""
    counts = None
    if weight is not None:
        counts = weight.take(target if kept is None else np.where(kept, target, 0))
        if kept is not None:
            counts *= kept
    elif kept is not None:
        counts = kept.astype(dtype)
    if not mean:
        return counts, 1
    return counts, target.size if counts is None else counts.sum()


def total(losses, counts, norm, reduction):
    """Weighted and reduced losses."""
    if counts is not None:
        losses *= counts
        losses[counts == 0] = 0                # 0 * inf is NaN for an ignored loss that is infinite
    if reduction == "none":
        return losses
    result = np.add.reduce(losses, axis=None)
    return result / norm if reduction == "mean" else result


def nll(log_p, target, weight, ignored, reduction):
    """-log_p of the target classes, weighted and reduced. `log_p` (N, C, *), `target` (N, *)."""
    if weight is None and log_p.ndim == 2 and reduction != "none" and ignored < 0 and log_p.size:
        rows, width = log_p.shape
        try:
            result = native.made("nll", (), 1, rows, width, rows if reduction == "mean" else 1, log_p, target)
            if result is not None:
                return result
        except IndexError:                     # a wrong class, or targets to ignore
            pass
    where, kept = pick(target, log_p.shape[1], ignored)
    losses = np.negative(log_p.reshape(-1).take(where))
    counts, norm = share(target, weight, kept, log_p.dtype, reduction == "mean")
    return total(losses, counts, norm if norm else np.nan, reduction).astype(log_p.dtype, copy=False)


def nll_backward(g, target, weight, shape, ignored, reduction):
    """The gradient of log_p for `nll`. `reduction` is "sum" if `g` is already divided by the sum of the weights."""
    if weight is None and len(shape) == 2 and reduction != "none" and ignored < 0 and g.dtype == _FLOAT and (
            type(g) is np.ndarray):
        try:
            result = native.made("nll_backward", shape, *shape, -g / shape[0] if reduction == "mean" else -g, target)
            if result is not None:
                return result
        except IndexError:
            pass
    where, kept = pick(target, shape[1], ignored)
    counts, norm = share(target, weight, kept, g.dtype, reduction == "mean")
    result = np.zeros(shape, g.dtype)
    value = -g if counts is None else -g * counts
    if reduction == "mean":
        value = value / (norm if norm else np.nan)
    flat = result.reshape(-1)
    if kept is None:
        flat[where] = value
    else:
        flat[where[kept]] = np.broadcast_to(value, where.shape)[kept]
    return result


class Kept(tuple):
    """What `cross_entropy` keeps for backward. Which parts there are depends on the targets, so that a recording takes
    it for one object."""

    __slots__ = ()


def cross_entropy(x, target, weight, ignored, reduction, keep):
    """(nll of log_softmax(x) along axis 1, the arrays for backward). These are exponentials, their sums, positions,
    weights and norm; or, if it ran in C, probabilities, None, classes, None and norm."""
    if weight is None and x.ndim == 2 and reduction != "none" and ignored < 0 and native.takes("cross_entropy", x) and (
            target.dtype == np.int64 and target.flags.c_contiguous):
        rows, width = x.shape
        y, losses, norm = np.empty(x.shape, x.dtype), np.empty(rows + 1, x.dtype), rows if reduction == "mean" else 1
        try:
            native.run("cross_entropy", rows, width, 1 / norm, x, target, y, losses)
            return losses[rows], Kept((y, None, target.copy(), None, norm)) if keep else None
        except IndexError:                     # a wrong class, or targets to ignore
            pass
    where, kept = pick(target, x.shape[1], ignored)
    flat_rows = x.ndim == 2
    top = row_max(x) if flat_rows and x.size else np.maximum.reduce(x, axis=1, keepdims=True, initial=-np.inf)
    e = np.subtract(x, top, out=np.empty(x.shape, x.dtype))
    flat = e.reshape(-1)
    picked = flat.take(where)
    np.exp(e, out=e)
    sums = row_sum(e) if flat_rows else np.add.reduce(e, axis=1)
    losses = np.log(sums)
    losses -= picked
    counts, norm = share(target, weight, kept, x.dtype, reduction == "mean")
    norm = norm if norm else np.nan
    result = total(losses, counts, norm, reduction).astype(x.dtype, copy=False)
    return result, Kept((e, sums, where, counts, norm)) if keep else None


def scores(saved):
    """The scores of which `cross_entropy` was computed, up to a constant for each row."""
    return np.log(saved[0])


def cross_entropy_backward(g, saved, reduction):
    """g * (softmax - one hot), weighted and reduced as in the forward."""
    e, sums, where, counts, norm = saved
    if sums is None:
        result = np.empty(e.shape, e.dtype)
        native.run("cross_entropy_backward", *e.shape, g / norm, e, where, result)
        return result
    if norm != norm:                           # the mean of no target is NaN, but its gradient is 0
        return e * (0 / sums)[:, None]
    scale = g / norm if reduction == "mean" else g
    if counts is not None:
        scale = scale * counts
    scale = np.asarray(scale, e.dtype)
    result = e * (scale / sums)[:, None]
    flat = result.reshape(-1)
    flat[where] -= scale
    return result
