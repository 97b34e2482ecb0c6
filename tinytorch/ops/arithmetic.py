"""Arithmetic element by element: add sub mul div pow neg ... and the operators that mean them."""
import numpy as np

from ..autograd.op import attach, binary, methods, unary
from ..tensor import Tensor


__all__ = ["add", "mul", "neg", "sub"]


def conj(x):
    """The complex conjugate of an array, Tensor or number; a real one as it is."""
    return x.conjugate()


@unary(lambda g: conj(g), name="conj", method=False, inplace=False)
def _conj(input):
    return np.conjugate(input)


def conjugate(self):
    """Itself if real, else the conjugate: what ndarrays and Python numbers have too, so that
    derivative rules can say x.conjugate() whatever x is."""
    return _conj(self) if self.array.dtype.kind == "c" else self



@binary(input=lambda g: g, other=lambda g: g, method=False, inplace=False, name="add")
def _add(input, other):
    return np.add(input, other)


@binary(input=lambda g: g, other=lambda g: -g, method=False, inplace=False, name="sub")
def _sub(input, other):
    return np.subtract(input, other)


@binary(input=lambda g, other: g * conj(other),
        other=lambda g, input: g * conj(input))
def mul(input, other):
    """input * other, with broadcasting and type promotion.

    >>> import tinytorch as torch
    >>> torch.mul(torch.tensor([1., 2.]), torch.tensor([[2], [3]]))
    tensor([[2., 4.],
            [3., 6.]])
    """
    return np.multiply(input, other)


@binary(input=lambda g, other: g / conj(other),
        other=lambda g, ans, other: -g * conj(ans / other),
        to_float=True, method=False, inplace=False, name="div")
def _true_divide(input, other):
    return np.true_divide(input, other)


@unary(lambda g: -g)
def neg(input):
    """-input. RuntimeError for bool.

    >>> import tinytorch as torch
    >>> torch.neg(torch.tensor([1, -2]))
    tensor([-1,  2])
    """
    if input.dtype == bool:
        raise RuntimeError("Negation, the `-` operator, on a bool tensor is not supported. "
                           "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.")
    return np.negative(input)


def add(input, other, *, alpha=1, out=None):
    """input + alpha * other.

    >>> import tinytorch as torch
    >>> torch.add(torch.tensor([1., 2.]), 10, alpha=2)
    tensor([21., 22.])
    """
    return _add(input, other if alpha == 1 else mul(other, alpha) if isinstance(other, Tensor) else other * alpha, out=out)


def sub(input, other, *, alpha=1, out=None):
    """input - alpha * other. RuntimeError between bools.

    >>> import tinytorch as torch
    >>> torch.sub(torch.tensor([3, 4]), 1)
    tensor([2, 3])
    """
    return _sub(input, other if alpha == 1 else mul(other, alpha) if isinstance(other, Tensor) else other * alpha, out=out)


methods(conjugate, inplace=(add, sub))
Tensor.__add__ = _add
Tensor.__sub__ = _sub
Tensor.__mul__ = mul
Tensor.__truediv__ = _true_divide
Tensor.__neg__ = neg
Tensor.__radd__ = _add
Tensor.__rmul__ = mul

Tensor.__rsub__ = lambda self, other: _sub(other, self)
Tensor.__rtruediv__ = lambda self, other: _true_divide(other, self)
