"""The interface to the kernels in C. Each kernel has a NumPy twin in kernels/, which documents it, tests it, and
computes where the kernel cannot: without the library (there was no compiler), for other dtypes and layouts, for few
elements.

A twin begins with `if native.done("adam", ...): return`, or returns the result of `native.made` if that is not None.
`native.by_element` makes the twin of an elementwise kernel. The choice between the two is made here, by the library,
the dtype and the least number of elements in the table (table.py). Where C and NumPy round alike, NumPy is faster below
that number. Where they do not, it is 1, so that an element depends neither on the number of elements nor on the layout.

Addresses reach C in three ways: from `run`, `done`, `made` and `result`, in which C or Python checks class, dtype,
byte order, layout, size and writability of every array (`_made`), whatever `takes` has found; from the functions of
`walker` and `by_element`, which check the same; and from NumPy, which calls inner loops in C (`_ufunc`) as it calls its
own.

Environment: TINYTORCH_NATIVE=0 uses no kernels; with TINYTORCH_NATIVE=1 a missing library is an ImportError.
TINYTORCH_NATIVE_LEVEL selects baseline, avx2 or avx512; the default is the highest level that the machine supports.
"""
import os
import struct
import sys
import warnings
from functools import lru_cache, partial
from threading import Lock, get_ident

import numpy as np

from ...errors import warn
from ...seam import on_settings
from ..threads import free, team
from .objects import Doors, maker_of_ufuncs, with_loops
from .table import KERNELS, drawn, failing, fingerprint, parsed

try:
    import ctypes
except ImportError:                            # as in browsers: no library can be loaded
    ctypes = None

__all__ = ["Draws", "LEAST", "LEAST_OF", "ONE_PIECE", "by_element", "divided", "done", "entering", "heard", "held",
           "level", "listen", "listening", "made", "maker", "many", "note_reading", "operations", "result", "run",
           "takes", "walker", "with_plans"]


class _Unaligned(Exception):
    """Raised for an array that fits a kernel, except that its address is not aligned."""


#: The levels, by the number that `level` of level.c returns.
LEVELS = "baseline", "avx2", "avx512"
#: The exception for a place out of range, by the name of the array that holds places.
_OUTSIDE = {"lengths": "IndexError('a label or a length is out of range')",
            "": "RuntimeError('a kernel failed')", "target": "IndexError('a target is out of bounds')",
            "index": "IndexError('index out of range in self')", "weights": "ValueError('these are no weights')",
            "other": "ValueError('the arrays differ')", "y": "RuntimeError('ZeroDivisionError')",
            "x": "ValueError('a number is outside of the range')",
            **dict.fromkeys(("order", "plan", "columns"),
                            "ValueError('the plan of a kernel reaches out of its arrays')")}
_FLOAT, _NDARRAY = np.dtype(np.float32), np.ndarray
#: The warning at import without a library.
ABSENT = ("tinytorch runs without native kernels, which takes about 1.5 times as long: there was no C compiler when it "
          "was installed, or pip used a cached wheel from an installation without one (pip install --no-cache-dir)")
_STALE = "was built from other sources than these: install tinytorch again"


def _address(array, size, dtype, written=False):
    """The address of an array that has this size and dtype, is contiguous and aligned, and writeable if it is
    `written`; 0 if it is empty. _Unaligned if it is not aligned, TypeError or ValueError if anything else does not
    fit."""
    if type(array) is _NDARRAY and (array.dtype is dtype or array.dtype == dtype):    # not isinstance: stand-ins
        if array.size == size:
            try:
                at = _place_of(array)          # TypeError unless contiguous and writeable
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
    """The address of a matrix of floats, or of an array of matrices (`several`), that C reads: see `KERNELS` for the
    arguments. _Unaligned if it is not aligned, TypeError or ValueError if anything else does not fit."""
    flags = array.flags
    if type(array) is not _NDARRAY or array.dtype != _FLOAT:
        raise TypeError(f"no matrix for a kernel: {type(array).__name__} of {array.dtype}")
    shape, strides = (columns, rows) if turned else (rows, columns), (distance * 4, 4)
    if several:
        outer, inner, by_outer, by_inner = several
        shape, strides = (outer, inner, *shape), (by_outer * 4, by_inner * 4, *strides)
    if array.shape != shape or array.strides != strides or distance < shape[-1]:
        raise ValueError(f"a kernel needs a matrix {shape}, strides {strides}, but got {array.shape}, {array.strides}")
    if flags.carray and array.size:
        return _place_of(array)                # a faster way
    if not flags.aligned:
        raise _Unaligned
    return array.__array_interface__["data"][0]


def _made(name):
    """The functions of a kernel for `run`, `done`, `made` and `result`, and that for what C does not take.

    A built-in function of C checks the arguments and calls the kernel if they fit. `made` and `result` use another one,
    which makes the result too. If the arguments do not fit, or only Python can tell, `look` looks at each array by
    `_address` and `_matrix`, which say what does not fit. The functions are compiled from text without loops. The error
    of a kernel that can fail comes last in each of them.
    """
    declared = list(parsed(KERNELS[name][1]))
    parameters, given, layout, scope = [], [], "q", {}
    for marks, x, kind, inside, dtype, _ in declared:
        parameters.append(x)
        layout += "d" if marks and not kind else "q"
        if kind == "[":
            dtype = np.dtype("u4" if dtype == "twister" else dtype or np.float32)
            scope[dtype.name] = dtype
            absent = f"0 if {x} is None else " * ("?" in marks)
            given.append(f"{absent}address({x}, {inside}, {dtype.name}{', True' * ('>' in marks)})")
        else:
            given.append(f"matrix({x}, {inside.replace(',', ', ')})" if kind else x)
    fails_at, raised = failing(name), "raise MemoryError('no memory for a kernel')"
    if fails_at is not None:
        raised = f"{raised} if failed == 1 else {_OUTSIDE[fails_at]}"
    counted = [parameters[place] for place, _ in _given[name][:1]]     # empty where all are matrices
    few = f"{counted[0]}.size < _least['{name}']" if counted else "True"
    read, parameters = ", ".join(["_shape", *parameters[:-1]]), ", ".join(parameters)
    threads, enter = "1 if team.size == 1 else free()", "enter_" + name
    scope.update({"enter": entering(enter), "check": _checking(enter, declared),
                  "make": _checking(enter, declared, True), "pack": struct.Struct(layout).pack, "free": free,
                  "team": team, "address": _address, "matrix": _matrix, "_least": _least, "run_fallback": _run_fallback,
                  "done_fallback": _looked_at, "made_fallback": _made_fallback, "result_fallback": _result_fallback})
    exec(f"""
def {name}({parameters}):
    if failed := check({threads}, {parameters}):
        if failed < 0:
            return run_fallback("{name}", {parameters})
        {raised}

def done({parameters}):
    if {few}:
        return False
    if failed := check({threads}, {parameters}):
        if failed < 0:
            return done_fallback("{name}", {parameters})
        {raised}
    return True

def made({read}):
    if {few}:
        return None
    failed = make({threads}, {read})
    if failed.__class__ is not int:
        return failed                          # the array
    if failed < 0:
        return made_fallback("{name}", {read})
    {raised}

def result({read}):
    failed = make({threads}, {read})
    if failed.__class__ is not int:
        return failed
    if failed < 0:
        return result_fallback("{name}", {read})
    {raised}

def look({parameters}):
    if failed := enter(pack({threads}, {", ".join(given)})):
        {raised}
""", scope)
    return [scope[door] for door in (name, "done", "made", "result", "look")]


def _path(name):
    return os.path.join(os.path.dirname(__file__), f"library_{name}{'.dll' if os.name == 'nt' else '.so'}")


def _opened(name, known):
    """The library of a level. OSError if there is none, or if it has another fingerprint, so that its kernels may take
    other arguments than `KERNELS` lists."""
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
    """A library from inside an archive (as with zipimport). It is loaded from memory or, where that is not possible,
    from a temporary file. OSError if there is none."""
    try:
        content = __spec__.loader.get_data(path)
    except (AttributeError, OSError):          # not in an archive, or not there
        raise FileNotFoundError(f"there is no {os.path.basename(path)}") from None
    try:
        memory = os.memfd_create("tinytorch", os.MFD_CLOEXEC)
    except (AttributeError, OSError):          # not Linux
        memory = None
    if memory is not None:
        try:
            with open(memory, "wb") as file:
                file.write(content)
                file.flush()
                return ctypes.CDLL(f"/proc/self/fd/{memory}")
        except OSError:                        # for example without /proc
            pass
    import tempfile
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:    # Windows locks loaded files
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
            except FileNotFoundError:          # the library was built without this level
                if wanted:
                    raise
    except OSError as error:
        if setting == "1" or wanted:
            raise ImportError(f"TINYTORCH_NATIVE: no library of native kernels can be loaded ({error})") from None
        if _STALE in str(error):
            warn(f"no native kernels: {error}")
        else:
            try:                               # Python shows this with -W default or -X dev
                warnings.warn(ABSENT, ImportWarning, stacklevel=2)
            except ImportWarning:              # raised if warnings are errors
                pass
    return None


def _first_call(which, name, *args):
    """Calls a kernel for the first time. Its functions are made now, because making all of them would take a fifth of
    the time of the package's import."""
    made = _made(name)
    for functions, function in zip((_known, _done, _makers, _results, _looks), made):
        functions[name] = function
    return made[which](*args)


def _arrays(declared):
    """(position, dtype) of each array that a kernel takes, except `out`."""
    return tuple([(i, np.dtype("u4" if dtype == "twister" else dtype or np.float32))
                  for i, (_, name, kind, _, dtype, _) in enumerate(parsed(declared)) if kind == "[" and name != "out"])


_loaded = _load()
_doors = Doors(_loaded[1]) if _loaded else None
if _loaded:
    def _allow_threads():
        _loaded[1].allow_threads(ctypes.c_int64(team.size))
    _allow_threads()
    on_settings.append(_allow_threads)
_place_of, entering, _checking = (_doors.place_of, _doors.entering, _doors.checking) if _doors else (None, None, None)
address_of = _doors.address_of if _doors else None
#: Name -> the function of a kernel for `run`, `done`, `made`, `result` and `_run_fallback`.
_known, _done, _makers, _results, _looks = [
    {name: partial(_first_call, which, name) for name in KERNELS} if _loaded else {} for which in range(5)]
#: Name -> the least number of elements for a kernel; sys.maxsize without a library.
LEAST_OF = _least = {name: least if name in _known else sys.maxsize for name, (least, _) in KERNELS.items()}
_given = {name: _arrays(declared) for name, (_, declared) in KERNELS.items()}
#: No kernel that rounds as NumPy does takes fewer elements. Fast twins compare with this number before they ask.
LEAST = 512 if _loaded else sys.maxsize


def level():
    """The set of instructions of the library in use, or None without one."""
    return _loaded[0] if _loaded else None


#: Up to so many elements are one piece of work (GRAIN of elementwise.c), for which no other thread is asked.
ONE_PIECE = 16384
#: From so many elements on threads share loops that take less than a nanosecond for each.
_MANY = 1 << 18


@lru_cache
def _maker_of_calls(arrays, numbers):
    """The maker of the functions that `walker` returns, compiled from text without loops, because the overhead counts
    where elements are few. The functions' operands are in closure cells, which are read in a tenth of the time of
    globals."""
    arrays, numbers = [f"x{i}" for i in range(arrays)], [f"number{i}" for i in range(numbers)]
    given = ", ".join(arrays + numbers)
    few = [f"type({x}) is ndarray and {x}.dtype is dtype and {x}.flags.c_contiguous" for x in arrays]
    made = {}
    exec(f"""
def make(free, ndarray, most, least, programs, general, listening):
    def call({given}):
        try:
            dtype, n = x0.dtype, x0.size
            name, walk, ufunc, singles = programs[dtype]
            if n >= least[name]:
                result = walk(1 if n <= most else free(), {given})
                if result.__class__ is not int:
                    return result
                if 1 < n <= most and ufunc is not None and not listening and {" and ".join(few)}:
                    return ufunc({", ".join(arrays + [f"singles[{x}]" for x in numbers])})
        except (AttributeError, KeyError, TypeError, ValueError):
            pass
        return general({given})
    return call
""", made)
    return made["make"]


def walker(arrays, numbers, programs, general):
    """A function of `arrays` arrays and `numbers` numbers. It runs the machine on contiguous arrays of one shape (those
    after the first may have one element) and of one dtype in `programs`, to which results of `held` are added. For few
    elements of arrays that are broadcast NumPy calls the machine. For any other arguments it calls `general`."""
    return _maker_of_calls(arrays, numbers)(free, _NDARRAY, ONE_PIECE, _least, programs, general, listening)


def held(name, dtype, plan, arrays, numbers):
    """The entry of `walker`'s `programs` for a kernel and a plan, of which its functions hold private copies."""
    plan = np.array(plan, np.int64)
    loop = {"walk4": "loop4", "walk8": "loop8"}.get(name)
    return (name, _doors.walking("enter_" + name, dtype, plan, arrays, numbers),
            _ufunc(loop, dtype, arrays + numbers, np.array([plan.size, arrays, numbers, *plan], np.int64)) if loop
            else None, _Singles(dtype))


class _Singles(dict):
    """A cache of numbers as arrays of a dtype: NumPy needs two thousand instructions to make such an array."""

    __slots__ = ("dtype",)

    def __init__(self, dtype):
        self.dtype = dtype

    def __missing__(self, number):
        single = np.array(number, self.dtype)
        if number and number == number and len(self) < 256:    # 0.0 and -0.0 are the same key
            self[number] = single
        return single


#: The memory that functions from `_ufunc` read. The functions are never freed, so neither is this.
_read_for_good = []


def _ufunc(loop, dtype, count, data=None):
    """A NumPy ufunc of `count` operands whose inner loop is in C. It is as fast as NumPy's own ufuncs, while finding
    the addresses of arrays for ctypes takes longer than such a ufunc. None where NumPy's interface is not found."""
    types = bytes([dtype.num] * (count + 1))
    function, kept = _ufunc_of(loop, types, count, None if data is None else data.ctypes.data)
    _read_for_good.append((kept, data))
    return function


def _ufunc_of(loop, types, inputs, data):
    """(a NumPy ufunc, the objects that must live as long as it). `types`: the type numbers of its operands, of which
    `inputs` are read; its inner loop gets the address `data`. It is made by PyUFunc_FromFuncAndData of NumPy's C
    interface, as extension modules make theirs."""
    make = maker_of_ufuncs()
    if make is None:
        return None, None
    place = ctypes.cast(getattr(_loaded[1], loop), ctypes.c_void_p).value
    pointers, text = ctypes.c_void_p * 1, loop.encode()
    kept = pointers(place), pointers(data), types, text
    return make(kept[0], kept[1], types, 1, inputs, len(types) - inputs, -1, text, b"", 0), kept


def with_plans(ufunc, plans):
    """A ufunc like `ufunc`, whose results of the dtypes in `plans` the machine computes by a plan of one operand."""
    loops = {}
    for dtype, plan in plans.items():
        data = np.array([plan.size, 1, 0, *plan], np.int64)
        _read_for_good.append(data)
        loops[f"{dtype.char}->{dtype.char}"] = _doors.address_of(f"loop{dtype.itemsize}"), data.ctypes.data
    made, kept = with_loops(ufunc, lambda types, *own: loops.get(types, own))
    _read_for_good.append(kept)
    return made


#: The threads that note the kernels which they call (autograd/repeats.py).
listening: set[int] = set()
_lock, _before = Lock(), (LEAST, dict(_least))


def listen(now):
    """Notes whether this thread listens. While a thread does, kernels compute also where NumPy, which notes nothing, is
    faster."""
    global LEAST, _before
    with _lock:
        if not listening:
            _before = LEAST, dict(_least)
        (listening.add if now else listening.discard)(get_ident())
        LEAST, least = _before
        if listening:
            LEAST, least = 1, {name: n if n == sys.maxsize else min(n, 1) for name, n in least.items()}
        _least.update(least)


def note_reading():
    """Notes that a function itself reads the numbers of an array: what this thread does is then no record."""
    if listening:
        _doors.entering("enter_nothing")(b"")


def heard(ufunc):
    """`ufunc`, or a function that computes the same by NumPy's own loops and notes them, if this thread listens."""
    return partial(_noted, ufunc) if get_ident() in listening else ufunc


def _noted(ufunc, *operands):
    noting, shapes = divided(ufunc, *operands), {x.shape for x in operands if isinstance(x, np.ndarray) and x.ndim}
    if noting is ufunc or len(shapes) < 2:
        return noting(*operands)
    result = ufunc(*operands)
    for i in np.ndindex(result.shape[:-1]):    # for whole arrays NumPy copies rows that it repeats
        noting(*[_row(x, i, result.shape) for x in operands], out=result[i])
    return result


def divided(ufunc, *operands):
    """A ufunc like `ufunc`, whose loops threads share where there are many elements, and which notes them. It is
    `ufunc` itself without the library, or if it gave operands of these types a result of another dtype."""
    return _divided(ufunc, *[_type_for_numpy(x) for x in operands])


@lru_cache(256)
def _divided(ufunc, *types):
    if not _loaded or ufunc.nout > 1:
        return ufunc
    made, types = _dividing(ufunc), (*types[:ufunc.nin], None)
    return made if ufunc.resolve_dtypes(types) == made.resolve_dtypes(types) else ufunc


def _type_for_numpy(x):
    return type(x) if type(x) in (int, float, complex) else np.asarray(x).dtype


def _row(x, i, shape):
    """Row `i` of an operand that is broadcast to this shape; without dimensions if its elements are one."""
    if not isinstance(x, np.ndarray) or not x.ndim:
        return x
    row = np.broadcast_to(x, shape)[i]
    return row if row.strides[0] else row[:1].reshape(())


@lru_cache(64)
def _dividing(ufunc):
    # Functions that take tens of nanoseconds have no loops for integers, but for powers.
    costly = ufunc is np.power or not any(["l->" in types for types in ufunc.types])
    loop, least = _doors.address_of("divided_loop"), 2 * ONE_PIECE if costly else _MANY

    def dividing(types, function, data):
        sizes = {np.dtype(char).itemsize for char in types[:ufunc.nin]}
        raises = ufunc is np.power and types[0] in np.typecodes["AllInteger"]      # another thread's error is lost
        if not function or raises or set(types) & set("OMm"):
            return function, data
        size = 0 if len(sizes) > 1 or max(sizes) > 8 else max(sizes)
        words = np.array([function, data or 0, ufunc.nargs, size, least], np.int64)
        _read_for_good.append(words)
        return loop, words.ctypes.data
    made, kept = with_loops(ufunc, dividing)
    _read_for_good.append(kept)
    return made


class Draws(dict):
    """Functions that draw few elements from one twister. Kernel -> (a ufunc of the kernel's arrays, or None; a function
    that stores the kernel's numbers for it; whether the kernel takes `source` as well).

    The ufuncs read `memory`: the addresses of the twister and of `source`, which this object keeps alive, and then the
    stored numbers. The caller holds the lock of the twister while it stores numbers and draws."""

    __slots__ = ("memory", "_kept")

    def __init__(self, key, source):
        self.memory = bytearray(8 * 6)
        struct.pack_into("2q", self.memory, 0, _address(key, key.size, np.dtype(np.uint32), True),
                         _address(source, source.size, np.dtype(np.float64), True))
        self._kept = [key, source, ctypes.c_byte.from_buffer(self.memory)]

    def __missing__(self, name):
        declared, arrays, function = list(parsed(KERNELS[name][1])), drawn(name), None
        layout = "".join(["d" if marks else "q" for marks, _, kind, *_ in declared[1:] if not kind])
        if arrays:
            types = bytes([np.dtype(dtype or np.float32).num for dtype, _ in arrays])
            read = len([written for _, written in arrays if not written])
            function, kept = _ufunc_of("loop_" + name, types, read, ctypes.addressof(self._kept[2]))
            self._kept.append(kept)
        keep = partial(struct.Struct(layout).pack_into, self.memory, 16)
        made = self[name] = function, keep, any([x == "source" for _, x, *_ in declared])
        return made


def operations(bits):
    """The names of the machine's operations on numbers of 4 or 8 bytes, in their order (elementwise.c)."""
    names = getattr(_loaded[1], f"operations{bits}")
    names.restype = ctypes.c_char_p
    return names().decode().split()


def many(name, n):
    """Whether a kernel exists and is used for `n` elements."""
    return n >= _least[name]


def takes(name, *arrays):
    """Whether a kernel exists and is used for these float32 arrays, whose number of elements the first one decides. An
    array may be None."""
    return _fit(name, arrays, _FLOATS[len(arrays)])


def _named(door, functions, otherwise=None):
    """A function of the name of a kernel and arguments, which calls the kernel's function in `functions`. Without a
    library it returns `otherwise`."""
    return _doors.naming(door, functions) if _doors else lambda name, *args: otherwise


#: run(name, *args) calls a kernel, on as many threads as are allowed. The kernel gets aligned copies of arrays that are
#: not aligned.
run = _named("run", _known)
#: done(name, *args) calls a kernel if it exists, is used for the number of elements of its first array, and takes its
#: arrays. It returns whether the kernel was called.
done = _named("done", _done, False)
#: made(name, shape, *args) is `result`, or None where `done` would return False.
made = _named("made", _makers)
#: result(name, shape, *args) is a new array of a shape that a kernel fills. `args` are the arguments of the kernel
#: without the last one, `out`.
result = _named("result", _results)


def _looked_at(name, *args):
    """`done` for arguments that do not pass its quick checks."""
    if not _fit(name, args, _given[name]):
        return False
    run(name, *args)
    return True


def _made_fallback(name, shape, *args):
    """`made` for arrays that the quick check does not take."""
    return _result_fallback(name, shape, *args) if _fit(name, args, _given[name]) else None


def _result_fallback(name, shape, *args):
    """`result` for arrays that the quick check does not take."""
    *_, (_, _, _, _, dtype, _) = parsed(KERNELS[name][1])
    out = np.empty(shape, np.dtype(dtype or _FLOAT))
    run(name, *args, out)
    return out


#: (position, float32) of the first 0, 1, 2, 3 arguments.
_FLOATS = [tuple([(i, _FLOAT) for i in range(count)]) for count in range(4)]


def _fit(name, args, given):
    """Whether a kernel exists and takes the arguments. `given`: (position, dtype) of its arrays."""
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


def _run_fallback(name, *args):
    """`run` for arguments that C does not take."""
    try:
        _looks[name](*args)
    except _Unaligned:
        copies = [_aligned(x) if isinstance(x, _NDARRAY) else x for x in args]
        _looks[name](*copies)
        for (marks, *_), x, copy in zip(parsed(KERNELS[name][1]), args, copies):
            if ">" in marks and copy is not x:
                x[...] = copy


def maker(name, *dtypes):
    """A function of the number of threads, the shape of a result and the arguments of a kernel, which returns this
    result. It returns -1 if it does not know that the arguments fit. `dtypes`: those of the kernel's arrays and of its
    result. The kernel knows them by other names, because NumPy has none for some of 16 bits."""
    given = iter(dtypes)
    return _checking("enter_" + name, [(marks, x, kind, size, next(given) if kind else dtype, bound)
                                       for marks, x, kind, size, dtype, bound in parsed(KERNELS[name][1])], True)


def _aligned(array):
    """`array`, or an aligned copy with the same strides."""
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
    """The maker of the functions of `count` arrays for `by_element`; see `_maker_of_calls`."""
    first, *others = arrays = [f"x{i}" for i in range(count)]
    given = ", ".join(arrays)
    fits = " and ".join(["n >= least[name]", *[f"{x}.shape == {first}.shape" for x in others]])
    made = {}
    exec(f"""
def make(free, team, least, name, make, general):
    def compute({given}):
        try:
            n = {first}.size
            if {fits}:
                result = make(1 if team.size == 1 else free(), {first}.shape, n, {given})
                if result.__class__ is not int:
                    return result
        except (AttributeError, TypeError, ValueError):
            pass
        return general({given})
    return compute
""", made)
    return made["make"]


def by_element(name):
    """Decorator of the NumPy twin of an elementwise kernel for arrays of one shape. The function that it returns calls
    the kernel or the twin."""
    count, declared = len(_given[name]), parsed(KERNELS[name][1])
    make = _checking("enter_" + name, declared, True) if _loaded else None

    def decorate(twin):
        def general(*arrays):
            first, contiguous = arrays[0], True
            if isinstance(first, np.generic):  # arithmetic on 0-dim arrays gives scalars
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
        return _maker_by_element(count)(free, team, _least, name, make, general)
    return decorate


def _in_order(compute, arrays):
    """compute(*arrays) for arrays that are not all C-contiguous, in the memory order of the first one."""
    steps = arrays[0].strides
    order = sorted(range(len(steps)), key=lambda i: -steps[i])
    result = compute(*[np.ascontiguousarray(array.transpose(order)) for array in arrays])
    return result.transpose(np.argsort(order))
