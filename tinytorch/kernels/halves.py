"""Conversions between 16-bit floats and float32 in C (native/convert.c). NumPy converts one number at a time, or in
many passes. `dtypes.py` and `kinds/record_dtypes.py`, which must not import this file, are given its function."""
from functools import lru_cache

import numpy as np

from ..kinds import record_dtypes as stored
from . import native
from .threads import free, team

_FLOAT, _HALF, _BITS = np.dtype(np.float32), np.dtype(np.float16), np.dtype(np.uint16)
#: The kernels and their (source dtype, target dtype).
_KERNELS = {"bfloat16_to_float": (stored.BFLOAT16, _FLOAT), "float_to_bfloat16": (_FLOAT, stored.BFLOAT16),
            "half_to_float": (_HALF, _FLOAT), "float_to_half": (_FLOAT, _HALF)}
_NAMES = {dtypes: name for name, dtypes in _KERNELS.items()}


@lru_cache
def _converter(name):
    return native.converter(name, *_KERNELS[name])


def convert(array, dtype):
    """A copy of an array in another dtype, in the same memory order; None if no kernel converts it."""
    if type(array) is not np.ndarray:
        return None
    name = _NAMES.get((array.dtype, dtype))
    if name is None or array.size < native.LEAST_OF[name]:
        return None
    result = np.empty(array.shape, dtype)
    if not _converter(name)(1 if team.size == 1 else free(), array.size, array, result):
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
