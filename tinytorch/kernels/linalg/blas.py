"""NumPy's OpenBLAS, which is held to one thread for each product, from import on and for the whole process.

Its own threads wait for each other in loops: where anything else runs, another training in a thread or a busy neighbour
on the machine, a product on two of them takes up to a hundred times as long; and it adds up in another order than one
thread does. Large products are shared by our own threads (products.py). TINYTORCH_BLAS=0 in the environment leaves
OpenBLAS alone.
"""
import ctypes
import os
from functools import lru_cache

import numpy as np


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
