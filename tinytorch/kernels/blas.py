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
from pathlib import Path

import numpy as np

#: Elements that NumPy needs longer for than it takes to check and call BLAS.
_MANY = 8192
_place_of = ctypes.c_byte.from_buffer


@lru_cache(None)
def openblas():
    """(library, the ending of its names) of the OpenBLAS that NumPy has loaded, held to one thread; or None."""
    if os.environ.get("TINYTORCH_BLAS") == "0":
        return None
    try:
        path = next(Path(np.__file__).parent.with_name("numpy.libs").glob("libscipy_openblas*"))
        library = ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_NOLOAD)
        ending = "64_" if "openblas64_" in path.name else ""
        getattr(library, "scipy_openblas_set_num_threads" + ending)(1)
    except (StopIteration, OSError, AttributeError):
        return None
    return library, ending


@lru_cache(None)
def _sums():
    """{dtype character: (axpy, axpby)}: none without OpenBLAS."""
    if openblas() is None:
        return {}
    (library, ending), functions = openblas(), {}
    size, address = ctypes.c_int64 if ending else ctypes.c_int, ctypes.POINTER(ctypes.c_byte)
    for char, letter, real in (("f", "s", ctypes.c_float), ("d", "d", ctypes.c_double)):
        axpy = getattr(library, f"scipy_cblas_{letter}axpy{ending}")
        axpby = getattr(library, f"scipy_cblas_{letter}axpby{ending}")
        axpy.argtypes, axpy.restype = (size, real, address, size, address, size), None
        axpby.argtypes, axpby.restype = (size, real, address, size, real, address, size), None
        functions[char] = axpy, axpby
    return functions


def _places(y, x):
    """Where the numbers of `y`, to be written to, and of `x` begin, if both are one run of as many numbers of one dtype
    in the machine's byte order, and lie apart or are the same; else None. BLAS gets no address but from here."""
    if not (y.dtype == x.dtype and y.dtype.isnative and y.shape == x.shape and y.flags.carray and x.flags.carray):
        return None                            # carray: contiguous, aligned, and may be written to
    to, source = _place_of(y), _place_of(x)
    distance = abs(ctypes.addressof(to) - ctypes.addressof(source))
    return (to, source) if distance == 0 or distance >= y.nbytes else None


def _call(which, y, x):
    """(axpy or axpby, place of y, place of x), or None: for few elements, and where BLAS cannot do it."""
    if y.size < _MANY or y.dtype.char not in _sums():
        return None
    found = _places(y, x)
    return found and (_sums()[y.dtype.char][which], *found)


def add_scaled(y, x, factor, work=None):
    """y += factor * x, for arrays of one shape; `work` is scratch like y."""
    call = _call(0, y, x) if factor != 0 else None             # BLAS: 0 * NaN = 0
    if call is not None:
        axpy, to, source = call
        axpy(y.size, factor, source, 1, to, 1)
    else:                                      # NumPy takes longer to multiply by a Python number
        y += np.multiply(x, np.array(factor, y.dtype), work)


def blend(y, share, x, factor, work=None):
    """y = share * y + factor * x, for arrays of one shape; `work` is scratch like y."""
    call = _call(1, y, x) if factor != 0 and share != 0 else None
    if call is not None:
        axpby, to, source = call
        axpby(y.size, factor, source, 1, share, to, 1)
    else:
        added = np.multiply(x, np.array(factor, y.dtype), work)
        y *= share
        y += added
