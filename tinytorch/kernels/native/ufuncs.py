"""Makes NumPy ufuncs whose inner loops are in the library, through NumPy's C interface, as extension modules make theirs."""
from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from .objects import capi

try:
    import ctypes
except ImportError:                            # as in browsers: no library can be loaded
    ctypes = None

__all__ = ["maker", "with_loop"]


@lru_cache
def maker() -> Callable[..., np.ufunc] | None:
    """PyUFunc_FromFuncAndData, from the second place of its table; None where it is not found."""
    place = capi("_UFUNC_API", 1)
    if not place:
        return None
    pointer, text, whole = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    made = ctypes.PYFUNCTYPE(ctypes.py_object, pointer, pointer, text, whole, whole, whole, whole, text, text, whole)
    return made(place)


class _Fields(ctypes.Structure if ctypes else object):
    """The beginning of PyUFuncObject, as NumPy's headers have it."""

    _fields_ = [("head", ctypes.c_char * object.__basicsize__), *[(name, ctypes.c_int) for name in (
        "inputs", "outputs", "operands", "identity")],
        ("functions", ctypes.POINTER(ctypes.c_void_p)), ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("count", ctypes.c_int), ("reserved", ctypes.c_int), ("name", ctypes.c_char_p),
        ("types", ctypes.POINTER(ctypes.c_char))] if ctypes else []


def with_loop(ufunc: np.ufunc, dtype: np.dtype, loop: int, data: int) -> tuple[np.ufunc, Any]:
    """(a ufunc of one operand like `ufunc`, where the function at the address `loop` computes arrays of this dtype and
    gets the address `data`; what must live as long as it). `ufunc` itself where NumPy does not show its loops."""
    make = maker()
    if make is None:
        return ufunc, None
    fields = _Fields.from_address(id(ufunc))
    known = fields.inputs, fields.outputs, fields.operands, fields.count, fields.name
    if known != (1, 1, 2, ufunc.ntypes, ufunc.__name__.encode()):
        return ufunc, None
    types = fields.types[:2 * fields.count]
    numbers = bytes([np.dtype(char).num for pair in ufunc.types for char in (pair[0], pair[-1])])
    if types != numbers:
        return ufunc, None
    functions, given = fields.functions[:fields.count], fields.data[:fields.count]
    for i, pair in enumerate(ufunc.types):
        if pair == f"{dtype.char}->{dtype.char}":
            functions[i], given[i] = loop, data
    pointers = ctypes.c_void_p * fields.count
    kept = pointers(*functions), pointers(*given), types, fields.name, ufunc.__doc__.encode()
    return make(kept[0], kept[1], types, fields.count, 1, 1, -1, kept[3], kept[4], 0), kept

