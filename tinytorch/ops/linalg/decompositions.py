"""Linear algebra on (batches of) matrices: inv det solve cholesky qr."""
from __future__ import annotations

from functools import lru_cache

import numpy as np

from ... import dtypes as dt, return_types
from ...autograd.grad_mode import mode
from ...autograd.op import op, renamed
from ...autograd.promotion import EXACT, check_broadcast, underivable
from ...autograd.public import public
from ...errors import not_implemented, type_name, warn_once
from ...kernels.errstate import ignored
from ...kernels.linalg import lapack, triangles
from ...kernels.linalg.triangles import columns
from ...tensor import Tensor, wrap
from ...types import Tensors
from ..elementwise.where import where
from ..reduction.reductions import like, raw
from .products import _matmul, mT

__all__ = ["cholesky", "det", "inverse", "logdet", "qr", "slogdet"]


class _LinAlgError(RuntimeError):
    """The error of torch.linalg for a matrix for which an operation is not defined."""


LinAlgError = _LinAlgError                     # torch.linalg's name for it


# ------------------------------------------------------------------ checks
def _check(name, A, square=True, argument="A", kernel=None, by_kernel=dt.FLOATING, narrow=False, refusal=None,
           empty=True):
    """torch's RuntimeError unless A is floating-point matrices (square ones). `kernel`: the name of torch's routine,
    which refuses the kinds `by_kernel` with NotImplementedError, but (with `empty`) accepts matrices without elements.
    `narrow`: float16 is accepted too. `refusal`: the message for all other dtypes."""
    array = A._array
    if array.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {argument} must have at least 2 dimensions.")
    if square and array.shape[-1] != array.shape[-2]:
        raise RuntimeError(f"{name}: {argument} must be batches of square matrices, "
                           f"but they are {array.shape[-2]} by {array.shape[-1]} matrices")
    if array.dtype.char in "fdFD" or narrow and array.dtype.char == "e":
        return
    if kernel and array.dtype.kind in by_kernel:
        if array.size or not empty:
            raise not_implemented(kernel, A)
        return
    if refusal is not None:
        raise RuntimeError(refusal)
    if array.dtype.kind in dt.INTEGRAL:
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {type_name(A)}")
    raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {type_name(A)}")


def computed(function, *arrays):
    """function(*arrays), which is one array or several, with each matrix in column order. For a dtype that LAPACK lacks
    the matrices must be without elements. The results then have that dtype."""
    dtype = arrays[0].dtype
    if dtype.char in "fdFD":
        result = function(*arrays)
        several = isinstance(result, tuple)
        results = result if several else [result]
    else:
        wide = np.complex64 if dt.is_complex(dtype) else np.float32
        result = function(*[np.zeros(x.shape, wide) for x in arrays])
        several = isinstance(result, tuple)
        results = [dt.stored(np.asarray(x), dtype) for x in (result if several else [result])]
    results = [_in_columns(x) if x.ndim >= arrays[0].ndim else x for x in results]
    return tuple(results) if several else results[0]


def _in_columns(x):
    """New matrices in column order. Those of lapack.py are in this order, np.linalg's are not."""
    return columns(x) if x.flags.c_contiguous else x


def singular(name, failed, zeros):
    """The LinAlgError of an inverse. `failed`: which matrices are singular. `zeros`: which diagonal elements are
    zero."""
    which = int(np.flatnonzero(failed.reshape(-1))[0])
    k = int(np.flatnonzero(zeros.reshape(-1, zeros.shape[-1])[which])[0]) + 1
    return LinAlgError(f"{name}: {_failed_element(failed)}The diagonal element {k} is zero, the inversion could not be "
                       "completed because the input matrix is singular.")


def _failed_element(failed):
    """The start of torch's messages: which matrix of a batch failed first."""
    return f"(Batch element {int(np.flatnonzero(failed)[0])}): " if failed.ndim else ""


def _rowwise(x):
    """Vectors as matrices of one row, to scale columns with."""
    return x[..., None, :]


def _column(x):
    return x[..., None]


def _scalars(x):
    """Numbers as matrices of one element, to scale matrices with."""
    return x[..., None, None]


def _eye(g, n):
    return like(g, _weights(n, 0, 1, raw(g).dtype))


# ------------------------------------------------------------------ inverse, determinant, solve
@op(name="linalg_inv_ex", batches="leading", input=lambda g, ans: -_matmul(_matmul(mT(ans), g), mT(ans)),
    called={"result": "inverse"})
def _inv(input):
    try:
        return _in_columns(lapack.inv(input))
    except np.linalg.LinAlgError:
        finite = np.isfinite(input).all((-1, -2))
        failed = finite & (np.linalg.matrix_rank(np.where(_scalars(finite), input, 1)) < input.shape[-1])
        if not failed.any() and not finite.all():
            return columns(triangles.inverses(input))
        where, k = _failed_element(failed), _zero_pivot(input, failed)
        raise LinAlgError(f"linalg.inv: {where}The diagonal element {k} is zero, the "
                          "inversion could not be completed because the input matrix is singular.") from None


def _zero_pivot(matrices, failed):
    """The (1-based) column at which elimination finds no pivot in the first failed matrix."""
    matrix = matrices.reshape(-1, *matrices.shape[-2:])[np.flatnonzero(failed)[0] if failed.any() else 0]
    n = matrix.shape[-1]
    return next((k for k in range(1, n + 1) if np.linalg.matrix_rank(matrix[:, :k]) < k), n)


@public("linalg_inv", out=EXACT, apart=None, autocast="up")
def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverses of (..., n, n) matrices. LinAlgError (a RuntimeError) for a singular matrix.

    >>> import tinytorch as torch
    >>> torch.linalg.inv(torch.tensor([[2., 0.], [0., 4.]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    _check("linalg.inv", A)
    return _inv(A)


@public(out=EXACT, apart=None, method=True, autocast="up")
def inverse(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`torch.linalg.inv`.

    >>> import tinytorch as torch
    >>> torch.inverse(torch.tensor([[2.]]))
    tensor([[0.5000]])
    """
    return inv(input)


def _factored(array):
    """(u, s, vh, the conjugate of det(u vh), finite) with A = u s vh. `finite` says which matrices are finite. The
    others are replaced by zeros, and their results by NaN later."""
    finite = np.isfinite(array).all((-1, -2), keepdims=True)
    u, s, vh = np.linalg.svd(np.where(finite, array, np.zeros((), array.dtype)))
    return u, s, vh, np.linalg.det(np.matmul(u, vh)).conjugate(), finite


def _cofactors_grad(g, input):
    if not isinstance(g, Tensor):
        return _cofactors_slopes.op.forward(g, input)
    try:                                       # this form can be differentiated again if no matrix is singular
        inverse = mT(_inv(input))
    except LinAlgError:
        return _cofactors_slopes(g, input)
    inside = _matmul(mT(g), inverse)
    trace = inside.diagonal(0, -2, -1).sum(-1)
    return _scalars(_det(input).conjugate()) * (_scalars(trace) * inverse - _matmul(inverse, inside))


@op(name="linalg_det", g=lambda grad, g, input: _cofactors_slopes(grad, input), input=underivable("linalg_det"))
def _cofactors_slopes(g, input):
    """The gradient of the matrix from the gradient g of its cofactors, computed without a division. The second
    derivative of det is symmetric, so the function also gives the tangent of the cofactors."""
    u, s, vh, sign, finite = _factored(input)
    n = s.shape[-1]
    places, same = np.arange(n), np.eye(n, dtype=bool)
    others = np.empty((*s.shape, n), s.dtype)  # [i, j]: the product of all but s_i and s_j; 0 if i = j
    for i in range(n):
        others[..., i, :] = np.where(same | same[i], 1, s[..., None, :]).prod(-1)
    others[..., places, places] = 0
    inner = sign.conjugate()[..., None, None] * np.matmul(np.matmul(mT(u), g), mT(vh))
    moved = -others * inner.swapaxes(-1, -2)
    moved[..., places, places] = (others * np.diagonal(inner, 0, -2, -1)[..., None, :]).sum(-1)
    return np.where(finite, np.matmul(np.matmul(u, moved.conjugate()), vh), np.nan)


@op(name="linalg_det", input=lambda g, input: _cofactors_grad(g, input))
def _cofactors(input):
    """The derivative of det: det(A) A^-H if A is well conditioned. Else it is computed without a division, which works
    for singular matrices too."""
    matrices = input.reshape(-1, *input.shape[-2:]).astype(np.result_type(input.dtype, np.float64))
    size = np.linalg.det(matrices)
    plain = np.isfinite(size) & (size != 0)
    inverse = np.linalg.inv(np.where(plain[:, None, None], matrices, np.eye(input.shape[-1])))
    plain &= np.abs(matrices).sum(-2).max(-1) * np.abs(inverse).sum(-2).max(-1) < _WELL_CONDITIONED
    result = (size[:, None, None] * inverse).conjugate().swapaxes(-1, -2)
    if not plain.all():
        result[~plain] = _exact_cofactors(matrices[~plain])
    return result.astype(input.dtype).reshape(input.shape)


#: The largest condition number (in the 1-norm) for which an inverse in double precision loses at most three digits.
_WELL_CONDITIONED = 1000


def _exact_cofactors(matrices):
    u, s, vh, sign, finite = _factored(matrices)
    others = np.stack([np.delete(s, k, -1).prod(-1) for k in range(s.shape[-1])], -1)
    return np.where(finite, sign[..., None, None] * np.matmul(u * others[..., None, :], vh), np.nan)


def _det_grad(g, input):
    if not raw(input).size:
        return like(input, np.zeros(input.shape, raw(input).dtype))
    return _scalars(g) if input.shape[-1] == 1 else _scalars(g) * _cofactors(input)


@op(name="linalg_det", batches="leading", input=lambda g, input: _det_grad(g, input))
def _det(input):
    return computed(np.linalg.det, input)


@public(out=EXACT, apart=None)
def linalg_det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The determinants of (..., n, n) matrices.

    >>> import tinytorch as torch
    >>> torch.linalg.det(torch.tensor([[2., 0.], [0., 4.]]))
    tensor(8.)
    """
    _check("linalg.det", A, kernel="lu_cpu")
    return _det(A)


@public(method=True)
def det(input: Tensor) -> Tensor:
    """`torch.linalg.det`.

    >>> import tinytorch as torch
    >>> torch.det(torch.tensor([[1., 2.], [3., 4.]]))
    tensor(-2.)
    """
    return linalg_det(input)


def _slogdet_grad(g, wanted, input, ans):
    sign, size = g
    try:
        inverse = mT(_inv(input))
    except LinAlgError:                        # an inverse with infinities, from the factors
        inverse = like(input, triangles.inverses(mT(raw(input))))
    total = input * 0 if size is None else _scalars(size) * inverse
    if sign is not None and raw(input).dtype.kind in dt.COMPLEX:
        s = ans[0]
        turned = (sign.conjugate() * s).imag   # the sign changes only with the angle of the determinant
        total = total + _scalars(turned * -1j) * inverse
    return total,


@op(name="linalg_slogdet", batches="leading", multi=True, joint=_slogdet_grad, saved_outputs=(0,))
def _slogdet(input):
    sign, size = map(np.asarray, np.linalg.slogdet(input))
    if input.size and not sign.all():
        sign, size = sign.copy(), size.copy()
        by_rows = input.flags.c_contiguous and input.dtype.kind not in dt.COMPLEX      # torch factors it transposed
        triangles.log_determinants(input.swapaxes(-1, -2) if by_rows else input, sign, size)
    return sign, size


@public(out=EXACT, apart=None)
def linalg_slogdet(A: Tensor, *, out: Tensors | None = None) -> return_types.linalg_slogdet:
    """The sign and the logarithm of the absolute value of the determinant, as (sign, logabsdet).

    >>> import tinytorch as torch
    >>> torch.linalg.slogdet(torch.eye(2))
    torch.return_types.linalg_slogdet(
    sign=tensor(1.),
    logabsdet=tensor(0.))
    """
    _check("linalg.slogdet", A)
    return return_types.linalg_slogdet(*_slogdet(A))


@public(out=EXACT, apart=None, method=True)
def slogdet(input: Tensor, *, out: Tensors | None = None) -> return_types.slogdet:
    """`torch.linalg.slogdet`.

    >>> import tinytorch as torch
    >>> torch.slogdet(torch.tensor([[2., 0.], [0., 3.]])).logabsdet
    tensor(1.7918)
    """
    return return_types.slogdet(*linalg_slogdet(input))


@public(method=True)
def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant. NaN if that is negative.

    >>> import tinytorch as torch
    >>> torch.logdet(torch.eye(2))
    tensor(0.)
    """
    _check("logdet", input)
    sign, size = _slogdet(input)
    if input._array.dtype.kind in dt.COMPLEX:
        return size + sign.log()
    return where(wrap(sign._array == -1), np.nan, size)


@op(name="linalg_solve_ex", first=2, joint=lambda g, wanted, vectors, left, A, ans: _solve_grad(
    g, wanted, vectors, left, A, ans))
def _solve(vectors, left, A, B):
    if not left:
        return _solve(False, True, A.swapaxes(-1, -2), B.swapaxes(-1, -2)).swapaxes(-1, -2)
    try:
        X = computed(np.linalg.solve, A, B[..., None] if vectors else B)
    except np.linalg.LinAlgError:
        failed = np.linalg.matrix_rank(A) < A.shape[-1]
        raise LinAlgError(f"torch.linalg.solve: {_failed_element(failed)}The solver failed because the input matrix is "
                          "singular.") from None
    return columns(X[..., 0]) if vectors else X


def _solve_grad(g, wanted, vectors, left, A, X):
    back = _solve(vectors, left, mT(A), g)
    if not wanted[0]:
        return None, back
    if vectors:
        return -(_column(back) * X[..., None, :].conjugate()), back
    return -(_matmul(back, mT(X)) if left else _matmul(mT(X), back)), back


@public("linalg_solve", out=EXACT, apart=None, autocast="up")
def solve(A: Tensor, B: Tensor, *, left: bool = True, out: Tensor | None = None) -> Tensor:
    """X with A @ X = B (X @ A = B if not `left`), for (..., n, n) A and (..., n, k) or (..., n) B.

    LinAlgError (a RuntimeError) for a singular A.

    >>> import tinytorch as torch
    >>> torch.linalg.solve(torch.tensor([[2., 0.], [0., 4.]]), torch.tensor([2., 2.]))
    tensor([1.0000, 0.5000])
    """
    if A._array.dtype.char not in "eV" or A._array.dtype == B._array.dtype:
        _check("linalg.solve", A, kernel="lu_cpu")
    vectors = _check_sides(A, B, left)
    return _solve(vectors, left or vectors, A, B)


def _check_sides(A, B, left):
    """Whether B is a batch of vectors. RuntimeError unless it fits A in the equation to be solved."""
    if A._array.dtype != B._array.dtype:
        raise RuntimeError(f"linalg.solve: Expected A and B to have the same dtype, but found A of type "
                           f"{type_name(A)} and B of type {type_name(B)} instead")
    a, b = A._array.shape, B._array.shape
    vectors = len(b) == 1 or len(b) == len(a) - 1 and b == a[:-1]
    if not b:
        raise RuntimeError("linalg.solve: The input tensor B must have at least 2 dimensions.")
    rows, count = (b[-1], 1) if vectors else b[-2:]
    if (rows if left else count) != a[-1]:
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(f"linalg.solve: Incompatible shapes of A and B for the equation {equation} "
                           f"({a[-2]}x{a[-1]} and {rows}x{count})")
    if not vectors:
        check_broadcast(b[:-2], a[:-2])
    return vectors


# ------------------------------------------------------------------ cholesky, qr
def _lower(x, diagonal):
    """The lower triangle of matrices, with the diagonal multiplied by a number."""
    return x * like(x, _weights(x.shape[-1], 1, diagonal, raw(x).real.dtype))


@lru_cache(64)
def _weights(n, below, on, dtype):
    """A matrix with one number below its diagonal, another on it, and zeros above. It is read alone."""
    weights = (np.tril(np.ones((n, n)), -1) * below + np.eye(n) * on).astype(dtype)
    weights.flags.writeable = False
    return weights


def _cholesky_grad(g, L):
    inner = _inv(L)
    P = _matmul(mT(L), g)
    middle = _lower(P, 0.5) if mode.computing_jvp else (_lower(P, 1) + mT(_lower(P, 0))) * 0.5
    return _matmul(_matmul(mT(inner), middle), inner)


@op(name="linalg_cholesky_ex", batches="leading",
    input=lambda g, ans, upper: _cholesky_grad(*(map(mT, (g, ans)) if upper else (g, ans))))
def _cholesky(input, upper):
    if upper:
        input = mT(input)                      # LAPACK reads the lower triangle
    try:
        L = computed(lapack.cholesky, input)
    except np.linalg.LinAlgError:
        raise _not_positive(input) from None
    if input.size and _has_nan_on_diagonal(L):
        raise _not_positive(input)
    return columns(mT(L)) if upper else L


def _has_nan_on_diagonal(L):
    """Whether a number on the diagonals of triangular factors is NaN. Then all further ones of its matrix are, too."""
    if type(L) is np.ndarray and L.ndim == 2:
        last = L.item(-1)
        return last != last
    return np.isnan(L.diagonal(0, -2, -1).real).any()


_older_cholesky = renamed(_cholesky, "cholesky")


def _not_positive(matrices):
    """The LinAlgError for the first matrix that is not positive-definite."""
    minors = [_bad_minor(matrix) for matrix in matrices.reshape(-1, *matrices.shape[-2:])]
    failed = np.array(minors).reshape(matrices.shape[:-2]) > 0
    where = _failed_element(failed) if failed.any() else ""
    k = next((k for k in minors if k), matrices.shape[-1])
    return LinAlgError(f"linalg.cholesky: {where}The factorization could not be completed because the input is not "
                       f"positive-definite (the leading minor of order {k} is not positive-definite).")


def _bad_minor(matrix):
    """The order of the first leading minor that is not positive-definite; 0 if all minors are."""
    with ignored():
        return next((k for k in range(1, matrix.shape[-1] + 1) if not _is_positive(matrix[:k, :k])), 0)


def _is_positive(matrix):
    try:
        return not np.isnan(matrix).any() and np.linalg.eigvalsh(matrix)[0] > 0
    except np.linalg.LinAlgError:              # for infinite numbers
        return False


@public(out=EXACT, apart=None, autocast="up", repeats=True)
def linalg_cholesky(input: Tensor, *, upper: bool = False, out: Tensor | None = None) -> Tensor:
    """The lower triangular L with L @ L^H = input, which must be positive-definite (or `upper`: U with U^H @ U).

    >>> import tinytorch as torch
    >>> torch.linalg.cholesky(torch.tensor([[4., 0.], [0., 9.]]))
    tensor([[2., 0.],
            [0., 3.]])
    """
    _check("linalg.cholesky", input, kernel="cholesky_cpu")
    return _cholesky(input, upper)


@public(out="", apart=None, method=True, autocast="up")
def cholesky(input: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor:
    """`torch.linalg.cholesky` under its older name.

    >>> import tinytorch as torch
    >>> torch.cholesky(torch.tensor([[4., 0.], [0., 9.]]))
    tensor([[2., 0.],
            [0., 3.]])
    """
    warn_once("torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a future PyTorch "
              "release.\nL = torch.cholesky(A)\nshould be replaced with\nL = torch.linalg.cholesky(A)\nand\n"
              "U = torch.cholesky(A, upper=True)\nshould be replaced with\nU = torch.linalg.cholesky(A).mH\n"
              "This transform will produce equivalent results for all valid (symmetric positive definite) inputs.")
    _check("linalg.cholesky", input, kernel="cholesky_cpu", by_kernel=dt.INTEGRAL + dt.FLOATING)
    try:
        return _older_cholesky(input, upper)
    except LinAlgError as error:
        raise LinAlgError(str(error).removeprefix("linalg.")) from None


def _qr_grad(g, wanted, ans, mode):
    Q, R = ans
    gQ, gR = g
    if mode == "r":
        raise RuntimeError("The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
                           "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr.")
    rows, columns = Q.shape[-2], R.shape[-1]
    if Q.shape[-1] != min(rows, columns):
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols")
    if rows < columns:                         # A = (X Y), R = (U V): X = Q U, V = Q^H Y
        U, Y = R[..., :rows], _matmul(Q, R[..., rows:])
        gU = None if gR is None else gR[..., :rows]
        if gR is not None:
            gV = gR[..., rows:]
            gQ = _matmul(Y, mT(gV)) + (0 if gQ is None else gQ)
        left = _square_qr_grad(gQ, gU, Q, U)
        right = _matmul(Q, gV) if gR is not None else Y * 0
        return _joined_columns(left, right),
    return _square_qr_grad(gQ, gR, Q, R),


def _joined_columns(left, right):
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
    lower = like(M, _weights(n, 1, 0, raw(M).real.dtype))
    half = like(M, _weights(n, 0, 1, raw(M).real.dtype))
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
    if mode == "r":
        return np.empty(0, input.dtype), columns(np.linalg.qr(input, mode))
    return tuple(map(_in_columns, lapack.qr(input, mode == "complete")))


@public(out=EXACT, apart=None, autocast="up", repeats=True)
def linalg_qr(A: Tensor, mode: str = "reduced", *, out: Tensors | None = None) -> return_types.linalg_qr:
    """A = Q @ R with orthonormal columns of Q and an upper triangular R. mode: reduced, complete, r (without Q).

    >>> import tinytorch as torch
    >>> Q, R = torch.linalg.qr(torch.eye(2)); R.abs()
    tensor([[1., 0.],
            [0., 1.]])
    """
    _check("linalg.qr", A, square=False, kernel="geqrf_cpu", empty=False)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or "
                           "'complete'")
    return return_types.linalg_qr(*_qr(A, mode))


@public(out=EXACT, apart=None, method=True, autocast="up")
def qr(input: Tensor, some: bool = True, *, out: Tensors | None = None) -> return_types.qr:
    """`torch.linalg.qr`, reduced if `some` and complete otherwise.

    >>> import tinytorch as torch
    >>> torch.qr(torch.tensor([[1., 0.], [0., 2.]])).R.abs()
    tensor([[1., 0.],
            [0., 2.]])
    """
    warn_once("torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future PyTorch release.\n"
              "The boolean parameter 'some' has been replaced with a string parameter 'mode'.\nQ, R = torch.qr(A, "
              "some)\nshould be replaced with\nQ, R = torch.linalg.qr(A, 'reduced' if some else 'complete')")
    return return_types.qr(*linalg_qr(input, "reduced" if some else "complete"))
