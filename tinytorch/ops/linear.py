"""Matrix products: matmul mm bmm mv dot addmm ... and the linear layer."""
import numpy as np

from ..autograd.op import attach, op
from ..autograd.promotion import type_name, write_out
from ..tensor import Tensor

__all__ = ["matmul", "mm"]


def mT(x):
    """Last two axes swapped, of an array or a Tensor, conjugated if complex."""
    return x.swapaxes(-1, -2).conjugate() if not isinstance(x, Tensor) else x.transpose(-1, -2).conjugate()


@op(name="mm", input=lambda g, mat2: _mm(g, mT(mat2)), mat2=lambda g, input: _mm(mT(input), g))
def _mm(input, mat2):
    return input.dot(mat2)


@op(name="matmul", input=lambda g, other: _matmul(g, mT(other)), other=lambda g, input: _matmul(mT(input), g))
def _matmul(input, other):
    return np.matmul(input, other)


def matmul(input, other, *, out=None):
    """Matrix product by torch's rules: vectors, matrices, batches of matrices with broadcasting.

    >>> import tinytorch as torch
    >>> torch.matmul(torch.ones(2, 3), torch.ones(3))
    tensor([3., 3.])
    """
    a, b = input.array, other.array
    if a.dtype != b.dtype:
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {type_name(input).lower()} != {type_name(other).lower()}")
    if a.ndim == 2 and b.ndim == 2:
        if a.shape[1] != b.shape[0]:
            raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]})")
        return write_out(out, _mm(input, other))
    if a.ndim == 1:
        return matmul(input.unsqueeze(0), other).squeeze(-2)
    if b.ndim == 1:
        return matmul(input, other.unsqueeze(1)).squeeze(-1)
    return write_out(out, _matmul(input, other))


mm = matmul
attach(matmul)
Tensor.__matmul__ = matmul
