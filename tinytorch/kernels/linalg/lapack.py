"""LAPACK's factorisations of matrices, by the ufuncs that np.linalg has for them.

np.linalg's functions check and convert, and set NumPy's state for errors. For small matrices that takes three times as
long as LAPACK. Here the ufuncs are called directly, in double precision as np.linalg calls them, so that the numbers
are the same. A matrix that LAPACK cannot factor becomes NaN, and then np.linalg's function is asked, which raises its
error. That function also takes what is no plain array of NumPy, and all arrays if NumPy has no such ufuncs. Callers
have set NumPy's state so that it ignores errors."""
import math
from functools import lru_cache

import numpy as np

from .. import native
from ..native.objects import loop_of

#: Fewer numbers are turned from one order to the other in less time than an array is made for them.
_FEW = 256
_UFUNCS = getattr(np.linalg, "_umath_linalg", None)
#: The dtype in which LAPACK computes, by the character of the dtype of matrices that are taken here.
_WIDE = {}
if all([hasattr(_UFUNCS, name)
        for name in "cholesky_lo eigh_lo eigh_up svd_f svd_s inv qr_r_raw qr_reduced qr_complete".split()]):
    _WIDE = {"f": np.dtype(np.float64), "d": np.dtype(np.float64), "F": np.dtype(np.complex128),
             "D": np.dtype(np.complex128)}


def _loop(name, types, sizes):
    """The address of the loop of a ufunc of np.linalg for operands of these types and sizes; 0 if C cannot call it."""
    ufunc = getattr(_UFUNCS, name, None)
    if not _WIDE or native.level() is None or ufunc.signature.replace("p", "k") != sizes:
        return 0
    return loop_of(ufunc, types)


_OF_LOOP = {name: _loop(name, types, sizes) for name, types, sizes in (
    ("cholesky_lo", "d->d", "(m,m)->(m,m)"), ("eigh_lo", "d->dd", "(m,m)->(m),(m,m)"),
    ("eigh_up", "d->dd", "(m,m)->(m),(m,m)"),
    ("svd_f", "d->ddd", "(m,n)->(m,m),(k),(n,n)"), ("svd_s", "d->ddd", "(m,n)->(m,k),(k),(k,n)"))}
_RAW, _REDUCED = _loop("qr_r_raw", "d->d", "(m,n)->(k)"), _loop("qr_reduced", "dd->d", "(m,n),(k)->(m,k)")


def _widened(x):
    """A copy of matrices in double precision, or None if np.linalg's function is to take them. A single matrix is in
    column order, like those that LAPACK reads and writes: copies in between are then quick."""
    wide = _WIDE.get(x.dtype.char) if type(x) is np.ndarray and x.size else None
    return None if wide is None else x.astype(wide, "F" if x.ndim == 2 else "C")


def _to(x, rows=None, columns=None):
    """The array for a result that is a matrix of this shape, by default that of `x`; None if NumPy is to make it."""
    if x.ndim != 2 or x.size < _FEW:
        return None
    return np.empty(x.shape if rows is None else (rows, columns), x.dtype, "F")


def _failed(x):
    """Whether one of the matrices is NaN."""
    if x.ndim == 2:
        first = x.item(0)
        return first != first
    first = x[..., 0, 0]
    return bool((first != first).any())


def _narrowed(x, dtype):
    """`x` in a dtype, with each matrix in column order."""
    if x.ndim == 2:
        return x.astype(dtype, "F")
    return x.swapaxes(-1, -2).astype(dtype, "C").swapaxes(-1, -2)


def _by_loop(name, x, *shapes):
    """The results of these shapes of a ufunc for float32 matrices, each matrix in column order, if C computes them and
    they are finite. It is for records of calls (autograd/repeats.py), which know kernels alone."""
    if not native.listening or not _OF_LOOP[name] or not _is_taken(x):
        return None
    m, n = x.shape[-2:]
    made = [np.empty(x.shape[:-2] + shape[::-1], x.dtype) for shape in shapes]
    absent = 3 - len(shapes)
    rows = [shape[0] if len(shape) > 1 else 0 for shape in shapes] + [0] * absent
    sizes = [math.prod(shape) for shape in shapes] + [0] * absent
    try:
        native.run("factors", _OF_LOOP[name], x.size // (m * n), m, n, min(m, n), *rows, *sizes, x,
                   np.empty(m * n + sum(sizes)), *made, *[None] * absent)
    except RuntimeError:
        return None
    return tuple([a.swapaxes(-1, -2) if len(shape) > 1 else a for a, shape in zip(made, shapes)])


def _is_taken(x):
    """Whether C reads these matrices."""
    return type(x) is np.ndarray and x.dtype.char == "f" and x.size and x.flags.c_contiguous


def cholesky(x):
    """np.linalg.cholesky"""
    if (found := _by_loop("cholesky_lo", x, x.shape[-2:])) is not None:
        return found[0]
    wide = _widened(x)
    if wide is None or _failed(found := _UFUNCS.cholesky_lo(wide, out=_to(wide))):
        return np.linalg.cholesky(x)
    return _narrowed(found, x.dtype)


def inv(x):
    """np.linalg.inv"""
    wide = _widened(x)
    if wide is None or _failed(found := _UFUNCS.inv(wide, out=_to(wide))):
        return np.linalg.inv(x)
    return _narrowed(found, x.dtype)


def eigh(x, triangle):
    """np.linalg.eigh"""
    name = "eigh_lo" if triangle == "L" else "eigh_up"
    if (found := _by_loop(name, x, x.shape[-1:], x.shape[-2:])) is not None:
        return found
    wide = _widened(x)
    if wide is not None:
        ufunc = getattr(_UFUNCS, name)
        values, vectors = ufunc(wide, out=(None, _to(wide)))
        if not _failed(vectors):
            return values.astype(x.real.dtype), _narrowed(vectors, x.dtype)
    return tuple(np.linalg.eigh(x, triangle))


def svd(x, full):
    """np.linalg.svd"""
    m, n = x.shape[-2:]
    k = min(m, n)
    shapes = ((m, m), (k,), (n, n)) if full else ((m, k), (k,), (k, n))
    if (found := _by_loop("svd_f" if full else "svd_s", x, *shapes)) is not None:
        return found
    wide = _widened(x)
    if wide is not None:
        out = (_to(wide, m, m), None, _to(wide, n, n)) if full else (_to(wide, m, k), None, _to(wide, k, n))
        u, s, vh = (_UFUNCS.svd_f if full else _UFUNCS.svd_s)(wide, out=out)
        if not _failed(u):
            return _narrowed(u, x.dtype), s.astype(x.real.dtype), _narrowed(vh, x.dtype)
    return tuple(np.linalg.svd(x, full_matrices=full))


def qr(x, complete):
    """The factors Q and R of np.linalg.qr, reduced or complete."""
    m, n = x.shape[-2:]
    if (m <= n or not complete) and (found := _qr_in_c(x, m, n, min(m, n))) is not None:
        return found
    wide = _widened(x)
    if wide is None:
        return tuple(np.linalg.qr(x, "complete" if complete else "reduced"))
    tau = _UFUNCS.qr_r_raw(wide)               # the array now holds R and the reflectors
    whole = complete and m > n
    q = (_UFUNCS.qr_complete if whole else _UFUNCS.qr_reduced)(wide, tau, out=_to(wide, m, m if whole else min(m, n)))
    r = _narrowed(wide if whole or m <= n else wide[..., :n, :], x.dtype)
    np.copyto(r, 0, where=_below(*r.shape[-2:]))
    return _narrowed(q, x.dtype), r


def _qr_in_c(x, m, n, k):
    """The reduced factors of float32 matrices, each in column order, if C computes them."""
    if not (_WIDE and _RAW and _REDUCED and _is_taken(x)):
        return None
    q, r = [np.empty(x.shape[:-2] + shape, x.dtype) for shape in ((k, m), (n, k))]
    native.run("qr_factors", _RAW, _REDUCED, x.size // (m * n), m, n, k, x, np.empty(m * n + k + m * k), q, r)
    return q.swapaxes(-1, -2), r.swapaxes(-1, -2)


@lru_cache(64)
def _below(m, n):
    """The places below the diagonal."""
    return np.asfortranarray(np.tril(np.ones((m, n), bool), -1))
