"""Approximate decompositions of low rank by random projections: svd_lowrank pca_lowrank."""
from __future__ import annotations

from ... import dtypes as dt
from ...autograd.public import public
from ...tensor import Tensor
from ..random.factories import randn
from .decompositions import linalg_qr
from .products import matmul
from .spectra import linalg_svd

__all__ = ["pca_lowrank", "svd_lowrank"]


def _basis(A, q, niter, M):
    """q orthonormal columns Q such that Q @ Q^H @ (A - M) is nearly A - M: Halko, Martinsson and Tropp 2009, 4.4."""
    dtype = A.dtype if A.is_complex() or A.dtype in (dt.float16, dt.float32, dt.float64) else dt.float32

    def projected(A, M, X):
        product = matmul(A, X)
        return linalg_qr(product if M is None else product - matmul(M, X)).Q
    Q = projected(A, M, randn(A.shape[-1], q, dtype=dtype))
    for _ in range(niter):
        Q = projected(A.mH, None if M is None else M.mH, Q)
        Q = projected(A, M, Q)
    return Q


def _lowrank(A, q, niter, M):
    m, n = A.shape[-2:]
    M = None if M is None else M.broadcast_to(A.size())
    if m < n:
        A, M = A.mH, None if M is None else M.mH
    Q = _basis(A, q, niter, M)
    B = matmul(Q.mH, A)
    if M is not None:
        B = B - matmul(Q.mH, M)
    U, S, Vh = linalg_svd(B, full_matrices=False)
    U, V = Q.matmul(U), Vh.mH
    return (V, S, U) if m < n else (U, S, V)


@public(python=True, draws=True)
def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2,
                M: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """(U, S, V) such that A (or A - M) is nearly U @ diag(S) @ V^H, with `q` singular values. It uses random
    projections and `niter` iterations (Halko, Martinsson and Tropp 2009, algorithm 5.1).

    >>> import tinytorch as torch
    >>> torch.svd_lowrank(torch.diag(torch.tensor([3., 2., 0.])), q=2)[1].round(decimals=3)
    tensor([3., 2.])
    """
    q = 6 if q is None else q
    return _lowrank(A, q, 2 if niter is None else niter, M)


@public(python=True, draws=True)
def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True,
                niter: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """`svd_lowrank` of the rows of `A` minus their mean (unless `center` is False), by default with 6 values.

    The columns of V are the principal directions. ValueError unless 0 <= q <= min(m, n).

    >>> import tinytorch as torch
    >>> torch.pca_lowrank(torch.tensor([[1., 1.], [-1., 1.]]), q=1)[1]
    tensor([1.4142])
    """
    m, n = A.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if center:
        A = A - A.mean(-2, keepdim=True)
    return _lowrank(A, q, niter, None)
