"""Base classes of losses: they hold the reduction and the weights."""
from __future__ import annotations

from ...ops.nn.cross_entropy import reduction_of
from .module import Module


class _Loss(Module):
    reduction: str

    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        deprecated = size_average is not None or reduce is not None
        self.reduction = reduction_of("mean", size_average, reduce) if deprecated else reduction


class _WeightedLoss(_Loss):
    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
