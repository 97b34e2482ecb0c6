"""Activations as layers. Each applies the function of its name in torch.nn.functional, element by element."""
import warnings

from ...ops.creation.factories import empty
from ...ops.elementwise.math import tanh
from ...ops.elementwise.special import sigmoid
from .. import functional as F, init
from ..parameter import Parameter
from .module import Module
from .multihead_attention import MultiheadAttention
from .softmax import LogSoftmax, Softmax, Softmax2d, Softmin

__all__ = ["CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU",
           "LogSigmoid", "LogSoftmax", "Mish", "MultiheadAttention", "PReLU", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU",
           "Sigmoid", "Softmax", "Softmax2d", "Softmin", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink",
           "Threshold"]


def _inplace_text(module):
    return "inplace=True" if module.inplace else ""


class ReLU(Module):
    """max(x, 0).

    >>> import tinytorch as torch
    >>> torch.nn.ReLU()(torch.tensor([-1., 0., 2.]))
    tensor([0., 0., 2.])
    """

    __constants__ = ["inplace"]

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        return F.relu(input, inplace=self.inplace)

    def extra_repr(self):
        return _inplace_text(self)


class SELU(Module):
    """A scaled ELU that keeps mean 0 and variance 1.

    >>> import tinytorch as torch
    >>> torch.nn.SELU()(torch.tensor([-1., 0., 2.]))
    tensor([-1.1113,  0.0000,  2.1014])
    """

    __constants__ = ["inplace"]

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        return F.selu(input, inplace=self.inplace)

    def extra_repr(self):
        return _inplace_text(self)


class SiLU(Module):
    """x * sigmoid(x).

    >>> import tinytorch as torch
    >>> torch.nn.SiLU()(torch.tensor([-1., 0., 2.]))
    tensor([-0.2689,  0.0000,  1.7616])
    """

    __constants__ = ["inplace"]

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        return F.silu(input, inplace=self.inplace)

    def extra_repr(self):
        return _inplace_text(self)


class Mish(Module):
    """x * tanh(softplus(x)).

    >>> import tinytorch as torch
    >>> torch.nn.Mish()(torch.tensor([-1., 0., 2.]))
    tensor([-0.3034,  0.0000,  1.9440])
    """

    __constants__ = ["inplace"]

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        return F.mish(input, inplace=self.inplace)

    def extra_repr(self):
        return _inplace_text(self)


class Hardsigmoid(Module):
    """min(max(x + 3, 0), 6) / 6.

    >>> import tinytorch as torch
    >>> torch.nn.Hardsigmoid()(torch.tensor([-1., 0., 2.]))
    tensor([0.3333, 0.5000, 0.8333])
    """

    __constants__ = ["inplace"]

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        return F.hardsigmoid(input, inplace=self.inplace)


class Hardswish(Module):
    """x * hardsigmoid(x).

    >>> import tinytorch as torch
    >>> torch.nn.Hardswish()(torch.tensor([-1., 0., 2.]))
    tensor([-0.3333,  0.0000,  1.6667])
    """

    __constants__ = ["inplace"]

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        return F.hardswish(input, inplace=self.inplace)


class Sigmoid(Module):
    """1 / (1 + exp(-x)).

    >>> import tinytorch as torch
    >>> torch.nn.Sigmoid()(torch.tensor([-1., 0., 2.]))
    tensor([0.2689, 0.5000, 0.8808])
    """

    def forward(self, input):
        return sigmoid(input)


class Tanh(Module):
    """Hyperbolic tangent.

    >>> import tinytorch as torch
    >>> torch.nn.Tanh()(torch.tensor([-1., 0., 2.]))
    tensor([-0.7616,  0.0000,  0.9640])
    """

    def forward(self, input):
        return tanh(input)


class LogSigmoid(Module):
    """log(sigmoid(x)).

    >>> import tinytorch as torch
    >>> torch.nn.LogSigmoid()(torch.tensor([-1., 0., 2.]))
    tensor([-1.3133, -0.6931, -0.1269])
    """

    def forward(self, input):
        return F.logsigmoid(input)


class Softsign(Module):
    """x / (1 + |x|).

    >>> import tinytorch as torch
    >>> torch.nn.Softsign()(torch.tensor([-1., 0., 2.]))
    tensor([-0.5000,  0.0000,  0.6667])
    """

    def forward(self, input):
        return F.softsign(input)


class Tanhshrink(Module):
    """x - tanh(x).

    >>> import tinytorch as torch
    >>> torch.nn.Tanhshrink()(torch.tensor([-1., 0., 2.]))
    tensor([-0.2384,  0.0000,  1.0360])
    """

    def forward(self, input):
        return F.tanhshrink(input)


class Hardtanh(Module):
    """x limited to [min_val, max_val].

    >>> import tinytorch as torch
    >>> torch.nn.Hardtanh(-2, 2)(torch.tensor([-3., 1.]))
    tensor([-2.,  1.])
    """

    __constants__ = ["min_val", "max_val", "inplace"]

    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False, min_value=None, max_value=None):
        super().__init__()
        if min_value is not None:
            warnings.warn("keyword argument `min_value` is deprecated and renamed to `min_val`", FutureWarning,
                          stacklevel=2)
            min_val = min_value
        if max_value is not None:
            warnings.warn("keyword argument `max_value` is deprecated and renamed to `max_val`", FutureWarning,
                          stacklevel=2)
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

    def __init__(self, negative_slope=0.01, inplace=False):
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input):
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self):
        return f"negative_slope={self.negative_slope}" + (", inplace=True" if self.inplace else "")


class ELU(Module):
    """x where positive, else alpha * (exp(x) - 1).

    >>> import tinytorch as torch
    >>> torch.nn.ELU()(torch.tensor([-1., 0., 2.]))
    tensor([-0.6321,  0.0000,  2.0000])
    """

    __constants__ = ["alpha", "inplace"]

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input):
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self):
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class CELU(Module):
    """x where positive, else alpha * (exp(x / alpha) - 1).

    >>> import tinytorch as torch
    >>> torch.nn.CELU()(torch.tensor([-1., 0., 2.]))
    tensor([-0.6321,  0.0000,  2.0000])
    """

    __constants__ = ["alpha", "inplace"]

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input):
        return F.celu(input, self.alpha, self.inplace)

    def extra_repr(self):
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class GELU(Module):
    """x * P(normal variate < x); approximate="tanh" by the tanh formula.

    >>> import tinytorch as torch
    >>> torch.nn.GELU()(torch.tensor([-1., 0., 2.]))
    tensor([-0.1587,  0.0000,  1.9545])
    """

    __constants__ = ["approximate"]

    def __init__(self, approximate="none"):
        super().__init__()
        self.approximate = approximate

    def forward(self, input):
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self):
        return f"approximate={self.approximate!r}"


class Softplus(Module):
    """log(1 + exp(beta * x)) / beta, and x itself where beta * x > threshold.

    >>> import tinytorch as torch
    >>> torch.nn.Softplus()(torch.tensor([-1., 0., 2.]))
    tensor([0.3133, 0.6931, 2.1269])
    """

    __constants__ = ["beta", "threshold"]

    def __init__(self, beta=1.0, threshold=20.0):
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input):
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self):
        return f"beta={self.beta}, threshold={self.threshold}"


class Hardshrink(Module):
    """x outside [-lambd, lambd], 0 inside.

    >>> import tinytorch as torch
    >>> torch.nn.Hardshrink()(torch.tensor([-1., 0., 2.]))
    tensor([-1.,  0.,  2.])
    """

    __constants__ = ["lambd"]

    def __init__(self, lambd=0.5):
        super().__init__()
        self.lambd = lambd

    def forward(self, input):
        return F.hardshrink(input, self.lambd)

    def extra_repr(self):
        return str(self.lambd)


class Softshrink(Module):
    """x moved towards 0 by lambd, 0 in between.

    >>> import tinytorch as torch
    >>> torch.nn.Softshrink()(torch.tensor([-1., 0., 2.]))
    tensor([-0.5000,  0.0000,  1.5000])
    """

    __constants__ = ["lambd"]

    def __init__(self, lambd=0.5):
        super().__init__()
        self.lambd = lambd

    def forward(self, input):
        return F.softshrink(input, self.lambd)

    def extra_repr(self):
        return str(self.lambd)


class Threshold(Module):
    """x where above threshold, else value.

    >>> import tinytorch as torch
    >>> torch.nn.Threshold(0.5, 9)(torch.tensor([-1., 0., 2.]))
    tensor([9., 9., 2.])
    """

    __constants__ = ["threshold", "value", "inplace"]

    def __init__(self, threshold, value, inplace=False):
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input):
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self):
        return f"threshold={self.threshold}, value={self.value}" + (", inplace=True" if self.inplace else "")


class PReLU(Module):
    """x where positive, else weight * x; `weight` is learned, one for all or one for each channel (dimension 1).

    >>> import tinytorch as torch
    >>> torch.nn.PReLU()(torch.tensor([-4.]))
    tensor([-1.], grad_fn=<PreluKernelBackward0>)
    """

    __constants__ = ["num_parameters"]

    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self):
        """Set the weights to their first value."""
        init.constant_(self.weight, self.init)

    def forward(self, input):
        return F.prelu(input, self.weight)

    def extra_repr(self):
        return f"num_parameters={self.num_parameters}"


class RReLU(Module):
    """x where positive, else x times a slope drawn from [lower, upper) (its middle when not training).

    >>> import tinytorch as torch
    >>> torch.nn.RReLU(0.25, 0.75).eval()(torch.tensor([-4.]))
    tensor([-2.])
    """

    __constants__ = ["lower", "upper", "inplace"]

    def __init__(self, lower=1.0 / 8, upper=1.0 / 3, inplace=False):
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input):
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self):
        return f"lower={self.lower}, upper={self.upper}" + (", inplace=True" if self.inplace else "")


class GLU(Module):
    """The first half of x along `dim`, times the sigmoid of the second.

    >>> import tinytorch as torch
    >>> torch.nn.GLU()(torch.tensor([4., 0.]))
    tensor([2.])
    """

    __constants__ = ["dim"]

    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        return F.glu(input, self.dim)

    def extra_repr(self):
        return f"dim={self.dim}"
