"""Losses between tensors of one shape: differences and probabilities.

Losses of classes are in cross_entropy.py, losses of margins and distances in margin_loss.py.
"""
from __future__ import annotations

import math

import numpy as np

from ... import dtypes as dt
from ...arguments import check_sized
from ...autograd.grad_mode import no_grad
from ...autograd.node import as_one
from ...autograd.op import op, unwatched
from ...autograd.promotion import check_broadcast, converted, refuse_gradient, result_dtype, scalar_as
from ...autograd.public import public, refuse
from ...autograd.record_dtypes import by_steps, in_float32
from ...autograd.views import check_fits
from ...errors import not_a_tensor, not_implemented, refuse_records, type_name, warn
from ...kernels import expressions
from ...kernels.arithmetic import negated, product, subtracted
from ...kernels.errstate import ignored
from ...kernels.expressions import Symbol, expression
from ...kernels.layout import as_array, operand_order
from ...kernels.looks import all_within
from ...kernels.stepwise import plain, stepwise
from ...kernels.sums import MANY_SQUARES, sum_of_squares
from ...tensor import Tensor, wrap
from ..elementwise.limits import _clamp
from ..elementwise.math import log, log1p
from ..elementwise.power import _times_log
from ..elementwise.special import sigmoid
from ..layout.broadcast import broadcast_shapes
from .activation import _hardtanh, _log_sigmoid, logsigmoid
from .cross_entropy import reduction_of


def reduced(loss, reduction, *operands, begins=None, name=None):
    """`loss`, its mean or its sum. `operands`: the tensors that torch's formula reads, in torch's order; they decide
    the memory order of a loss that is not reduced. `begins`: the first of the primitives that torch shows as one node.
    The node gets the name of `begins`, or `name`."""
    if reduction == "none":
        if operands and loss._array.strides != operands[0]._array.strides:
            loss._array = operand_order(loss._array, *[x._array for x in operands])
    else:
        loss = loss.mean() if reduction == "mean" else loss.sum()
    if begins is not None and loss._node is not None:
        as_one(loss._node, begins.op, name)
    return loss


def in_one_pass(text, reduction, *operands, numbers=()):
    """The loss that an expression gives, where nobody records or sees its steps; None for tensors that are not of one
    shape and one dtype of float32 or float64, in C order."""
    first = operands[0]._array
    for x in operands:
        array = x._array
        if not unwatched(x, True) or array.shape != first.shape or array.dtype is not first.dtype:
            return None
        if array.dtype.char not in "fd" or not array.size or not array.flags.c_contiguous:
            return None
    with ignored():
        loss = wrap(text(*[x._array for x in operands], *numbers))
    return reduced(loss, reduction)


def _paired(input, target):
    """`input` and `target` in one dtype. Warns in torch's words if they must be broadcast."""
    check_sized(input, target)
    if input._array.shape != target._array.shape:
        warn(f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). "
             "This will likely lead to incorrect results due to broadcasting. "
             "Please ensure they have the same size.")
        check_broadcast(input._array.shape, target._array.shape)
    if input._array.dtype is target._array.dtype:
        return input, target
    # torch broadcasts them before it promotes their dtypes, so that a tensor without dimensions has the full weight.
    dtype = dt.promote_types(input.dtype, target.dtype).numpy
    return converted(input, dtype), converted(target, dtype)


def _check_weight(input, weight):
    if weight is not None and weight._array.shape != input._array.shape:
        raise ValueError("Weights and input must have the same size.")


def _weighted(loss, weight, reduction, by_weight=True):
    loss = loss * weight
    return loss.sum() / weight.sum() if reduction == "mean" and by_weight else reduced(loss, reduction)


# ------------------------------------------------------------------ differences
def _mse_gradient(g, wanted, input, target, reduction, aux):
    scale = g * 2 if reduction != "mean" else g * (2 / (aux.size or math.nan))
    d = product(aux, as_array(scale).astype(aux.dtype, copy=False))
    of_target = negated(d) if wanted[1] else None
    return d if wanted[0] else None, of_target


@op(name="mse_loss", aux=True, inputs=2, elementwise=True, joint=_mse_gradient,
    decomposition=lambda input, target, reduction: reduced((input - target) * (input - target), reduction))
def _mse_loss(input, target, reduction, keep):
    size = input.size
    if not keep and size >= MANY_SQUARES and reduction != "none" and input.shape == target.shape and (
            (total := sum_of_squares(input.reshape(-1), target.reshape(-1))) is not None):
        return total / size if reduction == "mean" else total, None
    difference = as_array(subtracted(input, target))
    if reduction == "none":
        return difference * difference, difference
    flat = difference.reshape(-1)
    size = flat.size
    if size < MANY_SQUARES or (total := sum_of_squares(flat)) is None:
        total = flat.dot(flat) if flat.dtype.char in "dF" else np.add.reduce(flat * flat)
    return total / (size or math.nan) if reduction == "mean" else total, difference


@public(hot=True, python=True, autocast="up")
def mse_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
             reduction: str = "mean", weight: Tensor | None = None) -> Tensor:
    """The squared difference. `weight` of the same shape scales it, and "mean" then divides by the sum of the weights.

    A UserWarning if the shapes differ, ValueError for an unknown `reduction`.

    >>> import tinytorch as torch
    >>> torch.nn.functional.mse_loss(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
    tensor(2.)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    input, target = _paired(input, target)
    kind = input._array.dtype.kind
    if weight is not None:
        _check_weight(input, weight)
        difference = input - target
        return _weighted(difference * difference, weight, reduction)
    if kind in dt.WIDENED:                     # torch rounds each step
        refuse_records("mse_cpu", input)
        difference = input - target
        return reduced(difference * difference, reduction)
    if kind not in dt.NATIVE:
        raise not_implemented("mse_cpu", input)
    return _mse_loss(input, target, reduction)


_distance = expression(lambda input, target: abs(input - target), 2)


@public(python=True, autocast="up", repeats=True)
def l1_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
            reduction: str = "mean", weight: Tensor | None = None) -> Tensor:
    """The absolute difference; its derivative at 0 is 0. The other arguments are those of `mse_loss`.

    >>> import tinytorch as torch
    >>> torch.nn.functional.l1_loss(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
    tensor(1.)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    input, target = _paired(input, target)
    if weight is not None:
        _check_weight(input, weight)
        return _weighted((input - target).abs(), weight, reduction)
    loss = in_one_pass(_distance, reduction, input, target)
    return reduced((input - target).abs(), reduction) if loss is None else loss


@op(name="huber_slope", difference=lambda g, difference, delta: g * (abs(difference) < delta))
def _limited(difference, delta):
    return _hardtanh.op.forward(difference, -delta, delta)


@expression(arrays=3)
def _huber_slope(g, input, target, delta):
    difference = input - target
    if isinstance(difference, Symbol):
        return g * expressions.minimum(delta, expressions.maximum(-delta, difference))
    return g * _limited(difference, delta)


#: One operation of the machine.
_huber_word = expressions.word("huber", lambda input, target, delta: _huber_by_size(abs(input - target), delta))
expressions.on_tensors(huber=lambda input, target, delta: _huber_by_size((input - target).abs(), delta))


@op(name="huber_loss", elementwise=True, steps=True,
    input=_huber_slope, target=lambda g, input, target, delta: _huber_slope(g, target, input, delta),
    in_bfloat16=lambda input, target, delta: _huber_by_size(np.abs(stepwise(input) - stepwise(target)), delta))
@expression(arrays=2)
def _huber_of(input, target, delta):
    return _huber_word(input, target, delta)


def _huber_by_size(size, delta):
    return expressions.where(size <= delta, plain(0.5 * size * size), plain(delta * (size - 0.5 * delta)))


def _huber(kernel, input, target, delta, divisor=None):
    if input._array.dtype == dt.BFLOAT16 and divisor is not None:           # torch computes this in float32
        return in_float32(lambda a, b: _huber(kernel, a, b, delta, divisor), input, target)
    if dt.kind(input._array.dtype) not in dt.FLOATING:
        raise not_implemented(kernel, input)
    if input._array.itemsize == 2 and divisor is None:
        delta = dt.cast(scalar_as(delta, input._array.dtype), np.dtype(np.float32)).item()
    loss = _huber_of(input, target, delta)
    return loss if divisor in (None, 1) else loss / divisor


@public(python=True, autocast="up", repeats=True)
def smooth_l1_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
                   reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """|d| - beta / 2 where the difference |d| is at least `beta`, else d * d / (2 beta). RuntimeError if beta < 0.

    >>> import tinytorch as torch
    >>> torch.nn.functional.smooth_l1_loss(torch.tensor([1., 2.]), torch.tensor([1.5, 4.]))
    tensor(0.8125)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    input, target = _paired(input, target)
    refuse(smooth_l1_loss, input, target, None, None, reduction, beta)
    if not beta >= 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    beta = float(beta)
    if beta == 0:
        return reduced((input - target).abs(), reduction)
    return reduced(_huber("smooth_l1_cpu", input, target, beta, beta), reduction, input, target, begins=_huber_of,
                   name="SmoothL1LossBackward0")


def _refuse_gradient(g, dtype, other):
    raise RuntimeError(f"Found dtype {other.type_name} but expected {dtype.type_name}")


@op(name="huber_loss", first=2, loss=_refuse_gradient)
def _without_gradient(dtype, other, loss):
    """The loss of two dtypes, in the first one. torch has no derivative for it."""
    return dt.cast(loss, dtype.numpy)


@public(python=True, autocast="up", repeats=True)
def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0,
               weight: Tensor | None = None) -> Tensor:
    """d * d / 2 where the difference |d| is at most `delta`, else delta * (|d| - delta / 2).

    RuntimeError if delta <= 0.

    >>> import tinytorch as torch
    >>> torch.nn.functional.huber_loss(torch.tensor([1., 2.]), torch.tensor([1.5, 4.]))
    tensor(0.8125)
    """
    dtype, other = input.dtype, target.dtype
    input, target = _paired(input, target)
    _check_weight(input, weight)
    reduction = reduction_of(reduction)
    refuse(huber_loss, input, target, reduction, delta)
    if not delta > 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    loss = _huber("huber_cpu", input, target, float(delta))
    if dtype is not other:
        loss = _without_gradient(dtype, other, loss)
    if weight is not None:
        return _weighted(loss, weight, reduction, by_weight=False)
    return reduced(loss, reduction, input, target, begins=_huber_of)


# ------------------------------------------------------------------ probabilities
#: The least denominator, which bounds the derivatives where input is 0 or 1.
_TINY = 1e-12


def _bce_curvature(g, grad, input, target):
    return (g * grad * (input * input - 2 * input * target + target)
            / ((input + _TINY) ** 2 * (1 - input + _TINY) ** 2))


def _bce_target_slope(g, grad, input):
    return -g * grad / _clamp((1 - input) * input, _TINY, None)


_bce_of = expression(lambda input, target: (target - 1.0) * expressions.maximum(expressions.log1p(-input), -100.0)
                     - target * expressions.maximum(expressions.log(input), -100.0), 2)
_bce_slope = expression(lambda grad, input, target: grad * (input - target) / expressions.maximum(
    (1.0 - input) * input, _TINY), 3)


@op(name="binary_cross_entropy_backward", input=_bce_curvature, target=_bce_target_slope,
    grad=lambda g, input, target: g * (input - target) / ((input + _TINY) * (1 - input + _TINY)))
def _bce_backward(grad, input, target):
    if input.dtype.char in "fd":
        return _bce_slope(grad, input, target)
    return grad * (input - target) / np.maximum((1 - input) * input, np.asarray(_TINY, input.dtype))


@op(name="binary_cross_entropy", elementwise=True,
    input=lambda g, input, target: _bce_backward(g, input, target),
    target=lambda g, input, target: g * (log1p(-input) - log(input)))
def _bce(input, target):
    """Each step is rounded, as in torch's kernel."""
    if input.dtype.char in "fd":
        return _bce_of(input, target)
    input, target = stepwise(input), stepwise(target)
    return plain((target - 1) * np.maximum(np.log1p(-input), -100) - target * np.maximum(np.log(input), -100))


@public(python=True, autocast="up", repeats=True)
def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
                         reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """-(target log(input) + (1 - target) log(1 - input)), each log no smaller than -100.

    ValueError if the sizes differ, RuntimeError if `input` or `target` leaves [0, 1].

    >>> import tinytorch as torch
    >>> torch.nn.functional.binary_cross_entropy(torch.tensor([0.5, 1.]), torch.tensor([1., 0.]))
    tensor(50.3466)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    check_sized(target, input)
    if target._array.shape != input._array.shape:
        raise ValueError(f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is "
                         "deprecated. Please ensure they have the same size.")
    if weight is not None:
        check_sized(weight)
        weight = weight.expand(broadcast_shapes(target.shape, weight.shape))
    if input._array.dtype != target._array.dtype:
        raise RuntimeError(f"Found dtype {type_name(target)} but expected {type_name(input)}")
    if dt.kind(input._array.dtype) not in dt.FLOATING:
        raise not_implemented("binary_cross_entropy", input)
    refuse_gradient("binary_cross_entropy", "weight", weight)
    _check_probabilities("input", input._array)
    _check_probabilities("target", target._array)
    loss = _bce(input, target)
    if weight is not None:                     # torch multiplies in place
        check_fits(loss._array, weight._array.shape, result_dtype((loss, weight)))
        loss = (loss * weight).to(loss.dtype)
    return reduced(loss, reduction, begins=_bce)


def _check_probabilities(name, array):
    if array.dtype.kind in dt.WIDENED:
        array = dt.from_bfloat16(array)
    if array.size and not all_within(array, 0.0, 1.0):
        raise RuntimeError(f"all elements of {name} should be between 0 and 1")


@op(name="binary_cross_entropy_with_logits",
    input=expression(lambda g, input, target: g * (expressions.sigmoid(input) - target), 3),
    target=lambda g, input, target: g * -input)
@expression(arrays=2)
def _bce_logits(input, target):
    """An infinite score has an infinite loss, not NaN."""
    return (1.0 - target) * input + (
        expressions.log1p(expressions.exp(-abs(input))) - expressions.minimum(input, 0.0))


def _weighted_part(input, target, pos_weight):
    return ((pos_weight - 1) * target + 1) * _log_sigmoid(input)


def _weighted_logits(input, target, pos_weight):
    return (1 - target) * input - _weighted_part(input, target, pos_weight)


def _weighted_slope(g, input, target, pos_weight):
    positive = pos_weight * target
    return g * ((positive + 1 - target) * sigmoid(input) - positive)


_bce_weighted_logits = op(
    name="binary_cross_entropy_with_logits", elementwise=True, steps=True, input=_weighted_slope,
    target=lambda g, input, target, pos_weight: g * (_log_sigmoid(-input) - _log_sigmoid(input) * pos_weight),
    in_bfloat16=by_steps(_weighted_logits))(_weighted_logits)


@public(python=True, autocast="up", repeats=True)
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None,
                                     size_average: bool | None = None, reduce: bool | None = None,
                                     reduction: str = "mean", pos_weight: Tensor | None = None) -> Tensor:
    """binary_cross_entropy of sigmoid(input), without overflow. `pos_weight` scales the term of target 1.

    ValueError if the sizes differ.

    >>> import tinytorch as torch
    >>> torch.nn.functional.binary_cross_entropy_with_logits(torch.tensor([0., 100.]), torch.tensor([1., 0.]))
    tensor(50.3466)
    """
    reduction = reduction_of(reduction, size_average, reduce)
    check_sized(target, input)
    if target._array.shape != input._array.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    if isinstance(pos_weight, Tensor):
        check_broadcast(pos_weight._array.shape, target._array.shape)
    if weight is not None or pos_weight is not None:
        refuse(binary_cross_entropy_with_logits, input, target, weight, None, None, reduction, pos_weight)
        refuse_gradient("binary_cross_entropy_with_logits", "weight", weight)
        refuse_gradient("binary_cross_entropy_with_logits", "pos_weight", pos_weight)
    if dt.kind(input._array.dtype) not in dt.FLOATING:
        raise not_implemented("log_sigmoid_cpu", input)
    if target._array.dtype.kind in dt.INTEGRAL:
        raise RuntimeError(f"result type Float can't be cast to the desired output type {type_name(target)}")
    same = input._array.dtype == target._array.dtype
    if pos_weight is None and same and input._array.dtype.kind in dt.NATIVE:
        loss = _bce_logits(input, target)
    elif pos_weight is not None and same and pos_weight._array.dtype == input._array.dtype:
        loss = _bce_weighted_logits(input, target, pos_weight)
    else:                                      # torch computes in place: each result is cast to the dtype before it
        rest = logsigmoid(input) if pos_weight is None else converted(_weighted_part(input, target, pos_weight),
                                                                      input._array.dtype)
        loss = converted(converted((1 - target) * input, target._array.dtype) - rest, target._array.dtype)
    if weight is not None:
        loss = converted(loss * weight, loss._array.dtype)
    return reduced(loss, reduction, target, begins=_bce_logits if pos_weight is None else _bce_weighted_logits)


_divergence = expression(lambda input, target: _times_log(target, target) - target * input, 2)
_divergence_of_logs = expression(lambda input, target: expressions.exp(target) * (target - input), 2)


@public(python=True, autocast="up")
def kl_div(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
           reduction: str = "mean", log_target: bool = False) -> Tensor:
    """target * (log(target) - input): Kullback-Leibler divergence of log probabilities `input` from `target`.

    `log_target`: `target` holds logarithms too. "batchmean" divides the sum by the first size.

    >>> import tinytorch as torch
    >>> torch.nn.functional.kl_div(torch.tensor([[0., 0.]]), torch.tensor([[1., 0.]]), reduction="batchmean")
    tensor(0.)
    """
    by_batch = reduction == "batchmean"
    if reduction == "mean" and size_average is None and reduce is None:
        warn("reduction: 'mean' divides the total loss by both the batch size and the support size."
             "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
             "'mean' will be changed to behave the same as 'batchmean' in the next major release.")
    reduction = reduction_of("sum" if by_batch else reduction, size_average, reduce)
    refuse(kl_div, input, target, None, None, reduction, log_target)
    kinds = input._array.dtype.kind + target._array.dtype.kind
    if any(kind in dt.COMPLEX for kind in kinds):
        raise RuntimeError("kl_div: Complex inputs not supported.")
    if any(kind in dt.INTEGRAL for kind in kinds):
        raise RuntimeError("kl_div: Integral inputs not supported.")
    loss = in_one_pass(_divergence_of_logs if log_target else _divergence, reduction, input, target)
    if loss is not None:
        return loss / input.shape[0] if by_batch and input._array.ndim else loss
    if log_target:
        loss = target.exp() * (target - input)
    else:
        loss = target.xlogy(target) - target * input
    loss = reduced(loss, reduction, target, input)
    return loss / input.shape[0] if by_batch and input._array.ndim else loss


_of_log_rates = expression(lambda input, target: expressions.exp(input) - target * input, 2)
_of_rates = expression(lambda input, target, eps: input - target * expressions.log(input + eps), 2)


@public(python=True, autocast="up", repeats=True)
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool = True, full: bool = False,
                     size_average: bool | None = None, eps: float = 1e-8, reduce: bool | None = None,
                     reduction: str = "mean") -> Tensor:
    """Negative log likelihood of counts `target` under Poisson rates exp(input) (`input` itself if not log_input).

    `full` adds Stirling's approximation of log(target!) where target > 1.

    >>> import tinytorch as torch
    >>> torch.nn.functional.poisson_nll_loss(torch.tensor([0., 1.]), torch.tensor([1., 1.]))
    tensor(1.3591)
    """
    reduction = reduction_of(reduction, size_average, reduce, late=True)
    refuse(poisson_nll_loss, input, target, log_input, full, None, eps)
    if not full:
        text, numbers = (_of_log_rates, ()) if log_input else (_of_rates, (float(eps),))
        if (loss := in_one_pass(text, reduction, input, target, numbers=numbers)) is not None:
            return loss
    loss = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (target * (2 * math.pi)).log()
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return reduced(loss, reduction, input, target)


@public(python=True)
def gaussian_nll_loss(input: Tensor, target: Tensor, var: Tensor | float, full: bool = False, eps: float = 1e-6,
                      reduction: str = "mean") -> Tensor:
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
        var = wrap(np.full_like(input._array, var))
    elif not isinstance(var, Tensor):
        raise not_a_tensor("gaussian_nll_loss", "var", 3, var)
    elif (var < 0).any():
        raise ValueError("var has negative entry/entries")
    have, want = var._array.shape, input._array.shape
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
    return reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction, var, input, target)
