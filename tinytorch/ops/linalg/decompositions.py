"""Linear algebra on (batches of) matrices: inv det solve cholesky qr svd eigh and what is built on them."""
import numpy as np

from ... import return_types
from ...autograd.grad_mode import mode
from ...autograd.op import op
from ...autograd.promotion import EXACT, converted, write_out
from ...autograd.public import methods
from ...errors import type_name
from ...tensor import Tensor, wrap
from ..reduction.reductions import check_tensor, like, raw, to_outs
from .products import _matmul, mT

__all__ = ["cholesky", "det", "inverse", "logdet", "qr", "slogdet", "svd"]


class LinAlgError(RuntimeError):
    """What torch.linalg raises for a matrix that an operation is not defined for."""


# ------------------------------------------------------------------ checks
def _check(name, A, square=True, argument="A"):
    """RuntimeError in torch's words unless A is floating point matrices (square ones)."""
    check_tensor(name.replace(".", "_"), A)
    array = A.array
    if array.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {argument} must have at least 2 dimensions.")
    if square and array.shape[-1] != array.shape[-2]:
        raise RuntimeError(f"{name}: {argument} must be batches of square matrices, "
                           f"but they are {array.shape[-2]} by {array.shape[-1]} matrices")
    if array.dtype.kind not in "fc":
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {type_name(A)}")
    if array.dtype == np.float16:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got Half")


def _where(failed):
    """Which matrix of a batch failed first, as torch begins its messages."""
    return f"(Batch element {int(np.flatnonzero(failed)[0])}): " if failed.ndim else ""


def _rowwise(x):
    """A vector per matrix as a matrix of one row, to scale columns with."""
    return x[..., None, :]


def _column(x):
    return x[..., None]


def _scalars(x):
    """A number per matrix, to scale matrices with."""
    return x[..., None, None]


def _eye(g, n):
    return like(g, np.eye(n, dtype=raw(g).dtype))


# ------------------------------------------------------------------ inverse, determinant, solve
@op(name="linalg_inv_ex", input=lambda g, ans: -_matmul(_matmul(mT(ans), g), mT(ans)))
def _inv(input):
    try:
        return np.linalg.inv(input)
    except np.linalg.LinAlgError:
        failed = np.linalg.matrix_rank(input) < input.shape[-1]
        raise LinAlgError(f"linalg.inv: {_where(failed)}The diagonal element {_zero_pivot(input, failed)} is zero, the "
                          "inversion could not be completed because the input matrix is singular.") from None


def _zero_pivot(matrices, failed):
    """The (1-based) column at which elimination finds no pivot in the first failed matrix."""
    matrix = matrices.reshape(-1, *matrices.shape[-2:])[np.flatnonzero(failed)[0] if failed.any() else 0]
    n = matrix.shape[-1]
    return next((k for k in range(1, n + 1) if np.linalg.matrix_rank(matrix[:, :k]) < k), n)


def inv(A, *, out=None):
    """Inverse of (..., n, n) matrices. LinAlgError (a RuntimeError) for a singular one.

    >>> import tinytorch as torch
    >>> torch.linalg.inv(torch.tensor([[2., 0.], [0., 4.]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    _check("linalg.inv", A)
    return write_out(out, _inv(A), exact=EXACT)


def inverse(input, *, out=None):
    """`torch.linalg.inv`.

    >>> import tinytorch as torch
    >>> torch.inverse(torch.tensor([[2.]]))
    tensor([[0.5000]])
    """
    return inv(input, out=out)


def _cofactors(array):
    """The derivative of det: det(A) A^-H without a division, so that singular matrices have theirs too."""
    u, s, vh = np.linalg.svd(array)
    n = s.shape[-1]
    others = np.stack([np.delete(s, k, -1).prod(-1) for k in range(n)], -1) if n else s
    sign = np.linalg.det(np.matmul(u, vh)).conjugate()
    return sign[..., None, None] * np.matmul(u * others[..., None, :], vh)


def _det_grad(g, ans, input):
    if isinstance(g, Tensor):                  # differentiable again, where the matrix is not singular
        return _scalars(g * ans.conjugate()) * mT(_inv(input))
    return g[..., None, None] * _cofactors(input)


@op(name="linalg_det", input=lambda g, ans, input: _det_grad(g, ans, input))
def _det(input):
    return np.linalg.det(input)


def det(A, *, out=None):
    """Determinant of (..., n, n) matrices.

    >>> import tinytorch as torch
    >>> torch.det(torch.tensor([[2., 0.], [0., 4.]]))
    tensor(8.)
    """
    _check("linalg.det", A)
    return write_out(out, _det(A), exact=EXACT)


def _slogdet_grad(g, wanted, input, ans):
    sign, size = g
    total = input * 0
    if size is not None:
        total = _scalars(size) * mT(_inv(input))
    if sign is not None and raw(input).dtype.kind == "c":
        s = ans[0]
        turned = (sign.conjugate() * s).imag   # only the angle of the determinant moves its sign
        total = total + _scalars(turned * -1j) * mT(_inv(input))
    return total,


@op(name="linalg_slogdet", multi=True, joint=_slogdet_grad)
def _slogdet(input):
    return tuple(np.linalg.slogdet(input))


def linalg_slogdet(A, *, out=None):
    """Sign and logarithm of the absolute value of the determinant, as (sign, logabsdet).

    >>> import tinytorch as torch
    >>> torch.linalg.slogdet(torch.eye(2))
    torch.return_types.linalg_slogdet(
    sign=tensor(1.),
    logabsdet=tensor(0.))
    """
    _check("linalg.slogdet", A)
    return to_outs(return_types.linalg_slogdet, _slogdet(A), out)


def slogdet(input, *, out=None):
    """`torch.linalg.slogdet`."""
    return return_types.slogdet(*linalg_slogdet(input, out=out))


def logdet(input):
    """Logarithm of the determinant; NaN if that is negative.

    >>> import tinytorch as torch
    >>> torch.logdet(torch.eye(2))
    tensor(0.)
    """
    sign, size = linalg_slogdet(input)
    if input.array.dtype.kind == "c":
        return size + sign.log()
    return size + wrap(np.where(sign.array < 0, np.nan, 0).astype(size.array.dtype))


def _solve_other(A, g, X, vectors):
    """The gradient of A, given that of B."""
    if vectors:
        return -(_column(g) * X[..., None, :].conjugate())
    return -_matmul(g, mT(X))


@op(name="linalg_solve_ex", first=1, joint=lambda g, wanted, A, ans, vectors: _solve_grad(g, wanted, A, ans, vectors))
def _solve(vectors, A, B):
    try:
        X = np.linalg.solve(A, B[..., None] if vectors else B)
    except np.linalg.LinAlgError:
        failed = np.linalg.matrix_rank(A) < A.shape[-1]
        raise LinAlgError(f"torch.linalg.solve: {_where(failed)}The solver failed because the input matrix is "
                          "singular.") from None
    return X[..., 0] if vectors else X


def _solve_grad(g, wanted, A, X, vectors):
    back = _solve(vectors, mT(A), g)
    return _solve_other(A, back, X, vectors) if wanted[0] else None, back


def solve(A, B, *, left=True, out=None):
    """X with A @ X = B (X @ A = B if not `left`), for (..., n, n) A and (..., n, k) or (..., n) B.

    LinAlgError (a RuntimeError) for a singular A.

    >>> import tinytorch as torch
    >>> torch.linalg.solve(torch.tensor([[2., 0.], [0., 4.]]), torch.tensor([2., 2.]))
    tensor([1.0000, 0.5000])
    """
    _check("linalg.solve", A)
    if A.array.dtype != B.array.dtype:
        raise RuntimeError(f"linalg.solve: Expected A and B to have the same dtype, but found A of type "
                           f"{type_name(A)} and B of type {type_name(B)} instead")
    a, b = A.array.shape, B.array.shape
    vectors = len(b) == 1 or len(b) == len(a) - 1 and b == a[:-1]
    if not left:
        return write_out(out, solve(A.transpose(-1, -2), B if vectors else B.transpose(-1, -2)).transpose(-1, -2),
                         exact=EXACT)
    if b[-1 if vectors else -2] != a[-1]:
        raise RuntimeError(f"linalg.solve: Incompatible shapes of A and B for the equation AX = B "
                           f"({a[-2]}x{a[-1]} and {b[-2] if len(b) > 1 else b[-1]}x{b[-1] if len(b) > 1 else 1})")
    return write_out(out, _solve(vectors, A, B), exact=EXACT)


# ------------------------------------------------------------------ cholesky, qr
def _lower(x, diagonal):
    """The part of matrices below the diagonal, which is multiplied by a number."""
    n = x.shape[-1]
    weight = np.tril(np.ones((n, n)), -1) + np.eye(n) * diagonal
    return x * like(x, weight.astype(raw(x).real.dtype))


def _cholesky_grad(g, L):
    inner = _inv(L)
    P = _matmul(mT(L), g)
    middle = _lower(P, 0.5) if mode.computing_jvp else (_lower(P, 1) + mT(_lower(P, 0))) * 0.5
    return _matmul(_matmul(mT(inner), middle), inner)


@op(name="linalg_cholesky_ex", input=lambda g, ans: _cholesky_grad(g, ans))
def _cholesky(input):
    try:
        return np.linalg.cholesky(input)
    except np.linalg.LinAlgError:
        k = _bad_minor(input)
        raise LinAlgError("linalg.cholesky: The factorization could not be completed because the input is not "
                          f"positive-definite (the leading minor of order {k} is not positive-definite).") from None


def _bad_minor(matrices):
    for matrix in matrices.reshape(-1, *matrices.shape[-2:]):
        for k in range(1, matrix.shape[-1] + 1):
            if np.linalg.eigvalsh(matrix[:k, :k])[0] <= 0:
                return k
    return matrices.shape[-1]


def cholesky(input, upper=False, *, out=None):
    """L, lower triangular, with L @ L^H = input, which is positive-definite (or `upper`: U with U^H @ U).

    >>> import tinytorch as torch
    >>> torch.linalg.cholesky(torch.tensor([[4., 0.], [0., 9.]]))
    tensor([[2., 0.],
            [0., 3.]])
    """
    _check("linalg.cholesky", input)
    L = _cholesky(input)
    return write_out(out, mT(L) if upper else L, exact=EXACT)


def _qr_grad(g, wanted, input, ans):
    Q, R = ans
    gQ, gR = g
    rows, columns = input.shape[-2:]
    if Q.shape[-1] != min(rows, columns):
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols")
    if rows < columns:                         # A = (X Y), R = (U V): Q and U are those of X, V = Q^H Y
        Y, U = input[..., rows:], R[..., :rows]
        gU = None if gR is None else gR[..., :rows]
        if gR is not None:
            gV = gR[..., rows:]
            gQ = _matmul(Y, mT(gV)) + (0 if gQ is None else gQ)
        left = _square_qr_grad(gQ, gU, Q, U)
        right = _matmul(Q, gV) if gR is not None else Y * 0
        return _beside(left, right),
    return _square_qr_grad(gQ, gR, Q, R),


def _beside(left, right):
    if isinstance(left, Tensor):
        from ..layout.join import cat
        return cat([left, right], -1)
    return np.concatenate([left, right], -1)


def _square_qr_grad(gQ, gR, Q, R):
    M = 0
    if gR is not None:
        M = M + _matmul(R, mT(gR))
    if gQ is not None:
        M = M - _matmul(mT(gQ), Q)
    n = M.shape[-1]
    lower = like(M, np.tril(np.ones((n, n), raw(M).real.dtype), -1))
    half = like(M, np.eye(n, dtype=raw(M).real.dtype))
    M = M * lower
    full = M + mT(M)
    if gR is not None:
        diagonal = _matmul(R, mT(gR)) * half
        full = full + (diagonal + diagonal.conjugate()) * 0.5
    if gQ is not None:
        diagonal = _matmul(mT(gQ), Q) * half
        full = full - (diagonal + diagonal.conjugate()) * 0.5
    total = _matmul(Q, full)
    if gQ is not None:
        total = total + gQ
    return _matmul(total, mT(_inv(R)))


@op(name="linalg_qr", multi=True, inputs=1, joint=_qr_grad)
def _qr(input, mode):
    return tuple(np.linalg.qr(input, mode))


def linalg_qr(A, mode="reduced", *, out=None):
    """A = Q @ R with orthonormal columns of Q and upper triangular R. mode: reduced, complete, r (no Q).

    >>> import tinytorch as torch
    >>> Q, R = torch.linalg.qr(torch.eye(2)); R.abs()
    tensor([[1., 0.],
            [0., 1.]])
    """
    _check("linalg.qr", A, square=False)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or "
                           "'complete'")
    if mode == "r":
        R = _qr(A.detach(), "reduced")[1]
        return to_outs(return_types.linalg_qr, (wrap(np.empty(0, A.array.dtype)), R), out)
    return to_outs(return_types.linalg_qr, _qr(A, mode), out)


def qr(input, some=True, *, out=None):
    """`torch.linalg.qr`, reduced if `some` and complete otherwise."""
    return return_types.qr(*linalg_qr(input, "reduced" if some else "complete", out=out))


# ------------------------------------------------------------------ svd, eigh
def _as(x, other):
    """`x`, which may be real, in the dtype of `other`: products of matrices take no two dtypes."""
    dtype = raw(other).dtype
    return converted(x, dtype) if isinstance(x, Tensor) else x.astype(dtype, copy=False)


def _gaps(values, sign):
    """1 / (v_j - v_i), or 1 / (v_j + v_i), with zeros on the diagonal."""
    n = values.shape[-1]
    eye = like(values, np.eye(n, dtype=raw(values).dtype))
    difference = _rowwise(values) + _column(values) * sign
    return 1 / (difference * (1 - eye) + eye) * (1 - eye)


def _svd_grad(g, wanted, input, ans):
    """Townsend, "Differentiating the singular value decomposition", 2016."""
    U, S, Vh = ans
    gU, gS, gVh = g
    k = S.shape[-1]
    U, Vh = U[..., :k], Vh[..., :k, :]         # of full matrices, the rest is not determined by the input
    gU = None if gU is None else gU[..., :k]
    gVh = None if gVh is None else gVh[..., :k, :]
    middle = 0 if gS is None else _rowwise(gS) * _eye(gS, k)
    # Phases may turn in U or in Vh: backward takes U, torch's forward mode half of each.
    phases = raw(input).dtype.kind == "c" and (0.25 if mode.computing_jvp else 0.5)
    if gU is not None or gVh is not None:
        E = _gaps(S, -1) * _gaps(S, 1)         # 1 / (s_j^2 - s_i^2)
        if gU is not None:
            P = _matmul(mT(U), gU)
            middle = middle + (P - mT(P)) * E * _rowwise(S)
            if phases:
                middle = middle + (P - mT(P)) * _eye(S, k) * phases / _rowwise(S)
        if gVh is not None:
            P = _matmul(Vh, mT(gVh))
            middle = middle + _column(S) * ((P - mT(P)) * E)
            if phases and mode.computing_jvp:
                middle = middle - (P - mT(P)) * _eye(S, k) * phases / _rowwise(S)
    total = _matmul(_matmul(U, _as(middle, U)), Vh)
    m, n = input.shape[-2:]
    if gU is not None and m > k:
        scaled = gU / _rowwise(S)
        total = total + _matmul(scaled - _matmul(U, _matmul(mT(U), scaled)), Vh)
    if gVh is not None and n > k:
        scaled = gVh / _column(S)
        total = total + _matmul(U, scaled - _matmul(_matmul(scaled, mT(Vh)), Vh))
    return total,


@op(name="linalg_svd", multi=True, inputs=1, joint=_svd_grad)
def _svd(input, full):
    try:
        return tuple(np.linalg.svd(input, full_matrices=full))
    except np.linalg.LinAlgError:
        raise LinAlgError(_no_convergence("linalg.svd", input)) from None


def _no_convergence(name, array):
    failed = ~np.isfinite(array).all((-1, -2))
    what = "contained non-finite values." if failed.any() else "is ill-conditioned or has too many repeated values."
    where = _where(failed) if failed.any() else ""
    return f"{name}: {where}The algorithm failed to converge because the input matrix {what}"


def linalg_svd(A, full_matrices=True, *, driver=None, out=None):
    """A = U @ diag(S) @ Vh, with the singular values S falling: the named tuple (U, S, Vh).

    >>> import tinytorch as torch
    >>> torch.linalg.svd(torch.tensor([[3., 0.], [0., 4.]])).S
    tensor([4., 3.])
    """
    _check("linalg.svd", A, square=False)
    return to_outs(return_types.linalg_svd, _svd(A, full_matrices), out)


def svdvals(A, *, driver=None, out=None):
    """The singular values, falling.

    >>> import tinytorch as torch
    >>> torch.linalg.svdvals(torch.tensor([[3., 0.], [0., 4.]]))
    tensor([4., 3.])
    """
    _check("linalg.svdvals", A, square=False)
    return write_out(out, _svd(A, False)[1], exact=EXACT)


def svd(input, some=True, compute_uv=True, *, out=None):
    """input = U @ diag(S) @ V^H: the named tuple (U, S, V). `some`: reduced."""
    _check("linalg.svd", input, square=False)
    U, S, Vh = _svd(input, compute_uv and not some)
    if not compute_uv:
        batch, m, n = input.array.shape[:-2], *input.array.shape[-2:]
        U, V = (wrap(np.zeros((*batch, size, size), input.array.dtype)) for size in (m, n))
        return to_outs(return_types.svd, (U, S, V), out)
    return to_outs(return_types.svd, (U, S, mT(Vh)), out)


def _eigh_grad(g, wanted, ans):
    L, V = ans
    gL, gV = g
    n = V.shape[-1]
    middle = 0 if gL is None else _rowwise(gL) * _eye(gL, n)
    if gV is not None:
        P = _matmul(mT(V), gV)
        middle = middle + P * _gaps(L, -1)
    middle = _as(middle, V)
    if not mode.computing_jvp:
        middle = (middle + mT(middle)) * 0.5   # Hermitian, as the input is taken to be
    return _matmul(_matmul(V, middle), mT(V)),


@op(name="linalg_eigh", multi=True, inputs=1, joint=_eigh_grad)
def _eigh(input, UPLO):
    try:
        return tuple(np.linalg.eigh(input, UPLO))
    except np.linalg.LinAlgError:
        raise LinAlgError(_no_convergence("linalg.eigh", input)) from None


def eigh(A, UPLO="L", *, out=None):
    """Eigenvalues (rising) and eigenvectors of Hermitian matrices, of which one triangle is read.

    >>> import tinytorch as torch
    >>> torch.linalg.eigh(torch.tensor([[2., 0.], [0., 1.]])).eigenvalues
    tensor([1., 2.])
    """
    _check("linalg.eigh", A)
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return to_outs(return_types.linalg_eigh, _eigh(A, UPLO.upper()), out)


def eigvalsh(A, UPLO="L", *, out=None):
    """The eigenvalues of `eigh`.

    >>> import tinytorch as torch
    >>> torch.linalg.eigvalsh(torch.tensor([[2., 0.], [0., 1.]]))
    tensor([1., 2.])
    """
    return write_out(out, eigh(A, UPLO)[0], exact=EXACT)


methods(inverse, det, slogdet, logdet, qr, svd, cholesky)
