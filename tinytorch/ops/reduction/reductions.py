"""Reductions (sum mean prod all any count_nonzero) and helpers of all reductions. max and its like are in extremes.py,
statistics in statistics.py.
"""
from __future__ import annotations

import math
from functools import partial
from operator import index as as_int

import numpy as np

from ... import dtypes as dt
from ...arguments import ints_of
from ...autograd.grad_mode import mode
from ...autograd.op import op, renamed, single
from ...autograd.promotion import EXACT, converted, write_out
from ...autograd.public import public, refuse
from ...autograd.record_dtypes import in_float32
from ...errors import refuse_records, type_name
from ...kernels import scan
from ...kernels.expressions import expression, in_one_pass
from ...kernels.layout import as_array, laid_out
from ...kernels.sums import add_up, add_up_halves, add_up_whole
from ...kernels.ufuncs import shared
from ...tensor import Tensor, check_dim, wrap
from ...types import Ints

__all__ = ["all", "any", "count_nonzero", "mean", "prod", "sum"]

_LONG = np.dtype(np.int64)
_DIMS = frozenset([type(None), int, tuple, list])      # the classes of nearly every `dim`


# ------------------------------------------------------------------ helpers of reductions
def axes(dim, ndim):
    """`dim` (None, an int or several) as a tuple of distinct axes counted from the front."""
    if dim is None:
        return _ALL_AXES[ndim]
    if dim.__class__ is int and -ndim <= dim < ndim:
        return (dim % ndim,)
    if not isinstance(dim, (tuple, list)):
        dim = check_dim(as_int(dim), ndim)
        return (dim,) if ndim else ()
    try:
        found = tuple([check_dim(as_int(d), ndim) for d in dim])
    except (TypeError, ValueError):            # an array that is no integer, or an integer of more than 64 bits
        ints_of(dim, "sum", "dim", None)
        raise
    if len(set(found)) != len(found):
        twice = next(d for d in found if found.count(d) > 1)
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    return found if found and ndim else tuple(range(ndim))


#: All axes, by the number of dimensions. NumPy has 64 at most.
_ALL_AXES = [tuple(range(ndim)) for ndim in range(65)]


def kept_shape(shape, dim):
    return tuple([1 if i in dim else n for i, n in enumerate(shape)])


def spread(g, shape, dim):
    """The gradient of a reduction over axes `dim` (kept or not), expanded to `shape`."""
    if not isinstance(g, Tensor):
        return laid_out(g if g.size == 1 else g.reshape(kept_shape(shape, dim)), shape)
    return g.reshape(kept_shape(shape, dim)).expand(shape)


def raw(x):
    """The array of a Tensor for reading its numbers; records (bfloat16 ...) in a dtype of NumPy. An array is returned
    unchanged."""
    return dt.numbers(x._array) if isinstance(x, Tensor) else x


def like(g, array):
    """The constant `array` as a Tensor if `g` is one, else as an ndarray."""
    if not isinstance(g, Tensor):
        return array
    array = as_array(array)
    if g._array.dtype.kind not in dt.WIDENED:
        return wrap(array)
    return wrap(dt.narrowed(array) if g._array.dtype == dt.BFLOAT16 else dt.stored(array, g._array.dtype))


def by_count(g, hits, dim):
    """`g` divided by the number of true `hits` over axes `dim` (kept). A single count divides as a number, which half
    precision does not round. Several counts are an array in the dtype of `g`, as in torch."""
    counts = np.add.reduce(hits, axis=dim, dtype=np.int64, keepdims=True)
    if counts.size == 1 and type(counts) is np.ndarray:
        return divided(g, counts.item())
    return g / like(g, counts.astype(raw(g).real.dtype))


@op(name="masked_fill", input=lambda g, mask: masked(g, mask))
def masked(input, mask):
    """`input` where the array `mask` is true, else 0 (even where `input` is NaN or infinite)."""
    return np.where(mask, input, np.zeros((), input.dtype))


def masked_quotient(input, other, mask):
    """input / other where the array `mask` is true, else 0. In forward mode the divisor is 1 elsewhere: the derivative
    of this rule multiplies the zero by the quotient that was left out, which may be infinite."""
    if mode.computing_jvp:
        other = masked(other, mask) + like(other, (~mask).astype(raw(other).dtype))
    return masked(input / other, mask)


def check_nonempty(name, array, dim):
    """torch's IndexError if one of the reduced axes has size 0."""
    for d in dim:
        if not array.shape[d]:
            raise IndexError(f"{name}: Expected reduction dim {d} to have non-zero size.")


def scaled(g, number):
    """`g` times a Python number. With half precision too, the number is not rounded first."""
    if isinstance(g, Tensor) or g.dtype != np.float16:
        return g * number
    return (g.astype(np.float32) * number).astype(np.float16)


def divided(g, number):
    """`g` divided by a Python number, which is not rounded first (see `scaled`)."""
    if isinstance(g, Tensor) or g.dtype != np.float16:
        return g / number
    return (g.astype(np.float32) / number).astype(np.float16)


def check_recorded_dtype(input, dtype):
    """RuntimeError if the result in the given `dtype` can have no gradient although `input` requires one."""
    if dtype.numpy.kind not in dt.DIFFERENTIABLE and input.requires_grad and mode.grad_now:
        raise RuntimeError(f"Autograd not support dtype: {dtype.type_name}")


def at_once(primitive, input, *args):
    """primitive(input, ...) as one operation on the tape, also in bfloat16."""
    if input._array.dtype == dt.BFLOAT16:
        return in_float32(primitive, input, *args)
    return primitive(input, *args)


def _count_over(array, dim):
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
    if array.dtype.char == "e":                # add up in float32, as torch does
        return add_up_halves(array, dim, keepdim, True)
    if dtype is None:
        result = add_up(array, dim, keepdim)
        return result if result.flags.c_contiguous else result.copy()
    return in_c_order(add_up_whole(array, dim, keepdim, dtype))


def in_c_order(result):
    """A result in C order, as torch's reductions are. NumPy may have laid it out as the input."""
    return result if result.flags.c_contiguous else result.copy()


@single(name="sum", batches="dims", kernel="sum_cpu", input=lambda g, shape, dim: spread(g, shape, dim))
def _sum(input, dim, keepdim, dtype=None):
    return _add(input, dim, keepdim, dtype)


def _sum_in_bfloat16(input, dim, keepdim, dtype=None):
    return add_up_halves(input, dim, keepdim, True)


_sum.op.in_bfloat16 = _sum_in_bfloat16
_sum_over = renamed(_sum, "sum.1")


def _prepared(function, input, dim, keepdim, dtype, numpy):
    """(input, dim, keepdim) after checks of the rare arguments of a hot reduction. `numpy`: keywords by NumPy's names.
    The input is converted to `dtype` if that is given."""
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
    if function is mean and dtype.numpy.kind in dt.INTEGRAL:
        raise RuntimeError("mean(): could not infer output dtype. Optional dtype must be either a floating point or "
                           f"complex dtype. Got: {dtype.type_name}")
    axes(dim, input._array.ndim)                # its errors come before those of the dtype
    check_recorded_dtype(input, dtype)
    return converted(input, dtype.numpy), dim, keepdim


@public(hot=True, method=True, repeats=True)
def sum(input: Tensor, dim: int | Ints | None = None, keepdim: bool = False, *, dtype: dt.dtype | None = None,
        out: Tensor | None = None, **numpy) -> Tensor:
    """The sum of all elements, or over `dim` (an int or several). Integers are summed in int64.

    >>> import tinytorch as torch
    >>> torch.sum(torch.tensor([[1, 2], [3, 4]]), 0)
    tensor([4, 6])
    """
    if out is not None:
        total = sum(input, dim, keepdim, dtype=dtype or dtype_in(out), **numpy)
        return write_out(out, total, exact=None if dtype is None else EXACT)
    if numpy or dtype is not None or dim.__class__ not in _DIMS or keepdim.__class__ is not bool:
        input, dim, keepdim = _prepared(sum, input, dim, keepdim, dtype, numpy)
    kind = input._array.dtype.kind
    if kind == dt.WIDENED:                     # the input, which may have been converted to `dtype`
        primitive = _sum if dim is None else _sum_over
        return (primitive.widened or partial(in_float32, primitive))(input, axes(dim, input._array.ndim), keepdim)
    # NumPy would widen small integers
    kept = None
    if kind in dt.INTEGRAL:
        kept = _LONG if dtype is None else input._array.dtype
    return (_sum if dim is None else _sum_over)(input, axes(dim, input._array.ndim), keepdim, kept)


def dtype_in(out: Tensor) -> dt.dtype:
    """The dtype of `out`, in which torch computes if `dtype` is not given."""
    if not isinstance(out, Tensor):
        raise TypeError(f"argument 'out' must be Tensor, not {type(out).__name__}")
    return out.dtype


def _mean_grad(g, shape, dim, count):
    return spread(g, shape, dim) / count if isinstance(g, Tensor) else spread(divided(g, count), shape, dim)


_quotient = expression(lambda total, count: total / count)


@single(name="mean", batches="dims", kernel="sum_cpu", input=_mean_grad)
def _mean(input, dim, keepdim, count):
    if input.dtype.char == "e":
        return (add_up_halves(input, dim, keepdim) / count).astype(np.float16, order="C")
    return _quotient(_add(input, dim, keepdim), count)


def _mean_in_bfloat16(input, dim, keepdim, count):
    return dt.narrowed(in_c_order(add_up_halves(input, dim, keepdim) / count))


_mean.op.in_bfloat16 = _mean_in_bfloat16
_mean_over = renamed(_mean, "mean.1")


@public(hot=True, method=True, repeats=True)
def mean(input: Tensor, dim: int | Ints | None = None, keepdim: bool = False, *, dtype: dt.dtype | None = None,
         out: Tensor | None = None, **numpy) -> Tensor:
    """The mean of all elements, or over `dim` (an int or several). RuntimeError for integers without `dtype`.

    >>> import tinytorch as torch
    >>> torch.mean(torch.tensor([1., 3.]))
    tensor(2.)
    """
    if out is not None:
        return _mean_into(out, input, dim, keepdim, dtype, numpy)
    if numpy or dtype is not None or dim.__class__ not in _DIMS or keepdim.__class__ is not bool:
        input, dim, keepdim = _prepared(mean, input, dim, keepdim, dtype, numpy)
    array = input._array
    kind = array.dtype.kind
    if kind in dt.INTEGRAL:
        raise RuntimeError("mean(): could not infer output dtype. Input dtype must be either a floating point or "
                           f"complex dtype. Got: {type_name(input)}")
    primitive = _mean if dim is None else _mean_over
    dim = axes(dim, array.ndim)
    count = _count_over(array, dim) or float("nan")
    return in_float32(primitive, input, dim, keepdim, count) if kind == dt.WIDENED else primitive(
        input, dim, keepdim, count)


def _mean_into(out, input, dim, keepdim, dtype, numpy):
    wanted = dtype or dtype_in(out)
    if dtype is None and dt.kind(input._array.dtype) in dt.INTEGRAL:
        wanted = None                          # `mean` raises the error for integers
    elif dtype is None and wanted.numpy.kind in dt.INTEGRAL:
        raise RuntimeError(f"result type {dt.get_default_dtype().type_name} can't be cast to the desired output type "
                           f"{type_name(out)}")
    if dtype is None and wanted is not None and wanted.itemsize == 2:      # torch rounds the sum to this dtype first
        total = sum(input, dim, keepdim, dtype=dt.float32 if input.itemsize == 2 else input.dtype, **numpy).to(wanted)
        result = total / (_count_over(input._array, axes(numpy.get("axis", dim), input._array.ndim)) or float("nan"))
    else:
        result = mean(input, dim, keepdim, dtype=wanted, **numpy)
    return write_out(out, result, exact=None if dtype is None else EXACT)


def _all_but_one(x, dim):
    """For each element along `dim`, the product of all others."""
    from ..layout.join import cat  # loaded here: only Tensors need it
    if isinstance(x, Tensor):
        size = x.shape[dim] - 1
        one = wrap(dt.cast(np.ones(kept_shape(x.shape, (dim,))), x._array.dtype))
        before = cat([one, x.narrow(dim, 0, size)], dim).cumprod(dim)
        return before * cat([one, x.narrow(dim, 1, size).flip(dim)], dim).cumprod(dim).flip(dim)
    x = x.swapaxes(0, dim)
    before, behind = np.ones_like(x), np.ones_like(x)
    np.cumprod(x[:-1], axis=0, out=before[1:])
    behind[:-1] = np.cumprod(x[:0:-1], axis=0)[::-1]
    return (before * behind).swapaxes(0, dim)


_of_factor = in_one_pass(lambda g, ans, input: g * (ans / input).conj())


def _prod_grad(g, input, ans, dim):
    """g times the product of all other elements. It is computed by division if no element is zero."""
    array = raw(input)
    if not input.ndim:
        return g
    zeros = np.count_nonzero(shared(np.equal, array, 0))
    g = g.reshape(kept_shape(input.shape, range(input.ndim) if dim is None else (dim,)))
    if not zeros:
        return _of_factor(g, ans.reshape(g.shape), input)
    if dim is None and zeros > 1 and not isinstance(g, Tensor):
        return input * 0                       # of ndarrays alone: a second derivative need not be zero
    if dim is not None:
        return g if input.shape[dim] == 1 else g * _all_but_one(input, dim).conj()
    return g if array.size == 1 else g * _all_but_one(input.reshape(-1), 0).reshape(input.shape).conj()


@single(name="prod", batches="dims", kernel="prod_out_cpu", steps=True, input=_prod_grad,
    in_bfloat16=True)     # the forward rounds bfloat16 itself
def _prod(input, dim, keepdim):
    """The product over axis `dim`, or of all elements (None)."""
    over = _ALL_AXES[input.ndim] if dim is None or not input.ndim else dim
    if input.dtype.char in "eV":               # float16 and bfloat16
        return _prod_of_halves(input, over, keepdim)
    result = scan.products(input, over if isinstance(over, tuple) else (over,), keepdim)
    if result is not None:
        return result
    return in_c_order(np.multiply.reduce(input, axis=over, keepdims=keepdim, dtype=input.dtype))


def _prod_of_halves(input, over, keepdim):
    """The product in torch's steps for half precision. Each step is rounded if there are few rows."""
    if isinstance(over, tuple):                # all dimensions, or under vmap those of a sample
        rows = np.moveaxis(input, over, range(len(over)))
        rows = rows.reshape(math.prod(rows.shape[:len(over)]), *rows.shape[len(over):])
    else:
        rows = np.moveaxis(input, over, 0)
    if len(rows) > 64 or not len(rows):
        result = dt.cast(np.multiply.reduce(dt.cast(rows, np.dtype(np.float32)), axis=0), input.dtype)
    elif input.dtype == np.float16:
        result = np.multiply.accumulate(rows, axis=0)[-1]
    else:
        wide = dt.widened(rows)
        result = wide[0]
        for row in wide[1:]:
            result = dt.widened(dt.narrowed(np.asarray(result * row)))
        result = dt.narrowed(result)
    result = np.array(result)                  # a copy, which owns its memory
    if not keepdim or not input.ndim:
        return result
    return result.reshape(kept_shape(input.shape, over if isinstance(over, tuple) else (over,)))


_prod_over = renamed(_prod, "prod.1")


@public(method=True, autocast="up", repeats=True)
def prod(input: Tensor, dim: int = None, keepdim: bool = False, *, dtype: dt.dtype | None = None,
         out: Tensor | None = None) -> Tensor:
    """The product of all elements, or over one `dim`. Integers are multiplied in int64.

    >>> import tinytorch as torch
    >>> torch.prod(torch.tensor([1., 2., 3.]))
    tensor(6.)
    """
    if dim is not None:
        dim = check_dim(dim, input._array.ndim)
    wanted = dtype_in(out) if dtype is None and out is not None else dtype
    if wanted is not None:
        check_recorded_dtype(input, wanted)
    if wanted is not None or input._array.dtype.kind in dt.INTEGRAL:
        input = converted(input, _LONG if wanted is None else wanted.numpy)
    if input._array.dtype.kind == dt.WIDENED:
        result = at_once(_prod, input, None, False) if dim is None else at_once(_prod_over, input, dim, keepdim)
    else:
        result = _prod(input, None, False) if dim is None else _prod_over(input, dim, keepdim)
    if out is None:
        return result
    return write_out(out, result, exact=None if dtype is None else EXACT)


# ------------------------------------------------------------------ truth and counts
_ONE_OR_ALL = frozenset([type(None), int])


def _truth(name, function, input, dim, keepdim, out):
    array = input._array
    if out is None and dim.__class__ in _ONE_OR_ALL and array.dtype.kind == dt.BOOL and type(array) is np.ndarray:
        if dim is None and array.size and not keepdim:         # a search for one element takes a third of a reduction
            place = array.argmax() if function is np.logical_or else array.argmin()
            return wrap(np.array(array.item(place)))
        return wrap(in_c_order(as_array(function.reduce(array, axis=axes(dim, array.ndim), keepdims=keepdim))))
    if out is not None and out.dtype is dt.uint8 and input._array.size != 1:
        input = input.to(dt.uint8)             # torch computes several elements in uint8, where fractions are 0
    array = dt.numbers(input._array)
    over = () if isinstance(dim, (tuple, list)) and not dim else axes(dim, array.ndim)
    result = in_c_order(as_array(function.reduce(array, axis=over, keepdims=keepdim)))
    as_bytes = (input if out is None or out.dtype not in (dt.bool, dt.uint8) else out).dtype is dt.uint8
    return write_out(out, wrap(result.astype(np.uint8 if as_bytes else bool)),
                     exact=f"{name} only supports bool tensor for result, got: {{Have}}")


@public(method=True)
def all(input: Tensor, dim: Ints | int | None = None, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """Whether all elements (along `dim`, an int or several) are non-zero. The result is bool, for uint8 it is uint8.

    >>> import tinytorch as torch
    >>> torch.all(torch.tensor([[True, False], [True, True]]), dim=1)
    tensor([False,  True])
    """
    return _truth("all", np.logical_and, input, dim, keepdim, out)


@public(method=True)
def any(input: Tensor, dim: Ints | int | None = None, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """Whether any element (along `dim`, an int or several) is non-zero. The result is bool, for uint8 it is uint8.

    >>> import tinytorch as torch
    >>> torch.any(torch.tensor([0, 0, 3]))
    tensor(True)
    """
    return _truth("any", np.logical_or, input, dim, keepdim, out)


@public(method=True, spread=True, repeats=True)
def count_nonzero(input: Tensor, dim: Ints | int | None = None) -> Tensor:
    """The number of elements that are not zero, in all or along `dim` (an int or several).

    >>> import tinytorch as torch
    >>> torch.count_nonzero(torch.tensor([0, 2, 3]))
    tensor(2)
    """
    refuse_records("nonzero_count_cpu", input, dt.FLOAT8_RECORDS)
    array = dt.numbers(input._array)
    if dim is None and type(array) is np.ndarray:
        if array.dtype.kind in dt.BOOL and array.size:
            return wrap(as_array(add_up_whole(array, axes(None, array.ndim), False, _LONG)))
        return wrap(np.array(np.count_nonzero(array), _LONG))
    return wrap(in_c_order(as_array(np.add.reduce(array != 0, axis=axes(dim, array.ndim), dtype=_LONG))))
