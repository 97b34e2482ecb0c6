"""Piecewise linear activations as layers: ReLU and its variants."""
from __future__ import annotations

from ...errors import warn
from ...ops.creation.factories import empty
from .. import functional as F, init
from ..parameter import Parameter
from .module import Module

__all__ = ["Hardtanh", "LeakyReLU", "PReLU", "RReLU", "ReLU", "ReLU6"]


def _inplace_text(module):
    return "inplace=True" if module.inplace else ""


class ReLU(Module):
    """max(x, 0).

    >>> import tinytorch as torch
    >>> torch.nn.ReLU()(torch.tensor([-1., 0., 2.]))
    tensor([0., 0., 2.])
    """

    __constants__ = ["inplace"]
    inplace: bool

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        return F.relu(input, inplace=self.inplace)

    def extra_repr(self):
        return _inplace_text(self)


class Hardtanh(Module):
    """x limited to [min_val, max_val].

    >>> import tinytorch as torch
    >>> torch.nn.Hardtanh(-2, 2)(torch.tensor([-3., 1.]))
    tensor([-2.,  1.])
    """

    __constants__ = ["min_val", "max_val", "inplace"]
    min_val: float
    max_val: float
    inplace: bool

    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False, min_value=None, max_value=None):
        super().__init__()
        if min_value is not None:
            warn("keyword argument `min_value` is deprecated and renamed to `min_val`", FutureWarning)
            min_val = min_value
        if max_value is not None:
            warn("keyword argument `max_value` is deprecated and renamed to `max_val`", FutureWarning)
            max_val = max_value
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace
        if max_val <= min_val:
            raise AssertionError(f"max_val ({max_val}) must be greater than min_val ({min_val})")

    def forward(self, input):
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self):
        return f"min_val={self.min_val}, max_val={self.max_val}" + (", inplace=True" if self.inplace else "")


class ReLU6(Hardtanh):
    """min(max(x, 0), 6).

    >>> import tinytorch as torch
    >>> torch.nn.ReLU6()(torch.tensor([-1., 7.]))
    tensor([0., 6.])
    """

    def __init__(self, inplace=False):
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self):
        return _inplace_text(self)


class LeakyReLU(Module):
    """x where positive, else negative_slope * x.

    >>> import tinytorch as torch
    >>> torch.nn.LeakyReLU()(torch.tensor([-1., 0., 2.]))
    tensor([-0.0100,  0.0000,  2.0000])
    """

    __constants__ = ["negative_slope", "inplace"]
    inplace: bool
    negative_slope: float

    def __init__(self, negative_slope=0.01, inplace=False):
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input):
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self):
        return f"negative_slope={self.negative_slope}" + (", inplace=True" if self.inplace else "")


class PReLU(Module):
    """x where positive, else weight * x. `weight` is learned: one for all channels or one for each (dimension 1).

    >>> import tinytorch as torch
    >>> torch.nn.PReLU()(torch.tensor([-4.]))
    tensor([-1.], grad_fn=<PreluKernelBackward0>)
    """

    __constants__ = ["num_parameters"]
    num_parameters: int

    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self):
        """Set the weights to `init`."""
        init.constant_(self.weight, self.init)

    def forward(self, input):
        return F.prelu(input, self.weight)

    def extra_repr(self):
        return f"num_parameters={self.num_parameters}"


class RReLU(Module):
    """x where positive, else x times a slope drawn from [lower, upper). In evaluation the slope is the mean of both.

    >>> import tinytorch as torch
    >>> torch.nn.RReLU(0.25, 0.75).eval()(torch.tensor([-4.]))
    tensor([-2.])
    """

    __constants__ = ["lower", "upper", "inplace"]
    lower: float
    upper: float
    inplace: bool

    def __init__(self, lower=1.0 / 8, upper=1.0 / 3, inplace=False):
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input):
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self):
        return f"lower={self.lower}, upper={self.upper}" + (", inplace=True" if self.inplace else "")
