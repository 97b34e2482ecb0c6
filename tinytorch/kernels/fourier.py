"""Discrete Fourier transforms along one axis. native/fourier.c computes those of single precision whose length has no
prime factors except 2, 3 and 5, and NumPy computes the others."""
from functools import lru_cache

import numpy as np

from . import native
from .rows import around

_FLOAT, _COMPLEX = np.dtype(np.float32), np.dtype(np.complex64)
#: Above this length NumPy is as fast, and the table of roots would take long to compute.
_LONGEST = 1 << 20


@lru_cache(32)
def _roots(n):
    """exp(-2 pi i k / n) as pairs of floats; None if C has no transform of this length."""
    left = n
    for factor in (2, 3, 5):
        while left and left % factor == 0:
            left //= factor
    if left != 1 or n > _LONGEST:
        return None
    angles = np.arange(n) * (-2 * np.pi / n)
    roots = np.stack([np.cos(angles), np.sin(angles)], 1)
    roots[np.abs(roots) < 1e-12] = 0           # exact zeros, so that transforms have exact zeros too
    return roots.astype(_FLOAT).reshape(-1)


def _scale(n, norm, forward):
    """The factor that NumPy multiplies the transform by for this `norm` and direction."""
    if norm == "ortho":
        return n ** -0.5
    return 1.0 if (norm == "backward") == forward else 1.0 / n


def _parts(x):
    """The real and the imaginary parts of complex numbers that lie in C order."""
    return (x if x.ndim else x.reshape(1)).view(_FLOAT)


def along(x, axis, forward, norm, out):
    """Writes the transform of complex numbers along an axis to `out`, which may be `x`. `norm` is as in NumPy."""
    n = x.shape[axis]
    if (native.many("transform", x.size) and x.dtype == out.dtype == _COMPLEX and type(x) is type(out) is np.ndarray
            and out.flags.c_contiguous and (roots := _roots(n)) is not None):
        outer, n, inner = around(x.shape, axis % x.ndim)
        native.run("transform", outer, n, inner, not forward, _scale(n, norm, forward), _parts(np.ascontiguousarray(x)),
                   roots, _parts(out))
        return
    (np.fft.fft if forward else np.fft.ifft)(x, axis=axis, norm=norm, out=out)


def of_real(x, onesided, norm, out):
    """Writes the transform of real numbers along the last axis to `out`: all of it, or half of it if `onesided`."""
    n = x.shape[-1]
    if native.many("transform_real", x.size) and x.dtype == _FLOAT and out.dtype == _COMPLEX and (
            type(x) is type(out) is np.ndarray and out.flags.c_contiguous and (roots := _roots(n)) is not None):
        native.run("transform_real", x.size // n, n, out.shape[-1], _scale(n, norm, True), np.ascontiguousarray(x),
                   roots, _parts(out))
        return
    (np.fft.rfft if onesided else np.fft.fft)(x, norm=norm, out=out)
