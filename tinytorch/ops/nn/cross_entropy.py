"""Cross entropy and negative log likelihood. With classes as targets, cross_entropy is one node of the tape."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...arguments import extent
from ...autograd.node import shape_of
from ...autograd.op import op, renamed
from ...autograd.public import public, refuse
from ...errors import not_implemented, type_name, warn
from ...kernels import nll_half, softmax as kernels
from ...kernels.memory import LARGEST
from ...tensor import Tensor, wrap
from ...types import Extent
from .softmax import _log_softmax, log_softmax

_FLOAT, _LONG = np.dtype(np.float32), np.dtype(np.int64)
REDUCTIONS = ("none", "mean", "sum")


def reduction_of(reduction, size_average=None, reduce=None, late=False):
    """The reduction's name, from the deprecated flags if they are given. ValueError for an unknown name.

    `late`: in this function torch appends its message to the unknown name, so that a name that is not a string raises
    a TypeError.
    """
    if size_average is not None or reduce is not None:
        size_average, reduce = (flag is None or flag for flag in (size_average, reduce))
        if reduce:
            reduction = "mean" if size_average else "sum"
        else:
            reduction = "none"
        warn("size_average and reduce args will be deprecated, please use "
             f"reduction='{reduction}' instead.")
    if reduction == "elementwise_mean":
        warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.")
        return "mean"
    if reduction not in REDUCTIONS:
        if late:
            raise ValueError(reduction + " is not a valid value for reduction")
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


@op(name="nll_loss_backward", input=lambda g: g * 0, grad=lambda g, target, weight, ignore_index, reduction: _nll_loss(
    g, target, weight, ignore_index, reduction))
def _nll_backward(grad, input, target, weight, ignore_index, reduction):
    if input.itemsize == 2:
        return _backward_in_half(grad, input, target, weight, ignore_index, reduction)
    return kernels.nll_backward(grad, target, weight, input.shape, ignore_index, reduction)


@op(name="nll_loss", steps=True, input=lambda g, input, target, weight, ignore_index, reduction: _nll_backward(
    g, input, target, weight, ignore_index, reduction))
def _nll_loss(input, target, weight, ignore_index, reduction):
    if input.itemsize == 2:
        return _nll_in_half(input, target, weight, ignore_index, reduction)
    return kernels.nll(input, target, weight, ignore_index, reduction)


def _single(x):
    return None if x is None else dt.cast(x, np.dtype(np.float32))


def _rounding(dtype):
    """A function that rounds numbers in single precision to a half precision."""
    return lambda x: _single(dt.cast(np.asarray(x), dtype))


def _nll_in_half(input, target, weight, ignore_index, reduction):
    x, w = _single(input), _single(weight)
    result = kernels.nll(x, target, w, ignore_index, reduction) if reduction == "none" else nll_half.nll(
        x, target, w, ignore_index, reduction == "mean", _rounding(input.dtype))
    return dt.cast(np.asarray(result), input.dtype)


def _backward_in_half(grad, input, target, weight, ignore_index, reduction):
    g, w, rounded = _single(grad), _single(weight), _rounding(input.dtype)
    if reduction == "mean":
        g, reduction = rounded(g / nll_half.total_weight(target, w, ignore_index, rounded)), "sum"
    return dt.cast(kernels.nll_backward(g, target, w, input.shape, ignore_index, reduction), input.dtype)


_nll_loss.op.in_bfloat16, _nll_backward.op.in_bfloat16 = _nll_in_half, _backward_in_half
_nll_loss_2d = renamed(_nll_loss, "nll_loss2d")


def _scores(node):
    """The nodes that torch has between the loss and the scores: log_softmax, and a view unless the scores have 2 or 4
    dimensions."""
    inner = "LogSoftmaxBackward0", 0
    ndim = len(shape_of(node.edges[0]))
    return (inner if ndim in (2, 4) else ("ViewBackward0", inner),)


@op(name="nll_loss", aux=True, inputs=1,
    joint=lambda g, wanted, target, weight, reduction, aux: (
        kernels.cross_entropy_backward(g, aux, reduction), None, None),
    stand_ins={"input": kernels.scores},
    decomposition=lambda input, target, weight, ignore_index, reduction: _nll_loss(
        _log_softmax(input, 1), target, weight, ignore_index, reduction), shown_as=_scores)
def _cross_entropy(input, target, weight, ignore_index, reduction, keep):
    return kernels.cross_entropy(input, target, weight, ignore_index, reduction, keep)


_cross_entropy_2d = renamed(_cross_entropy, "nll_loss2d")


def _check_classes(target):
    if target._array.dtype.char not in "lqB":
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {type_name(target)}")


def _check_sizes(x, t):
    """torch's errors for the sizes of scores `x` and class targets `t`."""
    if x.ndim == 0:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if t.ndim == 0 and x.ndim == 1:
        return
    if x.ndim == 1 and t.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if x.ndim == 1 and t.size != 1:
        _check_classes(wrap(t))
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {t.shape[0]}")
    if x.ndim > 1 and (t.ndim == 0 or len(x) != len(t)):
        found = len(t) if t.ndim else 0
        if not len(x) and not t.ndim:
            _check_classes(wrap(t))
        raise ValueError(f"Expected input batch_size ({len(x)}) to match target batch_size ({found}).")
    if x.ndim == 2 and t.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if x.ndim > 2 and (x.shape[:1] + x.shape[2:]) != t.shape:
        if x.ndim == t.ndim + 1 == 4:
            raise RuntimeError(f"size mismatch (got input: {list(x.shape)} , target: {list(t.shape)}")
        raise RuntimeError(f"Expected target size {[len(x), *x.shape[2:]]}, got {list(t.shape)}")


def _are_usual(x, t):
    """Whether arrays are rows of scores in single precision and a class for each of them."""
    return x.dtype is _FLOAT and t.dtype is _LONG and x.ndim == 2 and t.ndim == 1 and len(x) == len(t)


@public("nll_loss_nd", hot=True, autocast="up", in_python=True, repeats=True)
def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
             ignore_index: Extent = -100, reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """-input at the target classes: the negative log likelihood, if `input` holds log probabilities.

    `input` (N, C), (N, C, d1, ...) or (C); `target` classes (N), (N, d1, ...) or () as int64 or uint8. `weight` (C)
    scales classes, and "mean" divides by the sum of the weights. Targets equal to `ignore_index` are left out.
    ValueError or RuntimeError for sizes that do not fit, IndexError for a class that does not exist.

    >>> import tinytorch as torch
    >>> torch.nn.functional.nll_loss(torch.tensor([[-1., -2.], [-3., -4.]]), torch.tensor([0, 1]))
    tensor(2.5000)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    x, t = input._array, target._array
    if weight is not None or ignore_index.__class__ is not int or not -LARGEST <= ignore_index <= LARGEST:
        refuse(nll_loss, input, target, weight, None, ignore_index)
        ignore_index = extent(ignore_index)
    if weight is None and _are_usual(x, t):
        return _nll_loss(input, target, None, ignore_index, reduction)
    _check_sizes(x, t)
    return _batched(_nll_loss_2d if x.ndim > 2 else _nll_loss, input, target, weight, ignore_index, reduction)


def _batched(primitive, input, target, weight, ignore_index, reduction):
    """primitive(...) with a batch dimension added if there is none."""
    x = input._array
    classes = x.shape[0 if x.ndim == 1 else 1]
    _check_classes(target)
    if x.ndim > 2 and target._array.dtype.kind in dt.UNSIGNED:
        raise RuntimeError("expected scalar type Long but found Byte")
    if weight is not None:
        if weight._array.shape != (classes,) and x.ndim == 4:
            raise RuntimeError("weight tensor should be defined either for all or no classes")
        if weight._array.shape != (classes,):
            raise RuntimeError(f"weight tensor should be defined either for all {classes} classes or no classes but "
                               f"got weight tensor of shape: {list(weight._array.shape)}")
        if weight._array.dtype != x.dtype:
            raise RuntimeError(f"expected scalar type {type_name(input)} but found {type_name(weight)}")
    if x.ndim == 1:
        loss = _batched(primitive, input.unsqueeze(0), target.reshape(1), weight, ignore_index, reduction)
        return loss.reshape(target._array.shape) if reduction == "none" else loss
    if x.dtype.kind not in dt.FLOATING:
        raise not_implemented("nll_loss_out_frame", input)
    if x.dtype.itemsize == 2 and primitive.op.aux:               # torch has two kernels: the result is rounded twice
        input = _log_softmax(input, 1)
        primitive = _nll_loss if x.ndim < 3 else _nll_loss_2d
    return primitive(input, target, weight, ignore_index, reduction)


@public("cross_entropy_loss", hot=True, autocast="up", in_python=True)
def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
                  ignore_index: Extent = -100, reduce: bool | None = None, reduction: str = "mean",
                  label_smoothing: float = 0.0) -> Tensor:
    """-log(softmax(input)) at the target classes, or its mean under target probabilities.

    `input` (N, C), (N, C, d1, ...) or (C): scores, not normalised. `target`: classes (N), (N, d1, ...) or () as int64
    or uint8, or probabilities of the shape of `input`. `label_smoothing` is the share of the uniform
    distribution that is mixed in. The other arguments and the errors are those of `nll_loss`.

    >>> import tinytorch as torch
    >>> scores = torch.tensor([[0., 0.], [100., 0.]], requires_grad=True)
    >>> torch.nn.functional.cross_entropy(scores, torch.tensor([0, 0]))
    tensor(0.3466, grad_fn=<NllLossBackward0>)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    x, t = input._array, target._array
    if weight is not None or label_smoothing.__class__ is not float or ignore_index.__class__ is not int or (
            not -LARGEST <= ignore_index <= LARGEST):
        refuse(cross_entropy, input, target, weight, None, ignore_index, None, reduction, label_smoothing)
        ignore_index = extent(ignore_index)
    if label_smoothing == 0 and weight is None and _are_usual(x, t):
        return _cross_entropy(input, target, None, ignore_index, reduction)
    if label_smoothing > 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    class_dim = 0 if x.ndim == 1 else 1
    if x.shape == t.shape:
        if t.dtype.kind not in dt.FLOATING:
            raise RuntimeError("Expected floating point type for target with class probabilities, got "
                               f"{type_name(target)}")
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return _with_probabilities(input, target, weight, reduction, label_smoothing, class_dim)
    if x.ndim == 0:
        return log_softmax(input, 1)
    if x.dtype.kind not in dt.FLOATING:
        log_softmax(input, class_dim)          # raises torch's error for the dtype
    _check_sizes(x, t)
    if not label_smoothing > 0:                # also for NaN
        primitive = _cross_entropy if x.ndim < 3 else _cross_entropy_2d
        return _batched(primitive, input, target, weight, ignore_index, reduction)
    return _smoothed(log_softmax(input, class_dim), target, weight, ignore_index, reduction, label_smoothing, class_dim)


def _weighted(log_p, weight, class_dim):
    if weight is None:
        return log_p
    return log_p * weight.reshape([-1 if i == class_dim else 1 for i in range(log_p._array.ndim)])


def _with_probabilities(input, target, weight, reduction, label_smoothing, class_dim):
    classes = input._array.shape[class_dim]
    if weight is not None and weight._array.shape != (classes,):
        raise RuntimeError(f"cross_entropy: weight tensor should be defined either for all {classes} classes or no "
                           f"classes but got weight tensor of shape: {list(weight._array.shape)}")
    log_p = log_softmax(input, class_dim)
    if label_smoothing > 0:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    loss = _weighted(log_p * target, weight, class_dim)
    if reduction == "none":
        return -loss.sum(class_dim)
    rows = input._array.size // classes if classes else 0
    return -loss.sum() if reduction == "sum" else -loss.sum() / (rows or float("nan"))


def _smoothed(log_p, target, weight, ignore_index, reduction, label_smoothing, class_dim):
    loss = _batched(_nll_loss, log_p, target, weight, ignore_index, reduction)
    uniform = -_weighted(log_p, weight, class_dim).sum(class_dim)
    ignored = target == ignore_index
    uniform = uniform.masked_fill(ignored, 0.0)
    if reduction == "sum":
        uniform = uniform.sum()
    elif reduction == "mean" and weight is None:
        uniform = uniform.sum() / (~ignored).sum()
    elif reduction == "mean":
        uniform = uniform.sum() / weight.gather(0, target.masked_select(~ignored)).sum()
    return loss * (1 - label_smoothing) + uniform * (label_smoothing / log_p._array.shape[class_dim])
