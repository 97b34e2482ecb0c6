"""The largest and the smallest elements: max min amax amin aminmax argmax argmin."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt, return_types
from ...autograd.op import op, renamed
from ...autograd.promotion import EXACT, converted, write_out
from ...autograd.public import public
from ...errors import not_implemented
from ...tensor import Tensor, check_dim, wrap
from ...types import Ints, Tensors
from .reductions import axes, check_nonempty, in_c_order, kept_shape, like, raw, spread, to_outs

__all__ = ["amax", "amin", "aminmax", "argmax", "argmin", "max", "min"]

_LONG = np.dtype(np.int64)


def _share(g, ans, input, dim):
    """`g` split evenly among the elements that are the extreme (or NaN, if that is)."""
    x, extreme = raw(input), raw(ans).reshape(kept_shape(input.shape, dim))
    hits = (x == extreme) | ((x != x) & (extreme != extreme))
    weight = (hits / hits.sum(axis=dim, keepdims=True)).astype(x.dtype)
    return spread(g, input.shape, dim) * like(g, weight)


@op(name="amax", input=lambda g, ans, input, dim: _share(g, ans, input, dim))
def _amax(input, dim, keepdim):
    return in_c_order(np.maximum.reduce(input, axis=dim, keepdims=keepdim))


@op(name="amin", input=lambda g, ans, input, dim: _share(g, ans, input, dim))
def _amin(input, dim, keepdim):
    return in_c_order(np.minimum.reduce(input, axis=dim, keepdims=keepdim))


_max_of_all, _min_of_all = renamed(_amax, "max.1"), renamed(_amin, "min.1")


@op(name="place", input=lambda g, index, dim: pick(g, index, dim))
def place(input, index, dim, size):
    """Zeros of `size` along `dim`, with `input` added at the positions `index` along it. No position twice."""
    if not input.ndim:
        return input.copy()
    result = np.zeros(input.shape[:dim] + (size,) + input.shape[dim + 1:], input.dtype)
    np.put_along_axis(result, index, input, dim)
    return result


def picker(name, reduce=None):
    """An op, called `name` on the tape, that takes the elements at positions `index` along `dim`: by
    `reduce` along it, if that finds them."""
    @op(name=name, input=lambda g, index, dim, shape: place(
        g.reshape(index.shape), index, dim, shape[dim] if shape else 1))
    def take(input, index, dim, keepdim=True):
        if not input.ndim:
            return input.copy()
        if reduce is not None:
            return in_c_order(reduce(input, axis=dim, keepdims=keepdim))
        values = np.take_along_axis(input, index, dim)
        return values if keepdim else values.squeeze(dim)
    return take


pick = picker("gather")


def extreme_at(take, result, input, index, dim, keepdim):
    """The named tuple of the elements at `index` (one along axis `dim`, kept) and of the index itself."""
    places = wrap(index)
    values = take(input, places, dim, keepdim)
    if not keepdim and index.ndim:
        places.array = index.squeeze(dim)      # the same memory and version
    return result(values, places)


def _index_of(function, array, dim):
    if array.dtype == bool:
        array = array.view(np.uint8)
    return np.asarray(function(array, axis=dim, keepdims=True)) if array.ndim else np.zeros((), _LONG)


def _extreme(name, reduce, function, take, result, input, dim, keepdim):
    if isinstance(dim, Tensor):
        return getattr(input, name + "imum")(dim)
    array = input.array
    if array.dtype.kind in dt.COMPLEX and dim is None:
        raise not_implemented(f"{name}_all", input)
    if array.dtype.kind == dt.WIDENED:         # after the above: of two tensors, the other one has a say too
        wide = converted(input, np.dtype(np.float32))
        found = _extreme(name, reduce, function, take, result, wide, dim, keepdim)
        if dim is None:
            return converted(found, dt.BFLOAT16)
        return result(converted(found[0], dt.BFLOAT16), found[1])
    if dim is None:
        if not array.size:
            raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                               "Specify the reduction dim with the 'dim' argument.")
        return reduce(input, tuple(range(array.ndim)), False)
    dim = check_dim(dim, array.ndim)
    check_nonempty(name, array, (dim,) if array.ndim else ())
    if array.dtype.kind in dt.COMPLEX:
        raise RuntimeError(f"{name}(): does not support complex input")
    return extreme_at(take, result, input, _index_of(function, array, dim), dim, keepdim)


def _written(found, input, other, out):
    """The result of max or min in `out`, whose dtype matters to some of their forms alone."""
    if out is None:
        return found
    if isinstance(found, tuple):
        return to_outs(type(found), found, out, input)
    return write_out(out, found, *([input, other] if isinstance(other, Tensor) else []), level=5)


_take_max, _take_min = picker("max", np.maximum.reduce), picker("min", np.minimum.reduce)


@public(method=True)
def max(input: Tensor, dim: int | Tensor = None, keepdim: bool = False, *, other: Tensor = None,
        out: Tensor | Tensors | None = None) -> Tensor | return_types.max:
    """max(x): the largest element. max(x, dim): the largest along `dim` and its index, as a named tuple
    (values, indices). max(x, y): the larger of each pair of elements, as `maximum`.

    The gradient of the first is shared by equal elements; that of the second goes to the index.

    >>> import tinytorch as torch
    >>> torch.max(torch.tensor([[1., 5.], [7., 2.]]), 1)
    torch.return_types.max(
    values=tensor([5., 7.]),
    indices=tensor([1, 0]))
    """
    dim = other if other is not None else dim
    return _written(_extreme("max", _max_of_all, np.argmax, _take_max, return_types.max, input, dim, keepdim),
                    input, dim, out)


@public(method=True)
def min(input: Tensor, dim: int | Tensor = None, keepdim: bool = False, *, other: Tensor = None,
        out: Tensor | Tensors | None = None) -> Tensor | return_types.min:
    """min(x): the smallest element. min(x, dim): the smallest along `dim` and its index. min(x, y):
    `minimum`. See `max`.

    >>> import tinytorch as torch
    >>> torch.min(torch.tensor([3., 1., 2.]))
    tensor(1.)
    """
    dim = other if other is not None else dim
    return _written(_extreme("min", _min_of_all, np.argmin, _take_min, return_types.min, input, dim, keepdim),
                    input, dim, out)


#: The error for an `out` of another dtype than the input.
_MISMATCH = ("Expected the dtype for input and out to match, but got {Want} for input's dtype and {Have} for out's "
             "dtype.")


def _extreme_over(name, reduce, input, dim, keepdim):
    array = input.array
    if not array.size and (dim is None or dim == ()):
        raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                           "Specify the reduction dim with the 'dim' argument.")
    dim = axes(dim, array.ndim)
    check_nonempty(name, array, dim)
    return reduce(input, dim, keepdim)


@public(dtypes=dt.INTEGRAL + dt.FLOATING, kernel="max_values_cpu", widen=True, out=_MISMATCH, apart=None, method=True)
def amax(input: Tensor, dim: int | Ints | None = (), keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """Largest element, or largest over `dim` (an int or several). Equal elements share the gradient.

    >>> import tinytorch as torch
    >>> torch.amax(torch.tensor([[1., 5.], [7., 2.]]), (0, 1))
    tensor(7.)
    """
    return _extreme_over("amax", _amax, input, dim, keepdim)


@public(dtypes=dt.INTEGRAL + dt.FLOATING, kernel="min_values_cpu", widen=True, out=_MISMATCH, apart=None, method=True)
def amin(input: Tensor, dim: int | Ints | None = (), keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """Smallest element, or smallest over `dim` (an int or several). Equal elements share the gradient.

    >>> import tinytorch as torch
    >>> torch.amin(torch.tensor([[1., 5.], [7., 2.]]), 0)
    tensor([1., 2.])
    """
    return _extreme_over("amin", _amin, input, dim, keepdim)


@public(dtypes=dt.INTEGRAL + dt.FLOATING, kernel="aminmax_cpu", widen=True, out=EXACT, method=True)
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False,
            out: Tensors | None = None) -> return_types.aminmax:
    """Smallest and largest element (along `dim`) as a named tuple (min, max).

    >>> import tinytorch as torch
    >>> low, high = torch.aminmax(torch.tensor([3., 1., 2.])); low, high
    (tensor(1.), tensor(3.))
    """
    array = input.array
    if not array.size and dim is None:
        raise RuntimeError("aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
                           "identity.")
    dim = tuple(range(array.ndim)) if dim is None else axes(dim, array.ndim)
    check_nonempty("aminmax", array, dim)
    return return_types.aminmax(_amin(input, dim, keepdim), _amax(input, dim, keepdim))


def _arg(name, function, input, dim, keepdim):
    array = input.array
    if array.dtype.kind in dt.BOOL + dt.COMPLEX:
        raise RuntimeError(f"{name}(): does not support {'bool' if array.dtype == bool else 'complex'} input")
    if dim is None:
        if not array.size:
            raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
        index = np.asarray(function(array))
        return wrap(index.reshape((1,) * array.ndim) if keepdim else index)
    dim = check_dim(dim, array.ndim)
    check_nonempty(name, array, (dim,) if array.ndim else ())
    return wrap(np.asarray(function(array, axis=dim, keepdims=keepdim)) if array.ndim else np.zeros((), _LONG))


@public(widen=True, out=EXACT, method=True)
def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """Index of the largest element (the first, if several) along `dim`, or in the flattened tensor.

    >>> import tinytorch as torch
    >>> torch.argmax(torch.tensor([[1., 5.], [7., 2.]]), dim=1)
    tensor([1, 0])
    """
    return _arg("argmax", np.argmax, input, dim, keepdim)


@public(widen=True, out=EXACT, method=True)
def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """Index of the smallest element (the first, if several) along `dim`, or in the flattened tensor.

    >>> import tinytorch as torch
    >>> torch.argmin(torch.tensor([3., 1., 2.]))
    tensor(1)
    """
    return _arg("argmin", np.argmin, input, dim, keepdim)
