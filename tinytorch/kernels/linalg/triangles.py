"""Triangular systems, and factors of singular matrices, at which LAPACK's drivers stop. Here divisions by zero are
carried out, so that the results have infinities and NaN where LAPACK's computational routines have them."""
import numpy as np


def columns(x):
    """The same matrices with contiguous columns, as LAPACK stores them."""
    return x.swapaxes(-1, -2).copy("C").swapaxes(-1, -2) if x.ndim > 1 else x


def solved(A, B, upper, unit):
    """X with A @ X = B for triangular A. Its other triangle is not used, nor with `unit` its diagonal."""
    n = A.shape[-1]
    diagonal = A.diagonal(0, -2, -1)
    kept = np.where((np.triu if upper else np.tril)(np.ones((n, n), bool)), A, 0)
    if unit:
        kept[..., range(n), range(n)] = 1
    elif not (diagonal != 0).all():
        return _substituted(kept, B, upper)
    if not upper:                              # reversed to upper: then elimination swaps no rows
        kept, B = kept[..., ::-1, ::-1], B[..., ::-1, :]
    X = np.linalg.solve(kept, B)
    return X if upper else X[..., ::-1, :]


def _substituted(A, B, upper):
    X = np.array(np.broadcast_to(B, np.broadcast_shapes(A.shape[:-2], B.shape[:-2]) + B.shape[-2:]))
    n = A.shape[-1]
    for i in range(n - 1, -1, -1) if upper else range(n):
        X[..., i, :] /= A[..., i, i, None]
        rest = slice(0, i) if upper else slice(i + 1, n)
        X[..., rest, :] -= A[..., rest, i, None] * X[..., i, None, :]
    return X


def lu(matrix):
    """(L and U in one matrix, the order of its rows, whether the number of swaps is odd)."""
    factors, rows, odd = matrix.copy(), np.arange(len(matrix)), False
    for k in range(len(matrix)):
        pivot = k + int(np.argmax(np.abs(factors[k:, k])))
        if pivot != k:
            factors[[k, pivot]], rows[[k, pivot]], odd = factors[[pivot, k]], rows[[pivot, k]], not odd
        if factors[k, k] != 0:
            factors[k + 1:, k] /= factors[k, k]
        factors[k + 1:, k + 1:] -= factors[k + 1:, k, None] * factors[k, k + 1:]
    return factors, rows, odd


def inverses(matrices):
    """The inverses of matrices, some of which are singular, from their factors."""
    result = np.empty_like(matrices)
    eye = np.eye(matrices.shape[-1], dtype=matrices.dtype)
    flat, into = matrices.reshape(-1, *matrices.shape[-2:]), result.reshape(-1, *matrices.shape[-2:])
    for matrix, inverse in zip(flat, into):
        factors, rows, _ = lu(matrix)
        inverse[...] = _substituted(factors, solved(factors, eye[rows], False, True), True)
    return result


def log_determinants(matrices, signs, sizes):
    """Corrects signs and logarithms of determinants in place where a matrix is singular: torch gives these a sign
    too."""
    flat = matrices.reshape(-1, *matrices.shape[-2:])
    for i in np.flatnonzero(signs == 0):
        factors, _, odd = lu(flat[i])
        diagonal = factors.diagonal()
        sizes.flat[i] = np.log(np.abs(diagonal)).sum()
        size = np.where(diagonal == 0, 1, np.abs(diagonal))
        signs.flat[i] = (-1 if odd else 1) * np.where(np.isnan(diagonal), 0, diagonal / size).prod()
