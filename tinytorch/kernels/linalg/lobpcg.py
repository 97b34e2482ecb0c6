"""Extreme eigenpairs by locally optimal block preconditioned conjugate gradients (Knyazev 2001)."""
import numpy as np


def _orthonormal(S, BS):
    """A B-orthonormal basis of the span of the columns of `S`, where BS = B @ S. It consists of eigenvectors of the
    Gram matrix, except those whose eigenvalues are lost in rounding."""
    gram = S.conj().T @ BS
    size = np.sqrt(np.abs(np.diagonal(gram)))
    scale = np.divide(1, size, out=np.zeros_like(size), where=size != 0)
    values, vectors = np.linalg.eigh(gram * scale[:, None] * scale)
    kept = values > np.finfo(values.dtype).eps * len(values) * max(values.max(initial=0), 0)
    return S @ (scale[:, None] * vectors[:, kept] / np.sqrt(values[kept]))


def lobpcg(A, B, X, K, k, niter, tol, largest):
    """(E, X): the `k` largest or smallest E with A @ X = B @ X * E, from the approximations `X` (m, n) of at least `k`
    eigenvectors. `B` and the preconditioner `K` may be None. The iteration ends when the residuals relative to the
    matrices' norms are below `tol`, or after `niter` steps (-1: no limit)."""
    n = X.shape[1]
    size_A = np.linalg.norm(A @ X) / (np.linalg.norm(X) or 1)
    size_B = 1.0 if B is None else np.linalg.norm(B @ X) / (np.linalg.norm(X) or 1)

    def times_B(x):
        return x if B is None else B @ x

    def best(S):
        """The wanted Ritz pairs of a basis, with the vectors as coordinates in it."""
        values, vectors = np.linalg.eigh(S.conj().T @ (A @ S))
        order = slice(None, -n - 1, -1) if largest else slice(n)
        return values[order], vectors[:, order]
    basis = _orthonormal(X, times_B(X))
    E, Z = best(basis)
    X, P, step = basis @ Z, None, 0
    while step != niter:
        R = A @ X - times_B(X) * E
        error = np.linalg.norm(R, axis=0) / (np.linalg.norm(X, axis=0) * (size_A + np.abs(E) * size_B))
        if (error[:k] < tol).all():
            break
        W = R if K is None else K @ R
        S = W if P is None else np.concatenate([W, P], 1)
        for _ in range(2):                     # twice, because one pass leaves rounding errors
            S = S - X @ (times_B(X).conj().T @ S)
            S = _orthonormal(S, times_B(S))
        E, Z = best(np.concatenate([X, S], 1))
        P = S @ Z[X.shape[1]:]
        X = X @ Z[:X.shape[1]] + P
        step += 1
    return E[:k], X[:, :k]
