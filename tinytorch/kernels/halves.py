"""Conversions between 16-bit floats and float32, and float32 and float64, int64 or bool, in C (native/convert.c). NumPy
converts the former one number at a time, or in many passes. `dtypes.py` and `kinds/record_dtypes.py`, which must not
import this file, are given its function."""
from functools import lru_cache

import numpy as np

from ..kinds import record_dtypes as stored
from . import native
from .threads import free, team

_FLOAT, _HALF, _BITS, _DOUBLE, _LONG, _BOOL = map(
    np.dtype, (np.float32, np.float16, np.uint16, np.float64, np.int64, bool))
#: The longest row of `softmax` in C.
_WIDEST = 4096
#: The kernels and their (source dtype, target dtype).
_KERNELS = {"bfloat16_to_float": (stored.BFLOAT16, _FLOAT), "float_to_bfloat16": (_FLOAT, stored.BFLOAT16),
            "half_to_float": (_HALF, _FLOAT), "float_to_half": (_FLOAT, _HALF),
            "float_to_double": (_FLOAT, _DOUBLE), "double_to_float": (_DOUBLE, _FLOAT),
            "long_to_float": (_LONG, _FLOAT), "float_to_long": (_FLOAT, _LONG),
            "float_to_bool": (_FLOAT, _BOOL)}
_NAMES = {dtypes: name for name, dtypes in _KERNELS.items()}


@lru_cache
def _converter(name):
    return native.maker(name, *_KERNELS[name])


def wide(x):
    """An array of bfloat16 in float32, in the same memory order."""
    flags = x.flags
    if flags.c_contiguous:
        result = convert(x, _FLOAT)
        return stored.from_bfloat16(x) if result is None else result
    return wide(x.T).T if flags.f_contiguous else stored.from_bfloat16(x)


def to_bfloat16(x):
    """A C-contiguous array in bfloat16."""
    result = convert(x, stored.BFLOAT16)
    return stored.to_bfloat16(x) if result is None else result


@lru_cache
def _maker_of(name, dtype):
    return native.maker(name, dtype, dtype)


def _computed(name, x, *sizes):
    """The result of a kernel of 16-bit floats, of the shape of a C-contiguous array of them; None if there is none."""
    if x.size < native.LEAST_OF[name] or type(x) is not np.ndarray:
        return None
    result = _maker_of(name, x.dtype)(1 if team.size == 1 else free(), x.shape, *sizes, x.dtype.kind == "f", x)
    if result.__class__ is int:
        result = np.empty(x.shape, x.dtype)
        native.run(name, *sizes, x.dtype.kind == "f", *[np.frombuffer(array, _BITS) for array in (x, result)])
    return result


def softmax(x):
    """softmax along the last dimension of a C-contiguous array of 16-bit floats, computed in float32 and rounded; None
    if no kernel computes it."""
    return None if x.shape[-1] > _WIDEST else _computed("half_softmax", x, x.size // (x.shape[-1] or 1), x.shape[-1])


def gelu(x, by_tanh):
    """gelu of a C-contiguous array of 16-bit floats, computed in float32 and rounded; None if no kernel computes it."""
    return _computed("half_gelu", x, x.size, by_tanh)


def convert(array, dtype):
    """A copy of an array in another dtype, in the same memory order; None if no kernel converts it."""
    if type(array) is not np.ndarray:
        return None
    name = _NAMES.get((array.dtype, dtype))
    if name is None or array.size < native.LEAST_OF[name]:
        return None
    result = _converter(name)(1 if team.size == 1 else free(), array.shape, array.size, array)
    if result.__class__ is not int:
        return result
    result = np.empty_like(array, dtype)
    flat, out = array, result
    if not array.flags.c_contiguous:
        steps = [s * dtype.itemsize // array.itemsize for s in array.strides]
        if result.strides != tuple(steps):
            return None
        flat, out = array.ravel("K"), result.ravel("K")
    native.run(name, array.size, *[np.frombuffer(x, _BITS) if x.itemsize == 2 else x for x in (flat, out)])
    return result


stored.convert.append(convert)
