"""Losses as layers. Each calls the function of its name in torch.nn.functional, where the formula is."""
from __future__ import annotations

import math

from ...errors import warn
from .. import functional as F
from .linear import Linear
from .linear_cross_entropy_options import LinearCrossEntropyOptions
from .margin_loss import (
    CosineEmbeddingLoss,
    HingeEmbeddingLoss,
    MarginRankingLoss,
    MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    SoftMarginLoss,
    TripletMarginLoss,
    TripletMarginWithDistanceLoss,
)
from .reduced import _Loss, _WeightedLoss

__all__ = ["BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CrossEntropyLoss", "GaussianNLLLoss",
           "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "LinearCrossEntropyLoss", "MSELoss",
           "MarginRankingLoss", "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss", "NLLLoss",
           "NLLLoss2d", "PoissonNLLLoss", "SmoothL1Loss", "SoftMarginLoss", "TripletMarginLoss",
           "TripletMarginWithDistanceLoss"]


class L1Loss(_Loss):
    """|x - y|. See torch.nn.functional.l1_loss.

    input and target have the same sizes, or sizes that broadcast. `reduction`: "none", "mean" or "sum".

    >>> import tinytorch as torch
    >>> torch.nn.L1Loss()(torch.tensor([1., 2.]), torch.tensor([0., 4.]))
    tensor(1.5000)
    """

    __constants__ = ["reduction"]

    def forward(self, input, target):
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """(x - y)^2. See torch.nn.functional.mse_loss.

    input and target have the same sizes, or sizes that broadcast. `reduction`: "none", "mean" or "sum".

    >>> import tinytorch as torch
    >>> torch.nn.MSELoss()(torch.tensor([1., 2.]), torch.tensor([0., 4.]))
    tensor(2.5000)
    """

    __constants__ = ["reduction"]

    def forward(self, input, target):
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """(x - y)^2 / (2 beta) where |x - y| < beta, else |x - y| - beta / 2 (Girshick 2015). See
    torch.nn.functional.smooth_l1_loss. RuntimeError for a negative beta.

    >>> import tinytorch as torch
    >>> torch.nn.SmoothL1Loss(reduction="none")(torch.tensor([1., 2.]), torch.tensor([0., 4.]))
    tensor([0.5000, 1.5000])
    """

    __constants__ = ["reduction"]

    def __init__(self, size_average=None, reduce=None, reduction="mean", beta=1.0):
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input, target):
        return F.smooth_l1_loss(input, target, beta=self.beta, reduction=self.reduction)


class HuberLoss(_Loss):
    """(x - y)^2 / 2 where |x - y| < delta, else delta (|x - y| - delta / 2) (Huber 1964). See
    torch.nn.functional.huber_loss. TypeError for a delta that is not a number.

    >>> import tinytorch as torch
    >>> torch.nn.HuberLoss("sum", delta=0.5)(torch.tensor([1., 2.]), torch.tensor([0., 4.]))
    tensor(1.2500)
    """

    __constants__ = ["reduction", "delta"]

    def __init__(self, reduction="mean", delta=1.0):
        super().__init__(reduction=reduction)
        if not isinstance(delta, (int, float)):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        self.delta = delta

    def forward(self, input, target):
        return F.huber_loss(input, target, delta=self.delta, reduction=self.reduction)


class NLLLoss(_WeightedLoss):
    """-weight[y] x[y], where x holds log probabilities. See torch.nn.functional.nll_loss.

    input (N, C, d1, ...) or (C), target (N, d1, ...) or (). Targets equal to `ignore_index` do not count. The mean is
    divided by the sum of the weights.

    >>> import tinytorch as torch
    >>> torch.nn.NLLLoss()(torch.tensor([[0.25, 0.75]]).log(), torch.tensor([1]))
    tensor(0.2877)
    """

    __constants__ = ["ignore_index", "reduction"]
    ignore_index: int

    def __init__(self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input, target):
        return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class NLLLoss2d(NLLLoss):
    """Deprecated (FutureWarning): NLLLoss accepts images, too.

    >>> import tinytorch as torch
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     print(torch.nn.NLLLoss2d())
    NLLLoss2d()
    """

    def __init__(self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
        warn("`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in replacement and see "
             "https://pytorch.org/docs/main/nn.html#torch.nn.NLLLoss for more details.", FutureWarning)
        super().__init__(weight, size_average, ignore_index, reduce, reduction)


class CrossEntropyLoss(_WeightedLoss):
    """-log of the probability that softmax(x) gives the class y. See torch.nn.functional.cross_entropy.

    input (N, C, d1, ...) or (C); target (N, d1, ...) or () of classes, or probabilities of the input's sizes.
    `label_smoothing` is the fraction of the target that is spread over all classes (Szegedy et al. 2015).

    >>> import tinytorch as torch
    >>> torch.nn.CrossEntropyLoss()(torch.zeros(3, 4), torch.tensor([0, 1, 3]))
    tensor(1.3863)
    """

    __constants__ = ["ignore_index", "reduction", "label_smoothing"]
    ignore_index: int
    label_smoothing: float

    def __init__(self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
                 label_smoothing=0.0):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def forward(self, input, target):
        return F.cross_entropy(input, target, weight=self.weight, ignore_index=self.ignore_index,
                               label_smoothing=self.label_smoothing, reduction=self.reduction)


class LinearCrossEntropyLoss(_WeightedLoss):
    """Cross entropy of linear(features). See torch.nn.functional.linear_cross_entropy.

    input (N, in_features) or (in_features), scores (N, num_classes, *out_features). RuntimeError for a `weight` of
    another size than num_classes, or for a smoothing outside [0, 1].

    >>> import tinytorch as torch
    >>> torch.nn.LinearCrossEntropyLoss(5, 3)(torch.ones(2, 5), torch.tensor([0, 2])).shape
    torch.Size([])
    """

    __constants__ = ["num_classes", "out_features", "reduction", "ignore_index", "label_smoothing"]
    num_classes: int
    out_features: tuple[int, ...]
    reduction: str
    ignore_index: int | None
    label_smoothing: float
    options: LinearCrossEntropyOptions | None

    def __init__(self, in_features, num_classes, *, out_features=(), bias=False, device=None, dtype=None,
                 reduction="mean", weight=None, ignore_index=None, label_smoothing=0.0, options=None):
        if weight is not None and weight.shape != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__(weight, reduction=reduction)
        self.num_classes, self.out_features = num_classes, out_features
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
        self.linear = Linear(in_features, num_classes * math.prod(out_features), bias=bias, device=device, dtype=dtype)
        self.options = options

    def forward(self, input, target):
        size = self.num_classes, *self.out_features
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input, self.linear.weight.reshape((*size, self.linear.in_features)), target,
            linear_bias=None if bias is None else bias.reshape(size), weight=self.weight, reduction=self.reduction,
            ignore_index=self.ignore_index, label_smoothing=self.label_smoothing, options=self.options)

    def extra_repr(self):
        return (f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
                f"out_features={self.out_features}, bias={self.linear.bias is not None}, reduction={self.reduction}, "
                f"ignore_index={self.ignore_index}, label_smoothing={self.label_smoothing}, options={self.options}")


class BCELoss(_WeightedLoss):
    """-weight (y log p + (1 - y) log(1 - p)) of probabilities p; logs below -100 count as -100. See
    torch.nn.functional.binary_cross_entropy. RuntimeError for p outside [0, 1], ValueError if the sizes differ from
    those of the target.

    >>> import tinytorch as torch
    >>> torch.nn.BCELoss()(torch.tensor([0.5, 0.25]), torch.tensor([1., 0.]))
    tensor(0.4904)
    """

    __constants__ = ["reduction"]

    def forward(self, input, target):
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """BCELoss of sigmoid(x), without overflow; `pos_weight` multiplies the part of y. See
    torch.nn.functional.binary_cross_entropy_with_logits. ValueError if the sizes differ from those of the target.

    >>> import tinytorch as torch
    >>> torch.nn.BCEWithLogitsLoss()(torch.zeros(2), torch.tensor([1., 0.]))
    tensor(0.6931)
    """

    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input, target):
        return F.binary_cross_entropy_with_logits(input, target, self.weight, pos_weight=self.pos_weight,
                                                  reduction=self.reduction)


class KLDivLoss(_Loss):
    """y (log y - x) for log probabilities x, or exp(y) (y - x) with `log_target` (Kullback and Leibler 1951). See
    torch.nn.functional.kl_div. `reduction`: "batchmean" divides the sum by the size of the batch.

    >>> import tinytorch as torch
    >>> torch.nn.KLDivLoss(reduction="batchmean")(torch.tensor([[0.5, 0.5]]).log(), torch.tensor([[0.25, 0.75]]))
    tensor(0.1308)
    """

    __constants__ = ["reduction"]

    def __init__(self, size_average=None, reduce=None, reduction="mean", log_target=False):
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input, target):
        return F.kl_div(input, target, log_target=self.log_target, reduction=self.reduction)


class PoissonNLLLoss(_Loss):
    """exp(x) - y x, or x - y log(x + eps) with log_input=False, for counts y; `full` adds Stirling's log(y!). See
    torch.nn.functional.poisson_nll_loss.

    >>> import tinytorch as torch
    >>> torch.nn.PoissonNLLLoss()(torch.zeros(2), torch.tensor([0., 3.]))
    tensor(1.)
    """

    __constants__ = ["log_input", "full", "eps", "reduction"]
    log_input: bool
    full: bool
    eps: float

    def __init__(self, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input, target):
        return F.poisson_nll_loss(log_input, target, log_input=self.log_input, full=self.full, eps=self.eps,
                                  reduction=self.reduction)


class GaussianNLLLoss(_Loss):
    """(log v + (x - y)^2 / v) / 2 with variances v of at least eps; `full` adds log(2 pi) / 2. See
    torch.nn.functional.gaussian_nll_loss. ValueError for negative variances.

    >>> import tinytorch as torch
    >>> torch.nn.GaussianNLLLoss()(torch.tensor([1., 2.]), torch.tensor([0., 4.]), torch.ones(2))
    tensor(1.2500)
    """

    __constants__ = ["full", "eps", "reduction"]
    full: bool
    eps: float

    def __init__(self, *, full=False, eps=1e-6, reduction="mean"):
        super().__init__(reduction=reduction)
        self.full, self.eps = full, eps

    def forward(self, input, target, var):
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class CTCLoss(_Loss):
    """Connectionist temporal classification (Graves et al. 2006): -log of the probability of all alignments of a target
    with the steps. See torch.nn.functional.ctc_loss.

    log_probs (T, N, C) or (T, C); targets (N, S), or all targets in one row; both with their lengths. With
    `zero_infinity`, the loss of targets that are too long is 0.

    >>> import tinytorch as torch
    >>> torch.nn.CTCLoss()(torch.full((4, 1, 3), 1 / 3).log(), torch.tensor([[1, 2]]), [4], [2])
    tensor(0.8432)
    """

    __constants__ = ["blank", "reduction"]
    blank: int
    zero_infinity: bool

    def __init__(self, blank=0, reduction="mean", zero_infinity=False):
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(self, log_probs, targets, input_lengths, target_lengths):
        return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction,
                          self.zero_infinity)
