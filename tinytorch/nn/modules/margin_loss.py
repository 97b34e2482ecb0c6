"""Losses with a margin as layers. Each calls the function of its name in torch.nn.functional."""
from __future__ import annotations

from .. import functional as F
from .distance import PairwiseDistance
from .reduced import _Loss, _WeightedLoss

__all__ = ["CosineEmbeddingLoss", "HingeEmbeddingLoss", "MarginRankingLoss", "MultiLabelMarginLoss",
           "MultiLabelSoftMarginLoss", "MultiMarginLoss", "SoftMarginLoss", "TripletMarginLoss",
           "TripletMarginWithDistanceLoss"]


class HingeEmbeddingLoss(_Loss):
    """x where y is 1, max(0, margin - x) where it is -1. See torch.nn.functional.hinge_embedding_loss.

    >>> import tinytorch as torch
    >>> torch.nn.HingeEmbeddingLoss(reduction="none")(torch.tensor([0.5, 0.25]), torch.tensor([1, -1]))
    tensor([0.5000, 0.7500])
    """

    __constants__ = ["margin", "reduction"]
    margin: float

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
    margin: float

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
    margin: float

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
    margin: float
    p: int

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
    """The sum of max(0, 1 - x[j] + x[i]) over classes j of the target and all other classes i, divided by C. See
    torch.nn.functional.multilabel_margin_loss.

    input (N, C) or (C); target of the same sizes: classes, followed by -1.

    >>> import tinytorch as torch
    >>> torch.nn.MultiLabelMarginLoss()(torch.tensor([0.1, 0.2, 0.4, 0.8]), torch.tensor([3, 0, -1, 1]))
    tensor(0.8500)
    """

    __constants__ = ["reduction"]

    def forward(self, input, target):
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The mean over classes of weight BCEWithLogitsLoss. See torch.nn.functional.multilabel_soft_margin_loss.

    input (N, C) or (C); target of the same sizes: 1 for each class that is true.

    >>> import tinytorch as torch
    >>> torch.nn.MultiLabelSoftMarginLoss()(torch.zeros(1, 2), torch.tensor([[1., 0.]]))
    tensor(0.6931)
    """

    __constants__ = ["reduction"]

    def forward(self, input, target):
        return F.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


class TripletMarginLoss(_Loss):
    """max(0, |a - b|_p - |a - n|_p + margin) of an anchor a, a positive b and a negative n (Balntas et al. 2016);
    `swap` uses |b - n| where it is smaller. See torch.nn.functional.triplet_margin_loss.

    >>> import tinytorch as torch
    >>> torch.nn.TripletMarginLoss()(torch.zeros(1, 2), torch.ones(1, 2), torch.ones(1, 2))
    tensor(1.0000)
    """

    __constants__ = ["margin", "p", "eps", "swap", "reduction"]
    margin: float
    p: float
    eps: float
    swap: bool

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
    """TripletMarginLoss with any distance function, by default PairwiseDistance(). See
    torch.nn.functional.triplet_margin_with_distance_loss.

    >>> import tinytorch as torch
    >>> torch.nn.TripletMarginWithDistanceLoss(margin=2.0)(torch.zeros(1, 2), torch.ones(1, 2), torch.ones(1, 2))
    tensor(2.)
    """

    __constants__ = ["margin", "swap", "reduction"]
    margin: float
    swap: bool

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
