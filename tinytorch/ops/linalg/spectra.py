"""Singular values and eigenvalues of (batches of) matrices: svd eigh eig."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt, return_types
from ...autograd.grad_mode import mode
from ...autograd.op import op
from ...autograd.promotion import EXACT, converted
from ...autograd.public import public
from ...kernels.errstate import ignored
from ...kernels.linalg import lapack
from ...kernels.linalg.triangles import columns
from ...kernels.looks import all_true
from ...tensor import Tensor, wrap
from ...types import Tensors
from ..reduction.reductions import raw
from .decompositions import LinAlgError, _check, _column, _eye, _failed_element, _inv, _rowwise, computed
from .products import _matmul, mT

__all__ = ["svd"]


# ------------------------------------------------------------------ singular values
def _in_dtype_of(x, other):
    """`x`, which may be real, in the dtype of `other`. Products of matrices need equal dtypes."""
    dtype = raw(other).dtype
    return converted(x, dtype) if isinstance(x, Tensor) else x.astype(dtype, copy=False)


def _gaps(values, sign):
    """1 / (v_j - v_i), or 1 / (v_j + v_i), with zeros on the diagonal."""
    n = values.shape[-1]
    eye = _eye(values, n)
    difference = _rowwise(values) + _column(values) * sign
    return 1 / (difference * (1 - eye) + eye) * (1 - eye)


def _check_phases(diagonal, message):
    """RuntimeError if a loss depends on the phases of complex vectors, which a decomposition does not determine."""
    if not mode.computing_jvp and not (np.abs(raw(diagonal).imag) <= 1e-2).all():
        raise RuntimeError(message)


def _diagonal(matrices):
    return raw(matrices).diagonal(0, -2, -1)


def _svd_grad(g, wanted, ans):
    """Townsend, "Differentiating the singular value decomposition", 2016."""
    U, S, Vh = ans
    gU, gS, gVh = g
    k = S.shape[-1]
    U, Vh = U[..., :k], Vh[..., :k, :]         # the input does not determine the rest of full matrices
    gU = None if gU is None else gU[..., :k]
    gVh = None if gVh is None else gVh[..., :k, :]
    middle = 0 if gS is None else _rowwise(gS) * _eye(gS, k)
    # A phase can be shifted between U and Vh: backward gives it to U, torch's forward mode half to each.
    phases = raw(U).dtype.kind in dt.COMPLEX and (0.25 if mode.computing_jvp else 0.5)
    if gU is not None or gVh is not None:
        turned = 0
        E = _gaps(S, -1) * _gaps(S, 1)         # 1 / (s_j^2 - s_i^2)
        if gU is not None:
            P = _matmul(mT(U), gU)
            middle = middle + (P - mT(P)) * E * _rowwise(S)
            if phases:
                turned = turned + _diagonal(P)
                middle = middle + (P - mT(P)) * _eye(S, k) * phases / _rowwise(S)
        if gVh is not None:
            P = _matmul(Vh, mT(gVh))
            middle = middle + _column(S) * ((P - mT(P)) * E)
            if phases:
                turned = turned + _diagonal(P)
            if phases and mode.computing_jvp:
                middle = middle - (P - mT(P)) * _eye(S, k) * phases / _rowwise(S)
        if phases:
            _check_phases(turned * 2, "svd_backward: The singular vectors in the complex case are specified up to "
                                      "multiplication by e^{i phi}. The specified loss function depends on this phase "
                                      "term, making it ill-defined.")
    total = _matmul(_matmul(U, _in_dtype_of(middle, U)), Vh)
    m, n = U.shape[-2], Vh.shape[-1]
    if gU is not None and m > k:
        scaled = gU / _rowwise(S)
        total = total + _matmul(scaled - _matmul(U, _matmul(mT(U), scaled)), Vh)
    if gVh is not None and n > k:
        scaled = gVh / _column(S)
        total = total + _matmul(U, scaled - _matmul(_matmul(scaled, mT(Vh)), Vh))
    return total,


@op(name="linalg_svd", batches="leading", multi=True, inputs=1, joint=_svd_grad)
def _svd(input, full):
    return computed(lambda x: svd_of(x, full), input)


def svd_of(array, full):
    """U, S and Vh. They are NaN for infinite matrices. LinAlgError for NaN, and if LAPACK does not converge."""
    finite = None
    if not all_true(np.isfinite(array)):       # OpenBLAS may never end for infinite matrices
        if np.isnan(array).any():
            raise LinAlgError(_no_convergence("linalg.svd", array))
        finite = np.asarray(np.isfinite(array).all((-1, -2)))
        array = np.where(finite[..., None, None], array, np.zeros((), array.dtype))
    try:
        with ignored():
            parts = lapack.svd(array, full)
    except np.linalg.LinAlgError:
        raise LinAlgError(_no_convergence("linalg.svd", array)) from None
    for part in parts if finite is not None else ():
        part[~finite] = np.nan
    return parts


def _no_convergence(name, array):
    failed = ~np.isfinite(array).all((-1, -2))
    reason = "contained non-finite values." if failed.any() else "is ill-conditioned or has too many repeated values."
    where = _failed_element(failed) if failed.any() else ""
    return f"{name}: {where}The algorithm failed to converge because the input matrix {reason}"


def _check_svd(A, driver=None):
    _check("linalg.svd", A, square=False, kernel="linalg_svd_cpu")
    if driver is not None:
        raise RuntimeError("torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
                           "cuSOLVER backend.")


@public(out=EXACT, apart=None, autocast="up", repeats=True)
def linalg_svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None,
               out: Tensors | None = None) -> return_types.linalg_svd:
    """A = U @ diag(S) @ Vh, with singular values S in falling order: the named tuple (U, S, Vh).

    >>> import tinytorch as torch
    >>> torch.linalg.svd(torch.tensor([[3., 0.], [0., 4.]])).S
    tensor([4., 3.])
    """
    _check_svd(A, driver)
    return return_types.linalg_svd(*_svd(A, full_matrices))


@public("linalg_svdvals", out=EXACT, apart=None, autocast="up", repeats=True)
def svdvals(A: Tensor, *, driver: str | None = None, out: Tensor | None = None) -> Tensor:
    """The singular values in falling order.

    >>> import tinytorch as torch
    >>> torch.linalg.svdvals(torch.tensor([[3., 0.], [0., 4.]]))
    tensor([4., 3.])
    """
    _check_svd(A, driver)
    return _svd(A, False)[1]


@public(out=EXACT, apart=None, method=True, autocast="up")
def svd(input: Tensor, some: bool = True, compute_uv: bool = True, *, out: Tensors | None = None) -> return_types.svd:
    """input = U @ diag(S) @ V^H: the named tuple (U, S, V). `some`: the reduced form.

    >>> import tinytorch as torch
    >>> torch.svd(torch.tensor([[3., 0.], [0., 4.]])).S
    tensor([4., 3.])
    """
    _check_svd(input)
    U, S, Vh = _svd(input, compute_uv and not some)
    if not compute_uv:
        batch, m, n = input._array.shape[:-2], *input._array.shape[-2:]
        U, V = (wrap(np.zeros((*batch, size, size), input._array.dtype)) for size in (m, n))
        return return_types.svd(U, S, V)
    return return_types.svd(U, S, Vh.mH)


# ------------------------------------------------------------------ eigenvalues of Hermitian matrices
_PHASES = ("{}_backward: The eigenvectors in the complex case are specified up to multiplication by e^{{i phi}}. The "
           "specified loss function depends on this quantity, so it is ill-defined.")


def _eigh_grad(g, wanted, ans):
    L, V = ans
    gL, gV = g
    n = V.shape[-1]
    middle = 0 if gL is None else _rowwise(gL) * _eye(gL, n)
    if gV is not None:
        P = _matmul(mT(V), gV)
        if raw(V).dtype.kind in dt.COMPLEX:
            _check_phases(_diagonal(P), _PHASES.format("linalg_eigh"))
        middle = middle + P * _gaps(L, -1)
    middle = _in_dtype_of(middle, V)
    if not mode.computing_jvp:
        middle = (middle + mT(middle)) * 0.5   # Hermitian, as the input
    return _matmul(_matmul(V, middle), mT(V)),


@op(name="linalg_eigh", multi=True, inputs=1, joint=_eigh_grad)
def _eigh(input, UPLO):
    try:
        return computed(lambda x: lapack.eigh(x, UPLO), input)
    except np.linalg.LinAlgError:
        raise LinAlgError(_no_convergence("linalg.eigh", input)) from None


@public("linalg_eigh", out=EXACT, apart=None, autocast="up", repeats=True)
def eigh(input: Tensor, UPLO: str = "L", *, out: Tensors | None = None) -> return_types.linalg_eigh:
    """Eigenvalues (in rising order) and eigenvectors of Hermitian matrices. Only one triangle is read.

    >>> import tinytorch as torch
    >>> torch.linalg.eigh(torch.tensor([[2., 0.], [0., 1.]])).eigenvalues
    tensor([1., 2.])
    """
    _check("linalg.eigh", input, kernel="linalg_eigh_cpu", by_kernel=dt.INTEGRAL + dt.FLOATING)
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return return_types.linalg_eigh(*_eigh(input, UPLO.upper()))


@public("linalg_eigvalsh", out=EXACT, apart=None, autocast="up")
def eigvalsh(input: Tensor, UPLO: str = "L", *, out: Tensor | None = None) -> Tensor:
    """The eigenvalues of `eigh`.

    >>> import tinytorch as torch
    >>> torch.linalg.eigvalsh(torch.tensor([[2., 0.], [0., 1.]]))
    tensor([1., 2.])
    """
    return eigh(input, UPLO)[0]


# ------------------------------------------------------------------ eigenvalues of any square matrix
def _eig_grad(g, wanted, ans):
    """Magnus, "On differentiating eigenvalues and eigenvectors", 1985, for eigenvectors of length 1."""
    (L, V), (gL, gV) = ans, g
    Vh, eye = mT(V), _eye(V, V.shape[-1])
    middle = 0 if gL is None else _rowwise(gL) * eye
    if gV is not None:
        P = _matmul(Vh, gV)
        _check_phases(_diagonal(P), _PHASES.format("linalg_eig"))
        real = (P + P.conjugate()) * eye * 0.5
        middle = middle + (P - _matmul(_matmul(Vh, V), real)) * _gaps(L, -1).conjugate()
    return _matmul(_matmul(_inv(Vh), middle), Vh),


@op(name="linalg_eig", multi=True, inputs=1, joint=_eig_grad)
def _eig(input, real):
    if not np.isfinite(input).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    L, V = np.linalg.eig(input.real if real else input)
    return L.astype(input.dtype), columns(V.astype(input.dtype))


@public("linalg_eig", out="", apart=None, autocast="up")
def eig(input: Tensor, *, out: Tensors | None = None) -> return_types.linalg_eig:
    """Eigenvalues and eigenvectors (columns of length 1) of square matrices. The results are always complex.

    >>> import tinytorch as torch
    >>> torch.linalg.eig(torch.tensor([[0., 1.], [-1., 0.]])).eigenvalues
    tensor([0.+1.j, 0.-1.j])
    """
    _check("linalg.eig", input, kernel="linalg_eig_out_cpu", empty=False)
    real = input._array.dtype.kind in dt.NATIVE
    complex_type = np.result_type(input._array.dtype, np.complex64)
    return return_types.linalg_eig(*_eig(converted(input, complex_type), real))


@public("linalg_eigvals", out="", apart=None, autocast="up")
def eigvals(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The eigenvalues of `eig`.

    >>> import tinytorch as torch
    >>> torch.linalg.eigvals(torch.tensor([[2., 0.], [0., 1.]]))
    tensor([2.+0.j, 1.+0.j])
    """
    return eig(input)[0]
