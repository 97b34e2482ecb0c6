"""Contractions of tensors (inner tensordot kron cross) and the trace."""
from __future__ import annotations

from functools import lru_cache

import numpy as np

from ... import dtypes as dt
from ...arguments import ints_of, is_int
from ...autograd.op import op, unwatched
from ...autograd.promotion import EXACT, check_broadcast, converted, write_out
from ...autograd.public import public, refuse
from ...errors import not_implemented, type_name, warn_once
from ...kernels.errstate import ignored
from ...kernels.expressions import expression
from ...tensor import Tensor, check_dim, wrap
from ...types import Ints
from ..reduction.reductions import masked
from .products import count_of, dot, matmul, unsafe_view

__all__ = ["cross", "inner", "kron", "tensordot", "trace"]

_OUT_DTYPE = "tensordot: Expected the output tensor to have dtype {Want}, but got an output tensor with dtype {Have}"


@op(name="trace", input=lambda g, shape: masked(g, np.eye(*shape, dtype=bool)))
def _trace(input):
    return np.trace(input)


def _cross_rounded(dim, input, other):
    """The cross product in bfloat16. torch's kernel for single numbers rounds every product."""
    shape = np.broadcast_shapes(input.shape, other.shape)
    a, b = (dt.from_bfloat16(np.moveaxis(np.broadcast_to(x, shape), dim, 0)) for x in (input, other))

    def product(i, j):
        return dt.from_bfloat16(dt.to_bfloat16(a[i] * b[j]))
    rows = [dt.to_bfloat16(product(i, j) - product(j, i)) for i, j in ((1, 2), (2, 0), (0, 1))]
    result = np.empty(shape, dt.BFLOAT16)
    np.moveaxis(result, dim, 0)[...] = np.stack(rows)
    return result


@op(name="linalg_cross", batches="dims", kernel="cross", first=1, steps=True,
    input=lambda g, other, dim: _cross(dim, other.conjugate(), g),
    other=lambda g, input, dim: _cross(dim, g, input.conjugate()), in_bfloat16=_cross_rounded)
def _cross(dim, input, other):
    shape = np.broadcast_shapes(input.shape, other.shape)
    if input.dtype == dt.BFLOAT16:
        raise TypeError("bfloat16 is rounded after each product")
    result = np.empty(shape, input.dtype)
    np.moveaxis(result, dim, -1)[...] = np.cross(input, other, axisa=dim, axisb=dim)
    return result


@public(out=_OUT_DTYPE, apart=None, method=True, autocast="parts")
def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sum of products over the last dimensions of both tensors.

    >>> import tinytorch as torch
    >>> torch.inner(torch.ones(2, 3), torch.ones(4, 3)).shape
    torch.Size([2, 4])
    """
    a, b = input._array.shape, other._array.shape
    if not a or not b:
        return input * other
    if a[-1] != b[-1]:
        raise RuntimeError("inner() the last dimension must match on both input tensors but got shapes "
                           f"{list(a)} and {list(b)}")
    return tensordot(input, other, ([-1], [-1]))


_product = expression(lambda input, other: input * other, 2)


@public(out="", apart="resized", method=True, repeats=True)
def kron(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Kronecker product.

    >>> import tinytorch as torch
    >>> torch.kron(torch.tensor([1, 2]), torch.tensor([1, 10]))
    tensor([ 1, 10,  2, 20])
    """
    x, y = input._array, other._array
    rows, columns, shape = _sizes_of_kron(x.shape, y.shape)
    if shape and x.dtype == y.dtype and x.dtype.char in "fdl" and unwatched(input, True) and unwatched(other, True):
        with ignored():                        # a shape, because NumPy's product of two numbers is no array
            return wrap(np.asarray(_product(x.reshape(rows), y.reshape(columns)), order="C").reshape(shape))
    return unsafe_view(unsafe_view(input, rows) * unsafe_view(other, columns), shape)


@lru_cache(512)
def _sizes_of_kron(a, b):
    """The shapes of two tensors whose product has the elements of their Kronecker product, and its shape."""
    ndim = max(len(a), len(b))
    a, b = (1,) * (ndim - len(a)) + a, (1,) * (ndim - len(b)) + b
    return (tuple([n for size in a for n in (size, 1)]), tuple([n for size in b for n in (1, size)]),
            tuple([n * m for n, m in zip(a, b)]))


@public(python=True, autocast="parts")
def tensordot(a: Tensor, b: Tensor, dims: int | Ints | Tensor = 2, out: Tensor | None = None) -> Tensor:
    """The sum of products over several dimensions: the last `dims` of `a` with the first of `b`, or two lists of
    dimensions.

    >>> import tinytorch as torch
    >>> torch.tensordot(torch.ones(2, 3, 4), torch.ones(4, 3), dims=([1, 2], [1, 0]))
    tensor([12., 12.])
    """
    if not isinstance(dims, (tuple, list, Tensor, int)):
        raise RuntimeError("tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] "
                           f"containing two lists, but got dims={dims}")
    if isinstance(dims, Tensor):
        dims = dims.tolist() if dims._array.size != 1 else int(dims.item())
    if isinstance(dims, (tuple, list)):
        refuse(tensordot, a, b)                # from here on torch's function is C++
    first, second = _summed_dims(a, b, dims)
    if len(first) != len(second):
        raise RuntimeError("both dimension lists should have same length")
    if a._array.dtype != b._array.dtype:
        raise RuntimeError("both inputs should have same dtype")
    plan = _plan(a._array.shape, b._array.shape, tuple(first), tuple(second))
    for i, j in zip(first, second) if plan is None else ():
        n, m = (x._array.shape[check_dim(d, x._array.ndim)] for x, d in ((a, i), (b, j)))
        if n != m and 1 not in (n, m):
            raise RuntimeError(f"contracted dimensions need to match, but first has size {n} in dim {i} and second "
                               f"has size {m} in dim {j}")
        if n != m and m == 1:                  # a size of 1 is broadcast: the other tensor is summed
            a = a.sum(i, keepdim=True, dtype=a.dtype)
        elif n != m:
            b = b.sum(j, keepdim=True, dtype=b.dtype)
    if plan is None:
        plan = _plan(a._array.shape, b._array.shape, tuple(first), tuple(second))
    return write_out(out, _contracted(a, b, *plan), exact=_OUT_DTYPE)


def _summed_dims(a, b, dims):
    """The dimensions of `a` and of `b` that `tensordot` sums over, as two lists."""
    if isinstance(dims, (tuple, list)):
        if len(dims) < 2:
            raise ValueError(f"not enough values to unpack (expected 2, got {len(dims)})")
        if len(dims) > 2:
            raise ValueError("too many values to unpack (expected 2)")
        return [list(ints_of((d,) if is_int(d) else d, "tensordot", name, position))
                for d, name, position in zip(dims, ("dims_self", "dims_other"), (3, 4))]
    if dims < 0:
        raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
    if dims > min(a._array.ndim, b._array.ndim):
        raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
    return list(range(-dims, 0)), list(range(dims))


@lru_cache(512)
def _plan(a, b, first, second):
    """How tensors of shapes `a` and `b` are contracted over the dimensions `first` and `second`: (the order of the
    dimensions of each that makes a matrix of it, the numbers of rows, products and columns, the shape of the result).
    None if sizes differ."""
    first, second = tuple([check_dim(d, len(a)) for d in first]), tuple([check_dim(d, len(b)) for d in second])
    if any([a[i] != b[j] for i, j in zip(first, second)]):
        return None
    free_a = tuple([i for i in range(len(a)) if i not in first])
    free_b = tuple([j for j in range(len(b)) if j not in second])
    rows, columns = [a[i] for i in free_a], [b[j] for j in free_b]
    return (free_a + first, second + free_b, count_of(rows), count_of([a[i] for i in first]), count_of(columns),
            tuple(rows + columns))


def _arranged(x, order):
    """`x` with its dimensions in another order."""
    if unwatched(x, True) and order == tuple(range(len(order))):
        return x
    return x.permute(order)


def _shaped(x, shape, read):
    """`x` in another shape. If it is only read and not saved, then it is no view that knows its base."""
    return wrap(x._array.reshape(shape)) if read else x.reshape(shape)


def _contracted(a, b, order_a, order_b, rows, count, columns, shape):
    """The sum of products by a plan."""
    left, right = _arranged(a, order_a), _arranged(b, order_b)
    read = unwatched(left, True) and unwatched(right, True)
    if rows != 1 or columns != 1:
        product = matmul(_shaped(left, (rows, count), read), _shaped(right, (count, columns), read))
    elif a._array.dtype == np.bool_ or (        # torch has no dot product of bools
            count != 1 and left._array.flags.c_contiguous and right._array.flags.c_contiguous):
        product = dot(_shaped(left, (count,), read), _shaped(right, (count,), read))
    else:
        product = (left.squeeze() * right.squeeze()).sum(dtype=a.dtype)
    return product.reshape(shape)              # a view, as in torch, also of the same shape


@public(dtypes=dt.INTEGER + dt.FLOATING + dt.COMPLEX, widen=True, method=True, autocast="up")
def trace(input: Tensor) -> Tensor:
    """The sum of the diagonal of a matrix.

    >>> import tinytorch as torch
    >>> torch.trace(torch.tensor([[1, 2], [3, 4]]))
    tensor(5)
    """
    if input._array.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input._array.ndim}")
    if input._array.dtype.kind in dt.INTEGER:
        input = converted(input, np.dtype(np.int64))
    return _trace(input)


@public(out=EXACT, apart=True, method=True)
def cross(input: Tensor, other: Tensor, dim: int | None = None, *, out: Tensor | None = None) -> Tensor:
    """The cross product of vectors of 3 elements along `dim` (by default the first dimension of size 3).

    >>> import tinytorch as torch
    >>> torch.cross(torch.tensor([1, 0, 0]), torch.tensor([0, 1, 0]), dim=0)
    tensor([0, 0, 1])
    """
    a, b = input._array.shape, other._array.shape
    if len(a) != len(b):
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    if dim is None:
        warn_once("Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass the dim "
                  "explicitly or simply use torch.linalg.cross.\nThe default value of dim will change to agree with "
                  "that of linalg.cross in a future release.")
        if 3 not in a:
            raise RuntimeError("no dimension of size 3 in input")
        dim = a.index(3)
    dim = check_dim(dim, len(a))
    if a[dim] != 3 or b[dim] != 3:
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {a[dim]} and {b[dim]}")
    check_broadcast(a, b)
    if input._array.dtype.kind in dt.BOOL:
        raise not_implemented("cross", dt.bool)
    if input._array.dtype != other._array.dtype:
        raise RuntimeError(f"expected scalar type {type_name(input)} but found {type_name(other)}")
    return _cross(dim, input, other)
