"""Statistics (var std logsumexp nansum) and counts in bins."""
from __future__ import annotations

import builtins
import math

import numpy as np

from ... import dtypes as dt
from ...autograd.grad_mode import unrecorded
from ...autograd.op import op, single
from ...autograd.promotion import EXACT, converted, scalar_of, to_default, write_out
from ...autograd.public import method, public
from ...errors import not_implemented, refuse_records, type_name, warn
from ...kernels import native, softmax
from ...kernels.errstate import ignored
from ...kernels.expressions import in_one_pass
from ...kernels.extremes import range_of
from ...kernels.layout import as_array
from ...kernels.looks import all_between
from ...kernels.memory import refusal
from ...kernels.scatter import owned
from ...kernels.sums import variances
from ...kinds.one_step import one_step
from ...tensor import Tensor, wrap
from ...types import Extent, Ints, Number
from ..elementwise.math import exp
from ..layout.shape import sizes
from .reductions import (
    _add,
    _count_over,
    _mean,
    at_once,
    axes,
    check_recorded_dtype,
    divided,
    kept_shape,
    like,
    masked,
    masked_quotient,
    raw,
    scaled,
    spread,
    sum,
)

__all__ = ["bincount", "histc", "logsumexp", "nanmean", "nansum", "std", "std_mean", "var", "var_mean"]


# ------------------------------------------------------------------ var, std
def _moments(array, dim, freedom, keepdim):
    """The unrounded variance, and the mean with kept dimensions."""
    if array.dtype == np.float16:
        array = array.astype(np.float32)
    n = _count_over(array, dim)
    mean = _quotient(_add(array, dim, True), n or np.nan)
    d = array - mean
    squares = d * d if array.dtype.kind not in dt.COMPLEX else d.real ** 2 + d.imag ** 2
    total = _add(squares, dim, keepdim)
    if total.dtype == np.float32 and total.size and not all_between(total, 1e-30, 1e38):
        wide = np.complex128 if array.dtype.kind in dt.COMPLEX else np.float64     # the squares over- or underflow
        return _moments(array.astype(wide), dim, freedom, keepdim)
    if freedom > 0:
        return total / freedom, mean
    return total * (np.inf if n else np.nan), mean


def _quotient(total, n):
    """total / n. Real and imaginary parts are divided separately."""
    if total.dtype.kind not in dt.COMPLEX:
        return total / n
    parts = np.empty_like(total)
    parts.real, parts.imag = total.real / n, total.imag / n
    return parts


def _var_grad(g, input, dim, freedom, whole):
    """The gradient of var. `whole`: no `dim` was given; torch's result then differs if there are no degrees of
    freedom."""
    mean = _mean(input, dim, True, _count_over(input, dim))
    if whole and freedom <= 0:
        g, same = spread(g, input.shape, dim), raw(input) == raw(mean)
        found = masked(g * float("inf"), ~same) + masked(g * float("nan"), same)
        return found.to(input.dtype) if isinstance(g, Tensor) else found.astype(input.dtype)
    g = g.reshape(kept_shape(input.shape, dim))
    return scaled(g, 2 / freedom if freedom else float("inf")) * (input - mean)


def _std_grad(g, deviation, input, dim, freedom, whole):
    return _var_grad(masked_quotient(g, deviation * 2, raw(deviation) != 0), input, dim, freedom, whole)


@single(name="var", batches="dims", steps=True,
    input=lambda g, input, dim, freedom, whole: _var_grad(g, input, dim, freedom, whole))
def _var(input, dim, freedom, keepdim, whole):
    if freedom > 0 and (found := variances(input, dim, keepdim, freedom, False)) is not None:
        return found
    return _moments(input, dim, freedom, keepdim)[0].astype(input.real.dtype, copy=False)


@single(name="std", batches="dims", steps=True,
    input=lambda g, ans, input, dim, freedom, whole: _std_grad(g, ans, input, dim, freedom, whole))
def _std(input, dim, freedom, keepdim, whole):
    if freedom > 0 and (found := variances(input, dim, keepdim, freedom, True)) is not None:
        return found
    return np.sqrt(_moments(input, dim, freedom, keepdim)[0]).astype(input.real.dtype, copy=False)


def _running_mean(array, dim, mean):
    """`mean` (kept) as torch's running mean gives it: NaN if an element follows an infinite one."""
    if array.dtype.kind in dt.COMPLEX:
        parts = np.empty_like(mean)
        parts.real = _running_mean(array.real, dim, mean.real)
        parts.imag = _running_mean(array.imag, dim, mean.imag)
        return parts
    if not np.isfinite(mean).all():
        rows = np.moveaxis(array, dim, range(-len(dim), 0)).reshape(*[array.shape[d] for d in range(array.ndim)
                                                                      if d not in dim], -1)
        early = np.isinf(rows[..., :-1]).any(-1).reshape(mean.shape)
        mean = np.where(early, np.nan, mean)
    return mean


def _plus_mean_gradient(found, g, input, dim):
    """The sum of a gradient (or None) and the gradient that `g` (or None), the gradient of the mean, gives the
    input."""
    if g is None:
        return found,
    average = spread(divided(g, _count_over(input, dim)), input.shape, dim)
    return (average if found is None else found + average),


def _var_mean_grad(g, wanted, input, dim, freedom, whole):
    return _plus_mean_gradient(None if g[0] is None else _var_grad(g[0], input, dim, freedom, whole), g[1], input, dim)


def _std_mean_grad(g, wanted, input, ans, dim, freedom, whole):
    found = None if g[0] is None else _std_grad(g[0], ans[0], input, dim, freedom, whole)
    return _plus_mean_gradient(found, g[1], input, dim)


@op(name="var_mean", batches="dims", multi=True, steps=True, inputs=1, joint=_var_mean_grad)
def _var_mean(input, dim, freedom, keepdim, whole):
    variance, mean = _moments(input, dim, freedom, keepdim)
    variance = variance.astype(input.real.dtype, copy=False)
    return variance, _running_mean(input, dim, mean).astype(input.dtype, copy=False).reshape(variance.shape)


@op(name="std_mean", batches="dims", multi=True, steps=True, inputs=1, joint=_std_mean_grad, saved_outputs=(0,))
def _std_mean(input, dim, freedom, keepdim, whole):
    variance, mean = _moments(input, dim, freedom, keepdim)
    deviation = np.sqrt(variance).astype(input.real.dtype, copy=False)
    return deviation, _running_mean(input, dim, mean).astype(input.dtype, copy=False).reshape(deviation.shape)


def _from_parts(deviation, mean):
    """The forward of var or std (`mean`: with the mean) of complex32, computed from its parts in float16, as in
    torch."""
    def compute(input, dim, freedom, keepdim, whole):
        real, imag = [_var_mean.op.forward(input[part], dim, freedom, keepdim, whole) for part in ("real", "imag")]
        found = deviation(real[0] + imag[0])
        return (found, dt.joined(real[1], imag[1])) if mean else found
    return compute


for _primitive, _root, _with_mean in ((_var, np.asarray, False), (_std, np.sqrt, False), (_var_mean, np.asarray, True),
                                      (_std_mean, np.sqrt, True)):
    _primitive.op.stored, _primitive.op.on_records = dt.ONLY_COMPLEX32, _from_parts(_root, _with_mean)


def _deviation(name, primitive, input, dim, unbiased, keepdim, correction):
    if input._array.dtype.kind in dt.INTEGRAL:
        which = f"{name} only support" if name.endswith("_mean") else "std and var only support"
        raise RuntimeError(f"{which} floating point and complex dtypes")
    if unbiased is not None and (correction is not None or isinstance(dim, bool)):
        raise TypeError(f"{name}() received an invalid combination of arguments")
    if isinstance(dim, bool):                  # the form var(input, unbiased)
        dim, unbiased = None, dim
    if correction is None:
        correction = 0 if unbiased is False else 1
    if dim is None and input._array.dtype in dt.FLOAT8_RECORDS and name in ("var", "std"):
        raise RuntimeError(f"std_var_all: Unsupported dtype {type_name(input)}")
    refuse_records("std_cpu", input, dt.FLOAT8_RECORDS)
    whole = dim is None or not input._array.ndim
    dim = axes(dim, input._array.ndim)
    freedom = _count_over(input._array, dim) - correction
    if freedom <= 0:
        warn(f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction "
             "factor (input numel divided by output numel).")
    return at_once(primitive, input, dim, freedom, keepdim, whole)


@public(out="", apart=None, method=True, repeats=True)
def var(input: Tensor, dim: int | Ints | bool | None = None, unbiased: bool = None, keepdim: bool = False, *,
        correction: Number | None = None, out: Tensor | None = None) -> Tensor:
    """The variance of all elements, or over `dim`: the sum of squared deviations divided by n - correction. The
    correction is 1, or 0 if `unbiased` is False.

    >>> import tinytorch as torch
    >>> torch.var(torch.tensor([1., 2., 3., 4., 5.]))
    tensor(2.5000)
    """
    return _deviation("var", _var, input, dim, unbiased, keepdim, correction)


@public(out="", apart=None, method=True, repeats=True)
def std(input: Tensor, dim: int | Ints | bool | None = None, unbiased: bool = None, keepdim: bool = False, *,
        correction: Number | None = None, out: Tensor | None = None) -> Tensor:
    """The standard deviation, which is the root of `var`.

    >>> import tinytorch as torch
    >>> torch.std(torch.tensor([1., 3.]), correction=0)
    tensor(1.)
    """
    return _deviation("std", _std, input, dim, unbiased, keepdim, correction)


@public()
def var_mean(input: Tensor, dim: int | Ints | bool | None = None, unbiased: bool = None, keepdim: bool = False, *,
             correction: Number | None = None) -> tuple[Tensor, Tensor]:
    """(var, mean).

    >>> import tinytorch as torch
    >>> torch.var_mean(torch.tensor([1., 3.]))
    (tensor(2.), tensor(2.))
    """
    return _deviation("var_mean", _var_mean, input, dim, unbiased, keepdim, correction)


@public()
def std_mean(input: Tensor, dim: int | Ints | bool | None = None, unbiased: bool = None, keepdim: bool = False, *,
             correction: Number | None = None) -> tuple[Tensor, Tensor]:
    """(std, mean).

    >>> import tinytorch as torch
    >>> torch.std_mean(torch.tensor([1., 3.]), unbiased=False)
    (tensor(1.), tensor(2.))
    """
    return _deviation("std_mean", _std_mean, input, dim, unbiased, keepdim, correction)


# ------------------------------------------------------------------ logsumexp, and sums without NaN
def _rounding(array):
    """The rounding after each step, where torch computes in several steps: of bfloat16 alone."""
    return (lambda step: dt.widened(dt.narrowed(np.asarray(step)))) if array.dtype == dt.BFLOAT16 else lambda step: step


_share_of_log = in_one_pass(lambda g, ans, input: g * exp(input - ans).conj())


def _share_of_sum(g, ans, input, dim):
    return _share_of_log(spread(g, input.shape, dim), spread(ans, input.shape, dim), input)


@op(name="logsumexp", batches="dims", steps=True,
    input=lambda g, ans, input, dim: _share_of_sum(g, ans, input, dim),
    in_bfloat16=True)     # the forward rounds bfloat16 itself
def _logsumexp(input, dim, keepdim):
    step, input, own = _rounding(input), dt.widened(input), input
    if own is input and (result := softmax.log_of_sums(input, dim, keepdim)) is not None:
        return result
    if not input.size:
        result = np.log(_add(np.exp(input), dim, keepdim))
    else:
        top = np.maximum.reduce(input.real, axis=dim, keepdims=True)
        top = np.where(np.isinf(top), 0, top).astype(top.dtype)
        result = step(np.log(step(_add(step(np.exp(step(input - top))), dim, True)))) + top
        result = result if keepdim else result.squeeze(dim)
    return dt.narrowed(result) if own is not input else result


@public(out="", apart=None, method=True)
def logsumexp(input: Tensor, dim: int | Ints, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """log(sum(exp(input))) over `dim` (an int or several), without overflow.

    >>> import tinytorch as torch
    >>> torch.logsumexp(torch.tensor([1000., 1000.]), 0)
    tensor(1000.6932)
    """
    array = input._array
    if array.ndim and array.size and not keepdim and isinstance(dim, (tuple, list)) and not dim:
        raise RuntimeError(f"output with shape [] doesn't match the broadcast shape {[1] * array.ndim}")
    return at_once(_logsumexp, to_default(input), axes(dim, array.ndim), keepdim)


@op(name="nansum", batches="dims", steps=True,
    input=lambda g, input, dim: spread(g, input.shape, dim) * _not_nan(g, input))
def _nansum(input, dim, keepdim):
    kept = np.where(np.isnan(input), np.zeros((), input.dtype), input)
    return _add(kept, dim, keepdim, input.dtype if input.dtype.kind in dt.INTEGRAL else None)


def _is_nan(input):
    return np.isnan(raw(input))


def _not_nan(g, input):
    """1, or 0 for NaN, as constants of the kind of `g`."""
    return like(g, (~_is_nan(input)).astype(raw(g).dtype))


@public(method=True)
def nansum(input: Tensor, dim: int | Ints | None = None, keepdim: bool = False, *, dtype: dt.dtype | None = None,
           out: Tensor | None = None) -> Tensor:
    """`sum` in which NaN counts as 0.

    >>> import tinytorch as torch
    >>> torch.nansum(torch.tensor([1., float("nan"), 2.]))
    tensor(3.)
    """
    if input._array.dtype.kind in dt.COMPLEX:
        axes(dim, input._array.ndim)
        raise RuntimeError("nansum on CPU does not support complex inputs")
    if input._array.dtype.kind in dt.INTEGRAL:
        return sum(input, dim, keepdim, dtype=out.dtype if dtype is None and out is not None else dtype, out=out)
    over = axes(dim, input._array.ndim)
    if dtype is not None:
        if dtype.is_complex and input._array.size:
            raise not_implemented("nansum_cpu", dtype)
        check_recorded_dtype(input, dtype)
        if dtype.numpy.kind in dt.INTEGRAL:    # integers have no NaN, so it is replaced first
            numbers = dt.numbers(input._array)
            input = wrap(np.where(np.isnan(numbers), numbers.dtype.type(0), numbers))
            return write_out(out, at_once(_nansum, converted(input, dtype.numpy), over, keepdim), exact=EXACT)
        _check_sum(out, dtype)
        input = converted(input, dtype.numpy)
    _refuse_sum(out)
    if dtype is None and out is not None:
        input = converted(input, out._array.dtype)
    dim = over
    return write_out(out, at_once(_nansum, input, dim, keepdim))


def _check_sum(out, dtype):
    """RuntimeError if `out` has another dtype than the `dtype` argument."""
    if out is not None and dtype is not None and out.dtype is not dtype:
        raise RuntimeError("nansum: provided dtype must match dtype of result. Got "
                           f"{type_name(out)} and {dtype.type_name}.")


def _refuse_sum(out):
    """NotImplementedError for an `out` of a dtype without a kernel: torch sums in the dtype of `out`."""
    if out is not None and dt.kind(out._array.dtype) not in dt.FLOATING:
        raise not_implemented("nansum_cpu", out)


@public(method=True)
def nanmean(input: Tensor, dim: int | Ints | None = None, keepdim: bool = False, *, dtype: dt.dtype | None = None,
            out: Tensor | None = None) -> Tensor:
    """The mean of the elements that are not NaN. RuntimeError for integers.

    >>> import tinytorch as torch
    >>> torch.nanmean(torch.tensor([1., float("nan"), 2.]))
    tensor(1.5000)
    """
    if input._array.dtype.kind in dt.INTEGRAL:
        if out is not None:
            raise RuntimeError("nanmean(): integral types and 'Bool' are not supported for nanmean, even for empty "
                               "tensors.")
        raise RuntimeError(f"nanmean(): expected input to have floating point or complex dtype but got "
                           f"{type_name(input)}")
    if dtype is not None and dtype.numpy.kind in dt.INTEGRAL:
        raise RuntimeError("nanmean(): could not infer output dtype. Optional dtype must be either a floating point or "
                           f"complex dtype. Got: {dtype.type_name}")
    if input._array.dtype.kind not in dt.COMPLEX:
        _check_sum(out, dtype)
        _refuse_sum(out)
    total = nansum(input, dim, keepdim, dtype=out.dtype if dtype is None and out is not None else dtype)
    there = ~_is_nan(input)
    mean = total / wrap(as_array(np.add.reduce(there, axis=axes(dim, there.ndim), keepdims=keepdim)))
    return write_out(out, mean)


# ------------------------------------------------------------------ counts in bins
@public(method=True, looks=True)
def bincount(input: Tensor, weights: Tensor | None = None, minlength: Extent = 0) -> Tensor:
    """The number of times that each non-negative integer occurs, or the sum of the weights at its places.

    >>> import tinytorch as torch
    >>> torch.bincount(torch.tensor([0, 2, 2]), minlength=4)
    tensor([1, 0, 2, 0])
    """
    if input._array.dtype.kind not in dt.INTEGER:
        raise not_implemented("bincount_cpu", input)
    if input._array.ndim != 1:
        raise RuntimeError(_NOT_COUNTED)
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if weights is not None and weights._array.shape != input._array.shape:
        _check_counted(input._array)
        raise RuntimeError("weights should be 1-d and have the same length as input")
    if weights is None or not input._array.size:
        return wrap(_bincount(input._array, None, minlength).astype(np.int64, copy=False))
    result = _bincount(input._array, dt.cast(weights._array, np.dtype(np.float64)), minlength)
    return wrap(result.astype(np.float32) if weights._array.dtype == np.float32 else result)


def _bincount(array, weights, least):
    if weights is None and type(array) is np.ndarray and array.dtype == np.int64 and array.flags.c_contiguous:
        result = _occurrences(array, least)
        if result is not None:
            return result
    try:                                       # NumPy finds the least and the largest number itself
        if weights is None and array.size > _COUNTED_AT_ONCE and least <= _COUNTED_AT_ONCE:
            total = np.zeros(least, np.int64)
            for start in range(0, array.size, _COUNTED_AT_ONCE):
                counts = np.bincount(array[start:start + _COUNTED_AT_ONCE].astype(np.intp), None, least)
                if counts.size > _COUNTED_AT_ONCE:
                    break
                if counts.size > total.size:
                    total, counts = counts, total
                total[:counts.size] += counts
            else:
                return total
        return np.bincount(owned(array) if array.dtype == np.intp else dt.as_intp(array), weights, least)
    except (MemoryError, ValueError) as error:
        _check_counted(array)
        raise refusal(error, (max(least, int(array.max()) + 1),), np.dtype(np.int64)) from None


def _occurrences(array, least):
    """The counts in C, where no number is much larger than the first ones; else None."""
    if array.size < native.LEAST_OF["occurrences"]:
        return None
    first = int(array[:256].max())
    bins = builtins.max(2 * first + 64, least)
    if first < 0 or bins > _COUNTED_AT_ONCE:
        return None
    try:
        counts = native.result("occurrences", (bins,), array.size, bins, array)
    except IndexError:                         # there is a larger number, or one below 0
        return None
    last = int(np.flatnonzero(counts)[-1])
    return counts[:builtins.max(last + 1, least)].copy()


#: How many numbers are counted at a time, so that they stay in the cache. It needs at most as many bins.
_COUNTED_AT_ONCE = 1 << 15
_NOT_COUNTED = "bincount only supports 1-d non-negative integral inputs."


def _check_counted(array):
    if array.size and array.min() < 0:
        raise RuntimeError(_NOT_COUNTED)


#: The largest number up to which a half precision can count by ones.
_COUNTED = {np.dtype(np.float16): 2048, dt.BFLOAT16: 256}


def _range_around(x, dtype):
    """The ends of the bins if all numbers are `x`."""
    low, high = x - 1, x + 1
    if dtype.kind in dt.NATIVE and dtype.itemsize > 2 and np.isfinite(x):
        x = dtype.type(x)
        low = builtins.min(low, float(np.nextafter(x, -np.inf)))
        high = builtins.max(high, float(np.nextafter(x, np.inf)))
    return low, high


@public(method=True)
def histc(input: Tensor, bins: int = 100, min: Number = 0, max: Number = 0, *, out: Tensor | None = None) -> Tensor:
    """The counts of the elements in `bins` equal bins from `min` to `max` (the range of the data if both are 0).

    >>> import tinytorch as torch
    >>> torch.histc(torch.tensor([1., 2., 1.]), bins=4, min=0, max=3)
    tensor([0., 2., 1., 0.])
    """
    array = input._array
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    low, high = scalar_of(min), scalar_of(max)
    refuse_records("aminmax_cpu", input)
    if low == high and array.size and dt.kind(array.dtype) in dt.COMPLEX:
        raise not_implemented("aminmax_cpu", input)
    result = _histogram(array, bins, low, high)
    if out is None:
        return wrap(result)
    with unrecorded():                         # torch does not check whether `out` requires grad
        return write_out(out, wrap(result), exact="torch.histogram: input tensor and hist tensor should have the "
                         "same dtype, but got input {want} and hist {have}")


@one_step
def _histogram(array, bins, low, high):
    """The counts of histc. RuntimeError for ends, given or found, that do not fit."""
    values = dt.widened(array)
    if low == high and array.size:
        low, high = map(float, range_of(values, None))
    if low == high:
        low, high = _range_around(low, array.dtype)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError("torch.histc: max must be larger than min")
    if array.dtype.kind in dt.INTEGER and not (
            np.iinfo(array.dtype).min <= low and high <= np.iinfo(array.dtype).max):
        raise RuntimeError(f"value cannot be converted to type {dt.of(array).name}_t without overflow")
    if dt.kind(array.dtype) not in dt.FLOATING:
        raise not_implemented("linspace_cpu" if array.dtype.kind in dt.BOOL else "histogram_cpu", array)
    if bins >> 31 == 0 and array.size:
        result = native.made("histogram", (bins,), array.size, bins, low, high, array)
        if result is not None:
            return result
    with ignored():
        low, high = [dt.widened(dt.cast(np.array(end), array.dtype)) for end in (low, high)]
        return _counted_in_bins(array, values, bins, low, high)


def _counted_in_bins(array, values, bins, low, high):
    """The counts of histc in the dtype of `array`. `values`: its numbers, in a dtype of NumPy."""
    values = values[(values >= low) & (values <= high)]
    step = _rounding(array)                    # torch rounds each step to the dtype of the input
    number = dt.widened(dt.cast(np.array(bins), array.dtype))
    places = step(step(step(values - low) * number) / step(high - low))
    places = np.where(places < bins, places, np.where(np.isnan(places), 0, bins - 1)).astype(np.intp)
    counts = np.bincount(places, minlength=bins)
    return dt.cast(np.minimum(counts, _COUNTED.get(array.dtype, np.inf)), array.dtype)


@method()
def sum_to_size(self, *size):
    """The sum over the dimensions that broadcasting `size` to the shape of `self` would repeat, as a tensor of `size`.

    RuntimeError if `size` does not broadcast to this shape.

    >>> import tinytorch as torch
    >>> torch.ones(2, 3).sum_to_size(1, 3)
    tensor([[2., 2., 2.]])
    """
    if not size:
        raise TypeError('sum_to_size() missing 1 required positional arguments: "size"')
    size, shape = sizes(size), self._array.shape
    if not size:
        return sum(self)
    lead = len(shape) - len(size)
    if lead < 0 or any(n not in (1, m) for n, m in zip(size, shape[lead:])):
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(shape)}}}.")
    dims = [d for d, n in enumerate(shape) if d < lead or n != 1 and size[d - lead] == 1]
    result = sum(self, dims, keepdim=True) if dims else self
    return result.view(size) if lead else result
