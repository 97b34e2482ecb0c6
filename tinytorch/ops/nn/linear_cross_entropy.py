"""Cross entropy of the scores of a linear layer, computed for the whole batch or piece by piece."""
from __future__ import annotations

import math
from typing import Any

from ... import dtypes as dt
from ...autograd.function import Function
from ...autograd.grad_mode import enable_grad, mode
from ...autograd.public import public
from ...autograd.tensor_methods import grad as gradients
from ...errors import warn
from ...tensor import Tensor
from ..creation.factories import zeros_like
from ..layout.join import cat
from ..linalg.products import linear
from .cross_entropy import REDUCTIONS, cross_entropy


# ------------------------------------------------------------------ in pieces of the batch
def _piecewise(target, bias, reduction, label_smoothing, more):
    """Whether torch computes this loss in pieces. Warns in torch's words if it does not."""
    if reduction in REDUCTIONS and label_smoothing == 0 and target.dtype is dt.int64 and not more:
        return True
    warn("linear_cross_entropy: ``options`` ignored; chunked path needs reduction in {'mean','sum','none'}, "
         f"label_smoothing == 0, target.dtype == int64, out_features == (). Got reduction={reduction!r}, "
         f"label_smoothing={label_smoothing}, target.dtype={target.dtype}, out_features={more}, "
         f"tracing=False, linear_bias.shape={None if bias is None else tuple(bias.shape)}.")
    return False


def _rows(options, batch, features, classes):
    """The number of rows of a piece. ValueError if the given size differs from the one that the method gives."""
    method, size = options.chunking_method, options.batch_chunk_size
    if method is None or method == "auto" and size is not None:
        return max(1, batch if size is None else min(size, batch))
    factor = 2 if method == "auto" else int(method.partition(":")[2] or 1)
    wanted = -(-batch // -(-classes // features))      # both rounded up
    rows = min((1 << (wanted - 1).bit_length()) // factor, batch)
    if size not in (None, rows):
        raise ValueError(f"batch_chunk_size (={size}) and chunking_method ('{method}') give different chunk sizes "
                         f"({size} vs {rows}); pass only one.")
    return max(1, rows)


def _in_pieces(input, weight, bias, target, of_classes, reduction, ignore_index, options):
    batched = input.dim() == 2
    if not batched:
        input, target = input.unsqueeze(0), target.unsqueeze(0)
    rows = _rows(options, input.shape[0], input.shape[1], weight.shape[0])
    if reduction == "none":
        loss = _Each.apply(input, weight, bias, target, of_classes, ignore_index, rows)
        return loss if batched else loss.squeeze(0)
    return _Together.apply(input, weight, bias, target, of_classes, ignore_index, rows, reduction,
                           options.allow_retain_graph)


def _pieces(input, weight, bias, target, of_classes, ignore_index, rows, reduction):
    """Yields (losses, the leaves from which they were computed) for each piece."""
    weight, bias, of_classes = [None if x is None else _single(x) for x in (weight, bias, of_classes)]
    for leaf in (weight, bias):
        if leaf is not None:
            leaf.requires_grad_()
    for begin in range(0, len(input), rows):
        x = _single(input[begin:begin + rows]).requires_grad_()
        with enable_grad():
            loss = cross_entropy(linear(x, weight, bias), target[begin:begin + rows], of_classes,
                                 ignore_index=ignore_index, reduction=reduction)
        yield loss, [x, weight] if bias is None else [x, weight, bias]


def _single(x):
    """`x` detached, and in single precision if it is in half."""
    x = x.detach()
    return x.float() if x._array.dtype.itemsize == 2 else x


def _added_up(found, weight, bias):
    """The gradients of all pieces: those of the inputs joined, those of the weight and the bias added up."""
    of_inputs, sums = [], [zeros_like(_single(x)) for x in (weight, bias) if x is not None]
    for of_input, *others in found:
        of_inputs.append(of_input)
        for total, part in zip(sums, others):
            total.add_(part)
    return [cat(of_inputs), *sums, *[None] * (bias is None)]


class _Together(Function):
    """The sum or mean. Forward computes the gradients too."""

    @staticmethod
    def forward(ctx, input, weight, bias, target, of_classes, ignore_index, rows, reduction, again):
        loss, found = 0, []
        wanted = any(ctx.needs_input_grad[:3])
        for part, leaves in _pieces(input, weight, bias, target, of_classes, ignore_index, rows, "sum"):
            loss = loss + part.detach()
            if wanted:
                found.append(gradients(part, leaves))
        counted = target != ignore_index
        count = 1
        if reduction == "mean":
            count = counted.sum() if of_classes is None else _single(of_classes)[target[counted]].sum()
        ctx.again = again
        ctx.gradients = []
        if wanted:
            ctx.gradients = [None if g is None else (g / count).to(input.dtype)
                             for g in _added_up(found, weight, bias)]
        return (loss / count).to(input.dtype)

    @staticmethod
    def backward(ctx, grad):
        found = ctx.gradients
        if found is None:
            raise RuntimeError("linear_cross_entropy chunked backward called twice; retain_graph=True / double "
                               "backward are not supported.")
        if not ctx.again:
            ctx.gradients = None
        return (*[g if g is None else g * grad for g in found], *[None] * 6)


class _Each(Function):
    """The loss of each sample; backward computes the pieces anew."""

    @staticmethod
    def forward(ctx, *args):
        ctx.save_for_backward(*args[:5])
        ctx.settings = args[5:]
        return cat([part.detach() for part, _ in _pieces(*args, "none")]).to(args[0].dtype)

    @staticmethod
    def backward(ctx, grad):
        args = (*ctx.saved_tensors, *ctx.settings)
        rows = args[-1]
        found = (gradients(part, leaves, _single(grad[i * rows:(i + 1) * rows]))
                 for i, (part, leaves) in enumerate(_pieces(*args, "none")))
        return (*[g if g is None else g.to(grad.dtype) for g in _added_up(found, args[1], args[2])], *[None] * 4)


# ------------------------------------------------------------------ the function
@public(python=True, autocast="up")
def linear_cross_entropy(input: Tensor, linear_weight: Tensor, target: Tensor, *, linear_bias: Tensor | None = None,
                         weight: Tensor | None = None, reduction: str = "mean", ignore_index: int | None = None,
                         label_smoothing: float = 0.0, options: Any = None) -> Tensor:
    """`cross_entropy` of linear(input, linear_weight, linear_bias).

    `input` (N, in_features) or (in_features), `linear_weight` (C, in_features) or, with a batch, (C, d1, ...,
    in_features), `linear_bias` of the same sizes without the last; `target` and the rest as in `cross_entropy`.
    `ignore_index` None stands for -100; no other value may be given with probabilities as targets. RuntimeError for
    sizes that do not fit.

    With `options` (LinearCrossEntropyOptions) the batch is computed in pieces, so that the scores of the whole batch
    never exist at once. The forward pass of a sum or mean computes the gradients too, and backward may run once, unless
    `allow_retain_graph` is set. This needs class targets, a weight (C, in_features) and no smoothing. Otherwise the
    call warns (UserWarning) and computes all at once, as it does within vmap without a warning. Sums of half precision
    are computed in single precision.

    >>> import tinytorch as torch
    >>> torch.nn.functional.linear_cross_entropy(torch.ones(2, 3), torch.zeros(4, 3), torch.tensor([0, 3]))
    tensor(1.3863)
    """
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if linear_weight.dim() < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {linear_weight.dim()}")
    *batch, features = input.shape
    *outputs, found = linear_weight.shape
    if found != features:
        raise RuntimeError("expected equal input and linear_weight last dimensions (in_features), got "
                           f"{features} and {found}, respectively")
    if linear_bias is not None and tuple(linear_bias.shape) != tuple(outputs):
        raise RuntimeError(f"expected linear_bias shape {tuple(outputs)}, got {tuple(linear_bias.shape)}")
    if len(outputs) > 1 and not batch:
        raise RuntimeError(f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} requires "
                           f"batched input, (N, {features}), got unbatched input with shape {tuple(input.shape)}")
    if target.shape == (*batch, *outputs) and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    ignore_index = -100 if ignore_index is None else ignore_index
    if options is not None and _piecewise(target, linear_bias, reduction, label_smoothing, tuple(outputs[1:])) and not (
            mode.vmap_levels and not mode.grad_levels):
        return _in_pieces(input, linear_weight, linear_bias, target, weight, reduction, ignore_index, options)
    if len(outputs) > 1:
        linear_weight = linear_weight.reshape(math.prod(outputs), features)
        linear_bias = None if linear_bias is None else linear_bias.reshape(-1)
    scores = linear(input, linear_weight, linear_bias).reshape(*batch, *outputs)
    return cross_entropy(scores, target, weight=weight, reduction=reduction,
                         ignore_index=ignore_index, label_smoothing=label_smoothing)
