"""Dropout as layers. They act in training; in evaluation they return their input."""
from __future__ import annotations

from .. import functional as F
from .module import Module

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class _DropoutNd(Module):
    __constants__ = ["p", "inplace"]
    p: float
    inplace: bool

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self):
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Each element becomes 0 with probability p; the others are divided by 1 - p.

    >>> import tinytorch as torch
    >>> torch.nn.Dropout(0.5).eval()(torch.ones(2))
    tensor([1., 1.])
    """

    def forward(self, input):
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Each channel of (N, C, L) or (C, L) becomes 0 with probability p; the others are divided by 1 - p
    (Tompson et al. 2015). ValueError for p outside [0, 1].

    >>> import tinytorch as torch
    >>> torch.nn.Dropout1d(0.5).eval()(torch.ones(1, 2)).sum()
    tensor(2.)
    """

    def forward(self, input):
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Each channel of (N, C, H, W) or (C, H, W) becomes 0 with probability p; the others are divided by 1 - p
    (Tompson et al. 2015). ValueError for p outside [0, 1].

    >>> import tinytorch as torch
    >>> torch.nn.Dropout2d(0.5).eval()(torch.ones(1, 1, 2, 2)).sum()
    tensor(4.)
    """

    def forward(self, input):
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Each channel of (N, C, D, H, W) or (C, D, H, W) becomes 0 with probability p; the others are divided by 1 - p
    (Tompson et al. 2015). ValueError for p outside [0, 1].

    >>> import tinytorch as torch
    >>> torch.nn.Dropout3d(0.5).eval()(torch.ones(1, 2, 2, 2)).sum()
    tensor(8.)
    """

    def forward(self, input):
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Each element becomes the value of SELU at -infinity with probability p, and all are scaled so that mean and
    variance stay those of SELU's outputs (Klambauer et al. 2017). ValueError for p outside [0, 1].

    >>> import tinytorch as torch
    >>> torch.nn.AlphaDropout(0.5).eval()(torch.ones(2))
    tensor([1., 1.])
    """

    def forward(self, input):
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """AlphaDropout of whole channels of (N, C, ...) or (C, ...). ValueError for p outside [0, 1].

    >>> import tinytorch as torch
    >>> torch.nn.FeatureAlphaDropout(0.5).eval()(torch.ones(1, 2, 1)).shape
    torch.Size([1, 2, 1])
    """

    def forward(self, input):
        return F.feature_alpha_dropout(input, self.p, self.training)
