"""Pooling layers: MaxPool AvgPool AdaptiveMaxPool AdaptiveAvgPool FractionalMaxPool LPPool MaxUnpool, of 1
to 3 axes."""
from __future__ import annotations

from .. import functional as F
from ..common_types import _ratio_2_t, _ratio_3_t, _size_1_t, _size_2_opt_t, _size_2_t, _size_3_opt_t, _size_3_t
from .conv import _repeated
from .module import Module

__all__ = ["AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
           "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "FractionalMaxPool2d", "FractionalMaxPool3d",
           "LPPool1d", "LPPool2d", "LPPool3d", "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d",
           "MaxUnpool3d"]


class _MaxPoolNd(Module):
    """Base of max pooling: the largest element of each window, by the function named by `_pool`."""

    __constants__ = ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"]
    return_indices: bool
    ceil_mode: bool

    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input):
        return getattr(F, self._pool)(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode,
                                      self.return_indices)

    def extra_repr(self):
        return (f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
                f"dilation={self.dilation}, ceil_mode={self.ceil_mode}")


class MaxPool1d(_MaxPoolNd):
    """Largest element of each window of (N, C, L) or (C, L); see F.max_pool1d.

    >>> import tinytorch as torch
    >>> torch.nn.MaxPool1d(2)(torch.tensor([[1., 3., 2., 0.]]))
    tensor([[3., 2.]])
    """

    kernel_size: _size_1_t
    stride: _size_1_t
    padding: _size_1_t
    dilation: _size_1_t

    _pool = "max_pool1d"


class MaxPool2d(_MaxPoolNd):
    """Largest element of each window of (N, C, H, W) or (C, H, W); see F.max_pool2d.

    >>> import tinytorch as torch
    >>> torch.nn.MaxPool2d(2)(torch.ones(1, 3, 4, 6)).shape
    torch.Size([1, 3, 2, 3])
    """

    kernel_size: _size_2_t
    stride: _size_2_t
    padding: _size_2_t
    dilation: _size_2_t

    _pool = "max_pool2d"


class MaxPool3d(_MaxPoolNd):
    """Largest element of each window of (N, C, D, H, W) or (C, D, H, W). See torch.nn.functional.max_pool3d.

    >>> import tinytorch as torch
    >>> torch.nn.MaxPool3d(2)(torch.ones(1, 2, 4, 6)).shape
    torch.Size([1, 1, 2, 3])
    """

    kernel_size: _size_3_t
    stride: _size_3_t
    padding: _size_3_t
    dilation: _size_3_t

    _pool = "max_pool3d"


class _MaxUnpoolNd(Module):
    """Base of max unpooling over `_n` axes by the function named by `_unpool`: puts elements back in place."""

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        n = self._n
        self.kernel_size, self.padding = _repeated(kernel_size, n), _repeated(padding, n)
        self.stride = self.kernel_size if stride is None else _repeated(stride, n)

    def forward(self, input, indices, output_size=None):
        return getattr(F, self._unpool)(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """Zeros with the elements of a pooled input (N, C, L) or (C, L) at `indices`. MaxPool1d returns both. See
    torch.nn.functional.max_unpool1d.

    >>> import tinytorch as torch
    >>> pooled = torch.nn.MaxPool1d(2, return_indices=True)(torch.tensor([[1., 3., 2., 0.]]))
    >>> torch.nn.MaxUnpool1d(2)(*pooled)
    tensor([[0., 3., 2., 0.]])
    """

    kernel_size: _size_1_t
    stride: _size_1_t
    padding: _size_1_t

    _n, _unpool = 1, "max_unpool1d"


class MaxUnpool2d(_MaxUnpoolNd):
    """Zeros with the elements of a pooled input at `indices`; see F.max_unpool2d.

    >>> import tinytorch as torch
    >>> y, places = torch.nn.MaxPool2d(2, return_indices=True)(torch.arange(4.).view(1, 2, 2))
    >>> torch.nn.MaxUnpool2d(2)(y, places)
    tensor([[[0., 0.],
             [0., 3.]]])
    """

    kernel_size: _size_2_t
    stride: _size_2_t
    padding: _size_2_t

    _n, _unpool = 2, "max_unpool2d"


class MaxUnpool3d(_MaxUnpoolNd):
    """Zeros with the elements of a pooled input (N, C, D, H, W) or (C, D, H, W) at `indices`. MaxPool3d returns both.
    See torch.nn.functional.max_unpool3d.

    >>> import tinytorch as torch
    >>> pooled = torch.nn.MaxPool3d(2, return_indices=True)(torch.ones(1, 2, 4, 6))
    >>> torch.nn.MaxUnpool3d(2)(*pooled).shape
    torch.Size([1, 2, 4, 6])
    """

    kernel_size: _size_3_t
    stride: _size_3_t
    padding: _size_3_t

    _n, _unpool = 3, "max_unpool3d"


class AvgPool1d(Module):
    """Mean of each window of (N, C, L) or (C, L); see F.avg_pool1d.

    >>> import tinytorch as torch
    >>> torch.nn.AvgPool1d(2)(torch.tensor([[1., 3., 2., 0.]]))
    tensor([[2., 1.]])
    """

    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]
    kernel_size: _size_1_t
    stride: _size_1_t
    padding: _size_1_t
    ceil_mode: bool
    count_include_pad: bool

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
        super().__init__()
        self.kernel_size = _repeated(kernel_size, 1)
        self.stride = self.kernel_size if stride is None else _repeated(stride, 1)
        self.padding = _repeated(padding, 1)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input):
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _AvgPoolNd(Module):
    """Base of average pooling: the mean of each window, by the function named by `_pool`."""

    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override"]

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
                 divisor_override=None):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def forward(self, input):
        pool = getattr(F, self._pool)
        return pool(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad,
                    self.divisor_override)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(_AvgPoolNd):
    """Mean of each window of (N, C, H, W) or (C, H, W); see F.avg_pool2d.

    >>> import tinytorch as torch
    >>> torch.nn.AvgPool2d(2)(torch.ones(1, 3, 4, 6)).shape
    torch.Size([1, 3, 2, 3])
    """

    kernel_size: _size_2_t
    stride: _size_2_t
    padding: _size_2_t
    ceil_mode: bool
    count_include_pad: bool

    _pool = "avg_pool2d"


class AvgPool3d(_AvgPoolNd):
    """Mean of each window of (N, C, D, H, W) or (C, D, H, W). See torch.nn.functional.avg_pool3d.

    >>> import tinytorch as torch
    >>> torch.nn.AvgPool3d(2)(torch.ones(1, 2, 4, 6)).shape
    torch.Size([1, 1, 2, 3])
    """

    kernel_size: _size_3_t
    stride: _size_3_t
    padding: _size_3_t
    ceil_mode: bool
    count_include_pad: bool

    _pool = "avg_pool3d"


class _AdaptiveAvgPoolNd(Module):
    """Base of adaptive average pooling: means of `output_size` windows, by the function named by `_pool`."""

    __constants__ = ["output_size"]

    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def forward(self, input):
        return getattr(F, self._pool)(input, self.output_size)

    def extra_repr(self):
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Means of `output_size` windows of (N, C, L) or (C, L). See torch.nn.functional.adaptive_avg_pool1d.

    >>> import tinytorch as torch
    >>> torch.nn.AdaptiveAvgPool1d(2)(torch.tensor([[1., 2., 3., 4.]]))
    tensor([[1.5000, 3.5000]])
    """

    output_size: _size_1_t

    _pool = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Means of the windows that divide (N, C, H, W) or (C, H, W) into `output_size`; see F.adaptive_avg_pool2d.

    >>> import tinytorch as torch
    >>> torch.nn.AdaptiveAvgPool2d((1, None))(torch.ones(1, 3, 4, 6)).shape
    torch.Size([1, 3, 1, 6])
    """

    output_size: _size_2_opt_t

    _pool = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Means of the windows that divide (N, C, D, H, W) or (C, D, H, W) into `output_size`; None keeps a size. See
    torch.nn.functional.adaptive_avg_pool3d.

    >>> import tinytorch as torch
    >>> torch.nn.AdaptiveAvgPool3d((1, 2, None))(torch.ones(1, 4, 4, 4)).shape
    torch.Size([1, 1, 2, 4])
    """

    output_size: _size_3_opt_t

    _pool = "adaptive_avg_pool3d"


class _AdaptiveMaxPoolNd(Module):
    """Base of adaptive max pooling: maxima of `output_size` windows, by the function named by `_pool`."""

    __constants__ = ["output_size", "return_indices"]
    return_indices: bool

    def __init__(self, output_size, return_indices=False):
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def forward(self, input):
        return getattr(F, self._pool)(input, self.output_size, self.return_indices)

    def extra_repr(self):
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Maxima of `output_size` windows of (N, C, L) or (C, L). See torch.nn.functional.adaptive_max_pool1d.

    >>> import tinytorch as torch
    >>> torch.nn.AdaptiveMaxPool1d(2)(torch.tensor([[1., 2., 3., 4.]]))
    tensor([[2., 4.]])
    """

    output_size: _size_1_t

    _pool = "adaptive_max_pool1d"


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Maxima of the windows that divide (N, C, H, W) or (C, H, W) into `output_size`; see F.adaptive_max_pool2d.

    >>> import tinytorch as torch
    >>> torch.nn.AdaptiveMaxPool2d(2)(torch.ones(1, 3, 5, 7)).shape
    torch.Size([1, 3, 2, 2])
    """

    output_size: _size_2_opt_t

    _pool = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Maxima of the windows that divide (N, C, D, H, W) or (C, D, H, W) into `output_size`; None keeps a size. See
    torch.nn.functional.adaptive_max_pool3d.

    >>> import tinytorch as torch
    >>> torch.nn.AdaptiveMaxPool3d((1, 2, None))(torch.ones(1, 4, 4, 4)).shape
    torch.Size([1, 1, 2, 4])
    """

    output_size: _size_3_opt_t

    _pool = "adaptive_max_pool3d"


class _FractionalMaxPoolNd(Module):
    """Base of max pooling of windows at random places over `_n` axes, by the function named by `_pool`."""

    __constants__ = ["kernel_size", "return_indices", "output_size", "output_ratio"]

    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        super().__init__()
        n = self._n
        self.kernel_size, self.return_indices = _repeated(kernel_size, n), return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else _repeated(output_size, n)
        self.output_ratio = None if output_ratio is None else _repeated(output_ratio, n)
        if output_size is None and output_ratio is None:
            raise ValueError(f"FractionalMaxPool{n}d requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all([0 < self.output_ratio[i] < 1 for i in range(n)]):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input):
        return getattr(F, self._pool)(input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices,
                                      _random_samples=self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """Maxima of windows at random places of (N, C, H, W) or (C, H, W); see F.fractional_max_pool2d.

    >>> import tinytorch as torch
    >>> torch.nn.FractionalMaxPool2d(3, output_ratio=(0.5, 0.5))(torch.ones(1, 3, 12, 8)).shape
    torch.Size([1, 3, 6, 4])
    """

    kernel_size: _size_2_t
    return_indices: bool
    output_size: _size_2_t
    output_ratio: _ratio_2_t

    _n, _pool = 2, "fractional_max_pool2d"


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """Maxima of windows at random places of (N, C, D, H, W) or (C, D, H, W) (Graham 2014). See
    torch.nn.functional.fractional_max_pool3d.

    >>> import tinytorch as torch
    >>> torch.nn.FractionalMaxPool3d(2, output_size=(1, 2, 3))(torch.ones(1, 4, 5, 6)).shape
    torch.Size([1, 1, 2, 3])
    """

    kernel_size: _size_3_t
    return_indices: bool
    output_size: _size_3_t
    output_ratio: _ratio_3_t

    _n, _pool = 3, "fractional_max_pool3d"

    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        if not all([k > 0 for k in (kernel_size if isinstance(kernel_size, (tuple, list)) else [kernel_size])]):
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        super().__init__(kernel_size, output_size, output_ratio, return_indices, _random_samples)


class _LPPoolNd(Module):
    """Base of power-average pooling: (sum of x^p)^(1/p) of each window, by the function named by `_pool`."""

    __constants__ = ["norm_type", "kernel_size", "stride", "ceil_mode"]
    norm_type: float
    ceil_mode: bool

    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def forward(self, input):
        return getattr(F, self._pool)(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self):
        return (f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
                f"ceil_mode={self.ceil_mode}")


class LPPool1d(_LPPoolNd):
    """(Sum of x^p)^(1/p) of each window of (N, C, L) or (C, L). See torch.nn.functional.lp_pool1d.

    >>> import tinytorch as torch
    >>> torch.nn.LPPool1d(2, 2)(torch.tensor([[3., 4., 0., 1.]]))
    tensor([[5., 1.]])
    """

    kernel_size: _size_1_t
    stride: _size_1_t

    _pool = "lp_pool1d"


class LPPool2d(_LPPoolNd):
    """Power-average pooling of (N, C, H, W) or (C, H, W); see F.lp_pool2d.

    >>> import tinytorch as torch
    >>> torch.nn.LPPool2d(2, 2)(torch.ones(1, 2, 2))
    tensor([[[2.]]])
    """

    kernel_size: _size_2_t
    stride: _size_2_t

    _pool = "lp_pool2d"


class LPPool3d(_LPPoolNd):
    """(Sum of x^p)^(1/p) of each window of (N, C, D, H, W) or (C, D, H, W). See torch.nn.functional.lp_pool3d.

    >>> import tinytorch as torch
    >>> torch.nn.LPPool3d(1, 2)(torch.ones(1, 2, 2, 2))
    tensor([[[[8.]]]])
    """

    kernel_size: _size_3_t
    stride: _size_3_t

    _pool = "lp_pool3d"
