"""Reductions: sum mean prod all any count_nonzero, and what the others share (max and its kin are in extremes.py,
statistics in statistics.py)."""
from __future__ import annotations

from operator import index as as_int

import numpy as np

from ... import dtypes as dt
from ...autograd.op import op, renamed, single
from ...autograd.promotion import EXACT, converted, in_float32, write_out
from ...autograd.public import public, refuse
from ...errors import type_name
from ...tensor import Tensor, check_dim, wrap
from ...types import Ints

__all__ = ["all", "any", "count_nonzero", "mean", "prod", "sum"]

_LONG = np.dtype(np.int64)
_DIMS = frozenset([type(None), int, tuple, list])      # what `dim` is, nearly always


# ------------------------------------------------------------------ what reductions share
def axes(dim, ndim):
    """`dim` (None, an int, several ints) as a tuple of distinct axes from the front."""
    if dim is None:
        return tuple(range(ndim))
    if not isinstance(dim, (tuple, list)):
        dim = check_dim(as_int(dim), ndim)
        return (dim,) if ndim else ()
    found = tuple([check_dim(as_int(d), ndim) for d in dim])
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


def to_outs(result, values, out, *inputs, apart=False):
    if out is None:
        return result(*values)
    return result(*[write_out(o, value, *inputs, apart=apart, exact=EXACT) for o, value in zip(out, values)])


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


def _prepared(function, input, dim, keepdim, dtype, numpy):
    """Unusual arguments of a hot reduction, checked, with torch's names for NumPy's, `input` in the dtype asked for."""
    name = function.__name__
    for key, value in numpy.items():
        if key == "axis" and dim is None:
            dim = value
        elif key == "keepdims" and not keepdim:
            keepdim = value
        else:
            raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
    if dim.__class__ not in _DIMS or keepdim.__class__ is not bool:
        refuse(function, input, dim, keepdim)
    if dtype is None:
        return input, dim, keepdim
    dtype = dt.PYTHON_TYPES.get(dtype, dtype) if isinstance(dtype, type) else dtype
    if not isinstance(dtype, dt.dtype):
        raise TypeError(f"{name}(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")
    return converted(input, dtype.numpy), dim, keepdim


@public(hot=True, method=True)
def sum(input: Tensor, dim: int | Ints | None = None, keepdim: bool = False, *, dtype: dt.dtype | None = None,
        out: Tensor | None = None, **numpy) -> Tensor:
    """Sum of all elements, or over `dim` (an int or several). Integers are summed in int64.

    >>> import tinytorch as torch
    >>> torch.sum(torch.tensor([[1, 2], [3, 4]]), 0)
    tensor([4, 6])
    """
    if not isinstance(input, Tensor):
        refuse(sum, input)
    if numpy or dtype is not None or dim.__class__ not in _DIMS or keepdim.__class__ is not bool:
        input, dim, keepdim = _prepared(sum, input, dim, keepdim, dtype, numpy)
    kind = input.array.dtype.kind
    if kind == dt.WIDENED:                     # here and below: what is widened is what `dtype` says, not the input
        return write_out(out, in_float32(sum, input, dim, keepdim))
    # NumPy widens small integers
    kept = None if kind not in dt.INTEGRAL else _LONG if dtype is None else input.array.dtype
    total = (_sum if dim is None else _sum_over)(input, axes(dim, input.array.ndim), keepdim, kept)
    return total if out is None else write_out(out, total)


@single(name="mean", input=lambda g, shape, dim, count: spread(g * (1 / count), shape, dim))
def _mean(input, dim, keepdim, count):
    result = _add(input, dim, keepdim)
    return result * (1 / count) if result.dtype == np.float16 else result / count


_mean_over = renamed(_mean, "mean.1")


@public(hot=True, method=True)
def mean(input: Tensor, dim: int | Ints | None = None, keepdim: bool = False, *, dtype: dt.dtype | None = None,
         out: Tensor | None = None, **numpy) -> Tensor:
    """Mean of all elements, or over `dim` (an int or several). RuntimeError for integers without `dtype`.

    >>> import tinytorch as torch
    >>> torch.mean(torch.tensor([1., 3.]))
    tensor(2.)
    """
    if not isinstance(input, Tensor):
        refuse(mean, input)
    if numpy or dtype is not None or dim.__class__ not in _DIMS or keepdim.__class__ is not bool:
        input, dim, keepdim = _prepared(mean, input, dim, keepdim, dtype, numpy)
    array = input.array
    kind = array.dtype.kind
    if kind == dt.WIDENED:
        return write_out(out, in_float32(mean, input, dim, keepdim))
    if kind in dt.INTEGRAL:
        raise RuntimeError("mean(): could not infer output dtype. Input dtype must be either a floating point or "
                           f"complex dtype. Got: {type_name(input)}")
    primitive = _mean if dim is None else _mean_over
    dim = axes(dim, array.ndim)
    result = primitive(input, dim, keepdim, _number_of(array, dim) or float("nan"))
    return result if out is None else write_out(out, result)


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


@public(out="", apart=None, method=True)
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
