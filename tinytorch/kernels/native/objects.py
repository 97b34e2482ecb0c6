"""Makes built-in functions of two functions of the library (objects.c), where C can find its way in Python's objects.
Elsewhere ctypes does the same work in several times the time.

NumPy's headers fix where an array keeps its address and its flags, because extensions read them there. The sizes of
Python's classes say where bytes keep their content and objects their class. The addresses that C finds in a few arrays
are compared with those that NumPy gives, before the functions are used.
"""
import struct
from collections.abc import Callable

import numpy as np

try:
    import ctypes
except ImportError:                            # as in browsers: no library can be loaded
    ctypes = None

__all__ = ["doors"]

#: Flags of arrays: contiguous in the order of C, and one that may be written to.
_WANTED = 0x0001 | 0x0400
#: Method definitions. The built-in functions read theirs for as long as they live.
_definitions = []


def doors(library: "ctypes.CDLL") -> tuple[Callable[[np.ndarray], int], Callable[[str], Callable[[bytes], int]]]:
    """Two functions. The first gives the address of a contiguous and writeable array, and raises TypeError or
    ValueError for every other object. The second takes the name of a function of the library and gives a function of
    bytes, which calls it with the address of their content."""
    try:
        _set_layout(library)
        place_of = _builtin(library.place_of, b"place_of", None)
        if _agrees(place_of):
            return place_of, lambda name: _builtin(library.enter, b"enter", struct.pack("P", _at(library, name)))
    except (AttributeError, OSError, TypeError, ValueError):       # another Python than CPython
        pass
    return _place_of, lambda name: _entered(library, name)


def _place_of(array):
    return ctypes.addressof(ctypes.c_byte.from_buffer(array))


def _entered(library, name):
    function = getattr(library, name)
    function.restype, function.argtypes = ctypes.c_int64, (ctypes.c_char_p,)
    return function


def _at(library, name):
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value


class _Method(ctypes.Structure if ctypes else object):
    """PyMethodDef."""

    _fields_ = [("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int),
                ("doc", ctypes.c_char_p)] if ctypes else []


_ONE_ARGUMENT = 0x0008                         # METH_O


def _builtin(function, name, bound):
    """A built-in function of one argument. C gets `bound` first and then the argument."""
    method = _Method(name, ctypes.cast(function, ctypes.c_void_p).value, _ONE_ARGUMENT, None)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    _definitions.append(method)
    return make(("PyCFunction_NewEx", ctypes.pythonapi))(ctypes.addressof(method), bound, None)


def _set_layout(library):
    """Passes the offsets of fields and the functions of Python's C API to objects.c."""
    pointer, head = struct.calcsize("P"), object.__basicsize__
    data, flags = head, head + 6 * pointer     # between: ndim, shape, strides, base, dtype
    if np.ndarray.__basicsize__ < flags + 4:
        raise TypeError("NumPy's arrays have another layout")
    functions = [_at(ctypes.pythonapi, name) for name in (
        "PyLong_FromVoidPtr", "PyLong_FromLongLong", "PyEval_SaveThread", "PyEval_RestoreThread", "PyErr_SetString")]
    library.set_layout.restype, library.set_layout.argtypes = None, (ctypes.c_char_p,)
    library.set_layout(struct.pack("13q", id(np.ndarray), id(bytes), id(TypeError), head - pointer, data, flags,
                                   _WANTED, bytes.__basicsize__ - 1, *functions))


def _agrees(found):
    """Whether C finds the same addresses in arrays as NumPy."""
    whole, fixed = np.zeros((3, 4, 5)), np.zeros(7, np.int8)
    fixed.flags.writeable = False
    for array in (whole, whole[1], whole[:, :, 1:], whole.T, whole[1:2, 2, 3:4], fixed, fixed[1:], np.zeros(())):
        flags = array.flags
        try:
            at = found(array)
        except TypeError:
            at = None
        if at != (array.__array_interface__["data"][0] if flags.c_contiguous and flags.writeable else None):
            return False
    return True
