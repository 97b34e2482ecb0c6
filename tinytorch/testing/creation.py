"""make_tensor."""
from __future__ import annotations

import math
from collections.abc import Sequence

from .. import dtypes as dt
from ..errors import warn
from ..memory_format import memory_format as MemoryFormat
from ..ops.creation.factories import empty
from ..ops.elementwise.complex import view_as_real
from ..ops.random.factories import randint
from ..tensor import Tensor
from ..types import Device

_REAL = (dt.float16, dt.bfloat16, dt.float32, dt.float64)
_COMPLEX = (dt.complex32, dt.complex64, dt.complex128)
_SMALL = (dt.float8_e4m3fn, dt.float8_e5m2, dt.float8_e4m3fnuz, dt.float8_e5m2fnuz)
_WHOLE = (dt.bool, dt.uint8, dt.int8, dt.int16, dt.int32, dt.int64, dt.uint16, dt.uint32, dt.uint64)


def make_tensor(*shape: int | Sequence[int], dtype: dt.dtype, device: Device, low: float | None = None,
                high: float | None = None, requires_grad: bool = False, noncontiguous: bool = False,
                exclude_zero: bool = False, memory_format: MemoryFormat | None = None) -> Tensor:
    """A tensor of random numbers, uniform in [low, high): by default in [-9, 9), integers up to 9 (from 0 if they are
    unsigned), bools of either value. Bounds outside the dtype are moved to its largest or smallest number.

    noncontiguous  every second element of a larger tensor; not together with `memory_format`
    exclude_zero   zeros become 1 in integers, the smallest normal number in floating and complex dtypes

    ValueError for low >= high, NaN, an interval outside the dtype, integers that require grad; TypeError for other
    dtypes; FutureWarning for low == high in floating dtypes.

    >>> import tinytorch as torch
    >>> torch.testing.make_tensor(2, 3, dtype=torch.int64, device="cpu", low=7, high=8)
    tensor([[7, 7, 7],
            [7, 7, 7]])
    """
    if len(shape) == 1 and isinstance(shape[0], Sequence):
        shape = shape[0]
    shape = tuple(shape)
    if noncontiguous and memory_format is not None:
        raise ValueError("The parameters `noncontiguous` and `memory_format` are mutually exclusive, "
                         f"but got {noncontiguous=} and {memory_format=}")
    if requires_grad and dtype in _WHOLE:
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=}")
    apart = noncontiguous and math.prod(shape) > 1
    if apart:
        shape = (*shape[:-1], 2 * shape[-1])
    result = _numbers(shape, dtype, device, low, high)
    if apart:
        result = result[..., 1::2]             # from the second one on: the offset is not 0
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        result[result == 0] = 1 if dtype in _WHOLE else dt.finfo(dtype).tiny
    if dtype in _REAL + _COMPLEX:
        result.requires_grad = requires_grad
    return result


def _numbers(shape, dtype, device, low, high):
    if dtype is dt.bool:
        low, high = _bounds(low, high, dtype, 0, 2, 0, 2)
        return randint(math.ceil(low), math.ceil(high), shape, device=device, dtype=dtype)
    if dtype in _WHOLE:                        # randint's bounds are int64: it cannot draw the largest int64
        limits = dt.iinfo(dtype)
        low, high = _bounds(low, high, dtype, limits.min, limits.max + (dtype is not dt.int64), -9, 10)
        return randint(math.ceil(low), math.ceil(high), shape, device=device, dtype=dtype)
    if dtype not in _REAL + _COMPLEX + _SMALL:
        raise TypeError(f"The requested dtype '{dtype}' is not supported by torch.testing.make_tensor(). To request "
                        "support, file an issue at: https://github.com/pytorch/pytorch/issues")
    limits = dt.finfo(dtype)
    low, high = _bounds(low, high, dtype, limits.min, limits.max, -9, 9)
    result = empty(shape, device=device, dtype=dt.float32 if dtype in _SMALL else dtype)
    numbers = view_as_real(result) if dtype in _COMPLEX else result
    if high - low >= dt.finfo(numbers.dtype).max:
        numbers.uniform_(low / 2, high / 2).mul_(2)      # `uniform_` refuses so wide a range
    else:
        numbers.uniform_(low, high)
    return result.to(dtype) if dtype in _SMALL else result


def _bounds(low, high, dtype, least, end, default_low, default_high):
    """The bounds, or the defaults where they are None, limited to those of the dtype."""
    low = default_low if low is None else low
    high = default_high if high is None else high
    if any([isinstance(x, float) and math.isnan(x) for x in (low, high)]):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low == high and dtype in _REAL + _COMPLEX:
        warn("Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is deprecated "
             "since 2.1 and will be removed in 2.3. Use `torch.full(...)` instead.", FutureWarning)
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < least or low >= end:
        raise ValueError(f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} only "
                         f"supports [{least}, {end})")
    return [min(max(x, least), end) for x in (low, high)]
