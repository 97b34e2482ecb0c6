"""Losses between tensors of one shape, and those of margins and distances. (Classes: cross_entropy.py.)"""
import math
import warnings

import numpy as np

from ...autograd.grad_mode import no_grad
from ...autograd.op import op
from ...autograd.promotion import check_broadcast, need_tensors, promoted
from ...errors import not_implemented, type_name
from ...tensor import wrap
from ..elementwise.special import sigmoid
from .activation import _hardtanh
from .cross_entropy import reduction_of
from .similarity import pairwise_distance
from .smooth_activation import _softplus, logsigmoid


def reduced(loss, reduction):
    """`loss`, its mean or its sum."""
    if reduction == "none":
        return loss
    return loss.mean() if reduction == "mean" else loss.sum()


def _paired(input, target):
    """The two in one dtype, with torch's warning if they must be broadcast."""
    if input.array.shape != target.array.shape:
        warnings.warn(f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). "
                      "This will likely lead to incorrect results due to broadcasting. "
                      "Please ensure they have the same size.", stacklevel=3)
        check_broadcast(input.array.shape, target.array.shape)
    return promoted(input, target)


def _weighted(loss, input, weight, reduction, by_weight=True):
    if weight.array.shape != input.array.shape:
        raise ValueError("Weights and input must have the same size.")
    loss = loss * weight
    return loss.sum() / weight.sum() if reduction == "mean" and by_weight else reduced(loss, reduction)


# ------------------------------------------------------------------ differences
def _mse_gradient(g, wanted, input, target, reduction, aux):
    scale = g * 2 if reduction != "mean" else g * (2 / (aux.size or math.nan))
    d = aux * np.asarray(scale, aux.dtype)
    return d if wanted[0] else None, -d if wanted[1] else None


@op(name="mse_loss", aux=True, inputs=2, joint=_mse_gradient,
    decomposition=lambda input, target, reduction: reduced((input - target) * (input - target), reduction))
def _mse_loss(input, target, reduction, keep):
    difference = np.asarray(input - target)
    if reduction == "none":
        return difference * difference, difference
    flat = difference.reshape(-1)
    total = flat.dot(flat) if flat.dtype.char in "dF" else np.add.reduce(flat * flat)
    return total / (flat.size or math.nan) if reduction == "mean" else total, difference


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """The squared difference. `weight` of the same shape scales it, and "mean" then divides by the sum of the weights.

    Warns if the shapes differ, ValueError for an unknown `reduction`.

    >>> import tinytorch as torch
    >>> torch.nn.functional.mse_loss(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
    tensor(2.)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    input, target = _paired(input, target)
    if weight is not None:
        return _weighted(_mse_loss(input, target, "none"), input, weight, reduction)
    if input.array.dtype.kind not in "fc":
        raise not_implemented("mse_cpu", input)
    if input.array.dtype.kind == "c":
        raise not_implemented("mse_cpu", input)
    return _mse_loss(input, target, reduction)


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """The absolute difference; its derivative at 0 is 0. The rest as in `mse_loss`.

    >>> import tinytorch as torch
    >>> torch.nn.functional.l1_loss(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
    tensor(1.)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    input, target = _paired(input, target)
    if weight is not None:
        return _weighted((input - target).abs(), input, weight, reduction)
    return reduced((input - target).abs(), reduction)


@op(name="huber_loss", difference=lambda g, difference, delta: g * _hardtanh(difference, -delta, delta))
def _huber(difference, delta):
    size = np.abs(difference)
    return np.where(size <= delta, 0.5 * size * size, delta * (size - 0.5 * delta))


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """|d| - beta / 2 where the difference |d| is at least `beta`, else d * d / (2 beta). RuntimeError if beta < 0.

    >>> import tinytorch as torch
    >>> torch.nn.functional.smooth_l1_loss(torch.tensor([1., 2.]), torch.tensor([1.5, 4.]))
    tensor(0.8125)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    input, target = _paired(input, target)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return reduced((input - target).abs(), reduction)
    return reduced(_huber(input - target, float(beta)) / beta, reduction)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """d * d / 2 where the difference |d| is at most `delta`, else delta * (|d| - delta / 2).

    RuntimeError if delta <= 0.

    >>> import tinytorch as torch
    >>> torch.nn.functional.huber_loss(torch.tensor([1., 2.]), torch.tensor([1.5, 4.]))
    tensor(0.8125)
    """
    reduction = reduction_of(reduction)
    input, target = _paired(input, target)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    loss = _huber(input - target, float(delta))
    if weight is not None:
        return _weighted(loss, input, weight, reduction, by_weight=False)
    return reduced(loss, reduction)


# ------------------------------------------------------------------ probabilities
def _bce_decomposition(input, target):
    return -(target * input.log().clamp(min=-100) + (1 - target) * (1 - input).log().clamp(min=-100))


def _bce_gradient(g, wanted, input, target):
    gx = gt = None
    if wanted[0]:
        gx = g * (input - target) / np.maximum((1 - input) * input, 1e-12)
    if wanted[1]:
        gt = g * (np.maximum(np.log1p(-input), -100) - np.maximum(np.log(input), -100))
    return gx, gt


@op(name="binary_cross_entropy", inputs=2, joint=_bce_gradient, decomposition=_bce_decomposition)
def _bce(input, target):
    return -(target * np.maximum(np.log(input), -100) + (1 - target) * np.maximum(np.log1p(-input), -100))


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """-(target log(input) + (1 - target) log(1 - input)), each log no smaller than -100.

    ValueError if the sizes differ, RuntimeError if `input` or `target` leaves [0, 1].

    >>> import tinytorch as torch
    >>> torch.nn.functional.binary_cross_entropy(torch.tensor([0.5, 1.]), torch.tensor([1., 0.]))
    tensor(50.3466)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if target.array.shape != input.array.shape:
        raise ValueError(f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is "
                         "deprecated. Please ensure they have the same size.")
    if input.array.dtype != target.array.dtype:
        raise RuntimeError(f"Found dtype {type_name(target)} but expected {type_name(input)}")
    if input.array.size and not (input.array.min() >= 0 and input.array.max() <= 1):
        raise RuntimeError("all elements of input should be between 0 and 1")
    if target.array.size and not (target.array.min() >= 0 and target.array.max() <= 1):
        raise RuntimeError("all elements of target should be between 0 and 1")
    loss = _bce(input, target)
    return reduced(loss if weight is None else loss * weight, reduction)


@op(name="binary_cross_entropy_with_logits",
    input=lambda g, input, target: g * (sigmoid(input) - target),
    target=lambda g, input: g * -input)
def _bce_logits(input, target):
    result = np.abs(input)
    result = np.log1p(np.exp(-result))
    result += np.maximum(input, 0)
    return result - input * target


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean",
                                     pos_weight=None):
    """binary_cross_entropy of sigmoid(input), without overflow. `pos_weight` scales the part of target 1.

    ValueError if the sizes differ.

    >>> import tinytorch as torch
    >>> torch.nn.functional.binary_cross_entropy_with_logits(torch.tensor([0., 100.]), torch.tensor([1., 0.]))
    tensor(50.3466)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if target.array.shape != input.array.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    if target.array.dtype.kind in "biu":
        raise RuntimeError(f"result type Float can't be cast to the desired output type {type_name(target)}")
    if input.array.dtype.kind in "biu":
        raise not_implemented("log_sigmoid_cpu", input)
    input, target = promoted(input, target)
    if pos_weight is None:
        loss = _bce_logits(input, target)
    else:
        loss = (1 - target) * input - ((pos_weight - 1) * target + 1) * logsigmoid(input)
    return reduced(loss if weight is None else loss * weight, reduction)


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """target * (log(target) - input): Kullback-Leibler divergence of log probabilities `input` from `target`.

    `log_target`: `target` holds logarithms too. "batchmean" divides the sum by the first size.

    >>> import tinytorch as torch
    >>> torch.nn.functional.kl_div(torch.tensor([[0., 0.]]), torch.tensor([[1., 0.]]), reduction="batchmean")
    tensor(0.)
    """
    need_tensors("kl_div", input=input, target=target)
    by_batch = reduction == "batchmean" and size_average is None and reduce is None
    if reduction == "mean" and size_average is None and reduce is None:
        warnings.warn("reduction: 'mean' divides the total loss by both the batch size and the support size."
                      "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
                      "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
                      stacklevel=2)
    reduction = reduction_of("sum" if by_batch else reduction, size_average, reduce)
    if input.array.dtype.kind in "biu" or target.array.dtype.kind in "biu":
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if log_target:
        loss = target.exp() * (target - input)
    else:
        loss = target.xlogy(target) - target * input
    loss = reduced(loss, reduction)
    return loss / input.array.shape[0] if by_batch and input.array.ndim else loss


def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None,
                     reduction="mean"):
    """Negative log likelihood of counts `target` under Poisson rates exp(input) (`input` itself if not log_input).

    `full` adds Stirling's approximation of log(target!) where target > 1.

    >>> import tinytorch as torch
    >>> torch.nn.functional.poisson_nll_loss(torch.tensor([0., 1.]), torch.tensor([1., 1.]))
    tensor(1.3591)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    loss = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (target * (2 * math.pi)).log()
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return reduced(loss, reduction)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """Negative log likelihood of `target` under normal distributions of mean `input` and variance `var`.

    `var`: of the size of `input`, or with a last dimension of 1 or none, or a float; no smaller than `eps` is used.
    `full` adds the constant. ValueError for a negative variance or a size that does not fit.

    >>> import tinytorch as torch
    >>> torch.nn.functional.gaussian_nll_loss(torch.zeros(2), torch.ones(2), torch.ones(2))
    tensor(0.5000)
    """
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = wrap(np.full_like(input.array, var))
    elif (var.array < 0).any():
        raise ValueError("var has negative entry/entries")
    have, want = var.array.shape, input.array.shape
    if have != want:
        if want[:-1] == have:
            var = var.unsqueeze(-1)
        elif len(have) != len(want) or sum(b for a, b in zip(want, have) if a != b) != 1:
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    var = var.clone()
    with no_grad():
        var.clamp_(min=eps)
    difference = input - target
    loss = 0.5 * (var.log() + difference * difference / var)
    return reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


# ------------------------------------------------------------------ margins
def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """`input` (a distance) where target is 1, max(0, margin - input) where it is -1.

    >>> import tinytorch as torch
    >>> torch.nn.functional.hinge_embedding_loss(torch.tensor([0.5, 0.5]), torch.tensor([1, -1]))
    tensor(0.5000)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    apart = (margin - input).clamp_min(0)
    return reduced(apart.masked_fill(target == 1, 0) + input.masked_fill(target == -1, 0), reduction)


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """1 - cosine where target is 1, max(0, cosine - margin) where it is -1. Inputs (N, D) or (D), target (N) or ().

    RuntimeError for sizes that do not fit.

    >>> import tinytorch as torch
    >>> x = torch.tensor([[1., 0.]])
    >>> torch.nn.functional.cosine_embedding_loss(x, x, torch.tensor([-1]))
    tensor(1.)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    dims, a, b = target.array.ndim, input1.array.ndim, input2.array.ndim
    if dims > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if a != dims + 1 or b != dims + 1:
        raise RuntimeError(f"{dims}D target tensor expects {dims + 1}D input tensors, but found inputs with sizes "
                           f"{list(input1.array.shape)} and {list(input2.array.shape)}.")
    tiny = 1e-12
    squares = ((input1 * input1).sum(dims) + tiny) * ((input2 * input2).sum(dims) + tiny)
    cosine = (input1 * input2).sum(dims) / squares.sqrt()
    near = (1 - cosine).masked_fill(target != 1, 0)
    return reduced(near + (cosine - margin).clamp_min(0).masked_fill(target != -1, 0), reduction)


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """max(0, margin - target * (input1 - input2)): target 1 wants input1 larger, -1 input2. RuntimeError if the
    numbers of dimensions differ.

    >>> import tinytorch as torch
    >>> torch.nn.functional.margin_ranking_loss(torch.tensor([1.]), torch.tensor([3.]), torch.tensor([1.]))
    tensor(2.)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if not input1.array.ndim == input2.array.ndim == target.array.ndim:
        raise RuntimeError("margin_ranking_loss : All input tensors should have same dimension but got sizes: "
                           f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape} ")
    return reduced((-target * (input1 - input2) + margin).clamp_min(0), reduction)


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """log(1 + exp(-target * input)), targets 1 and -1.

    >>> import tinytorch as torch
    >>> torch.nn.functional.soft_margin_loss(torch.tensor([0.]), torch.tensor([1.]))
    tensor(0.6931)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    return reduced(_softplus(-target * input, 1.0, math.inf), reduction)


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Sum over the other classes j of max(0, margin - x[target] + x[j]) ** p, divided by the number of classes.

    `input` (N, C) or (C), `target` (N) or (), `weight` (C). ValueError if p is not 1 or 2.

    >>> import tinytorch as torch
    >>> torch.nn.functional.multi_margin_loss(torch.tensor([[1., 0., 3.]]), torch.tensor([0]))
    tensor(1.)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.array.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    if input.array.ndim == 0:
        input = input.reshape(1)
    classes = input.array.shape[-1]
    index = np.atleast_1d(target.array)
    if input.array.ndim > 2 or input.array.ndim == 2 and index.shape != input.array.shape[:1]:
        raise RuntimeError(f"inconsistent target size, expected {list(input.array.shape[:-1])} but got "
                           f"{list(target.array.shape)}")
    if weight is not None and weight.array.size != classes:
        raise RuntimeError(f"inconsistent weight size, expected {classes} but got {list(weight.array.shape)}")
    _check_long(target)
    if index.size and (index.min() < 0 or index.max() >= classes):
        raise RuntimeError("target out of range")
    rows = input.reshape(-1, classes)
    at = wrap(index.reshape(-1, 1))
    loss = (margin - rows.gather(1, at) + rows).clamp_min(0)
    loss = loss if p == 1 else loss * loss
    if weight is not None:
        loss = loss * weight[at]
    loss = loss.masked_fill(wrap(np.arange(classes) == at.array), 0).sum(1) / classes
    return reduced(loss if input.array.ndim > 1 else loss.reshape(target.array.shape), reduction)


def _check_long(target):
    if target.array.dtype != np.int64:
        raise RuntimeError(f"expected scalar type Long but found {type_name(target)}")


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """Sum over the classes y in target and the classes i not in it of max(0, 1 - x[y] + x[i]), divided by their number.

    `input` and `target` (N, C) or (C); a row of `target` lists classes up to the first -1.

    >>> import tinytorch as torch
    >>> x, y = torch.tensor([0.1, 0.2, 0.4, 0.8]), torch.tensor([3, 0, -1, 1])
    >>> torch.nn.functional.multilabel_margin_loss(x, y)
    tensor(0.8500)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if input.array.shape != target.array.shape and input.array.ndim:
        raise RuntimeError(f"inconsistent target size: {list(target.array.shape)} for input of size: "
                           f"{list(input.array.shape)}")
    classes = input.array.shape[-1] if input.array.ndim else 1
    rows, labels = input.reshape(-1, classes), target.array.reshape(-1, classes)
    if labels.size and (labels.min() < -1 or labels.max() >= classes):
        raise RuntimeError("argument #2 'target' is out of range")
    _check_long(target)
    listed = np.logical_and.accumulate(labels >= 0, axis=1)
    labels = np.where(listed, labels, 0)
    other = np.ones(labels.shape, bool)
    other[np.nonzero(listed)[0], labels[listed]] = False
    margins = (1 - rows.gather(1, wrap(labels)).unsqueeze(2) + rows.unsqueeze(1)).clamp_min(0)
    loss = margins.masked_fill(wrap(~(listed[:, :, None] & other[:, None, :])), 0).sum((1, 2)) / classes
    return reduced(loss if input.array.ndim > 1 else loss.reshape(()), reduction)


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Mean over the last dimension of binary_cross_entropy_with_logits.

    >>> import tinytorch as torch
    >>> torch.nn.functional.multilabel_soft_margin_loss(torch.tensor([[0., 0.]]), torch.tensor([[1., 0.]]))
    tensor(0.6931)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return reduced(loss.sum(-1) / input.array.shape[-1], reduction)


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None,
                        reduce=None, reduction="mean"):
    """max(0, margin + |anchor - positive| - |anchor - negative|), p-norms over the last dimension.

    `swap` uses |positive - negative| where that is smaller. ValueError if margin <= 0.

    >>> import tinytorch as torch
    >>> a = torch.tensor([[0., 0.]])
    >>> torch.nn.functional.triplet_margin_loss(a, a, a + 0.5)
    tensor(0.2929)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    return triplet_margin_with_distance_loss(
        anchor, positive, negative, distance_function=lambda a, b: pairwise_distance(a, b, p, eps),
        margin=margin, swap=swap, reduction=reduction)


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False,
                                      reduction="mean"):
    """triplet_margin_loss with any function of two tensors as the distance.

    >>> import tinytorch as torch
    >>> a = torch.tensor([[0., 0.]])
    >>> torch.nn.functional.triplet_margin_with_distance_loss(a, a, a + 3)
    tensor(0.)
    """
    reduction = reduction_of(reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    a, p, n = anchor.array.ndim, positive.array.ndim, negative.array.ndim
    if not a == p == n:
        raise RuntimeError("The anchor, positive, and negative tensors are expected to have the same number of "
                           f"dimensions, but got: anchor {a}D, positive {p}D, and negative {n}D inputs")
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return reduced((margin + near - far).clamp_min(0), reduction)
