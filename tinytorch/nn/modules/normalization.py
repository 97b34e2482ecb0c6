"""Layer, group, root-mean-square and local response normalisation as layers."""
from __future__ import annotations

import numbers

from ...ops.creation.factories import empty
from .. import functional as F, init
from ..parameter import Parameter
from ._functions import CrossMapLRN2d as _cross_map_lrn2d
from .module import Module

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


def _register(module, name, wanted, size, device, dtype):
    """Register a new parameter of this size under `name`, or None if `wanted` is false."""
    module.register_parameter(name, Parameter(empty(size, device=device, dtype=dtype)) if wanted else None)


def _reset(*parameters):
    """Set weights to 1 and biases (the second tensor) to 0."""
    for value, fill in zip(parameters, (init.ones_, init.zeros_)):
        if value is not None:
            fill(value)


def _shape(normalized_shape):
    return (normalized_shape,) if isinstance(normalized_shape, numbers.Integral) else tuple(normalized_shape)


class LayerNorm(Module):
    """Normalisation over the last dimensions, of shape `normalized_shape`. See torch.nn.functional.layer_norm.

    >>> import tinytorch as torch
    >>> torch.nn.LayerNorm(2, elementwise_affine=False)(torch.tensor([[1., 3.]]))
    tensor([[-1.0000,  1.0000]])
    """

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]
    normalized_shape: tuple[int, ...]
    eps: float
    elementwise_affine: bool

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = shape = _shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        with_bias = elementwise_affine and bias
        _register(self, "weight", elementwise_affine, shape, device, dtype)
        _register(self, "bias", with_bias, shape, device, dtype)
        self.reset_parameters()

    def reset_parameters(self):
        """Set weight to 1 and bias to 0."""
        _reset(self.weight, self.bias)

    def forward(self, input):
        return F.layer_norm(input, self.normalized_shape, *self._weight_and_bias(), self.eps)

    def extra_repr(self):
        return (f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
                f"bias={self.bias is not None}")


class RMSNorm(Module):
    """Division by the root mean square over the last dimensions. See torch.nn.functional.rms_norm.

    >>> import tinytorch as torch
    >>> torch.nn.RMSNorm(2, elementwise_affine=False)(torch.tensor([[3., 4.]]))
    tensor([[0.8485, 1.1314]])
    """

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]
    normalized_shape: tuple[int, ...]
    eps: float | None
    elementwise_affine: bool

    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = shape = _shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        _register(self, "weight", elementwise_affine, shape, device, dtype)
        self.reset_parameters()

    def reset_parameters(self):
        """Set weight to 1."""
        _reset(self.weight)

    def forward(self, x):
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """Normalisation over groups of channels. See torch.nn.functional.group_norm.

    ValueError if num_groups does not divide num_channels.

    >>> import tinytorch as torch
    >>> torch.nn.GroupNorm(2, 4, affine=False)(torch.tensor([[1., 3., 5., 7.]]))
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """

    __constants__ = ["num_groups", "num_channels", "eps", "affine"]
    num_groups: int
    num_channels: int
    eps: float
    affine: bool

    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None, *, bias=True):
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        with_bias = affine and bias
        _register(self, "weight", affine, num_channels, device, dtype)
        _register(self, "bias", with_bias, num_channels, device, dtype)
        self.reset_parameters()

    def reset_parameters(self):
        """Set weight to 1 and bias to 0."""
        _reset(self.weight, self.bias)

    def forward(self, input):
        return F.group_norm(input, self.num_groups, *self._weight_and_bias(), self.eps)

    def extra_repr(self):
        return (f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
                f"bias={self.bias is not None}")


class LocalResponseNorm(Module):
    """Division by a sum over neighbouring channels. See torch.nn.functional.local_response_norm.

    >>> import tinytorch as torch
    >>> torch.nn.LocalResponseNorm(2)(torch.randn(4, 3, 2, 2)).shape
    torch.Size([4, 3, 2, 2])
    """

    __constants__ = ["size", "alpha", "beta", "k"]
    size: int
    alpha: float
    beta: float
    k: float

    def __init__(self, size, alpha=1e-4, beta=0.75, k=1.0):
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input):
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self):
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(Module):
    """x / (k + alpha / size * the sum of the squares of neighbouring channels)^beta, of an input (N, C, H, W).

    The neighbours of channel c are c - size / 2 to c + size / 2. The first channel stays in the sums of all later
    channels, as in torch's running sum; LocalResponseNorm does not have this fault. ValueError for another number of
    dimensions.

    >>> import tinytorch as torch
    >>> torch.nn.CrossMapLRN2d(2)(torch.randn(4, 3, 2, 2)).shape
    torch.Size([4, 3, 2, 2])
    """

    size: int
    alpha: float
    beta: float
    k: float

    def __init__(self, size, alpha=1e-4, beta=0.75, k=1):
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input):
        return _cross_map_lrn2d.apply(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self):
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
