"""Inverses and factors without errors: inv_ex solve_ex cholesky_ex. They return `info` (int32), which says where the
first failure was; it is 0 if there was none."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt, return_types
from ...autograd.op import op
from ...autograd.promotion import EXACT
from ...autograd.public import public
from ...kernels.errstate import ignored
from ...kernels.linalg import lu, triangles
from ...kernels.linalg.triangles import columns
from ...tensor import Tensor, wrap
from ...types import Tensors
from .decompositions import (
    LinAlgError,
    _bad_minor,
    _check,
    _check_sides,
    _cholesky,
    _cholesky_grad,
    _failed_element,
    _inv,
    _solve,
    _solve_grad,
)
from .products import _matmul, mT


def _failures(array):
    """For each matrix the number of the first pivot that is zero, counted from 1; 0 if none is."""
    with ignored():
        return lu.factored(array)[2]


def _raise(name, info, words):
    """Raises the LinAlgError for the first failure. `words` is formatted with its number."""
    if info.any():
        k = int(info[info != 0].reshape(-1)[0])
        raise LinAlgError(f"{name}: {_failed_element(info != 0)}{words.format(k)}")


@op(name="linalg_inv_ex", input=lambda g, ans: -_matmul(_matmul(mT(ans), g), mT(ans)), called={"result": "inverse"})
def _inverses(input):
    return columns(triangles.inverses(input))


@public("linalg_inv_ex", out=EXACT, apart=None, autocast="up")
def inv_ex(A: Tensor, *, check_errors: bool = False, out: Tensors | None = None) -> return_types.linalg_inv_ex:
    """`inv` without errors, unless `check_errors`: (inverse, info). `info` is the number of the first zero pivot.

    >>> import tinytorch as torch
    >>> torch.linalg.inv_ex(torch.ones(2, 2)).info
    tensor(2, dtype=torch.int32)
    """
    _check("linalg.inv", A)
    info = _failures(A._array)
    if check_errors:
        _raise("linalg.inv_ex", info, "The diagonal element {} is zero, the inversion could not be completed because "
                                      "the input matrix is singular.")
    return return_types.linalg_inv_ex((_inverses if info.any() else _inv)(A), wrap(info))


@op(name="linalg_solve_ex", first=2, joint=lambda g, wanted, vectors, left, A, ans: _solve_grad(
    g, wanted, vectors, left, A, ans))
def _solutions(vectors, left, A, B):
    factors, pivots, _ = lu.factored(A if left else A.swapaxes(-1, -2))
    if vectors:
        B = B[..., None]
    elif not left:
        B = B.swapaxes(-1, -2)
    X = columns(lu.solution(factors, pivots, B, False))
    if vectors:
        return X[..., 0]
    return X if left else X.swapaxes(-1, -2)


@public("linalg_solve_ex", out=EXACT, apart=None, autocast="up")
def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False,
             out: Tensors | None = None) -> return_types.linalg_solve_ex:
    """`solve` without errors, unless `check_errors`: (result, info). `info` is the number of the first zero pivot.

    >>> import tinytorch as torch
    >>> torch.linalg.solve_ex(torch.ones(2, 2), torch.ones(2)).info
    tensor(2, dtype=torch.int32)
    """
    _check("linalg.solve", A, kernel="lu_cpu")
    vectors = _check_sides(A, B, left)
    info = _failures(A._array)
    if check_errors:
        _raise("torch.linalg.solve_ex", info, "The solver failed because the input matrix is singular.")
    result = (_solutions if info.any() else _solve)(vectors, left or vectors, A, B)
    return return_types.linalg_solve_ex(result, wrap(info))


@op(name="linalg_cholesky_ex", input=lambda g, ans, upper: _cholesky_grad(*(map(mT, (g, ans)) if upper else (g, ans))))
def _as_far_as_possible(input, upper):
    """The Cholesky factor, column after column, up to the first diagonal element that is not positive. The rest of the
    matrix stays as it is."""
    result = np.tril(mT(input) if upper else input)
    for L in result.reshape(-1, *result.shape[-2:]):
        for j in range(len(L)):
            L[j, j] = L[j, j] - np.vdot(L[j, :j], L[j, :j])
            if not L[j, j].real > 0:
                break
            L[j, j] = np.sqrt(L[j, j].real)
            L[j + 1:, j] = (L[j + 1:, j] - np.dot(L[j + 1:, :j], L[j, :j].conj())) / L[j, j]
    return columns(mT(result) if upper else result)


@public("linalg_cholesky_ex", out=EXACT, apart=None, autocast="up")
def cholesky_ex(input: Tensor, *, upper: bool = False, check_errors: bool = False,
                out: Tensors | None = None) -> return_types.linalg_cholesky_ex:
    """`cholesky` without errors, unless `check_errors`: (L, info). `info` is the order of the first leading minor that
    is not positive-definite, up to which L is computed.

    >>> import tinytorch as torch
    >>> torch.linalg.cholesky_ex(-torch.eye(2)).info
    tensor(1, dtype=torch.int32)
    """
    _check("linalg.cholesky", input, kernel="cholesky_cpu", by_kernel=dt.FLOATING)
    array = input._array
    info = np.zeros(array.shape[:-2], dt.int32.numpy)
    try:
        result = _cholesky(input, upper)
    except LinAlgError:
        flat = array.reshape(-1, *array.shape[-2:])
        info.reshape(-1)[...] = [_bad_minor(mT(matrix) if upper else matrix) for matrix in flat]
        result = None
    if check_errors:
        _raise("linalg.cholesky_ex", info, "The factorization could not be completed because the input is not "
                                           "positive-definite (the leading minor of order {} is not "
                                           "positive-definite).")
    return return_types.linalg_cholesky_ex(_as_far_as_possible(input, upper) if result is None else result, wrap(info))
