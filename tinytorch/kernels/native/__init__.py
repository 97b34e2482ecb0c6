"""Kernels in C: the door to them. Each has a NumPy twin in kernels/, which is its text, its oracle and what computes
where it cannot: without the library (there was no compiler), for other dtypes and layouts, and for few elements.

A twin says `if native.done("adam", ...): return`, or takes what `native.made` gives if that is not None, and one of
single elements is made by `native.by_element`: which of the two computes is decided here, by the library, the dtype and
the table's least number of elements. Where C and NumPy round alike that number is what NumPy is quicker for; where they
do not, it is 1, so that an element does not depend on how many others there are, nor on where they lie. No address
reaches C but through `run`, which checks class, dtype, byte order, layout, size and writability of every array,
whatever `done`, `made` and `takes` said, through `done` and what `walker` makes, which check the same, and from NumPy,
which calls inner loops (`_ufunc`) as it calls its own.

TINYTORCH_NATIVE=0 in the environment: never. TINYTORCH_NATIVE=1: ImportError if there is no library.
TINYTORCH_NATIVE_LEVEL: baseline, avx2 or avx512; by default the last of them that the machine knows.
"""
import os
import struct
import sys
import warnings
from functools import lru_cache, partial

import numpy as np

from ...errors import warn
from ..threads import free, team
from .table import KERNELS, drawn, failing, fingerprint, parsed

try:
    import ctypes
except ImportError:                            # as in browsers: no library can be loaded
    ctypes = None

__all__ = ["Draws", "LEAST", "LEAST_OF", "ONE_PIECE", "by_element", "done", "held", "level", "made", "many",
           "operations", "result", "run", "takes", "walker"]


class _Unaligned(Exception):
    """Raised for an array that a kernel takes at any address but its own."""


#: In the order of what `level` of level.c says.
LEVELS = "baseline", "avx2", "avx512"
#: What is raised at a place that there is not, by the name of the array that names it.
_OUTSIDE = {"": "RuntimeError('a kernel failed')", "target": "IndexError('a target is out of bounds')",
            "index": "IndexError('index out of range in self')", "weights": "ValueError('these are no weights')",
            **dict.fromkeys(("order", "plan", "columns"),
                            "ValueError('the plan of a kernel reaches out of its arrays')")}
_place_of, _address_of = (ctypes.c_byte.from_buffer, ctypes.addressof) if ctypes else (None, None)
_FLOAT, _NDARRAY = np.dtype(np.float32), np.ndarray
#: What is said once, when the package is imported without a library.
ABSENT = ("tinytorch runs without native kernels, which takes about 1.5 times as long: there was no C compiler when it "
          "was installed, or pip had kept what it made without one (pip install --no-cache-dir)")
_STALE = "was built from other sources than these: install tinytorch once more"


def _address(array, size, dtype, written=False):
    """Where an array lies that is of that size and dtype, contiguous, aligned, and may be written to if it is to be.
    _Unaligned if it is not aligned, TypeError or ValueError for any other. 0 if it is empty."""
    if type(array) is _NDARRAY and (array.dtype is dtype or array.dtype == dtype):         # stand-ins fake __class__
        if array.size == size:
            try:
                at = _address_of(_place_of(array))         # of what is contiguous and may be written to
                if not at % dtype.itemsize:
                    return at
                raise _Unaligned
            except (TypeError, ValueError):
                flags = array.flags
                if not size:
                    return 0
                if flags.c_contiguous and not written:
                    if flags.aligned:
                        return array.__array_interface__["data"][0]
                    raise _Unaligned from None
                if written and not flags.writeable:
                    raise ValueError("the output array of a kernel is read-only") from None
        else:
            raise ValueError(f"an array of {array.size} elements for {size}")
    raise TypeError(f"no array for a kernel: {type(array).__name__} of {array.dtype}, strides {array.strides}")


def _matrix(array, turned, rows, columns, distance, *several):
    """Where a matrix of floats lies for C to read, or where several do: see `KERNELS`. _Unaligned if it is not aligned,
    TypeError or ValueError if it is another."""
    flags = array.flags
    if type(array) is not _NDARRAY or array.dtype != _FLOAT:
        raise TypeError(f"no matrix for a kernel: {type(array).__name__} of {array.dtype}")
    shape, strides = (columns, rows) if turned else (rows, columns), (distance * 4, 4)
    if several:
        outer, inner, by_outer, by_inner = several
        shape, strides = (outer, inner, *shape), (by_outer * 4, by_inner * 4, *strides)
    if array.shape != shape or array.strides != strides or distance < shape[-1]:
        raise ValueError(f"a matrix of {array.shape}, strides {array.strides}, for {shape}, {strides}")
    if flags.carray and array.size:
        return _address_of(_place_of(array))   # quicker
    if not flags.aligned:
        raise _Unaligned
    return array.__array_interface__["data"][0]


def _made(name):
    """What checks what a kernel is given and calls it, and the same of `done`: of text, without loops, lookups and
    calls, because checking takes as long as many a kernel. What is not quickly found to fit is looked at by `_address`
    and `_matrix`, which say what is wrong."""
    declared = KERNELS[name][1]
    parameters, given, layout, scope, arrays, sizes = [], [], "q", {}, {}, []
    for marks, x, kind, inside, dtype, _ in parsed(declared):
        parameters.append(x)
        layout += "d" if marks and not kind else "q"
        if kind == "[":
            dtype = np.dtype("u4" if dtype == "twister" else dtype or np.float32)
            scope[dtype.name] = dtype
            absent = f"0 if {x} is None else " if "?" in marks else ""
            fits = f"type({x}) is ndarray and {x}.dtype is {dtype.name} and {x}.size == {inside}"
            arrays[x] = (absent, f"({x} is None or {fits})" if absent else fits,
                         f"address({x}, {inside}, {dtype.name}{', True' if '>' in marks else ''})")
            given.append(f"at_{x}")
            if dtype.itemsize > 1:
                sizes.append((dtype.itemsize, x))
        else:
            given.append(f"matrix({x}, {inside.replace(',', ', ')})" if kind else x)
    quick = "; ".join([f"at_{x} = {absent}address_of(place_of({x}))" for x, (absent, _, _) in arrays.items()])
    slow = "; ".join([f"at_{x} = {absent}{call}" for x, (absent, _, call) in arrays.items()])
    fits = [fit for _, fit, _ in arrays.values()]
    for itemsize in {itemsize for itemsize, _ in sizes}:
        fits.append(f"not ({' | '.join([f'at_{x}' for size, x in sizes if size == itemsize])}) % {itemsize}")
    fits = " and ".join(fits)
    fails_at, function = failing(name), getattr(_loaded[1], "enter_" + name)
    function.restype, function.argtypes = None if fails_at is None else ctypes.c_int64, (ctypes.c_char_p,)
    call = f"enter(pack(1 if team.size == 1 else free(), {', '.join(given)}))"
    if fails_at is not None:
        call = (f"failed = {call}\n    if failed:\n        raise MemoryError('no memory for a kernel') if failed == 1 "
                f"else {_OUTSIDE[fails_at]}")
    counted = [parameters[place] for place, _ in _given[name][:1]]     # there is none where all are matrices
    few, parameters = f"{counted[0]}.size < _least['{name}']" if counted else "True", ", ".join(parameters)
    scope.update({"enter": function, "pack": struct.Struct(layout).pack, "free": free, "team": team, "_least": _least,
                  "address": _address, "matrix": _matrix, "address_of": _address_of, "place_of": _place_of,
                  "ndarray": _NDARRAY, "looked_at": _looked_at})
    exec(f"""
def {name}({parameters}):
    try:
        {quick}
        if not ({fits}):
            raise TypeError
    except (AttributeError, TypeError, ValueError):
        {slow}
    {call}

def done({parameters}):
    if {few}:
        return False
    try:
        {quick}
        _fits = {fits}
    except (AttributeError, TypeError, ValueError):
        _fits = False
    if not _fits:
        return looked_at("{name}", {parameters})
    {call}
    return True
""", scope)
    return scope[name], scope["done"]


def _path(name):
    return os.path.join(os.path.dirname(__file__), f"library_{name}{'.dll' if os.name == 'nt' else '.so'}")


def _opened(name, known):
    """A library. OSError without one, and for one of another fingerprint, which takes other arguments than `KERNELS`
    says."""
    path = _path(name)
    library = ctypes.CDLL(path) if os.path.exists(path) else _unpacked(path)
    try:
        library.fingerprint.restype = library.level.restype = ctypes.c_int64
        if library.fingerprint() == known:
            return library
    except AttributeError:
        pass
    raise OSError(f"the {name} library {_STALE}")


def _unpacked(path):
    """A library that lies in an archive, as Python's importer of those finds it: loaded from memory, or where that
    cannot be, from a file in a folder of its own, which goes as soon as it can. OSError without one."""
    try:
        content = __spec__.loader.get_data(path)
    except (AttributeError, OSError):          # an archive does not say which error it is
        raise FileNotFoundError(f"there is no {os.path.basename(path)}") from None
    try:
        memory = os.memfd_create("tinytorch", os.MFD_CLOEXEC)
    except (AttributeError, OSError):          # another system than Linux
        memory = None
    if memory is not None:
        try:
            with open(memory, "wb") as file:
                file.write(content)
                file.flush()
                return ctypes.CDLL(f"/proc/self/fd/{memory}")
        except OSError:                        # without /proc, say
            pass
    import tempfile
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:    # Windows keeps what is loaded
        place = os.path.join(folder, os.path.basename(path))
        with open(place, "wb") as file:
            file.write(content)
        return ctypes.CDLL(place)


def _load():
    """(name of the level, library), or None."""
    setting = os.environ.get("TINYTORCH_NATIVE", "")
    wanted = os.environ.get("TINYTORCH_NATIVE_LEVEL") or None
    try:
        if setting == "0":
            return None
        if ctypes is None:
            raise OSError("this Python has no ctypes")
        known = fingerprint()
        base = _opened("baseline", known)
        for name in [wanted] if wanted else LEVELS[base.level()::-1]:
            if name == "baseline":
                return name, base
            try:
                return name, _opened(name, known)
            except FileNotFoundError:          # built for a processor of another kind
                if wanted:
                    raise
    except OSError as error:
        if setting == "1" or wanted:
            raise ImportError(f"TINYTORCH_NATIVE: no library of native kernels can be loaded ({error})") from None
        if _STALE in str(error):
            warn(f"no native kernels: {error}")
        else:
            try:                               # Python shows it to who asks for it: -W default, -X dev
                warnings.warn(ABSENT, ImportWarning, stacklevel=2)
            except ImportWarning:              # where all are errors; this is none
                pass
    return None


def _first_call(which, name, *args):
    """Calls a kernel for the first time: its functions are made now, for to make those of all took a fifth of the
    import of the package."""
    _known[name], _done[name] = made = _made(name)
    return made[which](*args)


def _arrays(declared):
    """The places, and dtypes, of the arrays that a kernel takes, but of `out`, which is made for it."""
    return tuple([(i, np.dtype("u4" if dtype == "twister" else dtype or np.float32))
                  for i, (_, name, kind, _, dtype, _) in enumerate(parsed(declared)) if kind == "[" and name != "out"])


_loaded = _load()
#: Name -> function that checks what a kernel is given, and calls it.
_known = {name: partial(_first_call, 0, name) for name in KERNELS} if _loaded else {}
#: And that which says whether it has called it: see `done`.
_done = {name: partial(_first_call, 1, name) for name in KERNELS} if _loaded else {}
#: How many elements a kernel takes at least: more than there are where it is not to be had.
LEAST_OF = _least = {name: least if name in _known else sys.maxsize for name, (least, _) in KERNELS.items()}
_given = {name: _arrays(declared) for name, (_, declared) in KERNELS.items()}
#: Fewer elements no kernel takes: for those to look at whose twin takes hardly longer than to ask.
LEAST = 512 if _loaded else sys.maxsize


def level():
    """The set of instructions of the library in use, or None without one."""
    return _loaded[0] if _loaded else None


#: What the machine's doors are called with: threads and sizes, numbers, addresses, each of 8 bytes.
_pack_walk = struct.Struct("7q4d6q").pack
#: Elements of which one piece of work is made at most (GRAIN of elementwise.c): no other thread is asked to help.
ONE_PIECE = 16384


@lru_cache
def _maker_of_calls(arrays, numbers):
    """What makes the functions that `walker` gives: of text without loops, for they are called for few elements as for
    many; what they use is in cells, which are read in a tenth of the time that globals of several functions take."""
    arrays, numbers = [f"x{i}" for i in range(arrays)], [f"number{i}" for i in range(numbers)]
    first, given, absent = arrays[0], ", ".join(arrays + numbers), 4 - len(arrays)
    few = [f"type({x}) is ndarray and {x}.dtype is dtype and {x}.flags.c_contiguous" for x in arrays]
    fits = [f"type({first}) is ndarray", "n >= least[name]"]
    for x in arrays[1:]:
        alike = f"({x}.shape == shape or {x}.size == 1 and {x}.ndim <= {first}.ndim)"
        fits += [f"type({x}) is ndarray", f"{x}.dtype == dtype", alike]
    packed = ["n", *[f"{x}.size" for x in arrays[1:]], *["0"] * absent]
    packed += [*numbers, *["0.0"] * (4 - len(numbers)), "plan"]
    packed += [f"at_{x}" for x in arrays] + ["0"] * absent
    made = {}
    exec(f"""
def make(address_of, place_of, pack, free, ndarray, empty, most, least, programs, general):
    def call({given}):
        try:
            dtype, n = {first}.dtype, {first}.size
            name, itemsize, enter, size, plan, _, ufunc, singles = programs[dtype]
            if 1 < n <= most and ufunc is not None and least[name] <= n and {" and ".join(few)}:
                return ufunc({", ".join(arrays + [f"singles[{x}]" for x in numbers])})
            shape = {first}.shape
            if not ({" and ".join(fits)}):
                return general({given})
            {"; ".join([f"at_{x} = address_of(place_of({x}))" for x in arrays])}
            if {" or ".join([f"at_{x} % itemsize" for x in arrays])}:
                return general({given})
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
            return general({given})
        out = empty(shape, dtype)
        if enter(pack(1 if n <= most else free(), n, size, {", ".join(packed)}, address_of(place_of(out)))):
            raise ValueError("the plan of a kernel reaches out of its arrays")
        return out
    return call
""", made)
    return made["make"]


def walker(arrays, numbers, programs, general):
    """A function of so many arrays and numbers, which has the machine walk over contiguous arrays of one dtype that is
    in `programs`, where `held` has put a plan, and of one shape (or of one element, but for the first); for what else
    it is given it calls `general`. For few elements NumPy calls the machine."""
    return _maker_of_calls(arrays, numbers)(_address_of, _place_of, _pack_walk, free, _NDARRAY, np.empty, ONE_PIECE,
                                            _least, programs, general)


def held(name, dtype, plan, arrays, numbers):
    """What `walker` wants to know of a kernel and a plan. The address of the plan is found once: nobody else has it."""
    plan = np.array(plan, np.int64)
    place, loop = _address(plan, plan.size, plan.dtype), {"walk4": "loop4", "walk8": "loop8"}.get(name)
    return (name, dtype.itemsize, getattr(_loaded[1], "enter_" + name), plan.size, place, plan,
            _ufunc(loop, dtype, arrays + numbers, np.array([plan.size, arrays, numbers, *plan], np.int64)) if loop
            else None, _Singles(dtype))


class _Singles(dict):
    """Numbers as arrays of a dtype, which NumPy takes two thousand instructions to make of one."""

    __slots__ = ("dtype",)

    def __init__(self, dtype):
        self.dtype = dtype

    def __missing__(self, number):
        single = np.array(number, self.dtype)
        if number and number == number and len(self) < 256:    # zeros of either sign have one place
            self[number] = single
        return single


#: What the functions of NumPy's that `_ufunc` makes read for as long as there are any: for good.
_read_for_good = []


def _ufunc(loop, dtype, count, data=None):
    """A function of NumPy's of so many operands, of which C computes runs of elements: as quick as those that it has
    itself, because what finds the addresses of arrays for ctypes takes longer than they do. None where that is not to
    be had."""
    types = bytes([dtype.num] * (count + 1))
    function, kept = _ufunc_of(loop, types, count, None if data is None else data.ctypes.data)
    _read_for_good.append((kept, data))
    return function


def _ufunc_of(loop, types, inputs, data):
    """(a function of NumPy's of operands of these types, so many of which are read, whose loop is given the address
    `data`; what it reads for as long as it lives). It is made as extensions of NumPy make theirs, by
    PyUFunc_FromFuncAndData of its interface in C."""
    make = _maker_of_ufuncs()
    if make is None:
        return None, None
    place = ctypes.cast(getattr(_loaded[1], loop), ctypes.c_void_p).value
    pointers, text = ctypes.c_void_p * 1, loop.encode()
    kept = pointers(place), pointers(data), types, text
    return make(kept[0], kept[1], types, 1, inputs, len(types) - inputs, -1, text, b"", 0), kept


class Draws(dict):
    """What draws from one twister for few elements, by the kernel: (a function of the kernel's arrays that NumPy calls,
    None where there is none; what keeps its numbers for that; whether it takes `source` as well).

    The functions read `memory`: the addresses of the twister and of `source`, which stay where they are for as long as
    this does, and then the numbers that were kept last. Who keeps and draws holds the lock of the twister."""

    __slots__ = ("memory", "_kept")

    def __init__(self, key, source):
        self.memory = bytearray(8 * 6)
        struct.pack_into("2q", self.memory, 0, _address(key, key.size, np.dtype(np.uint32), True),
                         _address(source, source.size, np.dtype(np.float64), True))
        self._kept = [key, source, _place_of(self.memory)]

    def __missing__(self, name):
        declared, arrays, function = list(parsed(KERNELS[name][1])), drawn(name), None
        layout = "".join(["d" if marks else "q" for marks, _, kind, *_ in declared[1:] if not kind])
        if arrays:
            types = bytes([np.dtype(dtype or np.float32).num for dtype, _ in arrays])
            read = len([written for _, written in arrays if not written])
            function, kept = _ufunc_of("loop_" + name, types, read, _address_of(self._kept[2]))
            self._kept.append(kept)
        keep = partial(struct.Struct(layout).pack_into, self.memory, 16)
        made = self[name] = function, keep, any([x == "source" for _, x, *_ in declared])
        return made


@lru_cache
def _maker_of_ufuncs():
    """PyUFunc_FromFuncAndData: the second place of the table that NumPy's headers have extensions look for."""
    try:
        table = np._core._multiarray_umath._UFUNC_API
        find = ctypes.pythonapi.PyCapsule_GetPointer
        find.restype, find.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        place = ctypes.cast(find(table, None), ctypes.POINTER(ctypes.c_void_p))[1]
    except (AttributeError, ValueError):
        return None
    pointer, text, whole = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    made = ctypes.PYFUNCTYPE(ctypes.py_object, pointer, pointer, text, whole, whole, whole, whole, text, text, whole)
    return made(place)


def operations(bits):
    """The names of the machine's operations on numbers of 4 or 8 bytes, in their order (elementwise.c)."""
    names = getattr(_loaded[1], f"operations{bits}")
    names.restype = ctypes.c_char_p
    return names().decode().split()


def many(name, n):
    """Whether a kernel is there and the faster one for so many elements."""
    return n >= _least[name]


def takes(name, *arrays):
    """Whether a kernel is there and the faster one for these arrays (None: one that is not given), all in float32."""
    return _fit(name, arrays, _FLOATS[len(arrays)])


def done(name, *args):
    """Whether a kernel has done its work on what it takes, because it is there and the faster one for so many elements
    of its first array, and its arrays are such as it takes."""
    return _done[name](*args) if _loaded else False


def _looked_at(name, *args):
    """The same, one array after the other."""
    if not _fit(name, args, _given[name]):
        return False
    run(name, *args)
    return True


def made(name, shape, *args):
    """What `result` gives, or None where `done` would be False."""
    return result(name, shape, *args) if _fit(name, args, _given[name]) else None


def result(name, shape, *args):
    """The array of this shape, in float32, that a kernel makes of all that it takes but `out`."""
    out = np.empty(shape, _FLOAT)
    run(name, *args, out)
    return out


#: The first arguments, so many, as arrays in float32.
_FLOATS = [tuple([(i, _FLOAT) for i in range(count)]) for count in range(4)]


def _fit(name, args, given):
    """Whether a kernel is there and the faster one for arguments whose arrays are `given`: (place, dtype) of each."""
    if args[given[0][0]].size < _least[name]:
        return False
    for i, wanted in given:
        array = args[i]
        if array is None:
            continue
        if type(array) is not _NDARRAY:
            return False
        dtype = array.dtype
        if dtype is not wanted and dtype != wanted or not array.flags.c_contiguous:
            return False
    return True


def run(name, *args):
    """Call a kernel, on as many threads as are allowed. Of arrays that are not aligned it gets copies that are."""
    try:
        _known[name](*args)
    except _Unaligned:
        copies = [_aligned(x) if isinstance(x, _NDARRAY) else x for x in args]
        _known[name](*copies)
        for (marks, *_), x, copy in zip(parsed(KERNELS[name][1]), args, copies):
            if ">" in marks and copy is not x:
                x[...] = copy


def _aligned(array):
    """An array itself if it is aligned, else a copy that is, with the same strides."""
    if array.flags.aligned:
        return array
    reach = [(n - 1) * step for n, step in zip(array.shape, array.strides)]
    below = -sum([n for n in reach if n < 0])
    memory = np.empty(below + sum([n for n in reach if n > 0]) + array.itemsize, np.uint8)
    copy = np.ndarray(array.shape, array.dtype, memory, below, array.strides)
    copy[...] = array
    return copy


@lru_cache
def _maker_by_element(count):
    """What makes the functions of so many arrays that `by_element` gives, as `_maker_of_calls`."""
    first, *others = arrays = [f"x{i}" for i in range(count)]
    given = ", ".join(arrays)
    fits = [f"type({x}) is ndarray and {x}.dtype is dtype" for x in arrays]
    fits += [f"{x}.shape == {first}.shape" for x in others]
    few = [f"{x}.flags.c_contiguous" for x in arrays]
    made = {}
    exec(f"""
def make(address_of, place_of, pack, free, team, ndarray, empty, dtype, most, least, name, ufunc, enter, general):
    def compute({given}):
        try:
            n = {first}.size
            if 1 < n <= most and ufunc is not None and least[name] <= n and {" and ".join(fits + few)}:
                return ufunc({given})
            {"; ".join([f"at_{x} = address_of(place_of({x}))" for x in arrays])}
            if not (n >= least[name] and {" and ".join(fits)} and not ({" | ".join([f"at_{x}" for x in arrays])}) % 4):
                return general({given})
        except (AttributeError, TypeError, ValueError):
            return general({given})
        out = empty({first}.shape, dtype)
        enter(pack(1 if team.size == 1 else free(), n, {", ".join([f"at_{x}" for x in arrays])},
                   address_of(place_of(out))))
        return out
    return compute
""", made)
    return made["make"]


def by_element(name):
    """Decorator of the NumPy twin of a kernel of single elements of arrays of one shape: makes the function of which
    either does the work."""
    count = len(_given[name])
    pack, enter, ufunc = struct.Struct(f"2q{count + 1}q").pack, None, None
    if _loaded:
        enter = getattr(_loaded[1], "enter_" + name)
        enter.restype, enter.argtypes = None, (ctypes.c_char_p,)
        ufunc = _ufunc("loop_" + name, _FLOAT, count)

    def decorate(twin):
        def general(*arrays):
            first, contiguous = arrays[0], True
            if isinstance(first, np.generic):  # what arithmetic makes of an array without dimensions
                first, *_ = arrays = [np.asarray(array) for array in arrays]
            if type(first) is not _NDARRAY or first.size < _least[name]:
                return twin(*arrays)
            for array in arrays:
                if type(array) is not _NDARRAY:
                    return twin(*arrays)
                dtype = array.dtype
                if dtype is not _FLOAT and dtype != _FLOAT or array.shape != first.shape:
                    return twin(*arrays)
                contiguous = contiguous and array.flags.c_contiguous
            if not contiguous:
                return _in_order(general, arrays)
            result = np.empty(first.shape, _FLOAT)
            run(name, first.size, *arrays, result)
            return result
        return _maker_by_element(count)(_address_of, _place_of, pack, free, team, _NDARRAY, np.empty, _FLOAT,
                                        ONE_PIECE, _least, name, ufunc, enter, general)
    return decorate


def _in_order(compute, arrays):
    """What `compute` makes of arrays that are not all C-contiguous, in the order of the first one."""
    steps = arrays[0].strides
    order = sorted(range(len(steps)), key=lambda i: -steps[i])
    result = compute(*[np.ascontiguousarray(array.transpose(order)) for array in arrays])
    return result.transpose(np.argsort(order))
