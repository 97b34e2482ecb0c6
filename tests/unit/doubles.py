"""Where NumPy does not round as it does elsewhere: numbers of double precision, and products."""
from functools import lru_cache

import numpy as np
import pytest


@lru_cache
def steady():
    """Whether a double has the same bits alone and beside others. Debian's NumPy for i386 computes what does not fill a
    vector in 80 bits, and rounds that once more; and the C library's exp and log do so too."""
    a, b = np.random.RandomState(0).rand(2, 1 << 14)
    alone = [(a[i:i + 1] * b[i:i + 1])[0] for i in range(a.size)]
    return (a * b == alone).all()


def need_steady_doubles():
    """Skip a test where they are not."""
    if not steady():
        pytest.skip("NumPy computes some doubles in 80 bits here")


@lru_cache
def steady_products():
    """Whether a product of two vectors has the same bits at every address. MKL adds up in the order that suits the
    address, unless MKL_CBWR=AUTO is in the environment before NumPy is imported."""
    a, b = np.random.RandomState(0).rand(2, 100)
    for dtype in (np.float32, np.float64):
        memory = np.zeros(200, dtype)
        results = set()
        for first in range(16):
            moved = memory[first:first + a.size]
            moved[...] = a
            results.add(np.vecdot(moved, b.astype(dtype)).tobytes())
        if len(results) > 1:
            return False
    return True


def need_steady_products():
    """Skip a test where they are not."""
    if not steady_products():
        pytest.skip("NumPy's BLAS rounds products by their address here (MKL without MKL_CBWR=AUTO)")
