"""Elements by rank or frequency: median mode quantile."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt, return_types
from ...autograd.op import op, renamed, unwatched
from ...autograd.promotion import EXACT, refuse_complex_gradient
from ...autograd.public import public
from ...errors import not_implemented, refuse_records
from ...kernels import order as kernels
from ...kernels.looks import any_nan
from ...kernels.scatter import in_its_place, in_last_place, picked
from ...kinds.one_step import one_step
from ...tensor import Tensor, check_dim, wrap
from ...types import Tensors
from .extremes import NUMBERS, extreme_at, picker, shared_evenly
from .reductions import check_nonempty, in_c_order, masked, raw

__all__ = ["median", "mode", "nanmedian", "nanquantile", "quantile"]


@op(name="median", input=shared_evenly)
def _middle(input, ignore_nan):
    if not input.size:
        return dt.cast(np.full((), np.nan), input.dtype)
    row = input.reshape(-1)
    return row[_middle_index(dt.widened(row), 0, ignore_nan)].reshape(())


@one_step
def _middle_index(array, dim, ignore_nan):
    """Positions (of size 1 along `dim`) of the lower median; or of a NaN if there is one and it is not ignored."""
    if not ignore_nan and array.size:
        index = kernels.ranked(array, (array.shape[dim] - 1) // 2, dim, True)
        if index is not None:
            return index
    moved = in_last_place(array, dim)
    rows = moved.reshape(-1, moved.shape[-1])
    k = (rows.shape[1] - 1) // 2
    parted = rows.copy("K")
    parted.partition(k)                        # NaN comes last
    value = parted[:, k:k + 1]
    found = rows == value
    index = found.argmax(-1)
    before = (parted[:, :k] == value).sum(-1)  # among equal elements: the one that a stable sort puts at place k
    several = before.nonzero()[0]
    if several.size:
        index[several] = (found[several].cumsum(-1) == before[several, None] + 1).argmax(-1)
    if array.dtype.kind in dt.NATIVE:
        with_nan = np.isnan(parted[:, k:].max(-1)).nonzero()[0]
        if with_nan.size:
            index[with_nan] = _middle_beside_nan(rows[with_nan], ignore_nan)
    return in_its_place(index.reshape(*moved.shape[:-1], 1), dim)


def _middle_beside_nan(rows, ignore_nan):
    absent = np.isnan(rows)
    if not ignore_nan:
        return absent.argmax(-1)
    places = np.maximum(rows.shape[1] - absent.sum(-1, keepdims=True) - 1, 0) // 2
    return np.take_along_axis(rows.argsort(-1, kind="stable"), places, -1)[:, 0]


_take_median, _take_nanmedian, _take_mode = picker("median.1"), picker("nanmedian.1"), picker("mode")
_middle_but_nan = renamed(_middle, "nanmedian")


def _median(take, result, ignore_nan, input, dim, keepdim):
    array = input._array
    if dim is not None:
        dim = check_dim(dim, array.ndim)
        if array.ndim and array.size and array.dtype.kind in NUMBERS:
            index = in_c_order(_middle_index(array, dim, ignore_nan))
            return extreme_at(take, result, input, index, dim, keepdim)
        check_nonempty("median()", array, (dim,) if array.ndim else ())
    if dt.kind(array.dtype) in dt.BOOL + dt.COMPLEX and (array.size or dim is not None):
        raise not_implemented("median_cpu" if dim is None else "median_out", input)
    refuse_records("median_cpu" if dim is None else "median_out", input)
    refuse_complex_gradient("nanmedian" if ignore_nan else "median", input)
    if dim is None:
        return (_middle_but_nan if ignore_nan else _middle)(input, ignore_nan)
    index = in_c_order(_middle_index(dt.widened(array), dim, ignore_nan)) if array.ndim else np.zeros((), np.int64)
    return extreme_at(take, result, input, index, dim, keepdim)


@public(out=EXACT, apart=None, method=True, repeats=True)
def median(input: Tensor, dim: int = None, keepdim: bool = False, *,
           out: Tensors | None = None) -> Tensor | return_types.median:
    """The median (the lower of two middle elements) of all elements, or along `dim` as a named tuple
    (values, indices). NaN if there is a NaN.

    >>> import tinytorch as torch
    >>> torch.median(torch.tensor([3., 1., 2., 4.]))
    tensor(2.)
    """
    return _median(_take_median, return_types.median, False, input, dim, keepdim)


@public(out=EXACT, apart=None, method=True)
def nanmedian(input: Tensor, dim: int = None, keepdim: bool = False, *,
              out: Tensors | None = None) -> Tensor | return_types.nanmedian:
    """`median` of the elements that are not NaN.

    >>> import tinytorch as torch
    >>> torch.nanmedian(torch.tensor([3., float("nan"), 2.]))
    tensor(2.)
    """
    return _median(_take_nanmedian, return_types.nanmedian, True, input, dim, keepdim)


@public(out=EXACT, method=True)
def mode(input: Tensor, dim: int = -1, keepdim: bool = False, *, out: Tensors | None = None) -> return_types.mode:
    """The most frequent value along `dim` (the smallest, if several) and its index, as a named tuple (values, indices).

    >>> import tinytorch as torch
    >>> values, indices = torch.mode(torch.tensor([3, 1, 3, 2, 1])); values, indices
    (tensor(1), tensor(4))
    """
    array = input._array
    dim = check_dim(dim, array.ndim)
    if not array.ndim:
        refuse_complex_gradient("mode", input)
        return extreme_at(_take_mode, return_types.mode, input, np.zeros((), np.int64), dim, keepdim)
    check_nonempty("mode()", array, (dim,))
    if array.size and dt.kind(array.dtype) in dt.COMPLEX:
        raise not_implemented("mode_cpu", input)
    refuse_records("mode_cpu", input)
    refuse_complex_gradient("mode", input)
    return extreme_at(_take_mode, return_types.mode, input, in_c_order(_mode_index(dt.widened(array), dim)), dim,
                      keepdim)


@one_step
def _mode_index(array, dim):
    moved = np.moveaxis(array, dim, -1)
    order = kernels.sort(kernels.rising(moved).reshape(-1, moved.shape[-1])).reshape(moved.shape)
    if moved.dtype.kind == dt.NATIVE and moved.shape[-1] <= 16:      # torch does not define the order of longer rows
        for row in map(tuple, np.argwhere(np.isnan(moved).any(-1))):
            order[row] = _insertion_order(moved[row].tolist())
    ranked = np.take_along_axis(moved, order, -1)
    places = np.arange(ranked.shape[-1])
    starts = np.zeros(ranked.shape, np.int64)  # where each run of equal elements begins
    starts[..., 1:] = np.where(ranked[..., 1:] != ranked[..., :-1], places[1:], 0)
    runs = places - np.maximum.accumulate(starts, axis=-1)
    index = np.take_along_axis(order, runs.argmax(-1, keepdims=True), -1)
    return np.moveaxis(index, -1, dim)


def _insertion_order(row):
    """The order in which torch's insertion sort leaves a row with NaN. No comparison with NaN is true."""
    order = []
    for i, x in enumerate(row):
        k = 0 if order and x < row[order[0]] else i
        while k and x < row[order[k - 1]]:
            k -= 1
        order.insert(k, i)
    return order


@op(name="squeeze.4", input=lambda g, several: g[..., None].swapaxes(0, -1)[0] if several else g[..., None])
def _across(input, several):
    """Moves the last dimension (the quantiles) to the front, or drops it if there are not `several`."""
    return input[None].swapaxes(0, -1)[..., 0] if several else input[..., 0]


_ROUNDING = {"lower": np.floor, "higher": np.ceil, "nearest": np.rint}


def _quantile_of_rows(array, q, dim, keepdim, interpolation):
    """One quantile along `dim`, which is at one place in all rows. None if there is a NaN."""
    if dim is None:
        shape, rows = (1,) * array.ndim if keepdim else (), array.reshape(-1)
    else:
        dim = check_dim(dim, array.ndim)
        shape = tuple([1 if i == dim else n for i, n in enumerate(array.shape) if keepdim or i != dim])
        rows = np.ascontiguousarray(in_last_place(array, dim))
    last = rows.ndim - 1
    order = kernels.sorted_along(rows, last)
    ranked = picked(rows, rows.argsort(-1, "stable") if order is None else order, last)
    if any_nan(ranked[..., -1:]):
        return None
    rank = q * q.dtype.type(ranked.shape[-1] - 1)
    if interpolation in _ROUNDING:
        rank = _ROUNDING[interpolation](rank)
    low, high = np.floor(rank), np.ceil(rank)
    values = wrap(np.array(ranked[..., int(low)]).reshape(shape))
    if interpolation in _ROUNDING:
        return values
    weight = rank - low if interpolation == "linear" else q.dtype.type(0.5)
    return values.lerp(wrap(np.array(ranked[..., int(high)]).reshape(shape)), wrap(np.full(shape, weight, q.dtype)))


@one_step
def _check_range(name, q):
    if ((q < 0) | (q > 1)).any():
        raise RuntimeError(f"{name}() q values must be in the range [0, 1]")


@one_step
def _ranks(ranked, dtype, ignore_nan):
    """For each row: (the rank of the quantile 1, whether no NaN counts, the last rank if one does and else 0)."""
    n = ranked.shape[-1]
    count = n - np.isnan(ranked).sum(-1, keepdims=True)
    steps = np.maximum(count - 1, 0).astype(dtype)
    spoilt = (count < n) & (not ignore_nan)    # a NaN makes the quantile NaN: take the last element, which is NaN
    return steps, ~spoilt, np.where(spoilt, dtype.type(n - 1), dtype.type(0))


def _quantile(name, ignore_nan, input, q, dim, keepdim, interpolation):
    if interpolation not in ("linear", "midpoint", *_ROUNDING):
        raise RuntimeError(f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but "
                           f"got {interpolation}")
    if not input._array.size:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    if input._array.dtype.char not in "fd":
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    at = raw(q) if isinstance(q, Tensor) else np.asarray(q, input._array.dtype)
    if at.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
    if at.dtype != input._array.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    if not isinstance(q, Tensor) and not 0 <= q <= 1:
        raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q:g}")
    _check_range(name, at)
    ndim = input._array.ndim
    if ndim and not at.ndim and not isinstance(q, Tensor) and unwatched(input):
        result = _quantile_of_rows(input._array, at, dim, keepdim, interpolation)
        if result is not None:
            return result
    if dim is None:
        ranked, dim = input.reshape(-1), 0
        kept = (1,) * ndim
    else:
        dim = check_dim(dim, ndim)
        ranked = input.movedim(dim, -1) if ndim else input.reshape(1)
        kept = tuple(1 if i == dim else n for i, n in enumerate(input._array.shape))
    ranked = ranked.sort(-1)[0]
    n = ranked._array.shape[-1]
    if keepdim:
        ranked = ranked.reshape((*kept, n))
    steps, clear, last = _ranks(ranked._array, at.dtype, ignore_nan)
    q = q if isinstance(q, Tensor) else wrap(at)
    rank = masked(q.reshape(-1) * wrap(steps), clear) + wrap(last)
    if interpolation in _ROUNDING:
        rank = wrap(_ROUNDING[interpolation](rank._array))
    low, high = np.floor(rank._array), np.ceil(rank._array)
    values = ranked.gather(-1, wrap(low.astype(np.int64)))
    if interpolation in ("linear", "midpoint"):
        weight = rank - wrap(low) if interpolation == "linear" else wrap(np.full(low.shape, 0.5, at.dtype))
        values = values.lerp(ranked.gather(-1, wrap(high.astype(np.int64))), weight)
    return _across(values, at.ndim)


@public(out="quantile() out tensor must be same dtype as the input tensor", apart=None, method=True, autocast="up")
def quantile(input: Tensor, q: Tensor | float | bool, dim: int | None = None, keepdim: bool = False, *,
             interpolation: str = "linear", out: Tensor | None = None) -> Tensor:
    """The q-th quantiles (a number or 1-D tensor between 0 and 1) of all elements or along `dim`.

    `interpolation` between two elements: linear, lower, higher, midpoint, nearest.

    >>> import tinytorch as torch
    >>> torch.quantile(torch.tensor([1., 2., 3., 4.]), 0.5)
    tensor(2.5000)
    """
    return _quantile("quantile", False, input, q, dim, keepdim, interpolation)


@public(out="quantile() out tensor must be same dtype as the input tensor", apart=None, method=True, autocast="up")
def nanquantile(input: Tensor, q: Tensor | float | bool, dim: int | None = None, keepdim: bool = False, *,
                interpolation: str = "linear", out: Tensor | None = None) -> Tensor:
    """`quantile` of the elements that are not NaN.

    >>> import tinytorch as torch
    >>> torch.nanquantile(torch.tensor([1., float("nan"), 3.]), 0.5)
    tensor(2.)
    """
    return _quantile("nanquantile", True, input, q, dim, keepdim, interpolation)
