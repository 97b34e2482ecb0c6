"""NumPy's BLAS, which is held to one thread for each product, from import on and for the whole process.

The threads of OpenBLAS wait for each other in loops: where anything else runs, another training in a thread or a busy
neighbour on the machine, a product on two of them takes up to a hundred times as long; and it adds up in another order
than one thread does. Large products are shared by our own threads (products.py). TINYTORCH_BLAS=0 in the environment
leaves BLAS alone.

Which BLAS it is, is asked of what NumPy has loaded: pip's brings one of its own, Debian's takes the one that is chosen
there, conda's often MKL.
"""
import os
from functools import lru_cache

import numpy as np

try:
    import ctypes
except ImportError:                            # as in browsers: nothing can be asked
    ctypes = None

#: (What sets the number of threads, what tells it), of pip's OpenBLAS, any other, BLIS and MKL.
_NAMES = [(f"{first}openblas_set_num_threads{last}", f"{first}openblas_get_num_threads{last}")
          for first in ("scipy_", "") for last in ("64_", "")]
_NAMES += [("bli_thread_set_num_threads", "bli_thread_get_num_threads"), ("MKL_Set_Num_Threads", "MKL_Get_Max_Threads")]


@lru_cache(None)
def held():
    """The function that tells on how many threads NumPy's BLAS makes a product: on one, which it was told. None if it
    cannot be told, as the BLAS without threads that NumPy has for the want of a better one."""
    if os.environ.get("TINYTORCH_BLAS") == "0" or ctypes is None:
        return None
    for library in _libraries():
        for set_number, number in _NAMES:
            if hasattr(library, set_number) and hasattr(library, number):
                getattr(library, set_number)(ctypes.c_ssize_t(1))      # an int, or a dim_t of BLIS
                return getattr(library, number)
    return None


def _libraries():
    """What to look for names in: the part of NumPy that makes products, which finds them in whatever it is linked to,
    and, where a library finds its own alone (Windows), those that NumPy brings."""
    folder = os.path.dirname(os.path.dirname(np.__file__)) + "/numpy.libs"      # without pathlib, which takes long
    brought = os.listdir(folder) if os.name == "nt" and os.path.isdir(folder) else []
    for path in [getattr(np._core._multiarray_umath, "__file__", None), *[f"{folder}/{name}" for name in brought]]:
        try:
            if path and hasattr(os, "RTLD_NOLOAD"):
                yield ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_NOLOAD)
            elif path:
                yield ctypes.CDLL(path)
        except OSError:                        # on a system that does not tell
            continue
