"""Activations as layers. Each applies the function of its name in torch.nn.functional, element by element."""
from __future__ import annotations

from ...ops.elementwise.math import tanh
from ...ops.elementwise.special import sigmoid
from .. import functional as F
from .module import Module
from .multihead_attention import MultiheadAttention
from .rectifier import Hardtanh, LeakyReLU, PReLU, ReLU, ReLU6, RReLU, _inplace_text
from .softmax import LogSoftmax, Softmax, Softmax2d, Softmin

__all__ = ["CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU",
           "LogSigmoid", "LogSoftmax", "Mish", "MultiheadAttention", "PReLU", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU",
           "Sigmoid", "Softmax", "Softmax2d", "Softmin", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink",
           "Threshold"]


class SELU(Module):
    """A scaled ELU that keeps mean 0 and variance 1.

    >>> import tinytorch as torch
    >>> torch.nn.SELU()(torch.tensor([-1., 0., 2.]))
    tensor([-1.1113,  0.0000,  2.1014])
    """

    __constants__ = ["inplace"]
    inplace: bool

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
    inplace: bool

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
    inplace: bool

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
    inplace: bool

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
    inplace: bool

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


class ELU(Module):
    """x where positive, else alpha * (exp(x) - 1).

    >>> import tinytorch as torch
    >>> torch.nn.ELU()(torch.tensor([-1., 0., 2.]))
    tensor([-0.6321,  0.0000,  2.0000])
    """

    __constants__ = ["alpha", "inplace"]
    alpha: float
    inplace: bool

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
    alpha: float
    inplace: bool

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
    approximate: str

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
    beta: float
    threshold: float

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
    lambd: float

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
    lambd: float

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
    threshold: float
    value: float
    inplace: bool

    def __init__(self, threshold, value, inplace=False):
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input):
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self):
        return f"threshold={self.threshold}, value={self.value}" + (", inplace=True" if self.inplace else "")


class GLU(Module):
    """The first half of x along `dim`, times the sigmoid of the second.

    >>> import tinytorch as torch
    >>> torch.nn.GLU()(torch.tensor([4., 0.]))
    tensor([2.])
    """

    __constants__ = ["dim"]
    dim: int

    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        return F.glu(input, self.dim)

    def extra_repr(self):
        return f"dim={self.dim}"
