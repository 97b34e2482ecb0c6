"""Reductions: sum mean prod max min amax argmax all any ... (statistics are in statistics.py)."""
from __future__ import annotations

import functools
from operator import index as as_int

import numpy as np

from ... import dtypes as dt, return_types
from ...autograd.op import op, renamed, single
from ...autograd.promotion import EXACT, converted, in_float32, write_out
from ...autograd.public import public
from ...errors import not_a_tensor, not_implemented, type_name
from ...tensor import Tensor, check_dim, wrap
from ...types import Ints, Tensors

__all__ = ["all", "amax", "amin", "aminmax", "any", "argmax", "argmin", "count_nonzero", "max", "mean", "min", "prod",
           "sum"]

_LONG = np.dtype(np.int64)


# ------------------------------------------------------------------ what reductions share
def axes(dim, ndim):
    """`dim` (None, an int, several ints) as a tuple of distinct axes from the front."""
    if dim is None:
        return tuple(range(ndim))
    if not isinstance(dim, (tuple, list)):
        dim = check_dim(as_int(dim), ndim)
        return (dim,) if ndim else ()
    found = tuple(check_dim(d, ndim) for d in dim)
    if len(set(found)) != len(found):
        twice = next(d for d in found if found.count(d) > 1)
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    return found if found and ndim else tuple(range(ndim))


def kept_shape(shape, dim):
    return tuple([1 if i in dim else n for i, n in enumerate(shape)])


def spread(g, shape, dim):
    """The gradient of a reduction over axes `dim` (kept or not) laid out again over `shape`."""
    if not isinstance(g, Tensor):
        return np.broadcast_to(g.reshape(kept_shape(shape, dim)), shape)
    return g.reshape(kept_shape(shape, dim)).expand(shape)


def raw(x):
    """The array of a Tensor; an array as it is."""
    return x.array if isinstance(x, Tensor) else x


def like(g, array):
    """`array`, a constant, as what `g` is: a Tensor or an ndarray."""
    return wrap(np.asarray(array)) if isinstance(g, Tensor) else array


@op(name="masked_fill", input=lambda g, mask: masked(g, mask))
def masked(input, mask):
    """`input` where the array `mask` is true, else 0 (even where `input` is NaN or infinite)."""
    return np.where(mask, input, np.zeros((), input.dtype))


def numpy_names(function):
    """Lets a function take NumPy's `axis=` and `keepdims=` for `dim=` and `keepdim=`, as torch's do."""
    @functools.wraps(function)
    def call(*args, **kwargs):
        if kwargs:
            if "axis" in kwargs:
                kwargs["dim"] = kwargs.pop("axis")
            if "keepdims" in kwargs:
                kwargs["keepdim"] = kwargs.pop("keepdims")
        return function(*args, **kwargs)
    return call


def check_tensor(name, input):
    if not isinstance(input, Tensor):
        raise not_a_tensor(name, "input", 1, input)


def check_nonempty(name, array, dim):
    """IndexError in torch's words if one of the axes to reduce has no elements."""
    for d in dim:
        if not array.shape[d]:
            raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size.")


def _number_of(array, dim):
    n = 1
    for d in dim:
        n *= array.shape[d]
    return n


# ------------------------------------------------------------------ sum, mean, prod
def _add(array, dim, keepdim, dtype=None):
    if array.dtype == np.float16:              # add up in float32, as torch does
        return np.add.reduce(array, axis=dim, dtype=np.float32, keepdims=keepdim).astype(np.float16)
    return in_c_order(np.add.reduce(array, axis=dim, dtype=dtype, keepdims=keepdim))


def in_c_order(result):
    """What NumPy may have laid out as the input is, in C order: torch's reductions always are."""
    return result if result.flags.c_contiguous else np.ascontiguousarray(result)


@single(name="sum", input=lambda g, shape, dim: spread(g, shape, dim))
def _sum(input, dim, keepdim, dtype=None):
    return _add(input, dim, keepdim, dtype)


_sum_over = renamed(_sum, "sum.1")


@public(out="", method=True)
def sum(input: Tensor, dim: int | Ints | None = None, keepdim: bool = False, *, dtype: dt.dtype | None = None,
        out: Tensor | None = None) -> Tensor:
    """Sum of all elements, or over `dim` (an int or several). Integers are summed in int64.

    >>> import tinytorch as torch
    >>> torch.sum(torch.tensor([[1, 2], [3, 4]]), 0)
    tensor([4, 6])
    """
    if dtype is not None:
        input = converted(input, dtype.numpy)
    kind = input.array.dtype.kind
    if kind == dt.WIDENED:                     # here and below: what is widened is what `dtype` says, not the input
        return in_float32(sum, input, dim, keepdim)
    # NumPy widens small integers
    kept = None if kind not in dt.INTEGRAL else _LONG if dtype is None else input.array.dtype
    return (_sum if dim is None else _sum_over)(input, axes(dim, input.array.ndim), keepdim, kept)


@single(name="mean", input=lambda g, shape, dim, count: spread(g * (1 / count), shape, dim))
def _mean(input, dim, keepdim, count):
    result = _add(input, dim, keepdim)
    return result * (1 / count) if result.dtype == np.float16 else result / count


_mean_over = renamed(_mean, "mean.1")


@public(out="", method=True)
def mean(input: Tensor, dim: int | Ints | None = None, keepdim: bool = False, *, dtype: dt.dtype | None = None,
         out: Tensor | None = None) -> Tensor:
    """Mean of all elements, or over `dim` (an int or several). RuntimeError for integers without `dtype`.

    >>> import tinytorch as torch
    >>> torch.mean(torch.tensor([1., 3.]))
    tensor(2.)
    """
    if dtype is not None:
        input = converted(input, dtype.numpy)
    array = input.array
    if array.dtype.kind == dt.WIDENED:
        return in_float32(mean, input, dim, keepdim)
    if array.dtype.kind in dt.INTEGRAL:
        raise RuntimeError("mean(): could not infer output dtype. Input dtype must be either a floating point or "
                           f"complex dtype. Got: {type_name(input)}")
    primitive = _mean if dim is None else _mean_over
    dim = axes(dim, array.ndim)
    return primitive(input, dim, keepdim, _number_of(array, dim) or float("nan"))


def _prod_tree(input, dim, keepdim):
    """The product of pairs, of pairs of pairs ...: in ordinary ops, so differentiable wherever zeros lie."""
    from ..layout.join import cat  # the decomposition alone needs it
    if not input.ndim:
        return input.clone()
    x = input.transpose(0, dim)
    if x.shape[0] == 0:
        return input.sum(dim, keepdim) + 1
    if x.shape[0] == 1:
        x = x ** 1                            # its derivative is a zero, where that of a copy would be none at all
    while x.shape[0] > 1:
        half = x.shape[0] // 2
        x = cat([x[:half] * x[half:2 * half], x[2 * half:]])
    x = x.transpose(0, dim)
    return x if keepdim else x.squeeze(dim)


def _prod_grad(g, wanted, input, dim, keepdim):
    """g times the product of all the other elements: of those before and of those behind."""
    if not input.ndim:
        return g,
    x = input.swapaxes(0, dim)
    before, behind = np.ones_like(x), np.ones_like(x)
    np.cumprod(x[:-1], axis=0, out=before[1:])
    behind[:-1] = np.cumprod(x[:0:-1], axis=0)[::-1]
    others = (before * behind).swapaxes(0, dim).conjugate()
    return g.reshape(kept_shape(input.shape, (dim,))) * others,


@op(name="prod", inputs=1, joint=_prod_grad, decomposition=_prod_tree)
def _prod(input, dim, keepdim):
    return in_c_order(np.multiply.reduce(input, axis=dim if input.ndim else (), keepdims=keepdim, dtype=input.dtype))


_prod_over = renamed(_prod, "prod.1")


def _product(input, dim, keepdim):
    if dim is None:
        return _prod(input.reshape(-1), 0, False)
    return _prod_over(input, check_dim(dim, input.array.ndim), keepdim)


@public(out="", method=True)
def prod(input: Tensor, dim: int = None, keepdim: bool = False, *, dtype: dt.dtype | None = None,
         out: Tensor | None = None) -> Tensor:
    """Product of all elements, or over one `dim`. Integers are multiplied in int64.

    >>> import tinytorch as torch
    >>> torch.prod(torch.tensor([1., 2., 3.]))
    tensor(6.)
    """
    if dtype is not None or input.array.dtype.kind in dt.INTEGRAL:
        input = converted(input, _LONG if dtype is None else dtype.numpy)
    if input.array.dtype.kind == dt.WIDENED:
        return in_float32(_product, input, dim, keepdim)
    return _product(input, dim, keepdim)


# ------------------------------------------------------------------ max, min
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


def to_outs(result, values, out, *inputs, apart=False):
    if out is None:
        return result(*values)
    return result(*[write_out(o, value, *inputs, apart=apart, exact=EXACT) for o, value in zip(out, values)])


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
    return write_out(out, found, input, other, level=5)


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


@public(dtypes=dt.INTEGRAL + dt.FLOATING, kernel="max_values_cpu", widen=True, out=_MISMATCH, method=True)
def amax(input: Tensor, dim: int | Ints | None = (), keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """Largest element, or largest over `dim` (an int or several). Equal elements share the gradient.

    >>> import tinytorch as torch
    >>> torch.amax(torch.tensor([[1., 5.], [7., 2.]]), (0, 1))
    tensor(7.)
    """
    return _extreme_over("amax", _amax, input, dim, keepdim)


@public(dtypes=dt.INTEGRAL + dt.FLOATING, kernel="min_values_cpu", widen=True, out=_MISMATCH, method=True)
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


# ------------------------------------------------------------------ truth and counts
def _truth(name, function, input, dim, keepdim, out):
    array = input.array if input.array.dtype != dt.BFLOAT16 else dt.from_bfloat16(input.array)
    over = () if isinstance(dim, (tuple, list)) and not dim else axes(dim, array.ndim)
    result = np.asarray(function.reduce(array, axis=over, keepdims=keepdim))
    as_bytes = array.dtype == np.uint8 or out is not None and out.dtype is dt.uint8
    return write_out(out, wrap(result.astype(np.uint8 if as_bytes else bool)),
                     exact=f"{name} only supports bool tensor for result, got: {{Have}}", level=5)


@public(method=True)
def all(input: Tensor, dim: int | Ints | None = None, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """Whether all elements (along `dim`, an int or several) are nonzero; uint8 stays uint8.

    >>> import tinytorch as torch
    >>> torch.all(torch.tensor([[True, False], [True, True]]), dim=1)
    tensor([False,  True])
    """
    return _truth("all", np.logical_and, input, dim, keepdim, out)


@public(method=True)
def any(input: Tensor, dim: int | Ints | None = None, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """Whether any element (along `dim`, an int or several) is nonzero; uint8 stays uint8.

    >>> import tinytorch as torch
    >>> torch.any(torch.tensor([0, 0, 3]))
    tensor(True)
    """
    return _truth("any", np.logical_or, input, dim, keepdim, out)


@public(method=True)
def count_nonzero(input: Tensor, dim: int | Ints | None = None) -> Tensor:
    """How many elements are not zero, in all or along `dim` (an int or several).

    >>> import tinytorch as torch
    >>> torch.count_nonzero(torch.tensor([0, 2, 3]))
    tensor(2)
    """
    array = input.array if input.array.dtype != dt.BFLOAT16 else dt.from_bfloat16(input.array)
    return wrap(np.add.reduce(array != 0, axis=axes(dim, array.ndim), dtype=_LONG, keepdims=True).reshape(
        [n for i, n in enumerate(array.shape) if i not in axes(dim, array.ndim)]))
