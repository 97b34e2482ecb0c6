"""Where NumPy does not round as it does elsewhere: numbers of double precision, reciprocals, and products."""
import math
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


#: (function, argument, its result by glibc where the processor has fused multiply-adds). Without them glibc rounds one
#: number in a thousand otherwise, these among them.
_FUSED = [(math.log, "0x1.d2ef26fddc2b3p-1", "-0x1.7963e9ecf74a5p-4"),
          (math.log1p, "-0x1.0061e7a433abcp-2", "-0x1.2718b3965c2aap-2"),
          (math.cos, "0x1.5d828943863cep+2", "0x1.5c8352cb01fe4p-1"),
          (math.sin, "0x1.84d2bbb729c40p+2", "-0x1.a6908d85146ebp-3"),
          (math.exp, "0x1.68072fabd8c24p-3", "0x1.3133993dfbeafp+0")]


@lru_cache
def usual():
    """Whether doubles are steady, and have the last bits that most C libraries give: those of the stored numbers."""
    found = [function(float.fromhex(argument)) for function, argument, _ in _FUSED]
    return steady() and found == [float.fromhex(result) for _, _, result in _FUSED]


def need_usual_doubles():
    """Skip a test where they are not."""
    need_steady_doubles()
    if not usual():
        pytest.skip("the C library gives some doubles other last bits here: the processor has no fused multiply-adds")


@lru_cache
def rounded():
    """Whether NumPy rounds reciprocals of single precision correctly. By NEON of 32 bits it approximates them and
    square roots; NPY_DISABLE_CPU_FEATURES="NEON NEON_FP16 NEON_VFPV4" in the environment prevents this."""
    x = np.random.RandomState(0).rand(1 << 10).astype(np.float32)
    return (np.reciprocal(x) == np.float32(1) / x).all()


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
