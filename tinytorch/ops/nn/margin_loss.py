"""Losses of margins and distances: hinge_embedding_loss margin_ranking_loss triplet_margin_loss ..."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ... import dtypes as dt
from ...autograd.grad_mode import mode
from ...autograd.op import op
from ...autograd.promotion import (
    check_broadcast,
    converted,
    refuse_complex_gradient,
    refuse_gradient,
    result_dtype,
    scalar_of,
)
from ...autograd.public import public, refuse
from ...autograd.views import check_fits
from ...errors import not_implemented, type_name
from ...kernels import expressions
from ...kernels.expressions import expression
from ...kernels.scatter import owned
from ...kernels.stepwise import plain, stepwise
from ...tensor import Tensor, wrap
from ...types import Number
from ..elementwise.math import exp
from ..reduction.reductions import masked, raw
from .activation import logsigmoid
from .cross_entropy import reduction_of
from .loss import in_one_pass, reduced
from .similarity import pairwise_distance

_hinge = expression(lambda input, target, margin: (
    expressions.where(target == 1.0, 0.0, expressions.maximum(0.0, margin - input))
    + expressions.where(target == -1.0, 0.0, input)), 2)


@public(python=True, autocast="up", repeats=True)
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, size_average: bool | None = None,
                         reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """`input` (a distance) where target is 1, max(0, margin - input) where it is -1.

    >>> import tinytorch as torch
    >>> torch.nn.functional.hinge_embedding_loss(torch.tensor([0.5, 0.5]), torch.tensor([1, -1]))
    tensor(0.5000)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    refuse(hinge_embedding_loss, input, target, margin)
    if (loss := in_one_pass(_hinge, reduction, input, target, numbers=(float(margin),))) is not None:
        return loss
    if input._array.dtype.kind in dt.INTEGER:   # torch keeps the margin in the dtype of the input
        margin = int(margin)
    apart = (margin - input).clamp_min(0)
    loss = apart.masked_fill(target == 1, 0) + input.masked_fill(target == -1, 0)
    return reduced(loss, reduction, target, input)


@public(python=True, autocast="up")
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
                          size_average: bool | None = None, reduce: bool | None = None,
                          reduction: str = "mean") -> Tensor:
    """1 - cosine where target is 1, max(0, cosine - margin) where it is -1. Inputs (N, D) or (D), target (N) or ().

    RuntimeError for sizes that do not fit.

    >>> import tinytorch as torch
    >>> x = torch.tensor([[1., 0.]])
    >>> torch.nn.functional.cosine_embedding_loss(x, x, torch.tensor([-1]))
    tensor(1.)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    refuse(cosine_embedding_loss, input1, input2, target, margin)
    dims, a, b = target._array.ndim, input1._array.ndim, input2._array.ndim
    if dims > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if a != dims + 1 or b != dims + 1:
        raise RuntimeError(f"{dims}D target tensor expects {dims + 1}D input tensors, but found inputs with sizes "
                           f"{list(input1._array.shape)} and {list(input2._array.shape)}.")
    tiny = 1e-12
    squares = ((input1 * input1).sum(dims) + tiny) * ((input2 * input2).sum(dims) + tiny)
    cosine = (input1 * input2).sum(dims) / squares.sqrt()
    near = (1 - cosine).masked_fill(target != 1, 0)
    return reduced(near + (cosine - float(margin)).clamp_min(0).masked_fill(target != -1, 0), reduction)


@public(python=True, autocast="up")
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
                        size_average: bool | None = None, reduce: bool | None = None,
                        reduction: str = "mean") -> Tensor:
    """max(0, margin - target * (input1 - input2)): target 1 wants input1 larger, -1 input2. RuntimeError if the
    numbers of dimensions differ.

    >>> import tinytorch as torch
    >>> torch.nn.functional.margin_ranking_loss(torch.tensor([1.]), torch.tensor([3.]), torch.tensor([1.]))
    tensor(2.)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if not input1._array.ndim == input2._array.ndim == target._array.ndim:
        raise RuntimeError("margin_ranking_loss : All input tensors should have same dimension but got sizes: "
                           f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape} ")
    refuse(margin_ranking_loss, input1, input2, target, margin)
    return reduced((-target * (input1 - input2) + float(margin)).clamp_min(0), reduction, target, input1, input2)


def _by_tensors(rule):
    """`rule`, which gets arrays as Tensors: their scalars and sums are not rounded to half precision."""
    def of_any(g, *args):
        if isinstance(g, Tensor):
            return rule(g, *args)
        return rule(*[wrap(x) if isinstance(x, np.ndarray) else x for x in (g, *args)])._array
    return of_any


_soft_margin_of = expression(lambda x, target: expressions.log1p(expressions.exp(-x * target)), 2)
_slope_of_margin = expression(lambda g, x, target, share: target * expressions.exp(-target * x) * share / (
    expressions.exp(-target * x) + 1.0) * g, 3)


def _soft_margin_slope(g, input, target, reduction):
    if g.__class__ is np.ndarray and input.dtype.char in "fd" and g.dtype == input.dtype:
        share = input.size if reduction == "mean" and input.size else 1.0
        return _slope_of_margin(g, input, target, float(input.dtype.type(-1.0 / share)))
    return _soft_margin_slope_by_steps(g, input, target, reduction)


@_by_tensors
def _soft_margin_slope_by_steps(g, input, target, reduction):
    z, share = exp(-target * input), 1.0 / input.numel() if reduction == "mean" and input.numel() else 1.0
    return target * z * input.new_full((), -share) / (z + 1) * g


@_by_tensors
def _soft_margin_slope_of_grad(g, input, target, reduction):
    if reduction == "none":
        return _soft_margin_slope(g, input, target, reduction)
    return (_soft_margin_slope(g.new_ones(()), input, target, reduction) * g).sum()


@_by_tensors
def _soft_margin_curvature(g, grad, input, target, reduction):
    z = exp(input * -target)
    slope = g * grad * (target * target) * z / ((z + 1) * (z + 1))
    return slope / input.numel() if reduction == "mean" else slope


@op(name="soft_margin_loss_backward", steps=True,
    grad=lambda g, input, target, reduction: _soft_margin_slope_of_grad(g, input, target, reduction),
    input=lambda g, grad, input, target, reduction: _soft_margin_curvature(g, grad, input, target, reduction))
def _soft_margin_backward(grad, input, target, reduction):
    return _soft_margin_slope(grad, input, target, reduction)


@op(name="soft_margin_loss", steps=True, elementwise=True,
    input=lambda g, input, target, reduction: _soft_margin_backward(g, input, target, reduction))
def _soft_margin(input, target, reduction):
    if input.dtype.char in "fd":
        return reduced(wrap(_soft_margin_of(input, target)), reduction)._array
    return reduced(wrap(plain(np.log1p(np.exp(-stepwise(input) * stepwise(target))))), reduction)._array


@public(python=True, autocast="up", repeats=True)
def soft_margin_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
                     reduction: str = "mean") -> Tensor:
    """log(1 + exp(-target * input)), targets 1 and -1.

    >>> import tinytorch as torch
    >>> torch.nn.functional.soft_margin_loss(torch.tensor([0.]), torch.tensor([1.]))
    tensor(0.6931)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    refuse(soft_margin_loss, input, target)
    if input._array.dtype.kind in dt.INTEGRAL:
        raise RuntimeError(f"result type Float can't be cast to the desired output type {type_name(input)}")
    refuse_gradient("soft_margin_loss", "target", target)
    refuse_complex_gradient("soft_margin_loss", input)
    check_broadcast(input._array.shape, target._array.shape)
    shape = np.broadcast_shapes(input._array.shape, target._array.shape)
    check_fits(input._array, shape, result_dtype((input, target)))
    loss = _soft_margin(input, converted(target, input._array.dtype), reduction)
    return loss if reduction != "none" else reduced(loss, reduction, input, target)


def _rows(input):
    """Scores (N, C), (C) or () as rows of classes."""
    return input.reshape(-1, input.shape[-1] if input.ndim else 1)


def _row_slopes(name, slopes, for_tangents=None):
    """A rule for the gradient grad * slopes(rows, *settings). torch cannot differentiate it again. Forward mode, which
    torch does not have here, uses `for_tangents`, which is differentiable, or the slopes as constants."""
    def refuse_it(g):
        raise RuntimeError(f"derivative for aten::{name}_backward is not implemented")

    def with_arrays(input, settings):          # with create_graph saved arrays come as Tensors
        return slopes(_rows(input), *[x._array if isinstance(x, Tensor) else x for x in settings])

    @op(name=name + "_slopes", inputs=1)
    def slopes_of(input, settings):
        return with_arrays(input, settings)

    @op(name=name + "_backward", grad=refuse_it, input=refuse_it)
    def backward(grad, input, settings):
        return (grad.reshape(-1, 1) * with_arrays(input, settings)).reshape(input.shape)

    def gradient(g, input, *settings):
        if mode.computing_jvp:
            by_row = slopes_of(input, settings) if for_tangents is None else for_tangents(_rows(input), *settings)
            return (g.reshape(-1, 1) * by_row).reshape(input.shape)
        return backward(g, input, settings)
    return gradient


def _beyond(rows, at, margin):
    """margin - x[target] + x[j] for the other classes j where it is positive, else 0 (also for NaN). `at`: the column
    of x[target] in each row."""
    beyond = np.fmax(margin - np.take_along_axis(rows, at, 1) + rows, 0)
    np.put_along_axis(beyond, at, 0, 1)
    return beyond


def _multi_margin_slopes(rows, target, p, margin, weight):
    at = owned(target.reshape(-1, 1))
    beyond = _beyond(rows, at, margin)
    result = (beyond > 0 if p == 1 else 2 * beyond) / np.asarray(rows.shape[1], rows.dtype)
    if weight is not None:
        result *= weight[at]
    np.put_along_axis(result, at, 0 - result.sum(1, keepdims=True), 1)
    return result


def _multi_margin_tangent_slopes(rows, target, p, margin, weight):
    at = target.reshape(-1, 1)
    beyond = p * (margin - rows.gather(1, at) + rows) ** (p - 1)
    result = masked(beyond, _beyond(raw(rows), owned(raw(at)), margin) > 0) / rows.shape[1]
    if weight is not None:
        result = result * weight[at]
    return result.scatter_add(1, at, -result.sum(1, keepdims=True))


_multi_margin_gradient = _row_slopes("multi_margin_loss", _multi_margin_slopes, _multi_margin_tangent_slopes)


@op(name="multi_margin_loss", input=lambda g, input, target, p, margin, weight: _multi_margin_gradient(
    g, input, target, p, margin, weight))
def _multi_margin(input, target, p, margin, weight):
    rows, at = _rows(input), owned(target.reshape(-1, 1))
    beyond = _beyond(rows, at, margin)
    beyond = beyond if p == 1 else beyond * beyond
    loss = (beyond if weight is None else beyond * weight[at]).sum(1) / rows.shape[1]
    return loss.reshape(target.shape)


@public(python=True, autocast="up")
def multi_margin_loss(input: Tensor, target: Tensor, p: Number = 1, margin: Number = 1.0, weight: Tensor | None = None,
                      size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """Sum over the other classes j of max(0, margin - x[target] + x[j]) ** p, divided by the number of classes.

    `input` (N, C) or (C), `target` (N) or (), `weight` (C). ValueError if p is not 1 or 2.

    >>> import tinytorch as torch
    >>> torch.nn.functional.multi_margin_loss(torch.tensor([[1., 0., 3.]]), torch.tensor([0]))
    tensor(1.)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight._array.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    refuse(multi_margin_loss, input, target, p, margin, weight)
    classes = _classes(input)
    index = np.atleast_1d(target._array)
    count = len(input._array) if input._array.ndim == 2 else 1
    if index.shape != (count,):
        raise RuntimeError("multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
                           f"samples (batch size). Expected target size [{count}], but got "
                           f"{list(target._array.shape)}. Input has shape {list(input._array.shape)}.")
    if weight is not None and weight._array.size != classes:
        raise RuntimeError(f"inconsistent weight size, expected {classes} but got {list(weight._array.shape)}")
    _check_long(target)
    if input._array.size:
        _check_kernel("multi_margin_loss_cpu_kernel", input)
        margin = scalar_of(margin, input._array.dtype)
        if weight is not None and weight._array.dtype != input._array.dtype:
            raise RuntimeError(f"expected scalar type {type_name(input)} but found {type_name(weight)}")
    if index.size and (index.min() < 0 or index.max() >= classes):
        raise RuntimeError("target out of range")
    refuse_gradient("multi_margin_loss", "weight", weight)
    return reduced(_multi_margin(input, target, p, margin, weight), reduction, begins=_multi_margin)


def _classes(input):
    classes = input._array.shape[-1] if input._array.ndim else 1
    if not classes or input._array.ndim > 2:
        raise RuntimeError("Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
                           f"{list(input._array.shape)}")
    return classes


def _check_kernel(kernel, input):
    if input._array.dtype.kind not in dt.NATIVE or input._array.itemsize == 2:
        raise not_implemented(kernel, input)


def _check_long(target):
    if target._array.dtype != np.int64:
        raise RuntimeError(f"expected scalar type Long but found {type_name(target)}")


def _label_margins(rows, labels, listed):
    """1 - x[y] + x[i] for the listed classes y (N, C, 1) and the others i (N, 1, C) where it is positive, else 0 (also
    for NaN)."""
    other = np.ones(labels.shape, bool)
    other[np.nonzero(listed)[0], labels[listed]] = False
    margins = np.fmax(1 - np.take_along_axis(rows, labels, 1)[:, :, None] + rows[:, None, :], 0)
    return np.where(listed[:, :, None] & other[:, None, :], margins, 0)


def _listed(target):
    """(rows of labels, with 0 from the first -1 on, and bools that are True before it)."""
    labels = _rows(target)
    listed = np.logical_and.accumulate(labels >= 0, axis=1)
    return np.where(listed, labels, 0), listed


def _multilabel_margin_slopes(rows, target):
    labels, listed = _listed(target)
    over = (_label_margins(rows, labels, listed) > 0).astype(rows.dtype)
    result = over.sum(1)
    np.subtract.at(result, (np.arange(len(rows))[:, None], labels), over.sum(2))
    return result / rows.shape[1]


_multilabel_margin_gradient = _row_slopes("multilabel_margin_loss", _multilabel_margin_slopes)


@op(name="multilabel_margin_loss", input=lambda g, input, target: _multilabel_margin_gradient(g, input, target))
def _multilabel_margin(input, target):
    rows = _rows(input)
    return (_label_margins(rows, *_listed(target)).sum((1, 2)) / rows.shape[1]).reshape(input.shape[:-1])


@public(python=True, autocast="up")
def multilabel_margin_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
                           reduction: str = "mean") -> Tensor:
    """Sum over the classes y in target and the classes i not in it of max(0, 1 - x[y] + x[i]), divided by their number.

    `input` and `target` (N, C) or (C); a row of `target` lists classes up to the first -1.

    >>> import tinytorch as torch
    >>> x, y = torch.tensor([0.1, 0.2, 0.4, 0.8]), torch.tensor([3, 0, -1, 1])
    >>> torch.nn.functional.multilabel_margin_loss(x, y)
    tensor(0.8500)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    refuse(multilabel_margin_loss, input, target)
    classes = _classes(input)
    fits = target._array.shape == input._array.shape
    if input._array.ndim != 2:
        fits = target._array.shape == (classes,) or classes == 1 and target._array.shape == ()
    if not fits:
        raise RuntimeError(f"inconsistent target size: {list(target._array.shape)} for input of size: "
                           f"{list(input._array.shape)}")
    _check_kernel("multilabel_margin_loss_forward_out_frame", input)
    if target._array.dtype.kind in dt.WIDENED + dt.COMPLEX:           # this dtype cannot be compared with the range
        _check_long(target)
    labels = target._array.reshape(-1, classes)
    if labels.size and (labels.min() < -1 or labels.max() >= classes):
        raise RuntimeError("argument #2 'target' is out of range")
    _check_long(target)
    return reduced(_multilabel_margin(input, target), reduction, begins=_multilabel_margin)


@public(python=True)
def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None,
                                size_average: bool | None = None, reduce: bool | None = None,
                                reduction: str = "mean") -> Tensor:
    """Mean over the last dimension of binary_cross_entropy_with_logits.

    >>> import tinytorch as torch
    >>> torch.nn.functional.multilabel_soft_margin_loss(torch.tensor([[0., 0.]]), torch.tensor([[1., 0.]]))
    tensor(0.6931)
    """
    reduction = reduction_of(reduction, size_average, reduce, late=True)
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return reduced(loss.sum(-1) / input._array.shape[-1], reduction)


_beyond_margin = expression(lambda near, far, margin: expressions.maximum(0.0, margin + near - far), 2)


@public(python=True, autocast="up", repeats=True)
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2,
                        eps: float = 1e-6, swap: bool = False, size_average: bool | None = None,
                        reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """max(0, margin + |anchor - positive| - |anchor - negative|), p-norms over the last dimension.

    `swap` uses |positive - negative| where that is smaller. ValueError if margin <= 0.

    >>> import tinytorch as torch
    >>> a = torch.tensor([[0., 0.]])
    >>> torch.nn.functional.triplet_margin_loss(a, a, a + 0.5)
    tensor(0.2929)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    refuse(triplet_margin_loss, anchor, positive, negative, margin, p, eps, swap)
    return triplet_margin_with_distance_loss(
        anchor, positive, negative, distance_function=lambda a, b: pairwise_distance(a, b, p, eps),
        margin=margin, swap=swap, reduction=reduction)


@public(python=True)
def triplet_margin_with_distance_loss(anchor: Tensor, positive: Tensor, negative: Tensor, *,
                                      distance_function: Callable | None = None, margin: float = 1.0,
                                      swap: bool = False, reduction: str = "mean") -> Tensor:
    """triplet_margin_loss with any function of two tensors as the distance.

    >>> import tinytorch as torch
    >>> a = torch.tensor([[0., 0.]])
    >>> torch.nn.functional.triplet_margin_with_distance_loss(a, a, a + 3)
    tensor(0.)
    """
    reduction = reduction_of(reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    a, p, n = anchor.ndim, positive.ndim, negative.ndim
    if not a == p == n:
        raise RuntimeError("The anchor, positive, and negative tensors are expected to have the same number of "
                           f"dimensions, but got: anchor {a}D, positive {p}D, and negative {n}D inputs")
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    margin = float(margin)
    loss = in_one_pass(_beyond_margin, reduction, near, far, numbers=(margin,))
    return reduced((margin + near - far).clamp_min(0), reduction) if loss is None else loss
