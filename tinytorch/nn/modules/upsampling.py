"""Upsample, and its older forms with a fixed mode."""
from __future__ import annotations

from .. import functional as F
from ..common_types import _ratio_any_t, _size_any_t
from .module import Module

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class Upsample(Module):
    """`nn.functional.interpolate`: images (N, C, ...) of 1 to 3 axes to `size`, or by `scale_factor`.

    >>> import tinytorch as torch
    >>> torch.nn.Upsample(scale_factor=2)(torch.ones(1, 1, 2, 3)).shape
    torch.Size([1, 1, 4, 6])
    """

    __constants__ = ["size", "scale_factor", "mode", "align_corners", "name", "recompute_scale_factor"]
    name: str
    size: _size_any_t | None
    scale_factor: _ratio_any_t | None
    mode: str
    align_corners: bool | None
    recompute_scale_factor: bool | None

    def __init__(self, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None):
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple([float(factor) for factor in scale_factor])
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input):
        return F.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners,
                             recompute_scale_factor=self.recompute_scale_factor)

    def __setstate__(self, state):
        state.setdefault("recompute_scale_factor", True)       # layers saved before the setting existed did so
        super().__setstate__(state)

    def extra_repr(self):
        given = f"size={self.size!r}" if self.scale_factor is None else f"scale_factor={self.scale_factor!r}"
        return f"{given}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """`Upsample` of (N, C, H, W) with mode "nearest".

    >>> import tinytorch as torch
    >>> torch.nn.UpsamplingNearest2d(scale_factor=2)(torch.tensor([[[[1., 2.]]]]))
    tensor([[[[1., 1., 2., 2.],
              [1., 1., 2., 2.]]]])
    """

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """`Upsample` of (N, C, H, W) with mode "bilinear" and align_corners=True.

    >>> import tinytorch as torch
    >>> torch.nn.UpsamplingBilinear2d(size=(1, 3))(torch.tensor([[[[1., 2.]]]]))
    tensor([[[[1.0000, 1.5000, 2.0000]]]])
    """

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
