"""Losses as layers. Each calls the function of its name in torch.nn.functional, which says what it computes."""
import math
import warnings

from ...ops.nn.cross_entropy import reduction_of
from .. import functional as F
from .distance import PairwiseDistance
from .linear import Linear
from .module import Module

__all__ = ["BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CrossEntropyLoss", "GaussianNLLLoss",
           "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "LinearCrossEntropyLoss", "MSELoss",
           "MarginRankingLoss", "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss", "NLLLoss",
           "NLLLoss2d", "PoissonNLLLoss", "SmoothL1Loss", "SoftMarginLoss", "TripletMarginLoss",
           "TripletMarginWithDistanceLoss"]


class _Loss(Module):
    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        deprecated = size_average is not None or reduce is not None
        self.reduction = reduction_of("mean", size_average, reduce, 3) if deprecated else reduction


class _WeightedLoss(_Loss):
    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class L1Loss(_Loss):
    """|x - y|. See torch.nn.functional.l1_loss.

    input and target of the same sizes, or sizes that broadcast. `reduction`: "none", "mean" or "sum".

    >>> import tinytorch as torch
    >>> torch.nn.L1Loss()(torch.tensor([1., 2.]), torch.tensor([0., 4.]))
    tensor(1.5000)
    """

    __constants__ = ["reduction"]

    def forward(self, input, target):
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """(x - y)^2. See torch.nn.functional.mse_loss.

    input and target of the same sizes, or sizes that broadcast. `reduction`: "none", "mean" or "sum".

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
    torch.nn.functional.huber_loss. TypeError for a delta that is no number.

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

    input (N, C, d1, ...) or (C), target (N, d1, ...) or (); targets `ignore_index` do not count. The mean is divided by
    the sum of the weights.

    >>> import tinytorch as torch
    >>> torch.nn.NLLLoss()(torch.tensor([[0.25, 0.75]]).log(), torch.tensor([1]))
    tensor(0.2877)
    """

    __constants__ = ["ignore_index", "reduction"]

    def __init__(self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input, target):
        return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class NLLLoss2d(NLLLoss):
    """Deprecated (FutureWarning): NLLLoss takes images too.

    >>> import tinytorch as torch
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     print(torch.nn.NLLLoss2d())
    NLLLoss2d()
    """

    def __init__(self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
        warnings.warn("`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in replacement and see "
                      "https://pytorch.org/docs/main/nn.html#torch.nn.NLLLoss for more details.", FutureWarning,
                      stacklevel=2)
        super().__init__(weight, size_average, ignore_index, reduce, reduction)


class CrossEntropyLoss(_WeightedLoss):
    """-log of the probability that softmax(x) gives the class y. See torch.nn.functional.cross_entropy.

    input (N, C, d1, ...) or (C); target (N, d1, ...) or () of classes, or probabilities of the input's sizes.
    `label_smoothing` spreads so much of the target over all classes (Szegedy et al. 2015).

    >>> import tinytorch as torch
    >>> torch.nn.CrossEntropyLoss()(torch.zeros(3, 4), torch.tensor([0, 1, 3]))
    tensor(1.3863)
    """

    __constants__ = ["ignore_index", "reduction", "label_smoothing"]

    def __init__(self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
                 label_smoothing=0.0):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def forward(self, input, target):
        return F.cross_entropy(input, target, weight=self.weight, ignore_index=self.ignore_index,
                               label_smoothing=self.label_smoothing, reduction=self.reduction)


class LinearCrossEntropyLoss(_WeightedLoss):
    """Cross entropy of what the layer `linear` makes of features. See torch.nn.functional.linear_cross_entropy.

    input (N, in_features) or (in_features), scores (N, num_classes, *out_features). RuntimeError for a `weight` of
    another size than num_classes, or for smoothing outside [0, 1].

    >>> import tinytorch as torch
    >>> torch.nn.LinearCrossEntropyLoss(5, 3)(torch.ones(2, 5), torch.tensor([0, 2])).shape
    torch.Size([])
    """

    __constants__ = ["num_classes", "out_features", "reduction", "ignore_index", "label_smoothing"]

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
            input, self.linear.weight.reshape(*size, self.linear.in_features), target,
            linear_bias=None if bias is None else bias.reshape(size), weight=self.weight, reduction=self.reduction,
            ignore_index=self.ignore_index, label_smoothing=self.label_smoothing, options=self.options)

    def extra_repr(self):
        return (f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
                f"out_features={self.out_features}, bias={self.linear.bias is not None}, reduction={self.reduction}, "
                f"ignore_index={self.ignore_index}, label_smoothing={self.label_smoothing}, options={self.options}")


class BCELoss(_WeightedLoss):
    """-weight (y log p + (1 - y) log(1 - p)) of probabilities p; logs below -100 count as -100. See
    torch.nn.functional.binary_cross_entropy. RuntimeError for p outside [0, 1], ValueError for other sizes than the
    target's.

    >>> import tinytorch as torch
    >>> torch.nn.BCELoss()(torch.tensor([0.5, 0.25]), torch.tensor([1., 0.]))
    tensor(0.4904)
    """

    __constants__ = ["reduction"]

    def forward(self, input, target):
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """BCELoss of sigmoid(x), without overflow; `pos_weight` multiplies the part of y. See
    torch.nn.functional.binary_cross_entropy_with_logits. ValueError for other sizes than the target's.

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
    """y (log y - x) of log probabilities x, with `log_target` exp(y) (y - x) (Kullback and Leibler 1951). See
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
    """exp(x) - y x, or with log_input=False x - y log(x + eps), of counts y; `full` adds Stirling's log(y!). See
    torch.nn.functional.poisson_nll_loss.

    >>> import tinytorch as torch
    >>> torch.nn.PoissonNLLLoss()(torch.zeros(2), torch.tensor([0., 3.]))
    tensor(1.)
    """

    __constants__ = ["log_input", "full", "eps", "reduction"]

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

    def __init__(self, *, full=False, eps=1e-6, reduction="mean"):
        super().__init__(reduction=reduction)
        self.full, self.eps = full, eps

    def forward(self, input, target, var):
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class HingeEmbeddingLoss(_Loss):
    """x where y is 1, max(0, margin - x) where it is -1. See torch.nn.functional.hinge_embedding_loss.

    >>> import tinytorch as torch
    >>> torch.nn.HingeEmbeddingLoss(reduction="none")(torch.tensor([0.5, 0.25]), torch.tensor([1, -1]))
    tensor([0.5000, 0.7500])
    """

    __constants__ = ["margin", "reduction"]

    def __init__(self, margin=1.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input, target):
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(_Loss):
    """1 - cos where y is 1, max(0, cos - margin) where it is -1, cos of the angle of two vectors. See
    torch.nn.functional.cosine_embedding_loss.

    input1 and input2 (N, D), target (N), or (D) and ().

    >>> import tinytorch as torch
    >>> torch.nn.CosineEmbeddingLoss()(torch.tensor([[1., 0.]]), torch.tensor([[0., 2.]]), torch.tensor([1]))
    tensor(1.)
    """

    __constants__ = ["margin", "reduction"]

    def __init__(self, margin=0.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1, input2, target):
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MarginRankingLoss(_Loss):
    """max(0, margin - y (x1 - x2)): x1 should be larger where y is 1, smaller where it is -1. See
    torch.nn.functional.margin_ranking_loss.

    >>> import tinytorch as torch
    >>> torch.nn.MarginRankingLoss(reduction="none")(torch.tensor([1., 2.]), torch.zeros(2), torch.tensor([1, -1]))
    tensor([0., 2.])
    """

    __constants__ = ["margin", "reduction"]

    def __init__(self, margin=0.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1, input2, target):
        return F.margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class SoftMarginLoss(_Loss):
    """log(1 + exp(-y x)). See torch.nn.functional.soft_margin_loss.

    >>> import tinytorch as torch
    >>> torch.nn.SoftMarginLoss()(torch.zeros(2), torch.tensor([1., -1.]))
    tensor(0.6931)
    """

    __constants__ = ["reduction"]

    def forward(self, input, target):
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """The sum over other classes i of weight[y] max(0, margin - x[y] + x[i])^p, divided by C. See
    torch.nn.functional.multi_margin_loss.

    input (N, C) or (C), target (N) or (). ValueError for a p other than 1 and 2.

    >>> import tinytorch as torch
    >>> torch.nn.MultiMarginLoss()(torch.tensor([[0.1, 0.2, 0.9]]), torch.tensor([2]))
    tensor(0.1667)
    """

    __constants__ = ["p", "margin", "reduction"]

    def __init__(self, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.dim() != 1:
            raise ValueError(f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.dim()}D instead")
        self.p, self.margin = p, margin

    def forward(self, input, target):
        return F.multi_margin_loss(input, target, p=self.p, margin=self.margin, weight=self.weight,
                                   reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """The sum over classes j of the target and i not of it of max(0, 1 - x[j] + x[i]), divided by C. See
    torch.nn.functional.multilabel_margin_loss.

    input (N, C) or (C), target of its sizes: classes, ended by -1.

    >>> import tinytorch as torch
    >>> torch.nn.MultiLabelMarginLoss()(torch.tensor([0.1, 0.2, 0.4, 0.8]), torch.tensor([3, 0, -1, 1]))
    tensor(0.8500)
    """

    __constants__ = ["reduction"]

    def forward(self, input, target):
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The mean over classes of weight BCEWithLogitsLoss. See torch.nn.functional.multilabel_soft_margin_loss.

    input (N, C) or (C), target of its sizes: 1 for each class that is true.

    >>> import tinytorch as torch
    >>> torch.nn.MultiLabelSoftMarginLoss()(torch.zeros(1, 2), torch.tensor([[1., 0.]]))
    tensor(0.6931)
    """

    __constants__ = ["reduction"]

    def forward(self, input, target):
        return F.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


class TripletMarginLoss(_Loss):
    """max(0, |a - b|_p - |a - n|_p + margin) of an anchor a, a positive b and a negative n (Balntas et al. 2016);
    `swap` takes |b - n| where it is smaller. See torch.nn.functional.triplet_margin_loss.

    >>> import tinytorch as torch
    >>> torch.nn.TripletMarginLoss()(torch.zeros(1, 2), torch.ones(1, 2), torch.ones(1, 2))
    tensor(1.0000)
    """

    __constants__ = ["margin", "p", "eps", "swap", "reduction"]

    def __init__(self, margin=1.0, p=2.0, eps=1e-6, swap=False, size_average=None, reduce=None,
                 reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead")
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap

    def forward(self, anchor, positive, negative):
        return F.triplet_margin_loss(anchor, positive, negative, margin=self.margin, p=self.p, eps=self.eps,
                                     swap=self.swap, reduction=self.reduction)


class TripletMarginWithDistanceLoss(_Loss):
    """TripletMarginLoss with any distance, by default PairwiseDistance(). See
    torch.nn.functional.triplet_margin_with_distance_loss.

    >>> import tinytorch as torch
    >>> torch.nn.TripletMarginWithDistanceLoss(margin=2.0)(torch.zeros(1, 2), torch.ones(1, 2), torch.ones(1, 2))
    tensor(2.)
    """

    __constants__ = ["margin", "swap", "reduction"]

    def __init__(self, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
        super().__init__(reduction=reduction)
        if margin <= 0:
            raise ValueError("TripletMarginWithDistanceLoss: expected margin to be greater than 0, got "
                             f"{margin} instead")
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function
        self.margin, self.swap = margin, swap

    def forward(self, anchor, positive, negative):
        return F.triplet_margin_with_distance_loss(anchor, positive, negative, distance_function=self.distance_function,
                                                   margin=self.margin, swap=self.swap, reduction=self.reduction)


class CTCLoss(_Loss):
    """Connectionist temporal classification (Graves et al. 2006): -log of the probability of all alignments of a target
    to the steps. See torch.nn.functional.ctc_loss.

    log_probs (T, N, C) or (T, C), targets (N, S) or one after the other, both with their lengths. `zero_infinity`: 0
    for targets that are too long.

    >>> import tinytorch as torch
    >>> torch.nn.CTCLoss()(torch.full((4, 1, 3), 1 / 3).log(), torch.tensor([[1, 2]]), [4], [2])
    tensor(0.8432)
    """

    __constants__ = ["blank", "reduction"]

    def __init__(self, blank=0, reduction="mean", zero_infinity=False):
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(self, log_probs, targets, input_lengths, target_lengths):
        return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction,
                          self.zero_infinity)
