"""NumPy's BLAS, which is limited to one thread for each product, from import on and for the whole process.

The threads of OpenBLAS wait for each other in busy loops. Where anything else runs, such as a training in another
thread or a busy neighbour on the machine, a product on two threads takes up to a hundred times as long. It also adds up
in another order than one thread does. Large products are shared by threads of this library (products.py).
TINYTORCH_BLAS=0 in the environment leaves BLAS alone.

The BLAS is found by looking for the functions' names in the libraries that NumPy has loaded: NumPy from pip brings an
OpenBLAS, Debian's uses the BLAS that is selected there, conda's often MKL.
"""
import os
from functools import lru_cache

import numpy as np

try:
    import ctypes
except ImportError:                            # as in browsers: no library can be asked
    ctypes = None

#: (the setter, the getter) of the number of threads in pip's OpenBLAS, any other OpenBLAS, BLIS and MKL.
_NAMES = [(f"{first}openblas_set_num_threads{last}", f"{first}openblas_get_num_threads{last}")
          for first in ("scipy_", "") for last in ("64_", "")]
_NAMES += [("bli_thread_set_num_threads", "bli_thread_get_num_threads"), ("MKL_Set_Num_Threads", "MKL_Get_Max_Threads")]


@lru_cache(None)
def held():
    """Limits NumPy's BLAS to one thread, and returns the getter of its number of threads. None if no BLAS with such
    functions is found, as with the simple BLAS without threads that NumPy contains itself."""
    if os.environ.get("TINYTORCH_BLAS") == "0" or ctypes is None:
        return None
    for library in _libraries():
        for set_number, number in _NAMES:
            if hasattr(library, set_number) and hasattr(library, number):
                getattr(library, set_number)(ctypes.c_ssize_t(1))      # an int, or a dim_t of BLIS
                return getattr(library, number)
    return None


def _libraries():
    """The libraries to search for names: NumPy's extension module, which finds the names of the libraries it is linked
    to, and the libraries in NumPy's folder, for Windows, where a library finds its own names alone."""
    folder = os.path.dirname(os.path.dirname(np.__file__)) + "/numpy.libs"      # pathlib is slow to import
    brought = os.listdir(folder) if os.name == "nt" and os.path.isdir(folder) else []
    for path in [getattr(np._core._multiarray_umath, "__file__", None), *[f"{folder}/{name}" for name in brought]]:
        try:
            if path and hasattr(os, "RTLD_NOLOAD"):
                yield ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_NOLOAD)
            elif path:
                yield ctypes.CDLL(path)
        except OSError:                        # the library cannot be loaded
            continue
