"""Sorting and searching: sort argsort topk kthvalue unique searchsorted ..."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt, return_types
from ...autograd.op import op, unwatched
from ...autograd.promotion import EXACT, promoted, refuse_complex_gradient, underivable, write_out
from ...autograd.public import public
from ...autograd.views import has_history
from ...errors import not_a_tensor, not_implemented, refuse_records, type_name, warn_once
from ...kernels import order as kernels
from ...kernels.layout import as_array
from ...kernels.looks import any_nan, extremes_of
from ...kernels.scatter import in_its_place, in_last_place, owned, picked
from ...kinds.lazy import StandIn
from ...kinds.one_step import one_step
from ...tensor import Tensor, check_dim, wrap
from ...types import Extent, Number, Tensors
from .extremes import NUMBERS, extreme_at, laid_out_as, named, picker, taken_at
from .reductions import check_nonempty

__all__ = ["argsort", "bucketize", "kthvalue", "msort", "searchsorted", "sort", "topk", "unique", "unique_consecutive"]

_take_sort, _take_top, _take_kth = picker("sort", strides=True), picker("topk"), picker("kthvalue")


#: The dtypes that torch sorts by std::sort unless `stable` is set. (In the other dtypes the order of equal elements
#: depends on the processor's vector instructions.)
_UNSTABLE = {kind.numpy for kind in (dt.bool, dt.uint8, dt.int8, dt.int16, dt.uint16, dt.uint32, dt.uint64,
                                     dt.float16, dt.bfloat16)}
_BY_DIGITS = 1 << 15                           # from this size on, torch sorts integers by digits, which is stable


def _order(array, dim, descending):
    """The positions that sort along `dim`. Equal elements keep their order; NaN is the largest."""
    if not array.ndim:
        return np.zeros((), np.int64)
    array = dt.widened(array)
    if not descending and type(array) is np.ndarray:
        found = kernels.sorted_along(array, dim)
        return array.argsort(dim, "stable") if found is None else found
    if not descending:
        return np.argsort(array, axis=dim, kind="stable")
    backward = np.argsort(np.flip(array, dim), axis=dim, kind="stable")
    return array.shape[dim] - 1 - np.flip(backward, dim)


def _by_rows(find, array, dim, descending):
    """`find` called with the rows along `dim` as keys, whose increasing order is the wanted one."""
    moved = in_last_place(kernels.rising(dt.widened(array), descending), dim)
    found = find(moved.reshape(-1, moved.shape[-1]))
    return np.ascontiguousarray(in_its_place(found.reshape(moved.shape[:-1] + found.shape[-1:]), dim))


@one_step
def _unstable_order(array, dim, descending):
    return _by_rows(kernels.sort, array, dim, descending)


@one_step
def _laid_out(array, index):
    return laid_out_as(array, index)


@public(out=EXACT, apart=None, method=True, repeats=True)
def sort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool | None = False,
         out: Tensors | None = None) -> return_types.sort:
    """The elements sorted along `dim`: the named tuple (values, indices). NaN counts as the largest. Equal elements
    keep their order if `stable`, and always in the dtypes int32, int64, float32 and float64.

    >>> import tinytorch as torch
    >>> torch.sort(torch.tensor([3., 1., 2.]), descending=True)
    torch.return_types.sort(
    values=tensor([3., 2., 1.]),
    indices=tensor([0, 2, 1]))
    """
    dim = check_dim(dim, input._array.ndim)
    index = _sorted_places(input, dim, descending, stable)
    return named(return_types.sort, (taken_at(_take_sort, input, index, dim), index))


def _sorted_places(input, dim, descending, stable):
    """The positions that sort along `dim`."""
    array = input._array
    if dt.kind(array.dtype) in dt.COMPLEX:
        raise RuntimeError(" Sort does not support complex dtypes on CPU")
    refuse_records("sorting_kernel_method_name", input)
    if stable or array.dtype not in _UNSTABLE or not array.size or not array.ndim or not array.strides[dim]:
        index = _order(array, dim, descending)
    elif array.ndim == 1 and not descending and array.dtype.kind in dt.INTEGER and array.size >= _BY_DIGITS:
        index = _order(array, dim, descending)
    else:
        index = _unstable_order(array, dim, descending)
    return wrap(_laid_out(array, index))


@public(method=True, repeats=True)
def argsort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Tensor:
    """The indices that `sort` returns.

    >>> import tinytorch as torch
    >>> torch.argsort(torch.tensor([3., 1., 2.]))
    tensor([1, 2, 0])
    """
    if unwatched(input):                       # the values are not wanted
        return _sorted_places(input, check_dim(dim, input._array.ndim), descending, stable)
    return sort(input.detach(), dim, descending, stable=stable)[1]


@public(out=EXACT, apart=None, method=True)
def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements sorted along the first dimension.

    >>> import tinytorch as torch
    >>> torch.msort(torch.tensor([3, 1, 2]))
    tensor([1, 2, 3])
    """
    return sort(input, 0)[0]


@public(out=EXACT, method=True, repeats=True)
def topk(input: Tensor, k: Extent, dim: int = -1, largest: bool = True, sorted: bool = True, *,
         out: Tensors | None = None) -> return_types.topk:
    """The k largest (or smallest) elements along `dim`, in order: the named tuple (values, indices).

    RuntimeError if there are fewer than k.

    >>> import tinytorch as torch
    >>> values, indices = torch.topk(torch.tensor([3., 1., 2.]), 2); values, indices
    (tensor([3., 2.]), tensor([0, 2]))
    """
    array = input._array
    dim = check_dim(dim, array.ndim)
    n = array.shape[dim] if array.ndim else 1
    if not 0 <= k <= n:
        raise RuntimeError("selected index k out of range")
    if array.dtype.kind in NUMBERS and array.size:
        index = wrap(_top(array, k, dim, largest, sorted))
        return named(return_types.topk, (taken_at(_take_top, input, index, dim), index))
    if dt.kind(array.dtype) in dt.BOOL + dt.COMPLEX:
        kind = "topk does not support bool" if array.dtype == bool else " topk does not support complex"
        raise RuntimeError(f"{kind} dtypes on CPU")
    refuse_records("topk_cpu", input)
    index = wrap(_top(dt.widened(array), k, dim, largest, sorted))
    return return_types.topk(taken_at(_take_top, input, index, dim), index)


@one_step
def _top(array, k, dim, largest, ordered):
    if not array.ndim:                         # also if k is 0
        return np.zeros((), np.int64)
    if not k or not array.size:
        return np.zeros([k if d == dim else n for d, n in enumerate(array.shape)], np.int64)
    if (found := kernels.first_along(array, k, dim, largest, ordered)) is not None:
        return found
    if ordered or k * 64 <= array.shape[dim]:
        index = _first_top(array, k, dim, largest)
        values = np.take_along_axis(array, index, dim)
        last = values if k == 1 else values.take([k - 1], dim)
        clear = (np.count_nonzero(array == last, axis=dim) == 1).all()
        if clear and k > 1:
            clear = (values == values).all() and (values.take(range(1, k), dim) != values.take(range(k - 1), dim)).all()
        if clear:                              # no two are equal and none is NaN: only one order is possible
            return index
    return _by_rows(lambda keys: kernels.top(keys, k, ordered), array, dim, largest)


def _first_top(array, k, dim, largest):
    """The positions of the `k` largest (or smallest) elements. Of equal elements the first are taken."""
    if k == 1:
        if array.dtype.kind in dt.NATIVE and not largest and np.isnan(array).any():
            return _order(array, dim, False).take([0], dim)
        return (np.argmax if largest else np.argmin)(array, axis=dim, keepdims=True)
    n = array.shape[dim]
    if 8 * k > n:                              # partitioning first would not save time
        return _order(array, dim, largest).take(range(k), dim)
    part = np.argpartition(array, n - k if largest else k - 1, axis=dim)
    part = part.take(range(n - k, n) if largest else range(k), dim)
    order = _order(np.take_along_axis(array, part, dim), dim, largest)
    return np.take_along_axis(part, order, dim)


@public(out=EXACT, apart=True, method=True, repeats=True)
def kthvalue(input: Tensor, k: Extent, dim: int = -1, keepdim: bool = False, *,
             out: Tensors | None = None) -> return_types.kthvalue:
    """The k-th smallest element (from 1) along `dim`: the named tuple (values, indices).

    >>> import tinytorch as torch
    >>> values, indices = torch.kthvalue(torch.tensor([3., 1., 2.]), 2); values, indices
    (tensor(2.), tensor(2))
    """
    array = input._array
    dim = check_dim(dim, array.ndim)
    ordered = array.size and array.dtype.kind in NUMBERS
    if not ordered:
        check_nonempty("kthvalue()", array, (dim,) if array.ndim else ())
    if not 1 <= k <= (array.shape[dim] if array.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    if not ordered:
        if array.ndim and dt.kind(array.dtype) in dt.BOOL + dt.COMPLEX:
            raise not_implemented("kthvalue_cpu", input)
        refuse_records("kthvalue_cpu", input)
        refuse_complex_gradient("kthvalue", input)
    index = np.zeros((), np.int64)
    if array.ndim:
        index = _kth_index(array, k - 1, dim)
    return extreme_at(_take_kth, return_types.kthvalue, input, index, dim, keepdim)


@one_step
def _kth_index(array, k, dim):
    index = kernels.ranked(array, k, dim)
    return index if index is not None else _by_rows(lambda keys: _kth(keys, k), array, dim, False)


def _kth(keys, k):
    index = keys.argpartition(k, -1)[:, k:k + 1]
    several = np.add.reduce(keys == picked(keys, index, 1), 1, np.intp) > 1
    for row in several.nonzero()[0].tolist():
        index[row] = kernels.quick_select(keys[row].tolist(), k)
    return index


# ------------------------------------------------------------------ unique
def _restored(name, values, input):
    """`values` in the dtype of `input`, as a tensor that refuses its derivative."""
    if input._array.dtype.kind == dt.WIDENED:
        values = dt.to_bfloat16(values)
    return _FOUND[name](input, values) if has_history(input) else wrap(values)


def _refusing_op(name):
    @op(name=name.strip("_"), input=underivable(name))
    def find(input, values):
        return values
    return find


_FOUND = {name: _refusing_op(name) for name in ("_unique2", "unique_dim", "unique_consecutive")}


def _check(name, input, dim, **flags):
    """Raises torch's errors. `name` is the name of its routine, which depends on whether there is a `dim`."""
    for flag in ("return_inverse", "return_counts"):
        bool(flags[flag])                      # torch's wrapper in Python evaluates them first
    if not isinstance(input, Tensor):
        raise not_a_tensor(name, "input", 1, input)
    for flag, value in flags.items():
        if not isinstance(value, bool):
            raise TypeError(f"{name}(): argument '{flag}' must be bool, not {type(value).__name__}")
    if dim is not None and (isinstance(dim, bool) or not hasattr(dim, "__index__")):
        raise TypeError(f"{name}(): argument 'dim' (position 2) must be int, not {type(dim).__name__}")
    if dt.kind(input._array.dtype) in dt.COMPLEX:
        raise not_implemented(name.removeprefix("_").removesuffix("2"), input)
    refuse_records(name.removeprefix("_").removesuffix("2"), input)
    if isinstance(input._array, StandIn):
        input._array.check_static(name)


def _requested(values, inverse, return_inverse, counts, return_counts):
    result = (values,)
    if return_inverse:
        result += (wrap(inverse),)
    if return_counts:
        result += (wrap(counts),)
    return result if len(result) > 1 else values


def _distinct_in_range(array, return_inverse):
    """The result of np.unique for integers, from a table of all integers between the least and the largest. None if the
    table would be longer than the array. The inverse is None unless it is wanted."""
    if not array.size:
        return None
    low, high = map(int, extremes_of(array))
    if high - low >= array.size or high > np.iinfo(np.intp).max:
        return None
    places = dt.as_intp(array.reshape(-1)) - low
    counts = np.bincount(places)
    there = counts.nonzero()[0]
    inverse = None
    if return_inverse:
        inverse = (np.cumsum(counts > 0) - 1).take(places).reshape(array.shape)
    return (there + low if low else there).astype(array.dtype, copy=False), inverse, counts[there]


@public(python=True, method=True, looks=True)
def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
           dim: int | None = None) -> Tensor | tuple[Tensor, ...]:
    """The distinct elements in increasing order (or the distinct slices along `dim`). On request also the position of
    each element in the result, and how often each distinct element occurs.

    >>> import tinytorch as torch
    >>> torch.unique(torch.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    _check("_unique2" if dim is None else "unique_dim", input, dim, sorted=sorted, return_inverse=return_inverse,
           return_counts=return_counts)
    array = dt.widened(input._array)
    if dim is not None:
        if not array.ndim:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        dim = check_dim(dim, array.ndim)
        if not array.size and 0 in array.shape[:dim] + array.shape[dim + 1:]:
            raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    found = _distinct_in_range(array, return_inverse) if dim is None and array.dtype.kind in dt.INTEGER else None
    if found is None:
        # Without the inverse NumPy sorts only the values, and does not define which of two zeros it keeps.
        ordered = return_inverse or dim is not None or array.dtype.kind in dt.NATIVE
        values, *found = np.unique(array, return_inverse=ordered, return_counts=True, axis=dim, equal_nan=False)
        inverse = None
        if ordered:
            inverse = found[0].reshape(array.shape if dim is None else -1)
        found = values, inverse, found[-1]
    values, inverse, counts = found
    values = _restored("_unique2" if dim is None else "unique_dim", values, input)
    return _requested(values, inverse, return_inverse, counts, return_counts)


@public(python=True, method=True, looks=True)
def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False,
                       dim: int | None = None) -> Tensor | tuple[Tensor, ...]:
    """Each run of equal elements (or of equal slices along `dim`) reduced to one.

    >>> import tinytorch as torch
    >>> torch.unique_consecutive(torch.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    _check("unique_consecutive" if dim is None else "unique_dim", input, dim, return_inverse=return_inverse,
           return_counts=return_counts)
    array = dt.widened(input._array)
    if dim is not None and not array.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    axis = 0 if dim is None else check_dim(dim, array.ndim)
    if dim is not None and not array.size and 0 in array.shape[:axis] + array.shape[axis + 1:]:
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    row = array.reshape(-1) if dim is None else array
    moved = np.moveaxis(row, axis, 0)
    n = moved.shape[0]
    fresh = np.ones(n, bool)
    if n > 1:
        fresh[1:] = (moved[1:] != moved[:-1]).reshape(n - 1, -1).any(1) if row.size else False
    starts = np.flatnonzero(fresh)
    inverse = (np.cumsum(fresh) - 1).reshape(array.shape if dim is None else -1)
    counts = np.diff(np.append(starts, n))
    values = np.moveaxis(moved.take(starts, 0), 0, axis)
    values = _restored("unique_consecutive", values, input)
    return _requested(values, inverse, return_inverse, counts, return_counts)


# ------------------------------------------------------------------ search
@public(repeats=True)
def searchsorted(sorted_sequence: Tensor, input: Tensor | Number, *, out_int32: bool = False, right: bool = False,
                 side: str | None = None, sorter: Tensor | None = None, out: Tensor | None = None) -> Tensor:
    """The positions at which to insert the values of `input` so that `sorted_sequence` (1-D, or rows like those of
    `input`) stays sorted: before equal elements, or after them with `right` or side="right".

    >>> import tinytorch as torch
    >>> torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([3, 6]))
    tensor([1, 3])
    """
    if side not in (None, "left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if right and side == "left":
        raise RuntimeError("torch.searchsorted(): side and right can't be set to opposites, got side of left while "
                           "right was True")
    side = "right" if right or side == "right" else "left"
    return _searched(sorted_sequence, input, side, sorter, out_int32, out)


def _searched(sequence, values, side, sorter, out_int32, out):
    x, y = sequence._array, getattr(values, "_array", None)
    if sorter is None and out is None and type(x) is type(y) is np.ndarray and x.dtype == y.dtype and (
            x.dtype.kind in NUMBERS and x.ndim == 1 and x.flags.c_contiguous and y.flags.c_contiguous):
        if (found := kernels.searched(x, y, side == "right")) is not None:
            return wrap(found.astype(np.int32) if out_int32 else found)
        if x.dtype.kind not in dt.NATIVE or not any_nan(x):
            found = as_array(x.searchsorted(y, side))
            return wrap(found.astype(np.int32 if out_int32 else np.int64, copy=False))
    if isinstance(values, complex):
        raise not_implemented("searchsorted_out_cpu", dt.default_complex())
    if isinstance(values, Tensor) and values._array.dtype != sequence._array.dtype:
        sequence, values = promoted(sequence, values)
    sequence, values = sequence._array, values._array if isinstance(values, Tensor) else np.asarray(values)
    if not (sequence.flags.c_contiguous and values.flags.c_contiguous) or sorter is not None:
        _warn_of_copies(sequence, values, sorter)
    kind = dt.int32 if out_int32 else dt.int64
    if out is not None and out.dtype is not kind:
        raise RuntimeError("torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or "
                           "Long(int64) depending on whether out_int32 flag is True, but we got output tensor's dtype "
                           f"{type_name(out)} and out_int32 flag is {out_int32}")
    if sorter is not None:
        _check_sorter(sorter._array, sequence)
        sequence = _sorted_by(sequence, sorter._array)
    if not sequence.ndim:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 "
                           "dimension")
    if sequence.dtype.kind not in NUMBERS and dt.kind(sequence.dtype) not in dt.FLOATING and values.size:
        raise not_implemented("searchsorted_out_cpu", sequence)
    if sequence.ndim > 1 and sequence.shape[:-1] != values.shape[:-1]:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
                           "dimensions of boundaries tensor and input value tensor must match, but we got "
                           f"boundaries tensor {list(sequence.shape)} and input value tensor {list(values.shape)}")
    return write_out(out, wrap(_places(sequence, values, side, kind.numpy)))


@one_step
def _places(sequence, values, side, dtype):
    if sequence.dtype == dt.BFLOAT16:
        sequence = dt.from_bfloat16(sequence)
    if values.dtype == dt.BFLOAT16:
        values = dt.from_bfloat16(values)
    if sequence.dtype.kind in dt.NATIVE and any_nan(sequence):
        search = _searched_with_nan
    elif type(sequence) is np.ndarray:
        search = np.ndarray.searchsorted
    else:
        search = np.searchsorted
    if sequence.ndim == 1:
        found = np.asarray(search(sequence, values, side))
    else:
        found = np.zeros(values.shape, np.int64)
        for row in np.ndindex(sequence.shape[:-1]):
            found[row] = search(sequence[row], values[row], side)
    return dt.given(found).astype(dtype, copy=False)


def _warn_of_copies(sequence, values, sorter):
    """torch's warning for arguments that are not contiguous."""
    named = [("input value", values), ("boundary", sequence)]
    if sorter is not None:
        named.append(("sorter", sorter._array))
    for name, array in named:
        if not array.flags.c_contiguous:
            warn_once(f"torch.searchsorted(): {name} tensor is non-contiguous, this will lower the performance due to "
                      "extra data copy when converting non-contiguous tensor to contiguous, please use contiguous "
                      f"{name} tensor if possible. This message will only appear once per program.")


def _check_sorter(order, sequence):
    if order.shape != sequence.shape:
        raise RuntimeError("torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
                           f"{list(sequence.shape)}and got sorter tensor {list(order.shape)}")
    if order.dtype != np.int64:
        raise RuntimeError("torch.searchsorted(): sorter must be a tensor of long dtype but got dtype "
                           f"{dt.of(order).type_name}")


@one_step
def _sorted_by(sequence, order):
    if order.size and not 0 <= order.min() <= order.max() < sequence.shape[-1]:
        raise RuntimeError("torch.searchsorted(): sorter index out of range")
    return np.take_along_axis(sequence, owned(order), -1)


def _searched_with_nan(sequence, values, side):
    """np.searchsorted for a sequence with NaN. torch compares by `<`, which is false for NaN, and goes on after it."""
    start, end = np.zeros(values.shape, np.int64), np.full(values.shape, sequence.size)
    above = np.greater if side == "right" else np.greater_equal
    for _ in range(sequence.size.bit_length()):
        middle = (start + end) >> 1
        left = above(sequence[np.minimum(middle, sequence.size - 1)], values) | (start >= end)
        start, end = np.where(left, start, middle + 1), np.where(left, np.minimum(end, middle), end)
    return start


@public(repeats=True)
def bucketize(input: Tensor | Number, boundaries: Tensor, *, out_int32: bool = False, right: bool = False,
              out: Tensor | None = None) -> Tensor:
    """The number of the bucket that each value falls into, between increasing 1-D `boundaries`.

    >>> import tinytorch as torch
    >>> torch.bucketize(torch.tensor([0, 3, 9]), torch.tensor([1, 3, 5]))
    tensor([0, 1, 3])
    """
    if boundaries._array.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries._array.ndim})")
    return _searched(boundaries, input, "right" if right else "left", None, out_int32, out)
