"""Number types that NumPy cannot compute with: records of their bits, widened to a type of NumPy's and rounded back.

An array of such records can be stored, viewed, indexed and moved. For each type, STORED has the type of NumPy's to
which it is widened, the functions that convert, and its limits. All other facts about number types are in `dtypes.py`.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy import ndarray

#: Two float16: a complex number of half precision.
COMPLEX32 = np.dtype([("real", np.float16), ("imag", np.float16)])
BFLOAT16 = np.dtype([("bfloat16", np.uint16)])
_FLOAT = np.dtype(np.float32)
#: The names have the bits of exponent and significand; fn: without infinities, uz: without a negative zero.
FLOAT8_E4M3FN, FLOAT8_E5M2, FLOAT8_E4M3FNUZ, FLOAT8_E5M2FNUZ, FLOAT8_E8M0FNU = [
    np.dtype([(f"float8_{name}", np.uint8)]) for name in ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e8m0fnu")]
FLOAT8_RECORDS = (FLOAT8_E4M3FN, FLOAT8_E5M2, FLOAT8_E4M3FNUZ, FLOAT8_E5M2FNUZ, FLOAT8_E8M0FNU)


class Stored(NamedTuple):
    """The description of a type that NumPy lacks.

    wide    the type of NumPy's that can represent all of its numbers
    widen   function(array of records) -> array of `wide`
    narrow  function(array of real or complex numbers) -> array of records, rounded to nearest even
    limits  eps, max, min, smallest normal number, resolution: as `finfo` has them; None for a complex type
    """

    wide: np.dtype
    widen: Callable[[ndarray], ndarray]
    narrow: Callable[[ndarray], ndarray]
    limits: tuple[float, float, float, float, float] | None


def stepping_as(array: ndarray, result: ndarray) -> ndarray:
    """`result`, which was computed element by element from `array`, with the strides of `array` along dimensions of
    size 1. NumPy chooses these strides freely, and torch distinguishes memory formats by them."""
    if result.ndim < 3 or type(result) is not ndarray:
        return result
    strides = tuple([s * result.itemsize // array.itemsize for s in array.strides])
    if strides == result.strides or any([a != b and n != 1 for a, b, n in zip(strides, result.strides, result.shape)]):
        return result
    return np.lib.stride_tricks.as_strided(result, result.shape, strides)


#: Functions of an array and a dtype that convert quickly, or return None. The kernels, which import this file, add
#: theirs.
convert: list[Callable[[ndarray, np.dtype], ndarray | None]] = []


def converted(array: ndarray, dtype: np.dtype) -> ndarray | None:
    """The result of the first function in `convert` that converts the array; None if none does."""
    for function in convert:
        if (result := function(array, dtype)) is not None:
            return result if result.ndim < 3 else stepping_as(array, result)
    return None


# ------------------------------------------------------------------ bfloat16: the upper half of a float32
def to_bfloat16(array: ndarray) -> ndarray:
    """A floating array as bfloat16 bits, rounded to nearest even (NaN stays NaN)."""
    if isinstance(array, np.generic):
        array = np.asarray(array)
    if (result := converted(array, BFLOAT16)) is not None:
        return result
    wide = array.astype(np.float32, copy=False) if isinstance(array, ndarray) else np.asarray(array, np.float32)
    bits = wide.view(np.uint32)                # `astype` works for stand-ins of arrays too
    rounded = (bits + (np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1)))) >> np.uint32(16)
    rounded = np.where(np.isnan(array), np.uint32(0x7FC0), rounded).astype(np.uint16)
    return stepping_as(array, rounded.view(BFLOAT16))


def from_bfloat16(array: ndarray) -> ndarray:
    """bfloat16 bits as the float32 array of the same values."""
    if (result := converted(array, _FLOAT)) is not None:
        return result
    # (`astype` would not keep the order of strides of 0)
    bits = np.left_shift(array["bfloat16"], np.uint32(16), dtype=np.uint32)
    return stepping_as(array, bits.view(np.float32))


# ------------------------------------------------------------------ complex32: two float16
def to_complex32(array: ndarray) -> ndarray:
    """An array of numbers as complex32, each part rounded."""
    wide = np.asarray(array, np.complex64)
    result = np.empty_like(wide, COMPLEX32)
    result["real"], result["imag"] = wide.real, wide.imag
    return stepping_as(wide, result)


def from_complex32(array: ndarray) -> ndarray:
    """complex32 numbers as the complex64 array of the same values."""
    result = np.empty_like(array, np.complex64)
    result.real, result.imag = array["real"], array["imag"]
    return stepping_as(array, result)


# ------------------------------------------------------------------ float8: tables of 256 numbers
def _magnitudes(fraction_bits: int, bias: int) -> ndarray:
    """The numbers of the codes 0 to 127 of a format whose code is exponent and fraction, no code being special."""
    codes = np.arange(128)
    exponent, fraction = codes >> fraction_bits, codes & (1 << fraction_bits) - 1
    normal = exponent > 0
    return np.ldexp(fraction + (normal << fraction_bits), np.where(normal, exponent, 1) - bias - fraction_bits)


def _float8(record: np.dtype, sizes: ndarray, numbers: ndarray, nan: int, sign: Callable[..., ndarray],
            limits: tuple[float, ...], ties_up: bool = False) -> Stored:
    """The description of a type of 256 `numbers`. An absolute value is rounded to one of `sizes`, and the code of the
    k-th size is k. All larger values get the code of the last size. sign(code, negative) is the code with its sign."""
    field, = record.names
    numbers = numbers.astype(np.float32)
    between = (sizes[1:] + sizes[:-1]) / 2

    def widen(array):
        return stepping_as(array, np.asarray(numbers[array[field]]))

    def narrow(array):
        wide = np.asarray(array.real, np.float32)
        size = np.abs(wide.astype(np.float64))
        code = between.searchsorted(size, "right")
        if not ties_up:                        # of two sizes that are equally near, the one with the even code
            low = between.searchsorted(size)
            code = np.where(low % 2, code, low)
        code = np.where(np.isnan(wide), nan, code)
        return stepping_as(array, np.asarray(sign(code, np.signbit(wide)), np.uint8).view(record))
    return Stored(np.dtype(np.float32), widen, narrow, limits)


def _signed(code, negative):
    return code | negative.astype(np.uint8) << 7


def _without_negative_zero(code, negative):
    """The code with its sign, without negative zero, whose code stands for NaN."""
    return np.where(code == 0, 0, _signed(code, negative))


def _unsigned(code, negative):
    return code


def _float8_table():
    found = {}
    ieee, fn = _magnitudes(2, 15), _magnitudes(3, 7)
    special = np.where(np.arange(128) < 0x7C, ieee, np.nan)
    special[0x7C] = np.inf
    found[FLOAT8_E5M2] = _float8(FLOAT8_E5M2, ieee[:0x7D], np.concatenate((special, -special)), 0x7F, _signed,
                                 (0.25, 57344.0, -57344.0, 2.0 ** -14, 1.0))
    special = np.where(np.arange(128) < 0x7F, fn, np.nan)
    found[FLOAT8_E4M3FN] = _float8(FLOAT8_E4M3FN, fn[:0x7F], np.concatenate((special, -special)), 0x7F, _signed,
                                   (0.125, 448.0, -448.0, 2.0 ** -6, 1.0))
    for record, sizes, largest, tiny in (
            (FLOAT8_E4M3FNUZ, _magnitudes(3, 8), 240.0, 2.0 ** -7),
            (FLOAT8_E5M2FNUZ, _magnitudes(2, 16), 57344.0, 2.0 ** -15)):
        numbers = np.concatenate((sizes, [np.nan], -sizes[1:]))
        next_one = 2 * sizes[-1] - sizes[-2]   # the size that would have the code of NaN
        found[record] = _float8(record, np.append(sizes, next_one), numbers, 0x80, _without_negative_zero,
                                (0.125, largest, -largest, tiny, 1.0))
    powers = np.ldexp(1.0, np.arange(256) - 127)
    numbers = np.append(powers[:-1], np.nan)
    powers[0] = 2.0 ** -176                    # torch rounds up above the smallest number itself
    found[FLOAT8_E8M0FNU] = _float8(FLOAT8_E8M0FNU, powers, numbers, 0xFF, _unsigned,
                                    (1.0, 2.0 ** 127, 2.0 ** -127, 2.0 ** -127, 1.0), ties_up=True)
    return found


#: The dtype of the records -> the description of the type.
STORED = {
    COMPLEX32: Stored(np.dtype(np.complex64), from_complex32, to_complex32, None),
    BFLOAT16: Stored(np.dtype(np.float32), from_bfloat16, to_bfloat16,
                     (2.0 ** -7, 3.3895313892515355e38, -3.3895313892515355e38, 2.0 ** -126, 0.01)),
    **_float8_table(),
}
