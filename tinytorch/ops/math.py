"""Functions of one number, element by element: exp log sqrt sin tanh ..."""
import numpy as np

from ..autograd.op import unary
from .arithmetic import conj

__all__ = ["exp", "tanh"]


@unary(lambda g, ans: g * conj(ans), to_float=True)
def exp(input):
    """e to the power of each element.

    >>> import tinytorch as torch
    >>> torch.exp(torch.tensor([0., 1.]))
    tensor([1.0000, 2.7183])
    """
    return np.exp(input)


@unary(lambda g, ans: g * conj(1 - ans * ans), to_float=True)
def tanh(input):
    """Hyperbolic tangent.

    >>> import tinytorch as torch
    >>> torch.tanh(torch.tensor([0., 1.]))
    tensor([0.0000, 0.7616])
    """
    return np.tanh(input)
