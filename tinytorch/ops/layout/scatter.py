"""Reading and writing along a dimension with an index for each element: gather scatter scatter_add scatter_reduce."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...autograd.hooks import checked_gradient
from ...autograd.op import op, renamed, unwatched
from ...autograd.promotion import EXACT, check_broadcast, check_out_dtype, stored_as, write_out
from ...autograd.public import public
from ...device import META
from ...errors import not_implemented, refuse_records, warn_once
from ...kernels import scatter as kernels
from ...kernels.scatter import add_along, added_along, along, any_outside, combine_flat, set_along
from ...kinds.lazy import device_of
from ...tensor import Tensor, check_dim, wrap
from ...types import Number
from ..creation.conversion import _to_copy
from ..elementwise.arithmetic import REFUSED, refused
from ..elementwise.where import pick
from .shape import reshape

__all__ = ["gather", "scatter", "scatter_add", "scatter_reduce"]


# ------------------------------------------------------------------ primitives
@op(name="gather", batches="indexed", input=lambda g, input, dim, index: _gather_backward(g, dim, index, input.shape))
def _gather(input, dim, index):
    if not index.size:                         # it may have any dtype and any number of dimensions
        return np.empty(index.shape, input.dtype)
    return kernels.gather(input, dim, index)


@op(name="gather_backward", batches="indexed", g=lambda g, dim, index: _gather(g, dim, index))
def _gather_backward(g, dim, index, shape):
    once = index.ndim and index.shape[dim] == 1                  # no place was read twice
    found = (set_along if once else added_along)(None, shape, dim, index, g)
    if found is not None:
        return found
    result = np.zeros(shape, g.dtype)
    if not index.size:
        return result
    if once:
        result.reshape(-1)[along(shape, dim, index)] = g
    else:
        add_along(result, dim, index, g, True)
    return result


def _of_source(name):
    """The derivative rule of `src`, whose elements are written to the places `index`. As in torch, a `src` with more
    elements than places gets an error."""
    return lambda g, shape, dim, index: checked_gradient(_gather(g, dim, index), shape, f"Function {name}Backward0", 1)


@op(name="scatter", batches="dims", input=lambda g, dim, index: _scatter(g, dim, index, 0), src=_of_source("Scatter"))
def _scatter(input, dim, index, src):
    src = _source_elements(src, index)
    found = set_along(input, input.shape, dim, index, src)
    if found is not None:
        return found
    result = np.array(input, order="C")
    result.reshape(-1)[along(input.shape, dim, index)] = src
    return result


_scatter_number = renamed(_scatter, "scatter.1")


@op(name="scatter_reduce", batches="indexed", input=refused("scatter"), src=refused("scatter"), backward_name=REFUSED)
def _scatter_combined(input, dim, index, src, ufunc):
    result = np.array(input, order="C")
    combine_flat(result, along(input.shape, dim, index), _source_elements(src, index), ufunc, True)
    return result


@op(name="scatter_add", batches="dims", input=lambda g: g, src=_of_source("ScatterAdd"))
def _scatter_add(input, dim, index, src):
    src = _source_elements(src, index)
    found = added_along(input, input.shape, dim, index, src)
    if found is not None:
        return found
    result = np.array(input, order="C")
    add_along(result, dim, index, src, True)
    return result


def _source_elements(src, index):
    """The elements of an array `src` that go to the places `index`. A number is returned unchanged."""
    if not isinstance(src, np.ndarray) or not src.ndim or src.shape == index.shape:
        return src
    if src.ndim == index.ndim and index.size:
        return src[tuple([slice(n) for n in index.shape])]
    return src.reshape(-1)[:index.size].reshape(index.shape)


def _ones(like, shape):
    return like.new_ones(shape) if isinstance(like, Tensor) else np.ones(shape, like.dtype)


def _as_numbers(mask, like):
    """A boolean mask in the dtype of `like`."""
    target = like._array.dtype if isinstance(like, Tensor) else like.dtype
    return _to_copy(mask, target, np.dtype(bool))


def _filled(x, mask):
    """`x` with 1 where the mask, of 1 and 0, is 1."""
    return x * (1 - mask) + mask


class _Reduction:
    """The derivatives of an operation that combines all values of one place. Methods for extremes and products return
    (the gradient of the input, the gradient of src).

    gather, add  functions of (array, dim, index[, src]) that read the places written to, and add to them
    primitive    the op itself, which products need
    """

    def __init__(self, gather, add):
        self.gather, self.add, self.primitive = gather, add, None

    def of_input(self, g, ans, input, dim, index, src, reduce, include_self):
        if reduce == "prod":
            grad = self._product_of_others(g, ans, input, dim, index, src, include_self)[0]
        elif reduce == "mean":
            grad = g / self._counts(g, dim, index, include_self)
        elif reduce in ("amax", "amin"):
            grad = self._share_of_extremes(g, ans, input, dim, index, src, include_self)[0]
        else:
            grad = g
        return grad if include_self else _scatter(grad, dim, index, 0)

    def of_src(self, g, shape, ans, input, dim, index, src, reduce, include_self):
        if reduce == "prod":
            return self._product_of_others(g, ans, input, dim, index, src, include_self)[1]
        if reduce == "mean":
            g = g / self._counts(g, dim, index, include_self)
        if reduce in ("amax", "amin"):
            return self._share_of_extremes(g, ans, input, dim, index, src, include_self)[1]
        return checked_gradient(self.gather(g, dim, index), shape, "Function ScatterReduceBackward0", 1)

    def _counts(self, g, dim, index, include_self):
        """The number of values in each mean (1 where nothing was written)."""
        ones = _ones(g, tuple(g.shape))
        counts = self.add(ones, dim, index, _ones(g, tuple(index.shape)))
        return counts if include_self else self.add(counts, dim, index, -self._first_writes(g, dim, index))

    def _first_writes(self, g, dim, index):
        """For every element of `index`, 1 / the number of writes to its place. The sum over a place is 1."""
        written = self.add(_ones(g, tuple(g.shape)) * 0, dim, index, _ones(g, tuple(index.shape)))
        return 1 / self.gather(written, dim, index)

    def _share_of_extremes(self, g, ans, input, dim, index, src, include_self):
        """The gradient of a maximum or minimum shared equally by the elements that reach it."""
        check_broadcast(src.shape, index.shape)
        in_self = _as_numbers(input == ans, g)
        if not include_self:
            in_self = _scatter(in_self, dim, index, 0)
        in_src = _as_numbers(src == self.gather(ans, dim, index), g)
        number = self.add(in_self, dim, index, in_src)
        share = g / number                     # NaN where the extreme is NaN: it equals no element
        return share * in_self, self.gather(share, dim, index) * in_src

    def _product_of_others(self, g, ans, input, dim, index, src, include_self):
        """The gradients of a product: g times the product of the other factors. It is g * ans / factor for a factor
        that is not zero. For a zero it is the product with 1 in its place. The steps have torch's order, since
        gradients are added in it."""
        check_broadcast(src.shape, index.shape)
        one_self, zero_src = _filled(input, _as_numbers(input == 0, g)), _as_numbers(src == 0, g)
        of_self = g * self.primitive(one_self, dim, index, src, "prod", include_self) / one_self
        zeros = self.gather(self.add(_ones(g, tuple(input.shape)) * 0, dim, index, zero_src), dim, index)
        lone = zero_src * _as_numbers(zeros == 1, g)
        without = self.primitive(input, dim, index, _filled(src, lone), "prod", include_self)
        others = self.gather(g * ans, dim, index) / _filled(src, zero_src)
        return of_self, pick(lone != 0, self.gather(g * without, dim, index), others)


_UFUNCS = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


def reducing(name, wide, gather, add):
    """A primitive that combines all values of one place. `wide` is as in `add_flat`, the others as in _Reduction."""
    rules = _Reduction(gather, add)

    @op(name=name, batches="indexed", steps=True,
        input=lambda g, ans, input, dim, index, src, reduce, include_self: rules.of_input(
            g, ans, input, dim, index, src, reduce, include_self),
        src=lambda g, shape, ans, input, dim, index, src, reduce, include_self: rules.of_src(
            g, shape, ans, input, dim, index, src, reduce, include_self))
    def primitive(input, dim, index, src, reduce, include_self):
        result = np.array(input, order="C")
        flat, places, dtype = result.reshape(-1), along(input.shape, dim, index).reshape(-1), result.dtype
        if not include_self:
            flat[places] = _neutral(reduce, dtype)
        combine_flat(flat, places, _source_elements(src, index).reshape(-1), _UFUNCS[reduce], wide)
        if reduce == "mean":
            counts = np.bincount(dt.as_intp(places), minlength=flat.size)
            counts = dt.cast(np.maximum(counts + 1 if include_self else counts, 1), result.real.dtype)
            if dtype.kind in dt.INTEGER:
                flat //= counts
            else:
                flat[...] = dt.cast(dt.widened(flat) / dt.widened(counts), dtype)
        return result
    rules.primitive = primitive
    return primitive


_scatter_reduce = reducing("scatter_reduce", True, _gather, _scatter_add)


def _neutral(reduce, dtype):
    if reduce not in ("amax", "amin"):
        return dt.cast(np.array(float(reduce == "prod")), dtype)
    if dtype.kind in dt.FLOATING:
        return dt.cast(np.array(-np.inf if reduce == "amax" else np.inf), dtype)
    if dtype.kind in dt.BOOL:
        return reduce == "amin"
    return np.iinfo(dtype).min if reduce == "amax" else np.iinfo(dtype).max


# ------------------------------------------------------------------ checks
def _any_outside(array, n):
    """Whether any of the integers is not in 0 .. n-1."""
    return (type(array) is np.ndarray or device_of(array) is not META) and any_outside(array, n)


def _check_bounds(index, dim, n, error=RuntimeError, prefix=""):
    array = index._array
    if _any_outside(array, n):
        raise error(f"{prefix}index {_first_outside(array, n)} is out of bounds for dimension {dim} with size {n}")


def _first_outside(array, n):
    return array[(array < 0) | (array >= n)].reshape(-1)[0]


#: The dtypes of an index.
_INDEX = (np.dtype(np.int64), np.dtype(np.int32))


def _check_ranks(input, index, dim, name):
    """The dimension counted from the front, after the checks of gather and scatter."""
    shape, places = input._array.shape, index._array.shape
    dim = check_dim(dim, len(shape))
    if index._array.dtype not in _INDEX and index._array.size:
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    if len(shape) != len(places) and index._array.size and max(len(shape), 1) != max(len(places), 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor"
                           if name == "gather" else "Index tensor must have the same number of dimensions as self "
                                                    "tensor")
    return dim


@public(out=EXACT, apart="resized", method=True, repeats=True)
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, out: Tensor | None = None) -> Tensor:
    """result[i][j] = input[index[i][j]][j] for dim 0, and so on. The result has the shape of `index`.

    RuntimeError if the ranks differ, an index is out of range, or `index` is not integer. The gradient is dense, also
    with `sparse_grad`.

    >>> import tinytorch as torch
    >>> torch.gather(torch.tensor([[1, 2], [3, 4]]), 1, torch.tensor([[0, 0], [1, 0]]))
    tensor([[1, 1],
            [4, 3]])
    """
    dim = _check_ranks(input, index, dim, "gather")
    shape, places = input._array.shape, index._array.shape
    if not index._array.size:
        return _gather(input, dim, index)
    for d, (n, m) in enumerate(zip(places, shape)) if places != shape else ():
        if d != dim and n > m:
            raise RuntimeError(f"Size does not match at dimension {d} expected index {list(places)} to be no larger "
                               f"than self {list(shape)} apart from dimension {dim}")
    if input._array.dtype.kind == dt.WIDENED:
        refuse_records("scatter_gather_tensor_cpu", input)
    if unwatched(input, True) and unwatched(index, True):
        try:
            if (found := kernels.gathered(input._array, dim, index._array)) is not None:
                return wrap(found)
        except IndexError:                     # the message follows
            pass
    if _any_outside(index._array, shape[dim] if shape else 1):
        _check_bounds(index, dim, shape[dim] if shape else 1)
    if len(places) != len(shape):
        return gather(reshape(input, -1), 0, reshape(index, -1)).reshape(places)
    return _gather(input, dim, index)


def _scatter_arguments(input, dim, index, src, name, kernel=None):
    """(dimension, index) after torch's checks. `kernel`: torch's routine, if it does not exist for the dtype."""
    shape, places = input._array.shape, index._array.shape
    if kernel is None and src.__class__ is Tensor and places == shape == src._array.shape and index._array.size and (
            index._array.dtype == _INDEX[0] and input._array.dtype.char == src._array.dtype.char in "fdl"):
        dim = check_dim(dim, len(shape))       # nearly always all shapes are the same
        if not _any_outside(index._array, shape[dim] if shape else 1):
            return dim, index
    dim = _check_ranks(input, index, dim, name)
    if isinstance(src, Tensor) and src._array.dtype != input._array.dtype:
        raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")
    if not index._array.size:
        return dim, wrap(np.empty(places, np.int64))           # it may have had another dtype
    if isinstance(src, Tensor):
        there = src._array.shape
        if max(len(there), 1) != max(len(places), 1):
            raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
        if places == shape == there:
            pass
        elif any(n > m for d, (n, m) in enumerate(zip(places, shape)) if d != dim) or any(
                n > m for n, m in zip(places, there or (1,))):
            raise RuntimeError(f"Expected index {list(places)} to be no larger than self {list(shape)} apart from "
                               f"dimension {dim} and to be no larger size than src {list(there)}")
    elif any(n > m for d, (n, m) in enumerate(zip(places, shape)) if d != dim):
        raise RuntimeError(f"Expected index {list(places)} to be no larger than self {list(shape)} apart from "
                           f"dimension {dim}")
    if kernel is not None:
        raise not_implemented(kernel, input)
    refuse_records("scatter_gather_tensor_cpu" if isinstance(src, Tensor) else "scatter_gather_scalar_cpu", input)
    _check_bounds(index, dim, shape[dim] if shape else 1)
    return dim, index


@public(method=True, inplace=True, repeats=True)
def scatter(input: Tensor, dim: int, index: Tensor, src: Tensor | Number = ..., *, value: Number = ...,
            reduce: str | None = None, out: Tensor | None = None) -> Tensor:
    """A copy of `input` with result[index[i][j]][j] = src[i][j] for dim 0, and so on. `src` may be a number.

    `reduce`: "add" or "multiply" combines `src` with the elements of `input`; it has no derivative. Errors as `gather`.

    >>> import tinytorch as torch
    >>> torch.zeros(2, 3).scatter(1, torch.tensor([[2], [0]]), 1.)
    tensor([[0., 0., 1.],
            [1., 0., 0.]])
    """
    if (src is ...) is (value is ...):
        raise TypeError("scatter() received an invalid combination of arguments: either src or value must be given")
    if src is ...:
        src = value.item() if isinstance(value, Tensor) else value
    check_out_dtype(out, input)
    if reduce not in (None, "add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    dim, index = _scatter_arguments(input, dim, index, src, "scatter")
    put = _scatter
    if not isinstance(src, Tensor):
        put, src = _scatter_number, stored_as(src, input._array.dtype) if index._array.size else 0
    elif reduce is not None:
        warn_once("The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future "
                  "PyTorch release. Use torch.scatter_reduce instead for more reduction options.")
    if reduce is None:
        result = put(input, dim, index, src)
    else:
        result = _scatter_combined(input, dim, index, src, _UFUNCS["sum" if reduce == "add" else "prod"])
    return write_out(out, result, src, index, apart="resized")


@public(method=True, inplace=True, repeats=True)
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of `input` with result[index[i][j]][j] += src[i][j] for dim 0, and so on. Repeated indices add up.

    >>> import tinytorch as torch
    >>> torch.zeros(3).scatter_add(0, torch.tensor([1, 1]), torch.tensor([2., 3.]))
    tensor([0., 5., 0.])
    """
    dim, index = _scatter_arguments(input, dim, index, src, "scatter")
    result = _scatter_add(input, dim, index, src)
    return write_out(out, result, src, index, apart="resized", exact=EXACT)


@public(method=True, inplace=True)
def scatter_reduce(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True,
                   out: Tensor | None = None) -> Tensor:
    """`scatter` that combines all values of one place: "sum", "prod", "mean", "amax" or "amin".

    Without `include_self` the element of `input` at a place that is written to does not count.

    >>> import tinytorch as torch
    >>> torch.zeros(2).scatter_reduce(0, torch.tensor([1, 1]), torch.tensor([2., 4.]), "mean", include_self=False)
    tensor([0., 3.])
    """
    if reduce not in _UFUNCS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    kind = input._array.dtype.kind
    lacking = kind in dt.BOOL and reduce == "mean" or kind in dt.COMPLEX and reduce in ("amax", "amin")
    dim, index = _scatter_arguments(input, dim, index, src, "scatter",
                                    f"scatter_gather_tensor_cpu_reduce_{reduce}" if lacking else None)
    result = _scatter_reduce(input, dim, index, src, reduce, include_self)
    return write_out(out, result, src, index, apart="resized", exact=EXACT)
