"""Where NumPy does not round numbers of double precision as it does elsewhere."""
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
