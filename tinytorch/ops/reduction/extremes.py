"""The largest and smallest elements: max min amax amin aminmax argmax argmin."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt, return_types
from ...arguments import is_int
from ...autograd.op import op, single, unwatched
from ...autograd.promotion import EXACT, refuse_complex_gradient, write_out
from ...autograd.public import public
from ...errors import not_implemented, refuse_records, type_name
from ...kernels.extremes import extreme_of, place_of, range_of
from ...kernels.layout import as_array
from ...kernels.scatter import picked, set_along
from ...tensor import Tensor, check_dim, wrap
from ...types import Ints, Tensors
from .reductions import (
    _count_over,
    at_once,
    axes,
    by_count,
    check_nonempty,
    divided,
    in_c_order,
    kept_shape,
    like,
    masked,
    raw,
    spread,
    to_outs,
)

__all__ = ["amax", "amin", "aminmax", "argmax", "argmin", "max", "min"]

_LONG = np.dtype(np.int64)
#: The kinds of NumPy's dtypes with an order that are no bools, and of all with an order.
NUMBERS = dt.INTEGER + dt.NATIVE
_ORDERED = NUMBERS + dt.BOOL
#: The characters of NumPy's dtypes whose extremes are found without a sign of an error.
_QUICK = np.typecodes["AllInteger"] + "f?"
#: Makes a tuple of return_types from its items, without a look at what it is given.
named = tuple.__new__


def _shared(g, input, extreme, dim):
    """`g` split evenly among the elements that equal the extreme over `dim`. NaN for all elements if that is NaN."""
    hits = raw(input) == raw(extreme).reshape(kept_shape(input.shape, dim))
    return by_count(spread(g, input.shape, dim) * like(g, hits), hits, dim)


def shared_evenly(g, ans, input):
    """`g` split evenly among the elements that equal the extreme of all elements (or that are NaN, if it is)."""
    x, extreme = raw(input), raw(ans)
    hits = in_c_order(as_array(np.isnan(x) if extreme != extreme else x == extreme))
    return masked(spread(divided(g, int(np.count_nonzero(hits))), input.shape, range(input.ndim)), hits)


@single(name="amax", batches="dims", steps=True, input=lambda g, ans, input, dim: _shared(g, input, ans, dim))
def _amax(input, dim, keepdim):
    return in_c_order(extreme_of(np.maximum, input, dim, keepdim))


@single(name="amin", batches="dims", steps=True, input=lambda g, ans, input, dim: _shared(g, input, ans, dim))
def _amin(input, dim, keepdim):
    return in_c_order(extreme_of(np.minimum, input, dim, keepdim))


@single(name="max.1", input=shared_evenly)
def _max_of_all(input):
    return extreme_of(np.maximum, input, None)


@single(name="min.1", input=shared_evenly)
def _min_of_all(input):
    return extreme_of(np.minimum, input, None)


def _aminmax_grad(g, wanted, input, ans, dim):
    found = [_shared(d, input, extreme, dim) for d, extreme in zip(g, ans) if d is not None]
    return (found[0] if len(found) == 1 else found[0] + found[1]),


@op(name="aminmax", batches="dims", multi=True, steps=True, inputs=1, joint=_aminmax_grad)
def _aminmax(input, dim, keepdim):
    return range_of(input, dim, keepdim)


@op(name="place", batches="places", input=lambda g, index, dim: pick(g, index, dim))
def place(input, index, dim, size):
    """Zeros of `size` along `dim`, with `input` written at the positions `index` along it. Positions do not repeat."""
    if not input.ndim:
        return input.copy()
    shape = input.shape[:dim] + (size,) + input.shape[dim + 1:]
    found = set_along(None, shape, dim, index, input)
    if found is not None:
        return found
    result = np.zeros(shape, input.dtype)
    np.put_along_axis(result, index, input, dim)
    return result


def _dense_strides(array):
    """The strides, in elements, of a dense array whose dimensions have the order of those of `array`, as torch infers
    them."""
    shape, own = array.shape, [step // array.itemsize for step in array.strides]
    order = list(range(array.ndim))[::-1]      # the innermost dimension first
    for i in range(1, array.ndim):
        k = i
        for j in reversed(range(i)):
            one, two = order[j], order[k]
            if own[one] and own[two]:
                if own[one] < own[two] or own[one] == own[two] and shape[one] <= shape[two]:
                    if own[one] < own[two]:
                        break
                    continue
                order[j], order[k], k = two, one, j
    found, step = [0] * array.ndim, 1
    for d in order:
        found[d] = step
        step *= shape[d] or 1
    if [found[d] for d in order if shape[d] > 1] == [own[d] for d in order if shape[d] > 1]:
        return own                             # `array` is dense itself
    return found


def laid_out_as(array, values):
    """`values`, which are in C order, with the strides of `array`, or with dense strides in their order if `array` has
    gaps. The two have one shape."""
    if array.flags.c_contiguous and 1 not in array.shape or not array.size:
        return values
    strides = [step * values.itemsize for step in _dense_strides(array)]
    result = np.lib.stride_tricks.as_strided(np.empty(array.size, values.dtype), array.shape, strides)
    result[...] = values
    return result


def picker(name, reduce=None, strides=False, index="indices"):
    """An op, called `name` on the tape, that takes the elements at positions `index` along `dim`. `reduce`: a ufunc
    that finds them faster. `strides`: the result is laid out as the input. `index`: torch's name of the positions."""
    @op(name=name, batches="places", input=lambda g, index, dim, shape: place(
        g.reshape(index.shape), index, dim, shape[dim] if shape else 1), called={"index": index})
    def take(input, index, dim, keepdim=True):
        if not input.ndim:
            return input.copy()
        if reduce is not None:
            return in_c_order(extreme_of(reduce, input, (dim,), keepdim))
        values = picked(input, index, dim)
        if strides:
            return laid_out_as(input, values)
        return values if keepdim else values.squeeze(dim)
    return take


pick = picker("gather", index="index")


def taken_at(take, input, places, dim, keepdim=True):
    """The op `take`, made by `picker`, of these arguments."""
    if unwatched(input) and places._array.size and input._array.dtype.kind != dt.WIDENED:
        return wrap(as_array(take.op.forward(input._array, places._array, dim, keepdim)))
    return take(input, places, dim, keepdim)


def extreme_at(take, result, input, index, dim, keepdim):
    """The named tuple of the elements at `index` (which has size 1 along `dim`) and of the index itself."""
    places = wrap(index)
    values = taken_at(take, input, places, dim, keepdim)
    if not keepdim and index.ndim:
        places._array = index.squeeze(dim)      # in place: memory and version stay the same
    return named(result, (values, places))


def _index_of(function, array, dim):
    if array.dtype == bool:
        array = array.view(np.uint8)
    return as_array(place_of(function, array, dim, True)) if array.ndim else np.zeros((), _LONG)


def _extreme(name, reduce, function, take, result, input, dim, keepdim):
    if isinstance(dim, Tensor) and keepdim and is_int(dim):
        dim = int(dim)
    if isinstance(dim, Tensor):
        if keepdim:
            raise TypeError(f"{name}() received an invalid combination of arguments - got (Tensor, Tensor, bool)")
        return getattr(input, name + "imum")(dim)
    array = input._array
    if dim is None:
        if array.size and array.dtype.kind in _ORDERED:
            return reduce(input)
        if not array.size:
            raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                               "Specify the reduction dim with the 'dim' argument.")
        if dt.kind(array.dtype) in dt.COMPLEX:
            raise not_implemented(f"{name}_all", input)
        refuse_records(f"{name}_all", input)
        return at_once(reduce, input)
    dim = check_dim(dim, array.ndim)
    if array.size and array.ndim and array.dtype.kind in NUMBERS:
        return extreme_at(take, result, input, as_array(place_of(function, array, dim, True)), dim, keepdim)
    check_nonempty(f"{name}()", array, (dim,) if array.ndim else ())
    if dt.kind(array.dtype) in dt.COMPLEX:
        raise RuntimeError(f"{name}(): does not support complex input")
    refuse_records(f"{name}_cpu", input)
    return extreme_at(take, result, input, _index_of(function, dt.widened(array), dim), dim, keepdim)


def _written(found, input, other, out):
    """The result of max or min, written to `out` if given. Only some of their forms require an equal dtype."""
    if out is None:
        return found
    if isinstance(found, tuple):
        return to_outs(type(found), found, out, input)
    return write_out(out, found, *([input, other] if isinstance(other, Tensor) else []))


_take_max, _take_min = picker("max", np.maximum), picker("min", np.minimum)


@public(method=True, keyword_kinds={"dim": "int"}, repeats=True)       # a positional tensor is `other`
def max(input: Tensor, dim: int | Tensor = None, keepdim: bool = False, *, other: Tensor = None,
        out: Tensor | Tensors | None = None) -> Tensor | return_types.max:
    """max(x): the largest element. max(x, dim): the largest along `dim` and its index, as a named tuple
    (values, indices). max(x, y): the larger of each pair of elements, as `maximum`.

    Equal elements share the gradient of max(x). The gradient of max(x, dim) goes to the element at the index.

    >>> import tinytorch as torch
    >>> torch.max(torch.tensor([[1., 5.], [7., 2.]]), 1)
    torch.return_types.max(
    values=tensor([5., 7.]),
    indices=tensor([1, 0]))
    """
    dim = other if other is not None else dim
    if dim is None and out is None and input._array.dtype.char in _QUICK and input._array.size and unwatched(input):
        return wrap(as_array(extreme_of(np.maximum, input._array, None)))
    return _written(_extreme("max", _max_of_all, np.argmax, _take_max, return_types.max, input, dim, keepdim),
                    input, dim, out)


@public(method=True, keyword_kinds={"dim": "int"}, repeats=True)       # a positional tensor is `other`
def min(input: Tensor, dim: int | Tensor = None, keepdim: bool = False, *, other: Tensor = None,
        out: Tensor | Tensors | None = None) -> Tensor | return_types.min:
    """min(x): the smallest element. min(x, dim): the smallest along `dim` and its index. min(x, y):
    `minimum`. See `max`.

    >>> import tinytorch as torch
    >>> torch.min(torch.tensor([3., 1., 2.]))
    tensor(1.)
    """
    dim = other if other is not None else dim
    if dim is None and out is None and input._array.dtype.char in _QUICK and input._array.size and unwatched(input):
        return wrap(as_array(extreme_of(np.minimum, input._array, None)))
    return _written(_extreme("min", _min_of_all, np.argmin, _take_min, return_types.min, input, dim, keepdim),
                    input, dim, out)


#: The error for an `out` of another dtype than the input.
_MISMATCH = ("Expected the dtype for input and out to match, but got {Want} for input's dtype and {Have} for out's "
             "dtype.")


def _extreme_over(name, reduce, input, dim, keepdim):
    array = input._array
    if array.size and array.dtype.kind in _ORDERED:
        return reduce(input, axes(dim, array.ndim), keepdim)
    if not array.size and (dim is None or dim == ()):
        raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                           "Specify the reduction dim with the 'dim' argument.")
    given, dim = dim, axes(dim, array.ndim)
    check_nonempty(f"{name}()", array, [given] if given.__class__ is int and array.ndim else dim)
    if dt.kind(array.dtype) in dt.COMPLEX:
        if _count_over(array, [d for d in range(array.ndim) if d not in dim]):
            raise not_implemented(f"{name[1:]}_values_cpu", input)
        refuse_complex_gradient(name, input)
    refuse_records(f"{name[1:]}_values_cpu", input)
    return at_once(reduce, input, dim, keepdim)


@public(out=_MISMATCH, apart=None, method=True, repeats=True)
def amax(input: Tensor, dim: int | Ints | None = (), keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The largest element, of all or over `dim` (an int or several). Equal elements share the gradient.

    >>> import tinytorch as torch
    >>> torch.amax(torch.tensor([[1., 5.], [7., 2.]]), (0, 1))
    tensor(7.)
    """
    return _extreme_over("amax", _amax, input, dim, keepdim)


@public(out=_MISMATCH, apart=None, method=True, repeats=True)
def amin(input: Tensor, dim: int | Ints | None = (), keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The smallest element, of all or over `dim` (an int or several). Equal elements share the gradient.

    >>> import tinytorch as torch
    >>> torch.amin(torch.tensor([[1., 5.], [7., 2.]]), 0)
    tensor([1., 2.])
    """
    return _extreme_over("amin", _amin, input, dim, keepdim)


@public(out=EXACT, method=True, repeats=True)
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False,
            out: Tensors | None = None) -> return_types.aminmax:
    """The smallest and the largest element (along `dim`) as a named tuple (min, max).

    >>> import tinytorch as torch
    >>> low, high = torch.aminmax(torch.tensor([3., 1., 2.])); low, high
    (tensor(1.), tensor(3.))
    """
    array = input._array
    if array.dtype.char in _QUICK and array.size and unwatched(input):
        low, high = range_of(array, axes(dim, array.ndim), keepdim)
        return named(return_types.aminmax, (wrap(low), wrap(high)))
    if array.size and array.dtype.kind in _ORDERED:
        return return_types.aminmax(*_aminmax(input, axes(dim, array.ndim), keepdim))
    if not array.size and dim is None:
        raise RuntimeError("aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
                           "identity.")
    whole = dim is None
    dim = axes(dim, array.ndim)
    check_nonempty("aminmax", array, dim)
    if array.dtype.kind in dt.COMPLEX:
        if not array.ndim and not whole:
            raise RuntimeError(f"aminmax not implemented for {type_name(input)}")
        raise not_implemented("aminmax_cpu", input)
    refuse_records("aminmax_cpu", input)
    return return_types.aminmax(*at_once(_aminmax, input, dim, keepdim))


def _arg(name, function, input, dim, keepdim):
    array = input._array
    if array.dtype.kind in NUMBERS and array.size and type(array) is np.ndarray:
        if dim is None and not keepdim:
            return wrap(np.asarray(array.argmax() if function is np.argmax else array.argmin()))
        if dim.__class__ is int and -array.ndim <= dim < array.ndim:
            return wrap(as_array(place_of(function, array, dim % array.ndim, keepdim)))
    if dt.kind(array.dtype) in dt.BOOL + dt.COMPLEX:
        raise RuntimeError(f"{name}(): does not support {'bool' if array.dtype == bool else 'complex'} input")
    refuse_records(f"{name}_cpu", array)
    array = dt.widened(array)
    if dim is None:
        if not array.size:
            raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
        index = as_array(function(array))
        return wrap(index.reshape((1,) * array.ndim) if keepdim else index)
    dim = check_dim(dim, array.ndim)
    check_nonempty(f"{name}()", array, (dim,) if array.ndim else ())
    return wrap(as_array(place_of(function, array, dim, keepdim)) if array.ndim else np.zeros((), _LONG))


@public(out=EXACT, method=True)
def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The index of the largest element (the first, if several) along `dim`, or in the flattened tensor.

    >>> import tinytorch as torch
    >>> torch.argmax(torch.tensor([[1., 5.], [7., 2.]]), dim=1)
    tensor([1, 0])
    """
    return _arg("argmax", np.argmax, input, dim, keepdim)


@public(out=EXACT, method=True)
def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The index of the smallest element (the first, if several) along `dim`, or in the flattened tensor.

    >>> import tinytorch as torch
    >>> torch.argmin(torch.tensor([3., 1., 2.]))
    tensor(1)
    """
    return _arg("argmin", np.argmin, input, dim, keepdim)
