"""ChannelShuffle."""
from __future__ import annotations

from .. import functional as F
from .module import Module

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Module):
    """(N, C, ...) with the channels in another order: channel 0 of each of `groups` groups, then channel 1 of each, and
    so on (Zhang et al. 2018, ShuffleNet).

    >>> import tinytorch as torch
    >>> torch.nn.ChannelShuffle(2)(torch.arange(4.).reshape(1, 4, 1)).flatten()
    tensor([0., 2., 1., 3.])
    """

    __constants__ = ["groups"]
    groups: int

    def __init__(self, groups):
        super().__init__()
        self.groups = groups

    def forward(self, input):
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self):
        return f"groups={self.groups}"
