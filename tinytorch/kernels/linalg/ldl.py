"""LDL factorisation of symmetric or Hermitian matrices from their lower triangle, with the pivots of Bunch and Kaufman
1977, as LAPACK's sytf2 and hetf2 choose them."""
import math

import numpy as np

from ... import dtypes as dt

_ALPHA = (1 + math.sqrt(17)) / 8


def factored(matrices, hermitian):
    """(L below the diagonal of D, pivots counted from 1, the number of the first zero pivot or 0)."""
    *batch, n, _ = matrices.shape
    result = np.tril(matrices).reshape(math.prod(batch), n, n)
    pivots, info = np.zeros((len(result), n), dt.int32.numpy), np.zeros(len(result), dt.int32.numpy)
    for matrix, found, i in zip(result, pivots, range(len(result))):
        info[i] = _factor(matrix, found, hermitian and matrix.dtype.kind == "c")
    return result.reshape(matrices.shape), pivots.reshape(*batch, n), info.reshape(batch)


def _size(x):
    return np.abs(x.real) + np.abs(x.imag)


def _factor(a, pivots, hermitian):
    """Factors one matrix in place. Both pivots of a block of 2 are negative. Returns the first zero pivot or 0."""
    n, info, k = len(a), 0, 0
    other = np.conj if hermitian else (lambda x: x)

    def diagonal(i):
        return abs(a[i, i].real) if hermitian else _size(a[i, i])
    while k < n:
        step, place = 1, k
        size = diagonal(k)
        below = _size(a[k + 1:, k])
        at, largest = (k + 1 + int(below.argmax()), below.max()) if k + 1 < n else (k, 0)
        if max(size, largest) == 0 or math.isnan(size):
            info = info or k + 1
            if hermitian:
                a[k, k] = a[k, k].real
        else:
            if size < _ALPHA * largest:
                rest = np.concatenate([_size(a[at, k:at]), _size(a[at + 1:, at])])
                row = rest.max()
                if size < _ALPHA * largest * (largest / row):
                    place = at
                    step = 1 if diagonal(at) >= _ALPHA * row else 2
            last = k + step - 1
            if place != last:
                _swap(a, last, place, other)
                if step == 2:
                    a[k + 1, k], a[place, k] = a[place, k], a[k + 1, k]
            if hermitian:
                for i in (k, last, place):
                    a[i, i] = a[i, i].real
            if step == 1:
                column = a[k + 1:, k].copy()
                a[k + 1:, k] /= a[k, k]
                a[k + 1:, k + 1:] -= np.tril(np.outer(a[k + 1:, k], other(column)))
            elif k + 2 < n:
                off = a[k + 1, k]
                block = np.array([[a[k, k], other(off)], [off, a[k + 1, k + 1]]])
                columns = a[k + 2:, k:k + 2].copy()
                a[k + 2:, k:k + 2] = np.linalg.solve(block.T, columns.T).T
                a[k + 2:, k + 2:] -= np.tril(np.matmul(a[k + 2:, k:k + 2], other(columns).T))
            if hermitian:
                a[range(k, n), range(k, n)] = a.diagonal().real[k:]
        pivots[k:k + step] = place + 1 if step == 1 else -(place + 1)
        k += step
    return info


def _swap(a, k, p, other):
    """Swaps rows and columns k < p of the remaining matrix, of which the lower triangle is stored."""
    a[p + 1:, [k, p]] = a[p + 1:, [p, k]]
    between = slice(k + 1, p)
    column = a[between, k].copy()
    a[between, k] = other(a[p, between])
    a[p, between] = other(column)
    a[p, k] = other(a[p, k])
    a[k, k], a[p, p] = a[p, p], a[k, k]


def solution(factors, pivots, B, hermitian):
    """X with A @ X = B, from the factors of A."""
    n = factors.shape[-1]
    shape = np.broadcast_shapes(factors.shape[:-2], B.shape[:-2])
    X = np.array(np.broadcast_to(B, shape + B.shape[-2:])).reshape(math.prod(shape), *B.shape[-2:])
    a = np.broadcast_to(factors, shape + factors.shape[-2:]).reshape(len(X), n, n)
    at = np.broadcast_to(pivots, shape + pivots.shape[-1:]).reshape(len(X), n)
    for matrix, found, x in zip(a, at, X):
        _solve(matrix, found, x, hermitian and matrix.dtype.kind == "c")
    return X.reshape(shape + B.shape[-2:])


def _solve(a, pivots, x, hermitian):
    n, k, blocks = len(a), 0, []
    other = np.conj if hermitian else (lambda z: z)
    while k < n:
        step = 1 if pivots[k] > 0 else 2
        last, place, rest = k + step - 1, abs(pivots[k]) - 1, k + step
        if place != last:
            x[[last, place]] = x[[place, last]]
        x[rest:] -= np.dot(a[rest:, k:rest], x[k:rest])
        if step == 1:
            x[k] /= a[k, k].real if hermitian else a[k, k]
        else:
            off = a[k + 1, k]
            x[k:rest] = np.linalg.solve(np.array([[a[k, k], other(off)], [off, a[k + 1, k + 1]]]), x[k:rest])
        blocks.append((k, rest, last, place))
        k = rest
    for k, rest, last, place in blocks[::-1]:
        x[k:rest] -= np.dot(other(a[rest:, k:rest]).T, x[rest:])
        if place != last:
            x[[last, place]] = x[[place, last]]
