"""Makes NumPy ufuncs with inner loops of the library, through NumPy's C interface, as extension modules make theirs."""
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

__all__ = ["maker", "with_loops"]


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


def with_loops(ufunc: np.ufunc, loops: dict[str, tuple[int, int]]) -> tuple[np.ufunc, Any]:
    """(a ufunc of one operand like `ufunc`, where functions of the library compute arrays of some dtypes; what must
    live as long as it). `ufunc` itself where NumPy does not show its loops.

    `loops`: character of the dtype -> (the address of the function, the address that it gets as its data)."""
    make = maker()
    if make is None:
        return ufunc, None
    fields = _Fields.from_address(id(ufunc))
    known = fields.inputs, fields.outputs, fields.operands, fields.count, fields.name
    if known != (1, 1, 2, ufunc.ntypes, ufunc.__name__.encode()):
        return ufunc, None
    types = fields.types[:2 * fields.count]
    if types != bytes([np.dtype(char).num for pair in ufunc.types for char in (pair[0], pair[-1])]):
        return ufunc, None
    functions, data = fields.functions[:fields.count], fields.data[:fields.count]
    for i, (given, *_, returned) in enumerate(ufunc.types):
        if given == returned and given in loops:
            functions[i], data[i] = loops[given]
    pointers = ctypes.c_void_p * fields.count
    kept = pointers(*functions), pointers(*data), types, fields.name, ufunc.__doc__.encode()
    return make(kept[0], kept[1], types, fields.count, 1, 1, -1, kept[3], kept[4], 0), kept
