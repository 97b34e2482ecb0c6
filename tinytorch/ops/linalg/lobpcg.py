"""lobpcg: a few eigenpairs of a large symmetric matrix."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...autograd.function import Function
from ...autograd.public import public
from ...errors import not_implemented
from ...kernels.linalg import lobpcg as kernels
from ...tensor import Size, Tensor, wrap
from ..creation.ranges import eye
from ..random.factories import randn
from .decompositions import linalg_qr
from .spectra import eigh

__all__ = ["lobpcg"]

_TOLERANCES = {np.dtype(np.float32): 1.2e-07 ** 0.5, np.dtype(np.float64): 2.23e-16 ** 0.5}


class LOBPCGAutogradFunction(Function):
    """The eigenpairs with their gradients. It has torch's name, which the name of its nodes follows from."""

    @staticmethod
    def forward(ctx, A, B, X, iK, k, n, niter, tol, largest):
        E, U = _solved(A, B, X, iK, k, n, niter, tol, largest)
        ctx.save_for_backward(A, E, U)
        ctx.generalized = B is not None
        return E, U

    @staticmethod
    def backward(ctx, g_E, g_U):
        if ctx.generalized:
            raise ValueError("lobpcg.backward does not support backward with B != I yet.")
        return _gradient(*ctx.saved_tensors, g_E, g_U), *[None] * 8


def _gradient(A, E, U, g_E, g_U):
    """The gradient of A. The derivative of an eigenvector lies partly in the other eigenvectors found, partly in the
    eigenvectors of A on the orthogonal complement."""
    UT, k = U.transpose(-1, -2), E.shape[-1]
    same = eye(k, dtype=E.dtype)
    gaps = E.unsqueeze(-2) - E.unsqueeze(-1) + same            # [i, j]: E_j - E_i
    inner = (UT @ g_U) / gaps * (1 - same) + g_E.unsqueeze(-1) * same
    rest = linalg_qr(U, "complete")[0][..., k:]
    values, vectors = eigh(rest.transpose(-1, -2) @ A @ rest)
    rest = rest @ vectors
    outer = (rest.transpose(-1, -2) @ g_U) / (E.unsqueeze(-2) - values.unsqueeze(-1))
    return (U @ inner + rest @ outer) @ UT


def _solved(A, B, X, iK, k, n, niter, tol, largest):
    *batch, m, _ = A.shape
    E, U = [], []
    arrays = [None if x is None else x._array.reshape(-1, *x._array.shape[-2:]) for x in (A, B, X)]
    preconditioner = None if iK is None else iK._array
    for i in range(len(arrays[0])):
        start = randn(m, n, dtype=A.dtype)._array if X is None else arrays[2][i]
        if start.shape != (m, n):
            raise AssertionError(f"X shape mismatch: got {Size(start.shape)}, expected {(m, n)}")
        metric = None if B is None else arrays[1][i]
        values, vectors = kernels.lobpcg(arrays[0][i], metric, start, preconditioner, k, niter, tol, largest)
        E.append(values)
        U.append(vectors)
    return wrap(np.reshape(E, (*batch, -1))), wrap(np.reshape(U, (*batch, m, -1)))


@public(python=True, draws=True)
def lobpcg(A: Tensor, k: int | None = None, B: Tensor | None = None, X: Tensor | None = None, n: int | None = None,
           iK: Tensor | None = None, niter: int | None = None, tol: float | None = None, largest: bool | None = None,
           method: str | None = None, tracker: Any = None, ortho_iparams: dict | None = None,
           ortho_fparams: dict | None = None, ortho_bparams: dict | None = None) -> tuple[Tensor, Tensor]:
    """(E, X): the `k` largest eigenvalues of symmetric matrices `A` (..., m, m), the smallest with largest=False, and
    their eigenvectors (..., m, k), A @ X = B @ X * E. Knyazev 2001.

    `X` (..., m, n): the start, by default random numbers in `n` columns. `k` is by default the number of columns of
    `X`, or 1; `n` is by default `k`. `iK`: a preconditioner. It takes `niter` steps at most (default 1000; -1: no
    limit), until residuals are below `tol` (default: the square root of the dtype's precision). torch's methods
    "basic" and "ortho" give the same steps: the basis is always kept orthonormal. Gradients are those of (A + A.T) / 2;
    backward raises ValueError if `B` is given. ValueError if m < 3 n; AssertionError for other shapes that do not fit;
    NotImplementedError for a `tracker`, for torch's ortho_ parameters, and for dtypes other than float32 and float64.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.lobpcg(torch.diag(torch.arange(1., 10.)), k=2)[0]
    tensor([9.0000, 8.0000])
    """
    with_gradients = A.requires_grad or B is not None and B.requires_grad
    _check_matrices(A, B)
    if k is None:
        k = 1 if X is None else X.shape[-1]
    if X is not None:
        n = X.shape[-1]
    n = k if n is None else n
    if A.shape[-1] < 3 * n:
        raise ValueError(f"LOBPCG algorithm is not applicable when the number of A rows (={A.shape[-1]}) is smaller "
                         f"than 3 x the number of requested eigenpairs (={n})")
    if tracker is not None or ortho_iparams or ortho_fparams or ortho_bparams:
        raise NotImplementedError("lobpcg: tracker and the ortho_ parameters are not supported")
    niter = 1000 if niter is None else niter
    tol = _TOLERANCES[A._array.dtype] if tol is None else tol
    settings = (X, iK, k, n, niter, tol, largest is None or largest)
    if with_gradients:
        symmetric = [None if x is None else (x + x.transpose(-1, -2)) / 2 for x in (A, B)]
        return LOBPCGAutogradFunction.apply(*symmetric, *settings)
    return _solved(A, B, *settings)


def _check_matrices(A, B):
    if A.shape[-2] != A.shape[-1]:
        raise AssertionError(f"A must be square, got shape {A.shape}")
    if B is not None and A.shape != B.shape:
        raise AssertionError(f"A and B must have same shape, got {A.shape} vs {B.shape}")
    if A._array.dtype not in _TOLERANCES:
        raise not_implemented("lobpcg", A)
