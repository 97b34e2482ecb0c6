"""LU factorisation of a batch of matrices, with LAPACK's pivots."""
import math

import numpy as np

from ... import dtypes as dt
from .triangles import solved

_PANEL = 32     # so many columns are eliminated one by one, then the rest of the matrix is updated by products


def factored(matrices):
    """(L below and U on and above the diagonal, pivots counted from 1, the number of the first zero pivot or 0)."""
    *batch, m, n = matrices.shape
    x = np.array(matrices, order="C").reshape(math.prod(batch), m, n)
    count, k = len(x), min(m, n)
    pivots, info, every = np.zeros((count, k), dt.int32.numpy), np.zeros(count, dt.int32.numpy), np.arange(count)
    for start in range(0, k, _PANEL):
        end = min(start + _PANEL, k)
        for j in range(start, end):
            at = j + _sizes(x[:, j:, j]).argmax(1)
            pivots[:, j] = at + 1
            x[every, at], x[:, j] = x[:, j].copy(), x[every, at]
            zero = x[:, j, j] == 0
            info[zero & (info == 0)] = j + 1
            x[:, j + 1:, j] /= np.where(zero, 1, x[:, j, j])[:, None]
            x[:, j + 1:, j + 1:end] -= x[:, j + 1:, j, None] * x[:, None, j, j + 1:end]
        if end < n:
            x[:, start:end, end:] = solved(x[:, start:end, start:end], x[:, start:end, end:], False, True)
            x[:, end:, end:] -= np.matmul(x[:, end:, start:end], x[:, start:end, end:])
    return x.reshape(matrices.shape), pivots.reshape(*batch, k), info.reshape(batch)


def _sizes(x):
    """The sizes by which BLAS compares pivots: for complex ones |real| + |imag|."""
    return np.abs(x.real) + np.abs(x.imag) if x.dtype.kind == "c" else np.abs(x)


def rows_of(pivots, m):
    """(..., m): the row of the matrix that stands at each row of the factors."""
    flat = pivots.reshape(math.prod(pivots.shape[:-1]), pivots.shape[-1])
    rows, every = np.tile(np.arange(m), (len(flat), 1)), np.arange(len(flat))
    for j in range(flat.shape[1]):
        at = flat[:, j] - 1
        rows[every, at], rows[:, j] = rows[:, j].copy(), rows[every, at]
    return rows.reshape(*pivots.shape[:-1], m)


def permutation(pivots, m, dtype):
    """(..., m, m): P in A = P @ L @ U."""
    rows = rows_of(pivots, m)
    result = np.zeros((*rows.shape, m), dtype)
    np.put_along_axis(result, rows[..., None, :], 1, -2)
    return result


def unpacked(factors):
    """(L, with a unit diagonal, U)."""
    m, n = factors.shape[-2:]
    k = min(m, n)
    L = np.tril(factors[..., :k], -1)
    L[..., range(k), range(k)] = 1
    return L, np.triu(factors[..., :k, :])


def solution(factors, pivots, B, adjoint):
    """X with A @ X = B, or with `adjoint` A^H @ X = B, from the factors of A."""
    rows = rows_of(pivots, factors.shape[-1])
    shape = np.broadcast_shapes(factors.shape[:-2], B.shape[:-2])
    rows, B = np.broadcast_to(rows, shape + rows.shape[-1:])[..., None], np.broadcast_to(B, shape + B.shape[-2:])
    if not adjoint:
        return solved(factors, solved(factors, np.take_along_axis(B, rows, -2), False, True), True, False)
    other = factors.swapaxes(-1, -2).conj()
    X = solved(other, solved(other, B, False, False), True, True)
    result = np.empty_like(X)
    np.put_along_axis(result, np.broadcast_to(rows, X.shape), X, -2)
    return result
