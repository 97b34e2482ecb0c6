"""Tensors as matrices: tensorinv tensorsolve; and torch.linalg.vander."""
from __future__ import annotations

import math

from ... import dtypes as dt
from ...autograd.public import public
from ...errors import type_name
from ...tensor import Tensor
from ...types import Extent, Ints
from .decompositions import LinAlgError, inv, solve


@public("linalg_tensorinv", out="", apart=None, autocast="up")
def tensorinv(input: Tensor, ind: int = 2, *, out: Tensor | None = None) -> Tensor:
    """The inverse of a tensor as a square matrix, whose rows are the first `ind` dimensions and whose columns the
    others.

    RuntimeError unless this matrix is square, LinAlgError (a RuntimeError) for a singular matrix.

    >>> import tinytorch as torch
    >>> torch.linalg.tensorinv(torch.eye(6).reshape(6, 2, 3), ind=1).shape
    torch.Size([2, 3, 6])
    """
    shape = input._array.shape
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    if ind > len(shape):
        raise RuntimeError(f"ArrayRef: invalid slice, N = {ind}; size = {len(shape)}")
    rows, columns = math.prod(shape[:ind]), math.prod(shape[ind:])
    if rows != columns:
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[ind:]) == "
                           f"prod(self.shape[:ind]), but got {columns} != {rows}")
    try:
        inverse = inv(input.reshape(columns, rows))
    except LinAlgError as error:
        raise LinAlgError(str(error).removeprefix("linalg.")) from None
    return inverse.reshape(shape[ind:] + shape[:ind])


@public("linalg_tensorsolve", out="", apart=None, autocast="up")
def tensorsolve(input: Tensor, other: Tensor, dims: Ints | None = None, *, out: Tensor | None = None) -> Tensor:
    """The X with tensordot(input, X, dims=X.ndim) = other. The dimensions `dims` of `input` are first moved to the end.

    RuntimeError unless `input` is then a square matrix, LinAlgError (a RuntimeError) for a singular matrix.

    >>> import tinytorch as torch
    >>> torch.linalg.tensorsolve(torch.eye(6).reshape(2, 3, 6), torch.ones(2, 3))
    tensor([1., 1., 1., 1., 1., 1.])
    """
    if dims is not None:
        input = input.movedim(tuple(dims), tuple(range(input.dim() - len(dims), input.dim())))
    shape, n = input._array.shape, other._array.ndim
    rows, columns = math.prod(shape[:n]), math.prod(shape[n:])
    if rows != columns:
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
                           f"prod(self.shape[:other.ndim]), but got {columns} != {rows}")
    return solve(input.reshape(rows, columns), other.flatten()).reshape(shape[n:])


@public("linalg_vander")
def vander(x: Tensor, *, N: Extent | None = None) -> Tensor:
    """The powers 0 .. N-1 of the elements of `x` (..., n) along a new last dimension. N is by default n.

    RuntimeError for bool and half precisions, and for N < 2.

    >>> import tinytorch as torch
    >>> torch.linalg.vander(torch.tensor([2, 3]), N=3)
    tensor([[1, 2, 4],
            [1, 3, 9]])
    """
    array = x._array
    if array.dtype.kind not in dt.INTEGER and array.dtype.char not in "fdFD":
        raise RuntimeError("linalg.vander supports floating point, complex, and integer tensors, but got "
                           f"{type_name(x)}")
    if not array.ndim:
        x = x.unsqueeze(-1)
    n = x._array.shape[-1] if N is None else N
    if n <= 1:
        raise RuntimeError("N must be greater than 1.")
    from ..layout.join import cat
    powers = x.unsqueeze(-1).expand(*x.shape, n - 1).cumprod(-1)
    return cat([powers.new_ones((*powers.shape[:-1], 1)), powers], -1)
