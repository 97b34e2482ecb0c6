"""Makes built-in functions of functions of the library (objects.c), where C can find its way in Python's
objects. Elsewhere ctypes and Python do the same work in several times the time.

NumPy's headers fix where an array keeps its address, shape, strides, dtype and flags, because extensions read them
there. The sizes of Python's classes say where bytes keep their content and objects their class. What C finds in a few
arrays is compared with what NumPy says, before the functions are used.
"""
import ast
import struct
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import numpy as np

try:
    import ctypes
except ImportError:                            # as in browsers: no library can be loaded
    ctypes = None

__all__ = ["Doors", "builtin_of_library", "capi", "loop_of", "maker_of_ufuncs", "new_array", "of_library",
           "with_loops"]

#: The words of a signature, as in objects.c: how an argument is given, how a size is calculated from the arguments, and
#: what is said of an array.
_WHOLE, _REAL, _ARRAY, _MATRIX = range(4)
_END, _CONSTANT, _ARGUMENT, _TIMES, _PLUS, _LARGER = range(6)
_WRITTEN, _OPTIONAL = 1, 2
#: The largest number of arguments, the number of threads included.
_MOST_ARGUMENTS = 48
#: Method definitions, and the dtypes whose addresses are in signatures. The built-in functions read them for as long as
#: they live.
_kept: list = []


class Doors:
    """What Python calls of a library.

    place_of   a function that returns the address of a contiguous and writeable array, and raises TypeError or
               ValueError for every other object
    """

    def __init__(self, library: "ctypes.CDLL") -> None:
        self.library, self.built_in = library, False
        try:
            _set_layout(library)
            self.place_of, self.built_in = _builtin(library.place_of, b"place_of", None), True
            self.built_in = _agrees(self)
        except (AttributeError, OSError, TypeError, ValueError):   # another Python than CPython
            self.built_in = False
        if not self.built_in:
            self.place_of = _place_of

    def entering(self, name: str) -> Callable[[bytes], int]:
        """A function of bytes, which calls a function of the library with the address of their content."""
        if self.built_in:
            return _builtin(self.library.enter, b"enter", struct.pack("P", _at(self.library, name)))
        function = getattr(self.library, name)
        function.restype, function.argtypes = ctypes.c_int64, (ctypes.c_char_p,)
        return function

    def address_of(self, name: str) -> int:
        """The address of a function of the library."""
        return _at(self.library, name)

    def checking(self, name: str, declared: Iterable[tuple], makes: bool = False) -> Callable[..., Any]:
        """A function of the number of threads and the arguments of a function of the library, as `parsed` of table.py
        yields them. It checks the arguments, calls the function and returns what that returns. If the arguments do not
        fit, or it does not know whether they do, it returns -1 and calls nothing. `makes`: it takes the shape of the
        last array in place of this array, after the number of threads, and returns the new array if the function
        returns 0."""
        if not self.built_in or makes and not new_array():
            return _undecided
        return _builtin(self.library.make_checked if makes else self.library.call_checked, name.encode(),
                        _signature(_at(self.library, name), list(declared)), _ARGUMENTS)

    def walking(self, name: str, dtype: np.dtype, plan: np.ndarray, arrays: int, numbers: int) -> Callable[..., Any]:
        """A function of the number of threads, arrays of a dtype and numbers, which returns the array that the
        elementwise machine makes of them by a plan. It returns -1 if they do not fit. The arrays are contiguous and
        not empty. Those after the first one have its shape, or one element and not more dimensions."""
        if not self.built_in or not new_array():
            return _undecided
        _kept.append(dtype)
        words = _at(self.library, name), id(dtype), dtype.itemsize, arrays, numbers, plan.size
        return _builtin(self.library.make_walked, name.encode(), struct.pack("6q", *words) + plan.tobytes(), _ARGUMENTS)

    def naming(self, name: str, functions: dict[str, Callable]) -> Callable[..., Any]:
        """A function of this name, which calls the function in `functions` that its first argument names with the
        other arguments."""
        if self.built_in:
            return _builtin(self.library.call_named, name.encode(), functions, _ARGUMENTS)
        return lambda name, *args: functions[name](*args)


def _undecided(*args):
    return -1


def builtin_of_library(library: "ctypes.CDLL", name: str, several: bool = False) -> Callable:
    """A built-in function of one argument, or of several, of the function of the library that has this name."""
    return _builtin(getattr(library, name), name.encode(), None, _ARGUMENTS if several else _ONE_ARGUMENT)


def of_library(library: "ctypes.CDLL", name: str, bound: Any) -> Callable:
    """A built-in function of `bound`, which C gets first, and one argument."""
    return _builtin(getattr(library, name), name.encode(), bound)


def _place_of(array):
    return ctypes.addressof(ctypes.c_byte.from_buffer(array))


def _at(library, name):
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value


class _Method(ctypes.Structure if ctypes else object):
    """PyMethodDef."""

    _fields_ = [("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int),
                ("doc", ctypes.c_char_p)] if ctypes else []


_ONE_ARGUMENT, _ARGUMENTS = 0x0008, 0x0080     # METH_O and METH_FASTCALL


def _builtin(function, name, bound, flags=_ONE_ARGUMENT):
    """A built-in function of one argument, or of several. C gets `bound` first and then the argument, or the address
    of the arguments and their number."""
    method = _Method(name, ctypes.cast(function, ctypes.c_void_p).value, flags, None)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    _kept.append(method)
    return make(("PyCFunction_NewEx", ctypes.pythonapi))(ctypes.addressof(method), bound, None)


def _signature(function, declared):
    """The address of a function and its arguments as bytes: the kinds of all arguments, and then the dtype, the marks
    and the size of each array, and the dtype and the sizes and steps of each matrix."""
    kinds, rest = [_WHOLE], []
    places = {x: place for place, (_, x, *_) in enumerate(declared, 1)}
    for marks, _, kind, inside, dtype, _ in declared:
        if not kind:
            kinds.append(_REAL if marks else _WHOLE)
            continue
        kinds.append(_ARRAY if kind == "[" else _MATRIX)
        if not isinstance(dtype, np.dtype):
            dtype = np.dtype("u4" if dtype == "twister" else dtype or np.float32)
        _kept.append(dtype)
        sizes = ast.parse(f"({inside},)", mode="eval").body.elts
        rest.append(id(dtype))
        if kind == "[":
            rest += [dtype.itemsize, _WRITTEN * (">" in marks) | _OPTIONAL * ("?" in marks)]
        else:
            rest.append(len(sizes))
        for size in sizes:
            rest += [*_calculation(size, places), _END]
    if len(kinds) > _MOST_ARGUMENTS:
        raise ValueError("too many arguments for a built-in function")
    return struct.pack(f"{2 + len(kinds) + len(rest)}q", function, len(kinds), *kinds, *rest)


def _calculation(node, places):
    """The words that calculate a size: operands first, then the operator."""
    if isinstance(node, ast.Constant):
        return [_CONSTANT, node.value]
    if isinstance(node, ast.Name):
        return [_ARGUMENT, places[node.id]]
    if isinstance(node, ast.BinOp):
        operands, operator = (node.left, node.right), _TIMES if isinstance(node.op, ast.Mult) else _PLUS
    else:                                      # max(a, b)
        operands, operator = node.args, _LARGER
    return [*_calculation(operands[0], places), *_calculation(operands[1], places), operator, 0]


def capi(table: str, place: int) -> int:
    """The address of a function in one of the two tables in which extension modules find NumPy's C interface; 0 where
    it is not found."""
    try:
        find = ctypes.pythonapi.PyCapsule_GetPointer
        find.restype, find.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        found = find(getattr(np._core._multiarray_umath, table), None)
        return ctypes.cast(found, ctypes.POINTER(ctypes.c_void_p))[place]
    except (AttributeError, ValueError):
        return 0


@lru_cache
def maker_of_ufuncs() -> Callable[..., np.ufunc] | None:
    """PyUFunc_FromFuncAndData, from the second place of its table; None where it is not found."""
    place = capi("_UFUNC_API", 1)
    if not place:
        return None
    pointer, text, whole = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    made = ctypes.PYFUNCTYPE(ctypes.py_object, pointer, pointer, text, whole, whole, whole, whole, text, text, whole)
    return made(place)


class _Ufunc(ctypes.Structure if ctypes else object):
    """The beginning of PyUFuncObject, as NumPy's headers have it."""

    _fields_ = [("head", ctypes.c_char * object.__basicsize__), *[(name, ctypes.c_int) for name in (
        "inputs", "outputs", "operands", "identity")],
        ("functions", ctypes.POINTER(ctypes.c_void_p)), ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("count", ctypes.c_int), ("reserved", ctypes.c_int), ("name", ctypes.c_char_p),
        ("types", ctypes.POINTER(ctypes.c_char))] if ctypes else []


def _fields_of(ufunc):
    """What NumPy keeps of a ufunc; None where it does not show its loops."""
    if maker_of_ufuncs() is None:
        return None
    fields = _Ufunc.from_address(id(ufunc))
    known = fields.inputs, fields.outputs, fields.operands, fields.count, fields.name
    if known != (ufunc.nin, ufunc.nout, ufunc.nargs, ufunc.ntypes, ufunc.__name__.encode()):
        return None
    types = fields.types[:ufunc.nargs * fields.count]
    if types != bytes([np.dtype(char).num for each in ufunc.types for char in each if char not in "->"]):
        return None
    return fields


def loop_of(ufunc: np.ufunc, types: str) -> int:
    """The address of a ufunc's loop for operands of these types, such as "ff->f"; 0 where NumPy does not show it, or if
    the loop gets data of its own."""
    fields = _fields_of(ufunc)
    if fields is None or types not in ufunc.types:
        return 0
    place = ufunc.types.index(types)
    return 0 if fields.data and fields.data[place] else fields.functions[place] or 0


def with_loops(ufunc: np.ufunc, change: Callable[[str, int, int], tuple[int, int]]) -> tuple[np.ufunc, Any]:
    """(a ufunc like `ufunc`, some of whose loops are others; what must live as long as it). It is `ufunc` itself where
    NumPy does not show its loops.

    `change(types, function, data)` gives the address of the function for operands of these types, such as "ff->f", and
    the address that it gets as its data. Its arguments are NumPy's addresses."""
    fields, make = _fields_of(ufunc), maker_of_ufuncs()
    if fields is None:
        return ufunc, None
    types = fields.types[:ufunc.nargs * fields.count]
    changed = [change(*loop) for loop in zip(ufunc.types, fields.functions[:fields.count], fields.data[:fields.count])]
    pointers = ctypes.c_void_p * fields.count
    kept = pointers(*[x for x, _ in changed]), pointers(*[x for _, x in changed]), types, fields.name, (
        ufunc.__doc__.encode())
    return make(kept[0], kept[1], types, fields.count, ufunc.nin, ufunc.nout, -1, kept[3], kept[4], 0), kept


@lru_cache
def new_array():
    """The address of PyArray_NewFromDescr."""
    return capi("_ARRAY_API", 94)


def _set_layout(library):
    """Passes the offsets of fields and the functions of Python's C API to objects.c."""
    pointer, head = struct.calcsize("P"), object.__basicsize__
    data, ndim, shape, strides, _, dtype, flags = [head + i * pointer for i in range(7)]
    if np.ndarray.__basicsize__ < flags + 4:
        raise TypeError("NumPy's arrays have another layout")
    functions = [_at(ctypes.pythonapi, name) for name in (
        "PyLong_FromVoidPtr", "PyLong_FromLongLong", "PyLong_AsLongLong", "PyFloat_AsDouble", "PyEval_SaveThread",
        "PyEval_RestoreThread", "PyErr_SetString", "PyErr_Occurred", "PyErr_Clear", "PyTuple_Size", "PyTuple_GetItem",
        "PyDict_GetItem", "Py_IncRef", "Py_DecRef", "PyObject_VectorcallDict")]
    classes = [id(x) for x in (np.ndarray, bytes, TypeError, None)]
    library.set_layout.restype, library.set_layout.argtypes = None, (ctypes.c_char_p,)
    library.set_layout(struct.pack("28q", *classes, head - pointer, data, ndim, shape, strides, dtype, flags,
                                   bytes.__basicsize__ - 1, *functions, new_array()))


def _agrees(doors):
    """Whether C finds the same addresses, shapes, strides and dtypes in arrays as NumPy, and makes the same arrays."""
    whole, fixed = np.zeros((3, 4, 5)), np.zeros(7, np.int8)
    fixed.flags.writeable = False
    for array in (whole, whole[1], whole[:, :, 1:], whole.T, whole[1:2, 2, 3:4], fixed, fixed[1:], np.zeros(())):
        flags = array.flags
        try:
            at = doors.place_of(array)
        except TypeError:
            at = None
        if at != (array.__array_interface__["data"][0] if flags.c_contiguous and flags.writeable else None):
            return False
    number, array = ("", "n", "", "", "", ""), ("", "x", "[", "2*n", "f8", "")
    takes, makes = [doors.checking("enter_nothing", [number, array], makes) for makes in (False, True)]
    takes_matrix = doors.checking("enter_nothing", [*[("", x, "", "", "", "") for x in "mnd"],
                                                    ("", "x", "{", "0,m,n,d", "", "")])
    matrix = np.zeros((3, 4), np.float32)[:, :2]
    made = makes(1, (3, 1, 4), 6)
    if not isinstance(made, int) and (
            made.shape, made.dtype, made.flags.c_contiguous) != ((3, 1, 4), np.float64, True):
        return False
    return (takes(1, 30, whole), takes(1, 29, whole), takes(1, 10, whole[1]), takes(1, 2, whole[1, :, 1]),
            takes(1, 6, np.zeros(12)), takes(1, 6, np.zeros(12, np.int64)), takes(1, 0.5, np.zeros(1)), takes(1, 6),
            takes_matrix(1, 3, 2, 4, matrix), takes_matrix(1, 2, 3, 4, matrix), takes_matrix(1, 3, 2, 3, matrix)
            ) == (0, -1, 0, -1, 0, -1, -1, -1, 0, -1, -1)
