"""What NumPy's OpenBLAS can do beside matrix products: scaled sums in one pass, where NumPy takes two or three. With
any other BLAS, NumPy does the sums.

OpenBLAS is held to one thread for each product, from import on and for the whole process. Its own threads wait for each
other in loops: where anything else runs, another training in a thread or a busy neighbour on the machine, a product on
two of them takes up to a hundred times as long; and it adds up in another order than one thread does. Large products
are shared by our own threads (products.py). TINYTORCH_BLAS=0 in the environment leaves OpenBLAS alone.
"""
import ctypes
import os
from functools import lru_cache

import numpy as np

#: Elements that NumPy needs longer for than it takes to check and call BLAS.
SHORT = 8192
_place_of, _address_of = ctypes.c_byte.from_buffer, ctypes.addressof


@lru_cache(None)
def openblas():
    """(library, the ending of its names) of the OpenBLAS that NumPy has loaded, held to one thread; or None."""
    if os.environ.get("TINYTORCH_BLAS") == "0":
        return None
    try:
        folder = os.path.dirname(os.path.dirname(np.__file__)) + "/numpy.libs"      # without pathlib, which takes long
        name = next(name for name in os.listdir(folder) if name.startswith("libscipy_openblas"))
        library = ctypes.CDLL(f"{folder}/{name}", mode=os.RTLD_NOW | os.RTLD_NOLOAD)
        ending = "64_" if "openblas64_" in name else ""
        getattr(library, "scipy_openblas_set_num_threads" + ending)(1)
    except (StopIteration, OSError, AttributeError):
        return None
    return library, ending


@lru_cache(None)
def _sums():
    """{dtype, in the machine's byte order: (axpy, axpby)}, which take addresses: none without OpenBLAS."""
    if openblas() is None:
        return {}
    (library, ending), functions = openblas(), {}
    size, address = ctypes.c_int64 if ending else ctypes.c_int, ctypes.c_void_p
    for dtype, letter, real in ((np.float32, "s", ctypes.c_float), (np.float64, "d", ctypes.c_double)):
        axpy = getattr(library, f"scipy_cblas_{letter}axpy{ending}")
        axpby = getattr(library, f"scipy_cblas_{letter}axpby{ending}")
        axpy.argtypes, axpy.restype = (size, real, address, size, address, size), None
        axpby.argtypes, axpby.restype = (size, real, address, size, real, address, size), None
        functions[np.dtype(dtype)] = axpy, axpby
    return functions


def _call(which, y, x, least):
    """(axpy or axpby, place to write to, place of x, the array that lies there: `y` or a copy), or None for fewer than
    `least` elements and where BLAS cannot do it.

    BLAS gets no address but from here. It can where `y`, to be written to, and `x` are each one run of as many numbers
    of a dtype that it knows, plain arrays (see lazy.py), and lie apart or are the same. Those that are no carray (not
    aligned, or may not be written to) are copied.
    """
    functions = _sums().get(y.dtype) if y.size >= least else None
    if functions is None or type(x) is not np.ndarray or type(y) is not np.ndarray or (
            x.dtype != y.dtype or x.shape != y.shape):
        return None
    if not (y.flags.carray and x.flags.carray):
        if not (y.flags.c_contiguous and x.flags.c_contiguous):
            return None
        y, x = y.copy(), x.copy()
    to, source = _place_of(y), _place_of(x)
    distance = _address_of(to) - _address_of(source)
    return (functions[which], to, source, y) if not distance or abs(distance) >= y.nbytes else None


def add_scaled(y, x, factor, work=None, least=SHORT):
    """y += factor * x, for arrays of one shape; `work` is scratch like y."""
    call = _call(0, y, x, least) if factor != 0 else None      # BLAS: 0 * NaN = 0
    if call is not None:
        axpy, to, source, target = call
        axpy(y.size, factor, _address_of(source), 1, _address_of(to), 1)
        if target is not y:
            y[...] = target
    else:
        Short.add_scaled(y, x, factor, work)


def add_scaled_each(pairs, factor, most):
    """y += factor * x for each pair (y, x): as add_scaled, whose call alone takes as long as a short sum. Returns the
    numbers of the pairs left to do: those that are no plain arrays of one shape in float32 or float64, those of more
    than `most` elements, of many those that BLAS takes copies of, and those that NumPy refuses."""
    left, functions, shares = [], _sums() if factor != 0 else {}, {}
    for i, (y, x) in enumerate(pairs):
        dtype = y.dtype
        if type(x) is not np.ndarray or type(y) is not np.ndarray or dtype.char not in "fd" or (
                x.dtype != dtype or x.shape != y.shape or y.size > most):
            left.append(i)
            continue
        if y.size >= SHORT and dtype in functions:
            if not (y.flags.carray and x.flags.carray):
                left.append(i)
                continue
            held = _place_of(y), _place_of(x)
            to, source = _address_of(held[0]), _address_of(held[1])
            if to == source or abs(to - source) >= y.nbytes:
                functions[dtype][0](y.size, factor, source, 1, to, 1)
                continue
        if dtype not in shares:                # NumPy takes longer to multiply by a Python number
            shares[dtype] = np.array(factor, dtype)
        try:
            y += x * shares[dtype]
        except ValueError:                     # it may not be written to
            left.append(i)
    return left


def blend(y, share, x, factor, work=None, least=SHORT):
    """y = share * y + factor * x, for arrays of one shape; `work` is scratch like y."""
    call = _call(1, y, x, least) if factor != 0 and share != 0 else None
    if call is not None:
        axpby, to, source, target = call
        axpby(y.size, factor, _address_of(source), 1, share, _address_of(to), 1)
        if target is not y:
            y[...] = target
    else:
        Short.blend(y, share, x, factor, work)


class Short:
    """add_scaled and blend of arrays of fewer than `SHORT` elements, in NumPy."""

    @staticmethod
    def add_scaled(y, x, factor, work=None):
        y += np.multiply(x, np.array(factor, y.dtype), work)   # NumPy takes longer to multiply by a Python number

    @staticmethod
    def blend(y, share, x, factor, work=None):
        added = np.multiply(x, np.array(factor, y.dtype), work)
        y *= share
        y += added


class Sums:
    """add_scaled and blend of corresponding parts of contiguous `arrays`, and of `scratch` for each part, whose places
    are checked once for all parts.

    `see(views, first)` names the parts, of the arrays and of the scratch, that begin at the element `first`. They must
    live until the next call. Sums of other arrays are those of the functions above.
    """

    def __init__(self, arrays, scratch=()):
        first, every = arrays[0], [*arrays, *scratch]
        functions = _sums().get(first.dtype) if first.size >= SHORT else None
        self._starts, self._addresses, self._moving, self._itemsize = (), {}, len(arrays), first.itemsize
        self._least = SHORT if functions is None else 0        # a part of many elements may be short
        if functions is None or not all([type(a) is np.ndarray and a.dtype == first.dtype and a.flags.carray
                                         for a in every]) or not all([a.size == first.size for a in arrays]):
            return
        self._held = [_place_of(a) for a in every]
        starts = [_address_of(place) for place in self._held]
        spans = sorted(zip(starts, [a.nbytes for a in every]))
        if all([start + length <= after for (start, length), (after, _) in zip(spans, spans[1:])]):
            self._starts, (self._axpy, self._axpby) = starts, functions

    def see(self, views, first=0):
        offset, self._size = first * self._itemsize, views[0].size
        self._addresses = {id(view): start + offset if i < self._moving else start
                           for i, (view, start) in enumerate(zip(views, self._starts))}

    def add_scaled(self, y, x, factor, work=None):
        """As the function, for whole parts."""
        to, source = self._addresses.get(id(y)), self._addresses.get(id(x))
        if to is None or source is None or factor == 0:
            add_scaled(y, x, factor, work, self._least)
        else:
            self._axpy(self._size, factor, source, 1, to, 1)

    def blend(self, y, share, x, factor, work=None):
        """As the function, for whole parts."""
        to, source = self._addresses.get(id(y)), self._addresses.get(id(x))
        if to is None or source is None or factor == 0 or share == 0:
            blend(y, share, x, factor, work, self._least)
        else:
            self._axpby(self._size, factor, source, 1, share, to, 1)
