"""Padding as layers. `padding` is one width for all borders, or (left, right, top, bottom, front, back)."""
from __future__ import annotations

from collections.abc import Sequence

from .. import functional as F
from .conv import _repeated
from .module import Module

__all__ = ["CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d",
           "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
           "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d"]


class _Pad(Module):
    """Base of padding over `_dims` dimensions by F.pad in mode `_mode`."""

    __constants__ = ["padding"]
    _dims, _mode = 1, "constant"

    def __init__(self, padding):
        super().__init__()
        self.padding: Sequence[int] = tuple(_repeated(padding, 2 * self._dims))

    def forward(self, input):
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self):
        return f"{self.padding}"


class _ConstantPadNd(_Pad):
    __constants__ = ["padding", "value"]
    value: float
    padding: Sequence[int]

    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value

    def forward(self, input):
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self):
        return f"padding={self.padding}, value={self.value}"


class _CircularPadNd(_Pad):
    padding: Sequence[int]

    _mode = "circular"

    def forward(self, input):
        if input.dim() not in (self._dims + 1, self._dims + 2):
            raise ValueError(f"expected {self._dims + 1}D or {self._dims + 2}D input (got {input.dim()}D input)")
        return super().forward(input)


class _ReflectionPadNd(_Pad):
    padding: Sequence[int]

    _mode = "reflect"


class _ReplicationPadNd(_Pad):
    padding: Sequence[int]

    _mode = "replicate"


class ConstantPad1d(_ConstantPadNd):
    """Borders of `value` of the last dimension.

    >>> import tinytorch as torch
    >>> torch.nn.ConstantPad1d(1, 7.)(torch.tensor([[1., 2., 3.]]))
    tensor([[7., 1., 2., 3., 7.]])
    """

    padding: tuple[int, int]


class ConstantPad2d(_ConstantPadNd):
    """Borders of `value` of the last 2 dimensions. See torch.nn.functional.pad.

    >>> import tinytorch as torch
    >>> torch.nn.ConstantPad2d(1, 7.)(torch.ones(1, 2, 2)).shape
    torch.Size([1, 4, 4])
    """

    padding: tuple[int, int, int, int]

    _dims = 2


class ConstantPad3d(_ConstantPadNd):
    """Borders of `value` of the last 3 dimensions. See torch.nn.functional.pad.

    >>> import tinytorch as torch
    >>> torch.nn.ConstantPad3d(1, 7.)(torch.ones(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    padding: tuple[int, int, int, int, int, int]

    _dims = 3


class _ZeroPad(_ConstantPadNd):
    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class ZeroPad1d(_ZeroPad, ConstantPad1d):
    """Borders of 0 of the last dimension.

    >>> import tinytorch as torch
    >>> torch.nn.ZeroPad1d(1)(torch.tensor([[1., 2., 3.]]))
    tensor([[0., 1., 2., 3., 0.]])
    """

    padding: tuple[int, int]


class ZeroPad2d(_ZeroPad, ConstantPad2d):
    """Borders of 0 of the last 2 dimensions. See torch.nn.functional.pad.

    >>> import tinytorch as torch
    >>> torch.nn.ZeroPad2d((1, 0, 0, 0))(torch.ones(1, 2, 2)).shape
    torch.Size([1, 2, 3])
    """

    padding: tuple[int, int, int, int]

    _dims = 2


class ZeroPad3d(_ZeroPad, ConstantPad3d):
    """Borders of 0 of the last 3 dimensions. See torch.nn.functional.pad.

    >>> import tinytorch as torch
    >>> torch.nn.ZeroPad3d((1, 0, 0, 0, 0, 0))(torch.ones(1, 2, 2, 2)).shape
    torch.Size([1, 2, 2, 3])
    """

    padding: tuple[int, int, int, int, int, int]

    _dims = 3


class ReflectionPad1d(_ReflectionPadNd):
    """Mirrored borders of the last dimension.

    >>> import tinytorch as torch
    >>> torch.nn.ReflectionPad1d(1)(torch.tensor([[1., 2., 3.]]))
    tensor([[2., 1., 2., 3., 2.]])
    """

    padding: tuple[int, int]


class ReflectionPad2d(_ReflectionPadNd):
    """Mirrored borders of the last 2 dimensions of (N, C, H, W) or (C, H, W). RuntimeError for borders as wide as
    the input. See torch.nn.functional.pad.

    >>> import tinytorch as torch
    >>> torch.nn.ReflectionPad2d(1)(torch.ones(1, 2, 2)).shape
    torch.Size([1, 4, 4])
    """

    padding: tuple[int, int, int, int]

    _dims = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Mirrored borders of the last 3 dimensions of (N, C, D, H, W) or (C, D, H, W). RuntimeError for borders as wide as
    the input. See torch.nn.functional.pad.

    >>> import tinytorch as torch
    >>> torch.nn.ReflectionPad3d(1)(torch.ones(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    padding: tuple[int, int, int, int, int, int]

    _dims = 3


class ReplicationPad1d(_ReplicationPadNd):
    """Borders that repeat the edge of the last dimension.

    >>> import tinytorch as torch
    >>> torch.nn.ReplicationPad1d(1)(torch.tensor([[1., 2., 3.]]))
    tensor([[1., 1., 2., 3., 3.]])
    """

    padding: tuple[int, int]


class ReplicationPad2d(_ReplicationPadNd):
    """Borders that repeat the edge of the last 2 dimensions of (N, C, H, W) or (C, H, W). See torch.nn.functional.pad.

    >>> import tinytorch as torch
    >>> torch.nn.ReplicationPad2d(1)(torch.ones(1, 2, 2)).shape
    torch.Size([1, 4, 4])
    """

    padding: tuple[int, int, int, int]

    _dims = 2


class ReplicationPad3d(_ReplicationPadNd):
    """Borders that repeat the edge of the last 3 dimensions of (N, C, D, H, W) or (C, D, H, W). See
    torch.nn.functional.pad.

    >>> import tinytorch as torch
    >>> torch.nn.ReplicationPad3d(1)(torch.ones(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    padding: tuple[int, int, int, int, int, int]

    _dims = 3


class CircularPad1d(_CircularPadNd):
    """Borders from the other side of the last dimension.

    >>> import tinytorch as torch
    >>> torch.nn.CircularPad1d(1)(torch.tensor([[1., 2., 3.]]))
    tensor([[3., 1., 2., 3., 1.]])
    """

    padding: tuple[int, int]


class CircularPad2d(_CircularPadNd):
    """Borders from the other side of the last 2 dimensions of (N, C, H, W) or (C, H, W). See torch.nn.functional.pad.

    >>> import tinytorch as torch
    >>> torch.nn.CircularPad2d(1)(torch.ones(1, 2, 2)).shape
    torch.Size([1, 4, 4])
    """

    padding: tuple[int, int, int, int]

    _dims = 2


class CircularPad3d(_CircularPadNd):
    """Borders from the other side of the last 3 dimensions of (N, C, D, H, W) or (C, D, H, W). See
    torch.nn.functional.pad.

    >>> import tinytorch as torch
    >>> torch.nn.CircularPad3d(1)(torch.ones(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    padding: tuple[int, int, int, int, int, int]

    _dims = 3
