"""Losses."""
from __future__ import annotations

from ..registry import Refusal, translation


def _reduced(g, x, reduction):
    """Reduces a loss. `reduction` is torch's number of none, mean or sum."""
    if not reduction:
        return x
    return g.op("ReduceMean" if reduction == 1 else "ReduceSum", x, keepdims=0)


@translation("mse_loss")
def mse_loss(g, x, target, reduction=1):
    apart = g.op("Sub", x, target)
    return _reduced(g, g.op("Mul", apart, apart), reduction)


@translation("l1_loss")
def l1_loss(g, x, target, reduction=1):
    return _reduced(g, g.op("Abs", g.op("Sub", x, target)), reduction)


@translation("smooth_l1_loss")
def smooth_l1_loss(g, x, target, reduction=1, beta=1.0):
    if not beta:
        return l1_loss(g, x, target, reduction)
    size = g.op("Abs", g.op("Sub", x, target))
    near = g.op("Div", g.op("Mul", size, size), g.number(2 * beta, x.dtype))
    far = g.op("Sub", size, g.number(beta / 2, x.dtype))
    return _reduced(g, g.where(g.op("Less", size, g.number(beta, x.dtype)), near, far), reduction)


@translation("huber_loss")
def huber_loss(g, x, target, reduction=1, delta=1.0):
    size = g.op("Abs", g.op("Sub", x, target))
    near = g.op("Mul", g.op("Mul", size, size), g.number(0.5, x.dtype))
    far = g.op("Mul", g.op("Sub", size, g.number(delta / 2, x.dtype)), g.number(delta, x.dtype))
    return _reduced(g, g.where(g.op("LessOrEqual", size, g.number(delta, x.dtype)), near, far), reduction)


@translation("binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(g, x, target, weight=None, pos_weight=None, reduction=1):
    one = g.number(1.0, x.dtype)
    behind = g.op("Softplus", g.op("Neg", x))
    if pos_weight is not None:
        factor = g.op("Add", one, g.op("Mul", g.op("Sub", pos_weight, one), target))
        behind = g.op("Mul", behind, factor)
    result = g.op("Add", g.op("Mul", g.op("Sub", one, target), x), behind)
    if weight is not None:
        result = g.op("Mul", result, weight)
    return _reduced(g, result, reduction)


@translation("binary_cross_entropy")
def binary_cross_entropy(g, x, target, weight=None, reduction=1):
    one, least = g.number(1.0, x.dtype), g.number(-100.0, x.dtype)
    yes, no = [g.op("Max", g.op("Log", y), least) for y in (x, g.op("Sub", one, x))]
    result = g.op("Neg", g.op("Add", g.op("Mul", target, yes), g.op("Mul", g.op("Sub", one, target), no)))
    if weight is not None:
        result = g.op("Mul", result, weight)
    return _reduced(g, result, reduction)


_WORDS = ("none", "mean", "sum")


@translation("nll_loss_nd", "nll_loss")
def nll_loss(g, x, target, weight=None, reduction=1, ignored=-100):
    if x.rank < 2:
        raise Refusal("of a single example")
    return g.op("NegativeLogLikelihoodLoss", x, target, weight, reduction=_WORDS[reduction], ignore_index=ignored)


@translation("cross_entropy_loss")
def cross_entropy_loss(g, x, target, weight=None, reduction=1, ignored=-100, smoothing=0.0):
    if smoothing or x.rank < 2:
        raise Refusal("label_smoothing, or a single example")
    if target.dtype.is_floating_point:
        if weight is not None:
            raise Refusal("weights of classes for probabilities")
        each = g.op("Neg", g.reduce("ReduceSum", g.op("Mul", g.op("LogSoftmax", x, axis=1), target), [1]))
        if reduction != 1:
            return _reduced(g, each, reduction)
        n = g.cast(g.count(target, [i for i in range(target.rank) if i != 1]), x.dtype)
        return g.op("Div", g.op("ReduceSum", each, keepdims=0), n)
    return g.op("SoftmaxCrossEntropyLoss", x, target, weight, reduction=_WORDS[reduction], ignore_index=ignored)


@translation("kl_div")
def kl_div(g, x, target, reduction=1, log_target=False):
    if log_target:
        return _reduced(g, g.op("Mul", g.op("Exp", target), g.op("Sub", target, x)), reduction)
    zero = g.number(0.0, x.dtype)
    apart = g.op("Mul", target, g.op("Sub", g.op("Log", target), x))
    return _reduced(g, g.where(g.op("Equal", target, zero), zero, apart), reduction)
