"""Softmax and its variants as layers."""
from __future__ import annotations

from .. import functional as F
from .module import Module

__all__ = ["LogSoftmax", "Softmax", "Softmax2d", "Softmin"]


class Softmax(Module):
    """exp(x) / sum(exp(x)) along `dim`.

    >>> import tinytorch as torch
    >>> torch.nn.Softmax(0)(torch.tensor([-1., 0., 2.]))
    tensor([0.0420, 0.1142, 0.8438])
    """

    __constants__ = ["dim"]
    dim: int | None

    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        return F.softmax(input, self.dim)

    def extra_repr(self):
        return f"dim={self.dim}"


class Softmin(Module):
    """exp(-x) / sum(exp(-x)) along `dim`.

    >>> import tinytorch as torch
    >>> torch.nn.Softmin(0)(torch.tensor([-1., 0., 2.]))
    tensor([0.7054, 0.2595, 0.0351])
    """

    __constants__ = ["dim"]
    dim: int | None

    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        return F.softmin(input, self.dim)

    def extra_repr(self):
        return f"dim={self.dim}"


class LogSoftmax(Module):
    """log(softmax(x)) along `dim`.

    >>> import tinytorch as torch
    >>> torch.nn.LogSoftmax(0)(torch.tensor([-1., 0., 2.]))
    tensor([-3.1698, -2.1698, -0.1698])
    """

    __constants__ = ["dim"]
    dim: int | None

    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        return F.log_softmax(input, self.dim)

    def extra_repr(self):
        return f"dim={self.dim}"


class Softmax2d(Module):
    """softmax over the channels of (N, C, H, W) or (C, H, W). ValueError for other numbers of dimensions.

    >>> import tinytorch as torch
    >>> torch.nn.Softmax2d()(torch.zeros(2, 1, 1)).flatten()
    tensor([0.5000, 0.5000])
    """

    def forward(self, input):
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3)
