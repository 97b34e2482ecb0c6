"""What NumPy's OpenBLAS can do beside matrix products: scaled sums in one pass, where NumPy takes two or three, and
setting how many threads it uses. With any other BLAS, NumPy does the sums.
"""
import ctypes
import os
import threading
from functools import lru_cache
from pathlib import Path

import numpy as np

#: Elements that NumPy needs longer for than it takes to call BLAS.
_MANY = 8192
#: Elements that OpenBLAS's axpy leaves to one thread; and so many that two are quicker, though the one that is asleep
#: must be woken and the results are then in two caches.
_ALONE, _SHARED = 10_000, 1 << 18
_Address = ctypes.POINTER(ctypes.c_byte)
_address_of = ctypes.c_byte.from_buffer


@lru_cache(None)
def openblas():
    """(library, the ending of its names) of the OpenBLAS that NumPy has loaded, or None."""
    try:
        path = next(Path(np.__file__).parent.with_name("numpy.libs").glob("libscipy_openblas*"))
        library = ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_NOLOAD)
        _wait_less(library.openblas_read_env, library.blas_thread_shutdown_)
    except (StopIteration, OSError, AttributeError):
        return None
    return library, "64_" if "openblas64_" in path.name else ""


def _wait_less(read_environment, stop_threads):
    """Have OpenBLAS's threads give up waiting for the next product sooner; see threads.py. It starts them anew, with
    what it then knows, at the next large product."""
    if "OPENBLAS_THREAD_TIMEOUT" in os.environ or threading.active_count() > 1:    # one of them may be in a product
        return
    os.environ["OPENBLAS_THREAD_TIMEOUT"] = "20"
    read_environment()
    stop_threads()
    del os.environ["OPENBLAS_THREAD_TIMEOUT"]


@lru_cache(None)
def thread_counts():
    """(get, set) of OpenBLAS's thread count, or None."""
    found = openblas()
    if found is None:
        return None
    library, ending = found
    return (getattr(library, "scipy_openblas_get_num_threads" + ending),
            getattr(library, "scipy_openblas_set_num_threads" + ending))


@lru_cache(None)
def _sums():
    """{dtype character: (axpy, axpby)}: none without OpenBLAS."""
    if openblas() is None:
        return {}
    (library, ending), functions = openblas(), {}
    size = ctypes.c_int64 if ending else ctypes.c_int
    for char, letter, real in (("f", "s", ctypes.c_float), ("d", "d", ctypes.c_double)):
        axpy = getattr(library, f"scipy_cblas_{letter}axpy{ending}")
        axpby = getattr(library, f"scipy_cblas_{letter}axpby{ending}")
        axpy.argtypes, axpy.restype = (size, real, _Address, size, _Address, size), None
        axpby.argtypes, axpby.restype = (size, real, _Address, size, real, _Address, size), None
        functions[char] = axpy, axpby
    return functions


def _routines(y, x):
    """(axpy, axpby) for these arrays, or None: for few elements, and where the dtypes differ or have none."""
    return _sums().get(y.dtype.char) if y.size >= _MANY and x.dtype == y.dtype else None


def add_scaled(y, x, factor, work=None):
    """y += factor * x, for arrays of one shape; `work` is scratch like y."""
    found = _routines(y, x)
    if found and factor != 0:                  # BLAS: 0 * NaN = 0
        n = y.size
        piece = _ALONE if _ALONE < n < _SHARED and thread_counts()[0]() > 1 else n
        try:
            for i in range(0, n, piece):
                start = i * y.itemsize
                found[0](min(piece, n - i), factor, _address_of(x, start), 1, _address_of(y, start), 1)
            return
        except TypeError:                      # not contiguous, or not to be written to
            pass
    y += np.multiply(x, np.array(factor, y.dtype), work)       # NumPy takes longer to multiply by a Python number


def blend(y, share, x, factor, work=None):
    """y = share * y + factor * x, for arrays of one shape; `work` is scratch like y."""
    found = _routines(y, x)
    if found and factor != 0 and share != 0:
        try:
            found[1](y.size, factor, _address_of(x), 1, share, _address_of(y), 1)
            return
        except TypeError:
            pass
    y *= share
    y += np.multiply(x, np.array(factor, y.dtype), work)
