"""Derivatives that are accurate in the tails: the rules of nodes made under `precise_tails` (func/tails.py).

torch's rules compute sigmoid' as s (1 - s), tanh' as 1 - t t, and the gradient of cross entropy as softmax - 1 at the
right class. Each is a difference of nearly equal numbers where the function is flat, and becomes zero long before the
true derivative does. The rules here are products of small numbers, or sums of numbers of one sign; so are their
derivatives. Values stay torch's: a node is made as usual, and `replace` exchanges its op and its saved arrays.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import dtypes as dt
from ...autograd.node import Node, Op
from ...autograd.op import op, single
from ...autograd.outputs import UNWATCHED
from ...tensor import Tensor
from ..elementwise.arithmetic import rounded_once
from ..elementwise.math import log, log1p, tanh
from ..elementwise.special import sigmoid
from ..elementwise.where import pick
from .activation import _log_sigmoid, _softplus
from .cross_entropy import _cross_entropy, _cross_entropy_2d, _nll_backward
from .loss import _bce, _bce_backward, _bce_curvature, _bce_logits, _bce_target_slope, _bce_weighted_logits
from .softmax import _log_softmax, _softmax


def _like(primitive, **rules):
    """An operation with the name and the forward computation of `primitive`, but with other derivatives."""
    return op(name=primitive.op.name, **rules)(primitive.__wrapped__)


# ------------------------------------------------------------------ sigmoid and tanh
def _curve(x):
    """exp(-|x|) / (1 + exp(-|x|))^2."""
    small = np.exp(-np.abs(x))
    return small / ((1 + small) * (1 + small))


@single(name="sigmoid_backward", input=lambda g, input: g * -_sigmoid_slope(input) * _tanh(input * 0.5))
def _sigmoid_slope(input):
    """sigmoid(x) sigmoid(-x)."""
    return rounded_once(_curve, input) if input.dtype.char == "e" else _curve(input)


@single(name="tanh_backward", input=lambda g, input: g * -2.0 * _tanh_slope(input) * _tanh(input))
def _tanh_slope(input):
    """1 - tanh(x)^2."""
    if input.dtype.char == "e":
        return rounded_once(_tanh_slope.op.forward, input)
    return 4 * _curve(2 * input)


@single(name="sigmoid", input=lambda g, input: g * _sigmoid_slope(input))
def _logistic(input):
    """sigmoid, accurate to the last place far below zero too, because it is the derivative of other functions."""
    if input.dtype.char == "e":
        return rounded_once(_logistic.op.forward, input)
    small = np.exp(-np.abs(input))
    return np.where(input < 0, small, 1) / (1 + small)


_tanh = _like(tanh, input=lambda g, input: g * _tanh_slope(input))
_log_sigmoid_in_tails = _like(_log_sigmoid, input=lambda g, input: g * _logistic(-input))


# ------------------------------------------------------------------ softmax
def _accurate_softmax(x, dim):
    """softmax, accurate to the last place: the rounding error of subtracting the largest score is corrected."""
    if x.dtype.char == "f":
        wide = x.astype(np.float64)
        small = np.exp(wide - wide.max(dim, keepdims=True))
        return (small / small.sum(dim, keepdims=True)).astype(np.float32)
    largest = x.max(dim, keepdims=True)
    less = x - largest
    part = less - x                            # the part of -largest that the difference holds
    lost = (x - (less - part)) - (largest + part)
    small = np.exp(less)
    small = np.where(np.isfinite(lost), small * (1 + lost), small)
    return small / small.sum(dim, keepdims=True)


@op(name="softmax", input=lambda g, input, dim: _softmax_slope(g, input, dim))
def _shares(input, dim):
    return rounded_once(_accurate_softmax, input, dim) if input.dtype.char == "e" else _accurate_softmax(input, dim)


@op(name="softmax", input=lambda g, input, dim: _softmax_slope(g, input, dim))
def _softmax_in_tails(input, dim):
    return _softmax.op.forward(input, dim)


@op(name="log_softmax", input=lambda g, input, dim: _log_softmax_slope(g, input, dim))
def _log_softmax_in_tails(input, dim):
    return _log_softmax.op.forward(input, dim)


@op(name="argmax")
def _is_largest(input, dim):
    """Whether an element is the first largest one along `dim`."""
    places = np.arange(input.shape[dim]).reshape([-1 if i == dim else 1 for i in range(input.ndim)])
    return places == np.argmax(input, dim, keepdims=True) if input.shape[dim] else np.zeros(input.shape, bool)


def _softmax_slope(g, input, dim):
    """p (g - sum of p g), computed as p (h - sum of p h), where h is g minus g at the largest p. At the largest p, h is
    zero, and the sum of p h, which has no large term, is small."""
    if dim == ():                              # a single number
        return g * 0 * _logistic(input)
    if input.__class__ is np.ndarray and input.dtype.char == "e":
        return rounded_once(_softmax_slope, g, input, dim)
    largest, p = _is_largest(input, dim), _shares(input, dim)
    h = pick(largest, 0.0, g - pick(largest, g, 0.0).sum(dim, keepdims=True))
    return p * (h - (p * h).sum(dim, keepdims=True))


def _log_softmax_slope(g, input, dim):
    """g - p (sum of g). The elements add up to zero, so the one at the largest p is minus the sum of the others."""
    if dim == ():                              # a single number
        return g * 0 * _logistic(input)
    if input.__class__ is np.ndarray and input.dtype.char == "e":
        return rounded_once(_log_softmax_slope, g, input, dim)
    largest, p = _is_largest(input, dim), _shares(input, dim)
    slope = pick(largest, 0.0, g - p * g.sum(dim, keepdims=True))
    return pick(largest, -slope.sum(dim, keepdims=True), slope)


def _cross_entropy_slope(g, input, target, weight, ignore_index, reduction):
    return _log_softmax_slope(_nll_backward(g, input, target, weight, ignore_index, reduction), input, 1)


def _cross_entropy_like(primitive):
    """The loss `primitive` under its name, with that derivative."""
    @op(name=primitive.op.name, input=_cross_entropy_slope)
    def _cross_entropy_in_tails(input, target, weight, ignore_index, reduction):
        return primitive.op.forward(input, target, weight, ignore_index, reduction, False)[0]
    _cross_entropy_in_tails.op.shown_as = primitive.op.shown_as
    return _cross_entropy_in_tails


# ------------------------------------------------------------------ binary cross entropy
#: Below this probability the loss is cut off, at -log(p) = 100, and torch's derivatives are used.
_CUT = math.exp(-100)


def _is_cut(input):
    return input * (1 - input) < _CUT


def _bce_in_tails_curvature(g, grad, input, target):
    cut, p = _is_cut(input), pick(_is_cut(input), 0.5, input)
    return pick(cut, _bce_curvature(g, grad, input, target), g * grad * (
        target / (p * p) + (1 - target) / ((1 - p) * (1 - p))))


def _bce_in_tails_target_slope(g, grad, input):
    cut, p = _is_cut(input), pick(_is_cut(input), 0.5, input)
    return pick(cut, _bce_target_slope(g, grad, input), -(g * grad) / (p * (1 - p)))


@op(name="binary_cross_entropy_backward", grad=lambda g, input, target: _bce_in_tails_slope(g, input, target),
    input=_bce_in_tails_curvature, target=_bce_in_tails_target_slope)
def _bce_in_tails_slope(grad, input, target):
    """grad (p - y) / (p (1 - p)). Where p is 0 or 1 and equal to y, the slope is 1 or -1: that of -log(1 - p) or
    -log(p)."""
    if input.dtype.char == "e":
        return rounded_once(_bce_in_tails_slope.op.forward, grad, input, target)
    cut = _is_cut(input)
    p = np.where(cut, np.asarray(0.5, input.dtype), input)
    expected = np.where(input == target, grad * (1 - 2 * input), _bce_backward.op.forward(grad, input, target))
    return np.where(cut, expected, grad * ((input - target) / (p * (1 - p))))


# ------------------------------------------------------------------ replacing nodes
#: (name, number of arguments, whether it has an aux) of an op -> the op with accurate derivatives.
INSTEAD: dict[tuple[str, int, bool], Op] = {
    (found.op.name, len(found.op.params), found.op.aux): instead.op for found, instead in (
        (sigmoid, _like(sigmoid, input=lambda g, input: g * _sigmoid_slope(input))),
        (tanh, _tanh),
        (_softplus, _like(_softplus, elementwise=True, input=lambda g, input, beta: g * _logistic(input * beta))),
        (_log_sigmoid, _log_sigmoid_in_tails),
        (_softmax, _softmax_in_tails),
        (_log_softmax, _log_softmax_in_tails),
        (_bce, _like(_bce, elementwise=True, input=lambda g, input, target: _bce_in_tails_slope(g, input, target),
                     target=lambda g, input: g * (log1p(-input) - log(input)))),
        (_bce_logits, _like(
            _bce_logits, target=lambda g, input: g * -input,
            input=lambda g, input, target: g * ((1 - target) * _logistic(input) - target * _logistic(-input)))),
        (_bce_weighted_logits, _like(
            _bce_weighted_logits, elementwise=True, steps=True,
            input=lambda g, input, target, pos_weight: g * (
                (1 - target) * _logistic(input) - pos_weight * target * _logistic(-input)),
            target=lambda g, input, pos_weight: g * (
                _log_sigmoid_in_tails(-input) - _log_sigmoid_in_tails(input) * pos_weight))),
        (_cross_entropy, _cross_entropy_like(_cross_entropy)),
        (_cross_entropy_2d, _cross_entropy_like(_cross_entropy_2d)))}


def replace(node: Node, result: Any, args: Sequence[Any]) -> None:
    """Called with each new node: exchanges the rule of a node of the ops above for one that is accurate in the
    tails."""
    instead = INSTEAD.get((node.op.name, len(args), node.op.aux))
    if instead is None or node.op.function is not None or args[0]._array.dtype.kind not in dt.FLOATING:
        return
    # torch saves the results of most of these ops, so that a write in place to an argument is no error. Copies of the
    # arguments allow such writes here.
    node.saved = [*[x._array.copy() if isinstance(x, Tensor) else x for x in args], None, None]
    node.op, node.versions = instead, UNWATCHED
