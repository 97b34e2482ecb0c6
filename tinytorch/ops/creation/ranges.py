"""New tensors of evenly spaced numbers or of simple patterns: arange linspace logspace eye vander."""
from __future__ import annotations

import math
from functools import lru_cache
from operator import index as as_int

import numpy as np

from ... import dtypes as dt
from ...autograd.promotion import check_written, refill, stored_as
from ...autograd.public import public
from ...errors import C_NAMES, not_implemented, warn
from ...kernels import scan
from ...kernels.errstate import ignored
from ...kernels.memory import LARGEST, check_size, empty as new_memory
from ...kernels.random import exact
from ...memory_format import layout as Layout
from ...tensor import Tensor, wrap
from ...types import Device, Extent, Number
from ..layout.join import cat
from .options import check_options, dtype_for, finish, new_without_numbers, require_grad

__all__ = ["arange", "eye", "linspace", "logspace", "range", "vander"]


def _number(x):
    number = x.item() if isinstance(x, np.generic) or isinstance(x, Tensor) and not x._array.ndim else x
    return float(number) if isinstance(number, np.longdouble) else number


#: A tensor of fewer elements always fits into memory, so its size is not checked.
_FEW = 1 << 16
#: The classes of numbers that need no conversion and no check.
_PLAIN = (float, int)


def _check_numbers(name, *given):
    """TypeError unless all are Python numbers."""
    if not all([isinstance(x, (int, float, complex)) for x in given]):
        kinds = ", ".join(type(x).__name__ for x in given)
        raise TypeError(f"{name}() received an invalid combination of arguments - got ({kinds})")


def _check_real(*given):
    for x in given:
        if isinstance(x, complex):
            raise RuntimeError("value cannot be converted to type double without overflow")


def _check_implemented(kernel, d):
    if d is dt.bool or d.is_complex and kernel == "arange_cpu" or d in _LACKING and (
            kernel != "eye" or not d.is_floating_point):
        raise not_implemented(kernel, d)


_LACKING = (dt.uint16, dt.uint32, dt.uint64, dt.complex32, *dt.FLOAT8)


def _end(name, argument, x):
    """An end of a range as a number. It may be a tensor without dimensions."""
    if isinstance(x, Tensor) and x._array.ndim:
        raise RuntimeError(f"{name} only supports 0-dimensional start and end tensors, but got {argument} with "
                           f"{x._array.ndim} dimension(s).")
    return _number(x)


@public(hot=True, repeats=True)
def arange(*args: Number, start: Number = 0, end: Number | None = None, step: Number = 1, out: Tensor | None = None,
           dtype: dt.dtype | type | None = None, layout: Layout | None = None, device: Device = None,
           requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """Numbers from start to end (exclusive) by step: arange(end), arange(start, end), arange(start, end, step).

    int64 if all are integers, else the default dtype. RuntimeError for a step of zero or in the wrong direction.

    >>> import tinytorch as torch
    >>> torch.arange(1, 2.5, 0.5)
    tensor([1.0000, 1.5000, 2.0000])
    """
    # Positional and keyword arguments are sorted first. Then come the checks in torch's order: types, the range of
    # integers, options, the dtype, the range. Only then the numbers are made, and written to `out` if it is given.
    if len(args) == 1 and end is None:
        end, = args
    elif not args and end is None:
        raise TypeError('arange() missing 1 required positional arguments: "end"')
    elif args:
        if len(args) > 3:
            raise TypeError(f"arange() takes from 1 to 3 positional arguments but {len(args)} were given")
        start, end, step = (*args, *(start, end, step)[len(args):])
    whole = start.__class__ is int and end.__class__ is int and step.__class__ is int
    plain = start.__class__ in _PLAIN and end.__class__ in _PLAIN and step.__class__ in _PLAIN
    if not plain:
        start, end, step = map(_number, (start, end, step))
        if len(args) == 1 and not isinstance(end, (int, float, complex)):
            raise TypeError(f"arange(): argument 'end' (position 1) must be Number, not {type(end).__name__}")
        _check_numbers("arange", start, end, step)
    fit = whole                                # integers of 64 bits
    for x in (start, end, step):
        if isinstance(x, int) and not -LARGEST <= x <= LARGEST:
            dt.check_long(x)
            fit = False
    on_meta = False
    if (layout is not None or device is not None or requires_grad.__class__ is not bool
            or pin_memory is not False):
        on_meta = check_options("arange", layout, device, requires_grad, pin_memory)
    if dtype is not None or out is not None:
        dtype = dtype_for(out, dtype, "arange")
    else:
        whole = whole or isinstance(start, int) and isinstance(end, int) and isinstance(step, int)
        dtype = dt.int64 if whole else dt.get_default_dtype()
    _check_implemented("arange_cpu", dtype)
    if not plain:
        _check_real(start, end, step)
    _check_range(start, end, step)
    if dtype is dt.int64 and not fit:
        start, end = _whole(start), _whole(end)
        if 0 < abs(step) < 1:
            raise ValueError("step must be nonzero")
        step = _whole(step)
    count = _checked_count(math.ceil((end - start) / step))
    if out is not None and out._array.size not in (0, count):
        warn(f"The number of elements in the out tensor of shape {list(out._array.shape)} is {out._array.size} "
             f"which does not match the computed number of elements {count}. Note that this may occur as a "
             f"result of rounding error. The out tensor will be resized to a tensor of shape ({count},).")
    if on_meta:
        result = wrap(new_without_numbers((count,), dtype.numpy))
    else:
        result = wrap((_all_steps if count < _FEW else _steps)(start, step, count, dtype))
    if requires_grad:
        require_grad(result)
    return result if out is None else _into(out, result, by_count=True)


def _whole(x):
    """`x` as an integer of 64 bits."""
    if not math.isfinite(x):
        return x                               # _check_range raises torch's error for it
    if not -LARGEST - 1 <= x <= LARGEST:
        raise RuntimeError("value cannot be converted to type int64_t without overflow")
    return int(x)


def _checked_count(count):
    if count > LARGEST:
        raise RuntimeError("invalid size, possible overflow?")
    return max(count, 0)


def _into(out, result, by_count=False):
    """`refill` for an `out` whose elements must not share places."""
    if out is None:
        return result
    if isinstance(out, Tensor):
        check_written(out._array)
    return refill(out, result, by_count)


def _check_range(start, end, step):
    if not (step > 0 or step < 0):             # true for NaN too
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")


def _steps(start, step, count, dtype):
    return new_memory((count,), dtype.numpy, lambda size, numpy_dtype: _all_steps(start, step, count, dtype))


def _all_steps(start, step, count, dtype):
    if dtype is dt.int64 and int(step) == 1 and -LARGEST < int(start) < LARGEST - count:
        return scan.whole_steps(int(start), count)
    if dtype.category == 1:
        return (np.arange(count, dtype=np.int64) * int(step) + int(start)).astype(dtype.numpy)
    if dtype is dt.float32 and (result := scan.steps(float(start), float(step), count)) is not None:
        return result
    places = np.arange(count, dtype=np.float64)
    if not dtype.is_floating_point:
        return dt.cast(places * step + start, dtype.numpy)
    result = exact.fma64(places, step, start) if dtype is dt.float64 else dt.cast(places * step + start, dtype.numpy)
    lanes = 32 // dtype.itemsize
    whole = count - count % (2 * lanes)
    if whole:
        first = dt.cast(result[:whole:lanes, None], np.dtype(np.float64))
        result[:whole] = dt.cast(_vector_steps(first, step, lanes), dtype.numpy).reshape(-1)
    return result


def _vector_steps(first, step, lanes):
    """first + step * (0, ..., lanes - 1): torch's vector code computes each vector from its first lane."""
    ways = step * np.arange(lanes, dtype=np.float64)
    near = first + ways
    if lanes == 4:                             # float64 is rounded once; the only inexact product is 3 * step
        lost = (first - (near - (near - first))) + (ways - (near - first))
        lost[:, 3] += exact.fma64(np.full(1, 3.0), step, -ways[3])
        near += lost
    return near


@public(seen=False)
def range(start: Number, end: Number, step: Number = 1, *, out: Tensor | None = None,
          dtype: dt.dtype | type | None = None, layout: Layout | None = None, device: Device = None,
          requires_grad: bool | None = False) -> Tensor:
    """Numbers from start to end (inclusive) by step. Deprecated: use `arange`.

    >>> import tinytorch as torch
    >>> torch.range(0, 2)
    tensor([0., 1., 2.])
    """
    warn("torch.range is deprecated and will be removed in a future release because its behavior is "
         "inconsistent with Python's range builtin. Instead, use torch.arange, which produces values in "
         "[start, end).")
    start, end, step = map(_number, (start, end, step))
    _check_real(start, end, step)
    _check_range(start, end, step)
    count = _checked_count(int((end - start) / step) + 1)
    array = _steps(start, step, count, dtype_for(out, dtype, "range") or dt.get_default_dtype())
    return _into(out, finish(array, device, requires_grad), by_count=True)


def _are_moderate(start, end):
    """Whether the ends of a range are Python's numbers that every float dtype holds."""
    return start.__class__ in _PLAIN and end.__class__ in _PLAIN and -65504 <= start <= 65504 and (
        -65504 <= end <= 65504)


@lru_cache(256, typed=True)
def _singles(start, end, steps):
    """(first, last, step) of evenly spaced numbers in float32, for ends that float32 holds."""
    first, last = np.float32(start), np.float32(end)
    return float(first), float(last), float((last - first) / np.float32(steps - 1))


def _spaced(fill, start, end, steps, d, *more):
    """A vector of dtype `d`: fill(first, last, steps, d), where the ends are as `d` stores them."""
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")

    def filled(size, numpy_dtype):
        if not steps:
            return np.empty(0, numpy_dtype)
        ends = start, end if steps > 1 else start
        with ignored():
            first, last = [_cast(stored_as(x, numpy_dtype), _wide(numpy_dtype))[()] for x in ends]
            return _cast(fill(first, last, steps, d, *more), numpy_dtype)
    return new_memory((steps,), d.numpy, filled)


def _cast(array, numpy_dtype):
    """`array` in a dtype, itself if it has this dtype."""
    return array if array.dtype is numpy_dtype else dt.cast(array, numpy_dtype)


def _wide(numpy_dtype):
    """The dtype in which numbers of a dtype are computed: float32 for half precision, float64 for integers."""
    if numpy_dtype.char in "fFD":
        return numpy_dtype
    return np.dtype(np.float32 if numpy_dtype.char in "eV" else np.float64)


def _from_both_ends(first, last, steps, d):
    """`steps` numbers from first to last. The first half is counted from the start, the second from the end. Half
    precision is rounded after every operation. The two parts of complex numbers are computed as real numbers."""
    if d.is_complex:
        result = np.empty(steps, d.numpy)
        result.real = _from_both_ends(first.real, last.real, steps, d.to_real())
        result.imag = _from_both_ends(first.imag, last.imag, steps, d.to_real())
        return result
    work, narrow = first.dtype, d.numpy.char in "eV"

    def rounded(x):
        return dt.cast(dt.cast(x, d.numpy), work) if narrow else x
    if steps == 1:
        return first.reshape(1)
    step = rounded(rounded(np.asarray(last - first)) / work.type(steps - 1))
    if d is dt.float32:
        ends = float(first), float(last), float(step)
        if all(map(math.isfinite, ends)) and (result := scan.spaced(*ends, steps)) is not None:
            return result
    places = np.arange(steps).astype(work)
    if not narrow:
        from_end = _fused_steps(places[::-1].copy(), -step, last)
        return np.where(places < steps // 2, _fused_steps(places, step, first), from_end)
    way = rounded(step * places)
    return rounded(np.where(places < steps // 2, first + way, last - way[::-1]))


def _powers(first, last, steps, d, base):
    """base to the power of `steps` numbers from first to last, in float64 (complex numbers in their own dtype)."""
    places = np.arange(steps)
    if d.is_complex:
        step = np.asarray(last - first) / d.numpy.type(steps - 1)
        places = places.astype(d.numpy)
        way = step * places
        exponents = np.where(places.real < steps // 2, first + way, last - way[::-1])
        return np.exp(exponents * np.log(d.numpy.type(base)))
    difference = np.asarray(last - first)
    if d.category == 2:                        # torch rounds the difference to `d`, but not the following steps
        difference = dt.cast(dt.cast(difference, d.numpy), np.dtype(np.float64))
    way = places * (difference / (steps - 1))
    exponents = np.where(places < steps // 2, float(first) + way, float(last) - way[::-1])
    return np.array([_power(base, x) for x in exponents.tolist()])


def _power(base, exponent):
    """base ** exponent with the C library's last bit. np.power differs in it on some processors."""
    try:
        return math.pow(base, exponent)
    except (ValueError, OverflowError):        # the result is NaN, or infinite
        return np.power(np.float64(base), exponent)


def _fused_steps(places, step, start):
    """places * step + start, rounded once, as torch's kernel does."""
    if not np.isfinite(step) or not np.isfinite(start):
        return places * step + start
    if places.dtype == np.float64:
        return exact.fma64(places, step, start)
    return exact.fma32(places, step, start, np.empty_like(places))


def _steps_of(steps):
    """The number of steps. ValueError if 64 bits cannot hold it."""
    steps = as_int(steps)
    if abs(steps) > LARGEST:
        raise ValueError("Overflow when unpacking long long")
    return steps


def _spaced_dtype(name, start, end, steps, dtype, out):
    dtype = dtype_for(out, dtype, name)
    complex_ends = isinstance(start, complex) or isinstance(end, complex)
    if dtype is None:
        dtype = dt.default_complex() if complex_ends else dt.get_default_dtype()
    elif complex_ends and not dtype.is_complex:
        raise RuntimeError(f"torch.{name}(): inferred dtype {C_NAMES[dt.default_complex().type_name]} can't be safely "
                           f"cast to passed dtype {dtype.type_name}")
    if steps > 1:                              # for fewer steps torch calls no kernel
        _check_implemented(f"{name}_cpu", dtype)
    return dtype


@public(repeats=True)
def linspace(start: Tensor | Number, end: Tensor | Number, steps: int, *, out: Tensor | None = None,
             dtype: dt.dtype | type | None = None, layout: Layout | None = None, device: Device = None,
             requires_grad: bool | None = False, pin_memory: bool | None = False) -> Tensor:
    """`steps` evenly spaced numbers from start to end, both included.

    >>> import tinytorch as torch
    >>> torch.linspace(0, 1, 3)
    tensor([0.0000, 0.5000, 1.0000])
    """
    usual = out is dtype is layout is device is None and not requires_grad and not pin_memory
    if usual and _are_moderate(start, end) and steps.__class__ is int and 1 < steps <= LARGEST and (
            dt.get_default_dtype() is dt.float32):
        ends = _singles(start, end, steps)
        result = new_memory((steps,), dt.float32.numpy, lambda size, dtype: scan.spaced(*ends, steps))
        if result is not None:
            return wrap(result)
    start, end, steps = _end("linspace", "start", start), _end("linspace", "end", end), _steps_of(steps)
    d = _spaced_dtype("linspace", start, end, steps, dtype, out)
    array = _spaced(_from_both_ends, start, end, steps, d)
    return _into(out, finish(array, device, requires_grad, pin_memory), by_count=True)


@public()
def logspace(start: Tensor | Number, end: Tensor | Number, steps: int, base: float = 10.0, *, out: Tensor | None = None,
             dtype: dt.dtype | type | None = None, layout: Layout | None = None, device: Device = None,
             requires_grad: bool | None = False, pin_memory: bool | None = False) -> Tensor:
    """`steps` numbers from base**start to base**end, evenly spaced in the exponent.

    >>> import tinytorch as torch
    >>> torch.logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    start, end, steps = _end("logspace", "start", start), _end("logspace", "end", end), _steps_of(steps)
    d = _spaced_dtype("logspace", start, end, steps, dtype, out)
    base = _number(base)
    if steps == 1:                             # torch does not round the exponent first
        number = base ** start if d.is_complex else _power(base, start)
        array = stored_as(number, d.numpy).reshape(1) if d.category == 1 else dt.cast(np.asarray([number]), d.numpy)
    else:
        array = _spaced(_powers, start, end, steps, d, base)
    return _into(out, finish(array, device, requires_grad, pin_memory), by_count=True)


def _eye(size, numpy_dtype):
    if numpy_dtype.kind == dt.WIDENED:
        return dt.cast(np.eye(*size, dtype=bool), numpy_dtype)
    result = np.zeros(size, numpy_dtype)
    result.reshape(-1)[:size[1] * size[1]:size[1] + 1] = 1     # rows below the diagonal have none
    return result


@public(repeats=True)
def eye(n: Extent, m: Extent = ..., *, out: Tensor | None = None, dtype: dt.dtype | type | None = None,
        layout: Layout | None = None, device: Device = None, requires_grad: bool | None = False,
        pin_memory: bool | None = False) -> Tensor:
    """The n x m matrix (n x n if m is not given) with ones on the diagonal.

    >>> import tinytorch as torch
    >>> torch.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    n = as_int(n)
    m = n if m is ... else as_int(m)
    for name, count in (("n", n), ("m", m)):
        if count < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {count}")
        if count > LARGEST:
            raise ValueError("Overflow when unpacking long long")
    d = dtype_for(out, dtype, "eye") or dt.get_default_dtype()
    if d is not dt.bool:
        _check_implemented("eye", d)
    if 0 < n * m < _FEW:
        array = _eye((n, m), d.numpy)
    else:
        check_size((n, m), d.itemsize)
        array = new_memory((n, m), d.numpy, _eye)
    return _into(out, finish(array, device, requires_grad, pin_memory))


@public()
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The Vandermonde matrix of a vector. Its columns are powers of the vector, the highest first unless `increasing`.

    >>> import tinytorch as torch
    >>> torch.vander(torch.tensor([1, 2, 3]), 3, increasing=True).tolist()
    [[1, 1, 1], [1, 2, 4], [1, 3, 9]]
    """
    if x._array.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = x._array.size if N is None else N
    if n < 0:
        raise RuntimeError("N must be non-negative.")
    d = x._array.dtype if x._array.dtype.kind in dt.FLOATING + dt.COMPLEX else np.dtype(np.int64)
    new_memory((x._array.size, n), d, np.empty)      # raises the MemoryError for too large sizes
    column = x.to(dt.BY_NUMPY[d]).unsqueeze(1)
    powers = cat([column.new_ones(column.shape), column.expand(-1, max(n - 1, 0)).cumprod(1)], 1)[:, :n]
    return powers if increasing else powers.flip(1)
