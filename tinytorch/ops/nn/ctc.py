"""Connectionist temporal classification loss."""
from __future__ import annotations

import math

import numpy as np

from ... import dtypes as dt
from ...arguments import ints_of
from ...autograd.grad_mode import mode
from ...autograd.op import op
from ...autograd.public import public, refuse
from ...errors import not_implemented
from ...kernels import ctc as kernels
from ...kinds.lazy import StandIn
from ...kinds.one_step import one_step
from ...tensor import Tensor, wrap
from ...types import Ints
from ..elementwise.where import where
from .cross_entropy import reduction_of


def _no_second_derivative(g):
    raise RuntimeError("derivative for aten::_ctc_loss_backward is not implemented")


@op(name="ctc_loss_backward", g=_no_second_derivative, log_probs=_no_second_derivative)
def _ctc_loss_backward(g, log_probs, frames, lengths, zero_infinity, saved):
    result = kernels.gradient(np.asarray(g), log_probs, frames, lengths, saved)
    if zero_infinity:
        result[:, np.isinf(saved[-1])] = 0
    return result


def _ctc_grad(g, log_probs, *settings):
    if mode.computing_jvp:
        raise NotImplementedError("Trying to use forward AD with _ctc_loss that does not support it because it has not "
                                  "been implemented yet.")
    return _ctc_loss_backward(g, log_probs, *settings)


@op(name="ctc_loss", aux=True, log_probs=lambda g, ans, log_probs, targets, counts, zero_infinity, aux: _ctc_grad(
    g, log_probs, *counts, zero_infinity, aux))
def _ctc_loss(log_probs, targets, counts, labels, blank, zero_infinity):
    return kernels.losses(log_probs, *labels, *counts, blank)


def _lengths(name, values, position):
    values = values._array if isinstance(values, Tensor) else np.array(ints_of(values, "ctc_loss", name, position))
    if values.dtype.kind not in dt.INTEGER:
        raise RuntimeError(f"{name} must be integral")
    values = values.astype(np.int64)
    return values if values.ndim else values.reshape(1)


@public(python=True, autocast="up")
def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Ints, target_lengths: Tensor | Ints,
             blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> Tensor:
    """-log of the probability that the frames spell the labels, repeats and blanks removed.

    `log_probs` (T, N, C), or (T, C): from log_softmax. `targets` (N, S), or all labels one after the other (1-D).
    Lengths are tensors or sequences of N integers. "mean" first divides each loss by its number of labels.
    `zero_infinity`: the loss of labels that do not fit into the frames is 0. RuntimeError for lengths that do not fit.

    >>> import tinytorch as torch
    >>> scores = torch.full((4, 1, 3), 1 / 3).log()
    >>> torch.nn.functional.ctc_loss(scores, torch.tensor([[1, 2]]), (4,), (2,), reduction="sum")
    tensor(1.6864)
    """
    reduction = reduction_of(reduction)
    refuse(ctc_loss, log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)
    if isinstance(input_lengths, Tensor) != isinstance(target_lengths, Tensor):
        raise TypeError("ctc_loss() received an invalid combination of arguments - input_lengths and target_lengths "
                        "must both be Tensors or both be tuples of ints")
    frames, lengths = _lengths("input_lengths", input_lengths, 3), _lengths("target_lengths", target_lengths, 4)
    if log_probs._array.dtype.kind not in dt.NATIVE or log_probs._array.itemsize == 2:
        raise not_implemented("ctc_loss_cpu", log_probs)
    single = log_probs._array.ndim == 2
    if single:
        log_probs = log_probs.unsqueeze(1)
    steps, batch, classes = log_probs._array.shape
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    for name, values in (("input_lengths", frames), ("target_lengths", lengths)):
        if len(values) != batch:
            raise RuntimeError(f"{name} must be of size batch_size")
        if values.size and (least := _extreme(min, values)) < 0:
            raise RuntimeError(f"Expected {name} to have value at least 0, but got value {least}")
    if frames.size and (most := _extreme(max, frames)) > steps:
        raise RuntimeError(f"Expected input_lengths to have value at most {steps}, but got value {most} "
                           "(while checking arguments for ctc_loss_allocate_outputs)")
    padded = _padded(targets._array.astype(np.int64), lengths, batch, blank, log_probs)
    loss = _ctc_loss(log_probs, targets, (frames, lengths), (padded,), blank, zero_infinity)
    if zero_infinity:
        loss = where(loss == math.inf, 0.0, loss)
    if reduction == "mean":
        return (loss / wrap(np.maximum(lengths, 1).astype(loss._array.dtype))).mean()
    if reduction == "sum":
        return loss.sum()
    return loss.squeeze(0) if single else loss


def _extreme(function, values):
    """`min` or `max` of an array of few numbers, which Python finds sooner than NumPy."""
    if type(values) is np.ndarray:
        return function(values.tolist())
    found = getattr(values, function.__name__)()
    return found.relied_on() if isinstance(found, StandIn) else found


@one_step
def _in_rows(labels, lengths, batch, width, blank):
    padded = np.full((batch, width), blank)
    padded[np.arange(width) < lengths[:, None]] = labels
    return padded


def _padded(labels, lengths, batch, blank, log_probs):
    """The labels as an array (batch, longest), padded with `blank`. RuntimeError if their sizes do not fit."""
    width = int(_extreme(max, lengths)) if lengths.size else 0
    if labels.ndim == 1:
        if labels.size != lengths.sum():
            raise RuntimeError(f"Expected tensor to have size {lengths.sum()} at dimension 0, but got size "
                               f"{labels.size} for argument #2 'targets' (while checking arguments for "
                               "ctc_loss_allocate_outputs)")
        return _in_rows(labels, lengths, batch, width, blank)
    if len(labels) != batch:
        raise RuntimeError(f"Expected tensor to have size {batch} at dimension 0, but got size {len(labels)} for "
                           "argument #2 'targets' (while checking arguments for ctc_loss_allocate_outputs)")
    if not log_probs._array.size:
        raise RuntimeError("log_probs tensor must not be empty")
    labels = labels.reshape(batch, -1)
    if labels.shape[1] < width:
        raise RuntimeError(f"Expected tensor to have size at least {width} at dimension 1, but got size "
                           f"{labels.shape[1]} for argument #2 'targets' (while checking arguments for "
                           "ctc_loss_allocate_outputs)")
    if not lengths.size or _extreme(min, lengths) == width:
        return labels[:, :width].copy()
    return np.where(np.arange(width) < lengths[:, None], labels[:, :width], blank)
