"""Convolution layers: Conv1d Conv2d Conv3d, ConvTranspose1d ..., and their lazy forms."""
from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from ...autograd.grad_mode import no_grad
from ...ops.creation.factories import empty
from ...tensor import Tensor
from .. import functional as F, init
from ..parameter import Parameter, UninitializedParameter
from .lazy import LazyModuleMixin
from .module import Module

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "LazyConv1d",
           "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d"]

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


def _repeated(value, n):
    """An iterable as a tuple; any other value as a tuple of n times this value."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * n


class _ConvNd(Module):
    """Base of convolutions: settings, parameters and their initial values."""

    __constants__ = ["stride", "padding", "dilation", "groups", "padding_mode", "output_padding", "in_channels",
                     "out_channels", "kernel_size"]
    bias: Tensor | None
    in_channels: int
    _reversed_padding_repeated_twice: list[int]
    out_channels: int
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: str | tuple[int, ...]
    dilation: tuple[int, ...]
    transposed: bool
    output_padding: tuple[int, ...]
    groups: int
    padding_mode: Literal["zeros", "reflect", "replicate", "circular"]
    weight: Tensor

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation, transposed, output_padding,
                 groups, bias, padding_mode, device=None, dtype=None):
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
            if padding == "same" and any(s != 1 for s in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in _PADDING_MODES:
            raise ValueError(f"padding_mode must be one of {set(_PADDING_MODES)}, but got "
                             f"padding_mode='{padding_mode}'")
        self.in_channels, self.out_channels, self.kernel_size = in_channels, out_channels, kernel_size
        self.stride, self.padding, self.dilation, self.transposed = stride, padding, dilation, transposed
        self.output_padding, self.groups, self.padding_mode = output_padding, groups, padding_mode
        self._reversed_padding_repeated_twice = self._pads()
        shape = self._weight_shape(in_channels)
        self.weight = Parameter(empty(shape, device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_channels, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def _pads(self):
        """The padding in the form of F.pad: (before, after) of each axis, the last axis first."""
        if not isinstance(self.padding, str):
            return tuple([p for p in reversed(self.padding) for _ in (0, 1)])
        pads = []
        for d, k in zip(reversed(self.dilation), reversed(self.kernel_size)):
            total = d * (k - 1) if self.padding == "same" else 0
            pads += [total // 2, total - total // 2]
        return pads

    def _weight_shape(self, in_channels):
        if self.transposed:
            return (in_channels, self.out_channels // self.groups) + self.kernel_size
        return (self.out_channels, in_channels // self.groups) + self.kernel_size

    def reset_parameters(self):
        """Draw the parameters uniformly from +-1/sqrt(in_channels / groups * size of the kernel)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self):
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding != (0,) * len(self.kernel_size):
            text += f", padding={self.padding}"
        if self.dilation != (1,) * len(self.kernel_size):
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * len(self.kernel_size):
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


class _Conv(_ConvNd):
    """Base of convolutions over `_n` axes by the function named by `_convolve`."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", device=None, dtype=None):
        n = self._n
        super().__init__(in_channels, out_channels, _repeated(kernel_size, n), _repeated(stride, n),
                         padding if isinstance(padding, str) else _repeated(padding, n), _repeated(dilation, n), False,
                         (0,) * n, groups, bias, padding_mode, device, dtype)

    def _conv_forward(self, input, weight, bias):
        padding: str | int | tuple[int, ...] = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode), 0
        return getattr(F, self._convolve)(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input):
        weight, bias = self._weight_and_bias()
        return self._conv_forward(input, weight, bias)


class Conv1d(_Conv):
    """1-D convolution: input (N, in_channels, L) or (in_channels, L), output (N, out_channels, L_out).

    weight (out_channels, in_channels / groups, kernel_size), bias (out_channels). See F.conv1d.

    >>> import tinytorch as torch
    >>> torch.nn.Conv1d(16, 33, 3, stride=2)(torch.ones(20, 16, 50)).shape
    torch.Size([20, 33, 24])
    """

    _n, _convolve = 1, "conv1d"


class Conv2d(_Conv):
    """2-D convolution: input (N, in_channels, H, W) or (in_channels, H, W), output (N, out_channels, H_out, W_out).

    weight (out_channels, in_channels / groups, kH, kW), bias (out_channels). See F.conv2d.

    >>> import tinytorch as torch
    >>> torch.nn.Conv2d(3, 6, (3, 5), padding="same")(torch.ones(2, 3, 8, 8)).shape
    torch.Size([2, 6, 8, 8])
    """

    _n, _convolve = 2, "conv2d"


class Conv3d(_Conv):
    """3-D convolution: input (N, in_channels, D, H, W) or without N. See F.conv3d.

    >>> import tinytorch as torch
    >>> torch.nn.Conv3d(3, 4, 2)(torch.ones(1, 3, 4, 4, 4)).shape
    torch.Size([1, 4, 3, 3, 3])
    """

    _n, _convolve = 3, "conv3d"


class _ConvTransposeNd(_ConvNd):
    """Base of transposed convolutions over `_n` axes by the function named by `_convolve`."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1,
                 bias=True, dilation=1, padding_mode="zeros", device=None, dtype=None):
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        n = self._n
        super().__init__(in_channels, out_channels, _repeated(kernel_size, n), _repeated(stride, n),
                         _repeated(padding, n), _repeated(dilation, n), True, _repeated(output_padding, n), groups,
                         bias, padding_mode, device, dtype)

    def _output_padding(self, input, output_size):
        """The output padding that leads to `output_size`. ValueError if none does."""
        if output_size is None:
            return self.output_padding
        n = self._n
        wanted = tuple(output_size)
        if len(wanted) not in (n, input.dim()):
            raise ValueError(f"ConvTranspose{n}D: for {input.dim()}D input, output_size must have {n} or {input.dim()} "
                             f"elements (got {len(wanted)})")
        wanted = wanted[-n:]
        size = input.size()[-n:]
        padding: Any = self.padding            # numbers alone: torch refuses "same" here
        least = [(m - 1) * s - 2 * p + d * (k - 1) + 1 for m, s, p, d, k in
                 zip(size, self.stride, padding, self.dilation, self.kernel_size)]
        most = [m + s - 1 for m, s in zip(least, self.stride)]
        if any(not low <= m <= high for low, m, high in zip(least, wanted, most)):
            raise ValueError(f"requested an output size of {output_size}, but valid sizes range from {least} to {most} "
                             f"(for an input of {size})")
        return tuple([m - low for m, low in zip(wanted, least)])

    def forward(self, input, output_size=None):
        return getattr(F, self._convolve)(input, self.weight, self.bias, self.stride, self.padding,
                                          self._output_padding(input, output_size), self.groups, self.dilation)


class ConvTranspose1d(_ConvTransposeNd):
    """Transposed 1-D convolution: input (N, in_channels, L) or (in_channels, L). See F.conv_transpose1d.

    weight (in_channels, out_channels / groups, kernel_size), bias (out_channels).

    >>> import tinytorch as torch
    >>> torch.nn.ConvTranspose1d(16, 33, 3, stride=2)(torch.ones(20, 16, 50)).shape
    torch.Size([20, 33, 101])
    """

    _n, _convolve = 1, "conv_transpose1d"


class ConvTranspose2d(_ConvTransposeNd):
    """Transposed 2-D convolution: input (N, in_channels, H, W) or (in_channels, H, W). See F.conv_transpose2d.

    >>> import tinytorch as torch
    >>> torch.nn.ConvTranspose2d(3, 6, 3, stride=2)(torch.ones(2, 3, 4, 4), output_size=(10, 10)).shape
    torch.Size([2, 6, 10, 10])
    """

    _n, _convolve = 2, "conv_transpose2d"


class ConvTranspose3d(_ConvTransposeNd):
    """Transposed 3-D convolution: input (N, in_channels, D, H, W) or without N. See F.conv_transpose3d.

    >>> import tinytorch as torch
    >>> torch.nn.ConvTranspose3d(3, 4, 2)(torch.ones(1, 3, 2, 2, 2)).shape
    torch.Size([1, 4, 3, 3, 3])
    """

    _n, _convolve = 3, "conv_transpose3d"


if TYPE_CHECKING:
    class _Lazy(LazyModuleMixin, _ConvNd):     # every class that uses the mixin is a convolution, too
        pass
else:
    _Lazy = LazyModuleMixin


class _LazyConvXdMixin(_Lazy):
    """A convolution that takes its in_channels from the first input."""

    groups: int
    transposed: bool
    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]
    weight: UninitializedParameter
    bias: UninitializedParameter

    def _make_lazy(self, out_channels, bias, device, dtype):
        self.out_channels = out_channels
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self):
        """Draw the parameters like the final class, once they have shapes."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def _channels(self, input):
        n = self._n
        if input.dim() not in (n + 1, n + 2):
            raise RuntimeError(f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {type(self).__name__}, "
                               f"but got input of size: {input.shape}")
        return input.shape[-n - 1]

    def initialize_parameters(self, input, *args, **kwargs):
        """Set in_channels to the number of channels of `input`."""
        if not self.has_uninitialized_params():
            return
        self.in_channels = self._channels(input)
        if self.in_channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        with no_grad():
            self.weight.materialize(self._weight_shape(self.in_channels))
            if self.bias is not None:
                self.bias.materialize((self.out_channels,))
            self.reset_parameters()


class _LazyForward(_LazyConvXdMixin):
    def __init__(self, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", device=None, dtype=None):
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, device, dtype)
        self._make_lazy(out_channels, bias, device, dtype)


class _LazyTranspose(_LazyConvXdMixin):
    def __init__(self, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
                 dilation=1, padding_mode="zeros", device=None, dtype=None):
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode,
                         device, dtype)
        self._make_lazy(out_channels, bias, device, dtype)


class LazyConv1d(_LazyForward, Conv1d):
    """Conv1d that takes in_channels from the first input. See Conv1d.

    >>> import tinytorch as torch
    >>> layer = torch.nn.LazyConv1d(2, 1); layer(torch.ones(1, 3, 5)).shape, layer.in_channels
    (torch.Size([1, 2, 5]), 3)
    """

    cls_to_become = Conv1d


class LazyConv2d(_LazyForward, Conv2d):
    """A Conv2d that takes its in_channels from the first input.

    >>> import tinytorch as torch
    >>> layer = torch.nn.LazyConv2d(4, 3); y = layer(torch.ones(2, 3, 8, 8)); layer
    Conv2d(3, 4, kernel_size=(3, 3), stride=(1, 1))
    """

    cls_to_become = Conv2d


class LazyConv3d(_LazyForward, Conv3d):
    """Conv3d that takes in_channels from the first input. See Conv3d.

    >>> import tinytorch as torch
    >>> layer = torch.nn.LazyConv3d(2, 1); layer(torch.ones(1, 3, 2, 3, 4)).shape, layer.in_channels
    (torch.Size([1, 2, 2, 3, 4]), 3)
    """

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyTranspose, ConvTranspose1d):
    """ConvTranspose1d that takes in_channels from the first input. See ConvTranspose1d.

    >>> import tinytorch as torch
    >>> layer = torch.nn.LazyConvTranspose1d(2, 1); layer(torch.ones(1, 3, 5)).shape, layer.in_channels
    (torch.Size([1, 2, 5]), 3)
    """

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyTranspose, ConvTranspose2d):
    """ConvTranspose2d that takes in_channels from the first input. See ConvTranspose2d.

    >>> import tinytorch as torch
    >>> layer = torch.nn.LazyConvTranspose2d(2, 1); layer(torch.ones(1, 3, 2, 3)).shape, layer.in_channels
    (torch.Size([1, 2, 2, 3]), 3)
    """

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyTranspose, ConvTranspose3d):
    """ConvTranspose3d that takes in_channels from the first input. See ConvTranspose3d.

    >>> import tinytorch as torch
    >>> layer = torch.nn.LazyConvTranspose3d(2, 1); layer(torch.ones(1, 3, 2, 3, 4)).shape, layer.in_channels
    (torch.Size([1, 2, 2, 3, 4]), 3)
    """

    cls_to_become = ConvTranspose3d
