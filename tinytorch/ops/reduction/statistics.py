"""Statistics: var std logsumexp nansum median mode quantile, counts in bins."""
from __future__ import annotations

import warnings

import numpy as np

from ... import dtypes as dt, return_types
from ...autograd.op import op, renamed
from ...autograd.promotion import EXACT, to_default
from ...autograd.public import method, public
from ...errors import not_implemented, type_name
from ...kernels.memory import empty
from ...tensor import Tensor, check_dim, wrap
from ...types import Ints, Number, Tensors
from ..elementwise.compare import isnan
from ..elementwise.math import exp
from ..layout.shape import sizes
from .extremes import _share, extreme_at, picker
from .reductions import _add, _mean, _number_of, axes, check_nonempty, masked, raw, spread, sum

__all__ = ["bincount", "histc", "logsumexp", "median", "mode", "nanmean", "nanmedian", "nanquantile", "nansum",
           "quantile", "std", "std_mean", "var", "var_mean"]


# ------------------------------------------------------------------ var, std
def _variance(array, dim, freedom, keepdim):
    n = _number_of(array, dim)
    d = array - _add(array, dim, True) / (n or 1)
    squares = d * d if array.dtype.kind not in dt.COMPLEX else d.real ** 2 + d.imag ** 2
    total = _add(squares, dim, keepdim)
    return (total / freedom if freedom > 0 else total * np.inf if n else total * np.nan).astype(total.dtype, copy=False)


def _var_grad(g, input, dim, freedom):
    scale = 2 / freedom if freedom > 0 else float("inf")
    return spread(g * scale, input.shape, dim) * (input - _mean(input, dim, True, _number_of(input, dim)))


@op(name="var", input=lambda g, input, dim, freedom: _var_grad(g, input, dim, freedom))
def _var(input, dim, freedom, keepdim):
    return _variance(input, dim, freedom, keepdim)


@op(name="std", input=lambda g, ans, input, dim, freedom: _var_grad(
    masked(g / (ans * 2), raw(ans) != 0), input, dim, freedom))
def _std(input, dim, freedom, keepdim):
    return np.sqrt(_variance(input, dim, freedom, keepdim))


def _deviation(name, primitive, input, dim, unbiased, keepdim, correction):
    if input.array.dtype.kind in dt.INTEGRAL:
        raise RuntimeError("std and var only support floating point and complex dtypes")
    if unbiased is not None and (correction is not None or isinstance(dim, bool)):
        raise TypeError(f"{name}() received an invalid combination of arguments")
    if isinstance(dim, bool):                  # var(input, unbiased)
        dim, unbiased = None, dim
    if correction is None:
        correction = 0 if unbiased is False else 1
    dim = axes(dim, input.array.ndim)
    freedom = _number_of(input.array, dim) - correction
    if freedom <= 0:
        warnings.warn(f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction "
                      "factor (input numel divided by output numel).", stacklevel=4)
    return primitive(input, dim, freedom, keepdim)


@public(widen=True, out="", apart=None, method=True)
def var(input: Tensor, dim: int | Ints | bool | None = None, unbiased: bool = None, keepdim: bool = False, *,
        correction: Number | None = None, out: Tensor | None = None) -> Tensor:
    """Variance of all elements or over `dim`: the mean squared deviation, with n - correction (1 unless
    `unbiased` is False) in place of n.

    >>> import tinytorch as torch
    >>> torch.var(torch.tensor([1., 2., 3., 4., 5.]))
    tensor(2.5000)
    """
    return _deviation("var", _var, input, dim, unbiased, keepdim, correction)


@public(widen=True, out="", apart=None, method=True)
def std(input: Tensor, dim: int | Ints | bool | None = None, unbiased: bool = None, keepdim: bool = False, *,
        correction: Number | None = None, out: Tensor | None = None) -> Tensor:
    """Standard deviation, the root of `var`.

    >>> import tinytorch as torch
    >>> torch.std(torch.tensor([1., 3.]), correction=0)
    tensor(1.)
    """
    return _deviation("std", _std, input, dim, unbiased, keepdim, correction)


def _average(input, dim, keepdim):
    return input.mean(None if isinstance(dim, bool) else dim, keepdim)


@public(widen=True)
def var_mean(input: Tensor, dim: int | Ints | bool | None = None, unbiased: bool = None, keepdim: bool = False, *,
             correction: Number | None = None) -> tuple[Tensor, Tensor]:
    """(var, mean).

    >>> import tinytorch as torch
    >>> torch.var_mean(torch.tensor([1., 3.]))
    (tensor(2.), tensor(2.))
    """
    result = _deviation("var_mean", _var, input, dim, unbiased, keepdim, correction)
    return result, _average(input, dim, keepdim)


@public(widen=True)
def std_mean(input: Tensor, dim: int | Ints | bool | None = None, unbiased: bool = None, keepdim: bool = False, *,
             correction: Number | None = None) -> tuple[Tensor, Tensor]:
    """(std, mean).

    >>> import tinytorch as torch
    >>> torch.std_mean(torch.tensor([1., 3.]), unbiased=False)
    (tensor(1.), tensor(2.))
    """
    result = _deviation("std_mean", _std, input, dim, unbiased, keepdim, correction)
    return result, _average(input, dim, keepdim)


# ------------------------------------------------------------------ logsumexp, sums without NaN
def _exp_of_difference(input, ans, dim):
    """exp(input - ans), where an infinite `ans` counts as 0."""
    return exp(input - spread(masked(ans, np.isfinite(raw(ans))), input.shape, dim))


@op(name="logsumexp",
    input=lambda g, ans, input, dim: spread(g, input.shape, dim) * _exp_of_difference(input, ans, dim).conjugate())
def _logsumexp(input, dim, keepdim):
    if not input.size:
        return np.log(_add(np.exp(input), dim, keepdim))
    top = np.maximum.reduce(input.real, axis=dim, keepdims=True)
    top = np.where(np.isinf(top), 0, top).astype(top.dtype)
    result = np.log(_add(np.exp(input - top), dim, True)) + top
    return result if keepdim else result.squeeze(dim)


@public(widen=True, out="", apart=None, method=True)
def logsumexp(input: Tensor, dim: int | Ints, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """log(sum(exp(input))) over `dim` (an int or several), without overflow.

    >>> import tinytorch as torch
    >>> torch.logsumexp(torch.tensor([1000., 1000.]), 0)
    tensor(1000.6932)
    """
    return _logsumexp(to_default(input), axes(dim, input.array.ndim), keepdim)


@public(out="", apart=None, method=True)
def nansum(input: Tensor, dim: int | Ints | None = None, keepdim: bool = False, *, dtype: dt.dtype | None = None,
           out: Tensor | None = None) -> Tensor:
    """`sum` with NaN as 0.

    >>> import tinytorch as torch
    >>> torch.nansum(torch.tensor([1., float("nan"), 2.]))
    tensor(3.)
    """
    if input.array.dtype.kind in dt.COMPLEX:
        raise RuntimeError("nansum on CPU does not support complex inputs")
    if input.array.dtype.kind in dt.FLOATING:
        input = masked(input, ~isnan(input).array)
    return sum(input, dim, keepdim, dtype=dtype)


@public(out="", apart=None, method=True)
def nanmean(input: Tensor, dim: int | Ints | None = None, keepdim: bool = False, *, dtype: dt.dtype | None = None,
            out: Tensor | None = None) -> Tensor:
    """Mean of the elements that are not NaN. RuntimeError for integers.

    >>> import tinytorch as torch
    >>> torch.nanmean(torch.tensor([1., float("nan"), 2.]))
    tensor(1.5000)
    """
    if input.array.dtype.kind in dt.INTEGRAL:
        raise RuntimeError(f"nanmean(): expected input to have floating point or complex dtype but got "
                           f"{type_name(input)}")
    total = nansum(input, dim, keepdim, dtype=dtype)
    there = ~isnan(input).array
    return total / wrap(np.asarray(np.add.reduce(there, axis=axes(dim, there.ndim), keepdims=keepdim)))


# ------------------------------------------------------------------ median, mode, quantile
@op(name="median", input=lambda g, ans, input: _share(g, ans, input, tuple(range(input.ndim))))
def _middle(input, ignore_nan):
    if not input.size:
        return np.full((), np.nan, input.dtype)
    return np.take_along_axis(input.reshape(-1), _middle_index(input.reshape(-1), 0, ignore_nan), 0).reshape(())


def _middle_index(array, dim, ignore_nan):
    """Positions (kept along `dim`) of the lower median; of a NaN if there is one, unless ignored."""
    order = np.argsort(array, axis=dim, kind="stable")           # NaN last
    count = array.shape[dim] - np.isnan(array).sum(axis=dim, keepdims=True)
    k = np.maximum(count - 1, 0) // 2
    if not ignore_nan:                         # the first NaN stands right behind the numbers
        k = np.where(count < array.shape[dim], count, k)
    return np.take_along_axis(order, k, dim)


_take_median, _take_nanmedian, _take_mode = picker("median.1"), picker("nanmedian.1"), picker("mode")
_middle_but_nan = renamed(_middle, "nanmedian")


def _median(take, result, ignore_nan, input, dim, keepdim):
    array = input.array
    if array.dtype.kind in dt.BOOL + dt.COMPLEX:
        raise not_implemented("median_cpu" if dim is None else "median_out", input)
    if dim is None:
        return (_middle_but_nan if ignore_nan else _middle)(input, ignore_nan)
    dim = check_dim(dim, array.ndim)
    check_nonempty("median", array, (dim,) if array.ndim else ())
    index = _middle_index(array, dim, ignore_nan) if array.ndim else np.zeros((), np.int64)
    return extreme_at(take, result, input, index, dim, keepdim)


@public(widen=True, out=EXACT, apart=None, method=True)
def median(input: Tensor, dim: int = None, keepdim: bool = False, *,
           out: Tensors | None = None) -> Tensor | return_types.median:
    """The median (the lower one of an even number) of all elements, or along `dim` as a named tuple
    (values, indices). NaN if there is a NaN.

    >>> import tinytorch as torch
    >>> torch.median(torch.tensor([3., 1., 2., 4.]))
    tensor(2.)
    """
    return _median(_take_median, return_types.median, False, input, dim, keepdim)


@public(widen=True, out=EXACT, apart=None, method=True)
def nanmedian(input: Tensor, dim: int = None, keepdim: bool = False, *,
              out: Tensors | None = None) -> Tensor | return_types.nanmedian:
    """`median` of the elements that are not NaN.

    >>> import tinytorch as torch
    >>> torch.nanmedian(torch.tensor([3., float("nan"), 2.]))
    tensor(2.)
    """
    return _median(_take_nanmedian, return_types.nanmedian, True, input, dim, keepdim)


@public(dtypes=dt.INTEGRAL + dt.FLOATING, kernel="mode_cpu", widen=True, out=EXACT, method=True)
def mode(input: Tensor, dim: int = -1, keepdim: bool = False, *, out: Tensors | None = None) -> return_types.mode:
    """The most frequent value along `dim` (the smallest, if several) and where it stands last, as a
    named tuple (values, indices).

    >>> import tinytorch as torch
    >>> values, indices = torch.mode(torch.tensor([3, 1, 3, 2, 1])); values, indices
    (tensor(1), tensor(4))
    """
    array = input.array
    dim = check_dim(dim, array.ndim)
    if not array.ndim:
        return extreme_at(_take_mode, return_types.mode, input, np.zeros((), np.int64), dim, keepdim)
    check_nonempty("mode", array, (dim,))
    moved = np.moveaxis(array, dim, -1)
    order = np.argsort(moved, axis=-1, kind="stable")
    ranked = np.take_along_axis(moved, order, -1)
    places = np.arange(ranked.shape[-1])
    starts = np.zeros(ranked.shape, np.int64)  # where the run of equal elements began
    starts[..., 1:] = np.where(ranked[..., 1:] != ranked[..., :-1], places[1:], 0)
    runs = places - np.maximum.accumulate(starts, axis=-1)
    index = np.take_along_axis(order, runs.argmax(-1, keepdims=True), -1)
    return extreme_at(_take_mode, return_types.mode, input, np.moveaxis(index, -1, dim), dim, keepdim)


_ROUNDING = {"lower": np.floor, "higher": np.ceil, "nearest": np.rint}


def _quantile(name, ignore_nan, input, q, dim, keepdim, interpolation):
    if interpolation not in ("linear", "midpoint", *_ROUNDING):
        raise RuntimeError(f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but "
                           f"got {interpolation}")
    if not input.array.size:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    if input.array.dtype.char not in "fd":
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    at = raw(q) if isinstance(q, Tensor) else np.asarray(q, input.array.dtype)
    if at.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
    if at.dtype != input.array.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    if not isinstance(q, Tensor) and not 0 <= q <= 1:
        raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q:g}")
    if ((at < 0) | (at > 1)).any():
        raise RuntimeError(f"{name}() q values must be in the range [0, 1]")
    ndim = input.array.ndim
    if dim is None:
        ranked, dim = input.reshape(-1), 0
        kept = (1,) * ndim
    else:
        dim = check_dim(dim, ndim)
        ranked = input.movedim(dim, -1) if ndim else input.reshape(1)
        kept = tuple(1 if i == dim else n for i, n in enumerate(input.array.shape))
    ranked = ranked.sort(-1)[0]
    n = ranked.array.shape[-1]
    count = n - np.isnan(ranked.array).sum(-1, keepdims=True)
    steps = np.maximum(count - 1, 0).astype(at.dtype)
    spoilt = (count < n) & (not ignore_nan)    # a NaN makes the quantile NaN: take the last, which is one
    q = q if isinstance(q, Tensor) else wrap(at)
    rank = masked(q.reshape(-1) * wrap(steps), ~spoilt) + wrap(np.where(spoilt, at.dtype.type(n - 1), at.dtype.type(0)))
    if interpolation in _ROUNDING:
        rank = wrap(_ROUNDING[interpolation](rank.array))
    low, high = np.floor(rank.array), np.ceil(rank.array)
    values = ranked.gather(-1, wrap(low.astype(np.int64)))
    if interpolation in ("linear", "midpoint"):
        weight = rank - wrap(low) if interpolation == "linear" else wrap(np.where(low == high, 0, 0.5).astype(at.dtype))
        values = values + (ranked.gather(-1, wrap(high.astype(np.int64))) - values) * weight
    values = values.movedim(-1, 0)
    shape = kept if keepdim else values.array.shape[1:]
    return values.reshape(at.shape + shape)


@public(out="quantile() out tensor must be same dtype as the input tensor", apart=None, method=True)
def quantile(input: Tensor, q: Tensor | float | bool, dim: int | None = None, keepdim: bool = False, *,
             interpolation: str = "linear", out: Tensor | None = None) -> Tensor:
    """The q-th quantiles (a number or 1-D tensor between 0 and 1) of all elements or along `dim`.

    `interpolation` between two elements: linear, lower, higher, midpoint, nearest.

    >>> import tinytorch as torch
    >>> torch.quantile(torch.tensor([1., 2., 3., 4.]), 0.5)
    tensor(2.5000)
    """
    return _quantile("quantile", False, input, q, dim, keepdim, interpolation)


@public(out="quantile() out tensor must be same dtype as the input tensor", apart=None, method=True)
def nanquantile(input: Tensor, q: Tensor | float | bool, dim: int | None = None, keepdim: bool = False, *,
                interpolation: str = "linear", out: Tensor | None = None) -> Tensor:
    """`quantile` of the elements that are not NaN.

    >>> import tinytorch as torch
    >>> torch.nanquantile(torch.tensor([1., float("nan"), 3.]), 0.5)
    tensor(2.)
    """
    return _quantile("nanquantile", True, input, q, dim, keepdim, interpolation)


# ------------------------------------------------------------------ counts in bins
@public(method=True)
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each non-negative integer occurs, or the sum of the weights where it does.

    >>> import tinytorch as torch
    >>> torch.bincount(torch.tensor([0, 2, 2]), minlength=4)
    tensor([1, 0, 2, 0])
    """
    if input.array.dtype.kind not in dt.INTEGER:
        raise not_implemented("bincount_cpu", input)
    if input.array.ndim != 1 or input.array.size and input.array.min() < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if weights is None:
        return wrap(_bincount(input.array, None, minlength).astype(np.int64, copy=False))
    if weights.array.shape != input.array.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    result = _bincount(input.array, weights.array, minlength)
    return wrap(result.astype(np.float32) if weights.array.dtype == np.float32 else result)


def _bincount(array, weights, least):
    size = (max(least, int(array.max()) + 1 if array.size else 0),)
    return empty(size, np.dtype(np.int64), lambda size, dtype: np.bincount(array, weights, least))


@public(dtypes=dt.FLOATING, kernel="histogram_cpu", widen=True, method=True,
        out="torch.histogram: input tensor and hist tensor should have the same dtype, but got input {want} and hist "
            "{have}", apart=None)
def histc(input: Tensor, bins: int = 100, min: Number = 0, max: Number = 0, *, out: Tensor | None = None) -> Tensor:
    """Counts of the elements in `bins` equal bins from `min` to `max` (those of the data if both are 0).

    >>> import tinytorch as torch
    >>> torch.histc(torch.tensor([1., 2., 1.]), bins=4, min=0, max=3)
    tensor([0., 2., 1., 0.])
    """
    array = input.array
    if bins <= 0:
        raise RuntimeError("bins must be > 0")
    low, high = min, max
    if low == high and array.size:
        low, high = array.min(), array.max()
    if low == high:
        low, high = low - 1, high + 1
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"range of [{low}, {high}] is not finite")
    if low > high:
        raise RuntimeError("max must be larger than min")
    counts = np.histogram(array[~np.isnan(array)].astype(np.float64), bins, (float(low), float(high)))[0]
    return wrap(counts.astype(array.dtype))


@method()
def sum_to_size(self, *size):
    """The sum over what broadcasting `size` to the shape of `self` would repeat: a tensor of that size.

    RuntimeError if it does not broadcast so.

    >>> import tinytorch as torch
    >>> torch.ones(2, 3).sum_to_size(1, 3)
    tensor([[2., 2., 2.]])
    """
    if not size:
        raise TypeError('sum_to_size() missing 1 required positional arguments: "size"')
    size, shape = sizes(size), self.array.shape
    if not size:
        return sum(self)
    lead = len(shape) - len(size)
    if lead < 0 or any(n not in (1, m) for n, m in zip(size, shape[lead:])):
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(shape)}}}.")
    dims = [d for d, n in enumerate(shape) if d < lead or n != 1 and size[d - lead] == 1]
    result = sum(self, dims, keepdim=True) if dims else self
    return result.view(size) if lead else result
