"""The LU decomposition: lu_factor lu lu_unpack lu_solve, and their older names."""
from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes as dt, return_types
from ...autograd.op import op
from ...autograd.promotion import EXACT
from ...autograd.public import public
from ...errors import type_name, warn_once
from ...kernels.linalg import lu as kernels
from ...kernels.linalg.triangles import columns
from ...tensor import Tensor, wrap
from ...types import Tensors
from ..reduction.reductions import like, raw
from .decompositions import _check, _failed_element, _joined_columns
from .products import _matmul, mT
from .triangular import _solve_triangular, _triangle

__all__ = ["lu", "lu_solve", "lu_unpack"]


# ------------------------------------------------------------------ derivatives
def _lu_grad(gL, gU, P, L, U):
    """The gradient of P @ L @ U. In wide and tall matrices the rest is solved by a factor of the square part."""
    m, n = L.shape[-2], U.shape[-1]
    k = min(m, n)
    L1, U1 = L[..., :k, :], U[..., :k]
    below, above = None, None
    if gL is not None:
        below = _matmul(mT(L1), gL[..., :k, :])
        if m > k:
            above = -_matmul(mT(L[..., k:, :]), gL[..., k:, :])
    if gU is not None:
        product = _matmul(gU[..., :k], mT(U1))
        above = product if above is None else above + product
        if n > k:
            product = -_matmul(gU[..., k:], mT(U[..., k:]))
            below = product if below is None else below + product
    inner = 0 if below is None else _triangle(below, False, 1)
    if above is not None:
        inner = inner + _triangle(above, True)
    inner = _solve_triangular(True, True, True, mT(L1), _solve_triangular(False, False, False, mT(U1), inner))
    if n > k:
        beside = _solve_triangular(True, True, True, mT(L1), gU[..., k:]) if gU is not None else U[..., k:] * 0
        inner = _joined_columns(inner, beside)
    elif m > k:
        beside = gL[..., k:, :] if gL is not None else L[..., k:, :] * 0
        inner = _joined_rows(inner, _solve_triangular(False, False, False, mT(U1), beside))
    return _matmul(like(inner, P), inner)


def _joined_rows(upper, lower):
    if isinstance(upper, Tensor):
        from ..layout.join import cat
        return cat([upper, lower], -2)
    return np.concatenate([upper, lower], -2)


def _factors(LU):
    """L and U of arrays or tensors."""
    k = min(LU.shape[-2:])
    L = _triangle(LU[..., :k], False, 1)
    return L + like(L, np.eye(L.shape[-2], k, dtype=raw(L).dtype)), _triangle(LU[..., :k, :], True)


def _factor_grad(g, wanted, ans):
    LU, pivots, _ = ans
    gLU, k = g[0], min(LU.shape[-2:])
    P = kernels.permutation(raw(pivots), LU.shape[-2], raw(LU).dtype)
    return _lu_grad(gLU[..., :k], gLU[..., :k, :], P, *_factors(LU)),


@op(name="linalg_lu_factor_ex", batches="leading", multi=True, joint=_factor_grad, saved_outputs=(0, 1))
def _factor(input):
    LU, pivots, info = kernels.factored(input)
    return columns(LU), pivots, info


@op(name="linalg_lu", batches="leading", multi=True,
    joint=lambda g, wanted, ans: (_lu_grad(g[1], g[2], raw(ans[0]), *ans[1:]),))
def _lu(input):
    LU, pivots, _ = kernels.factored(input)
    return kernels.permutation(pivots, input.shape[-2], input.dtype), *kernels.unpacked(LU)


def _unpack_grad(g, wanted, shape):
    m, n = shape
    total = 0
    for part, upper, missing in ((g[0], False, n - min(m, n)), (g[1], True, m - min(m, n))):
        if part is None:
            continue
        part = _triangle(part, upper, 0 if upper else 1)
        if missing:
            size = (*part.shape[:-2], missing, n) if upper else (*part.shape[:-2], m, missing)
            zeros = like(part, np.zeros(size, raw(part).dtype))
            part = _joined_rows(part, zeros) if upper else _joined_columns(part, zeros)
        total = part + total
    return total,


@op(name="lu_unpack", batches="leading", first=1, multi=True,
    joint=lambda g, wanted, size: _unpack_grad(g, wanted, size))
def _unpack(size, LU):
    return kernels.unpacked(LU)


def _solve_grad(g, wanted, left, adjoint, pivots, LU, ans):
    back = _solve(left, not adjoint, pivots, LU, g)
    if not wanted[1]:
        return None, None, back
    if left:
        of_A = _matmul(ans, mT(back)) if adjoint else _matmul(back, mT(ans))
    else:
        of_A = _matmul(mT(back), ans) if adjoint else _matmul(mT(ans), back)
    L, U = _factors(LU)
    P = like(of_A, kernels.permutation(raw(pivots), LU.shape[-1], raw(LU).dtype))
    of_A = -_matmul(mT(P), of_A)
    return None, _triangle(_matmul(of_A, mT(U)), False, 1) + _triangle(_matmul(mT(L), of_A), True), back


@op(name="linalg_lu_solve", first=2, joint=_solve_grad)
def _solve(left, adjoint, pivots, LU, B):
    if left:
        return columns(kernels.solution(LU, pivots, B, adjoint))
    return mT(columns(kernels.solution(LU, pivots, mT(B), not adjoint)))


# ------------------------------------------------------------------ factors
def _check_matrix(name, A):
    if A._array.ndim < 2:
        raise RuntimeError(f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(A._array.shape)} "
                           "instead")
    _check(name, A, square=False, kernel="lu_cpu", by_kernel=dt.INTEGRAL + dt.FLOATING, empty=False)


def _factored(name, A, pivot, check_errors):
    _check_matrix("torch.lu_factor", A)
    if not pivot and A._array.size:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    LU, pivots, info = _factor(A)
    if check_errors and info._array.any():
        k = int(info._array[info._array != 0].reshape(-1)[0])
        raise RuntimeError(f"{name}: {_failed_element(info._array != 0)}U[{k},{k}] is zero and using it on lu_solve "
                           "would result in a division by zero. If you still want to perform the factorization, "
                           "consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)")
    return LU, pivots, info


@public("linalg_lu_factor_ex", out=EXACT, apart=None)
def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False,
                 out: Tensors | None = None) -> return_types.linalg_lu_factor_ex:
    """`lu_factor`, where `info` (int32) is the number of the first pivot that is zero, or 0.

    >>> import tinytorch as torch
    >>> torch.linalg.lu_factor_ex(torch.ones(2, 2)).info
    tensor(2, dtype=torch.int32)
    """
    return return_types.linalg_lu_factor_ex(*_factored("torch.linalg.lu_factor_ex", A, pivot, check_errors))


@public("linalg_lu_factor", out=EXACT, apart=None)
def lu_factor(A: Tensor, *, pivot: bool = True, out: Tensors | None = None) -> return_types.linalg_lu_factor:
    """A = P @ L @ U of (..., m, n) matrices. One matrix holds L (without its unit diagonal) and U. The pivots (int32)
    are counted from 1: step i exchanged the rows i and pivots[i]. RuntimeError for a zero pivot.

    >>> import tinytorch as torch
    >>> torch.linalg.lu_factor(torch.tensor([[1., 2.], [4., 4.]]))
    torch.return_types.linalg_lu_factor(
    LU=tensor([[4.0000, 4.0000],
            [0.2500, 1.0000]]),
    pivots=tensor([2, 2], dtype=torch.int32))
    """
    return return_types.linalg_lu_factor(*_factored("torch.linalg.lu_factor", A, pivot, True)[:2])


@public("linalg_lu", out=EXACT, apart=None, autocast="up")
def linalg_lu(A: Tensor, *, pivot: bool = True, out: Tensors | None = None) -> return_types.linalg_lu:
    """A = P @ L @ U: the named tuple (P, L, U).

    >>> import tinytorch as torch
    >>> torch.linalg.lu(torch.tensor([[1., 2.], [4., 4.]])).U
    tensor([[4., 4.],
            [0., 1.]])
    """
    _check_matrix("linalg.lu", A)
    if not pivot and A._array.size:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    P, L, U = _lu(A)
    permutation = wrap(P._array if pivot else np.empty(0, A._array.dtype))
    permutation._version_counter = P._version_counter            # it has no history, but backward has saved its memory
    return return_types.linalg_lu(permutation, L, U)


@public("_lu_with_info", method=True, autocast="up", in_python=True)
def lu(A: Tensor, pivot: bool = True, get_infos: Any = False, out: Tensors | None = None) -> tuple[Tensor, ...]:
    """`torch.linalg.lu_factor` under its older name: (LU, pivots). With `get_infos`: (LU, pivots, info), where a zero
    pivot is no error."""
    warn_once("torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and will be "
              "removed in a future PyTorch release.\nLU, pivots = torch.lu(A, compute_pivots)\nshould be replaced "
              "with\nLU, pivots = torch.linalg.lu_factor(A, compute_pivots)\nand\n"
              "LU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)\nshould be replaced with\n"
              "LU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)")
    found = _factored("torch.linalg.lu_factor_ex", A, pivot, not get_infos)
    found = return_types._lu_with_info(*found) if get_infos else found[:2]
    if out is None:
        return found
    if not isinstance(out, (tuple, list)) or len(out) != len(found):
        raise TypeError(f"expected tuple of {len(found)} elements but got {len(out)}")
    for given, made in zip(out, found):
        given.resize_(made.shape).copy_(made)
    return tuple(out)


@public(out=EXACT, apart=None)
def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True, *,
              out: Tensors | None = None) -> return_types.lu_unpack:
    """P, L and U from the result of `lu_factor`. L and U are empty without `unpack_data`, and P without
    `unpack_pivots`.

    >>> import tinytorch as torch
    >>> torch.lu_unpack(*torch.linalg.lu_factor(torch.tensor([[1., 2.], [4., 4.]]))).P
    tensor([[0., 1.],
            [1., 0.]])
    """
    shape, pivots = LU_data._array.shape, LU_pivots._array
    if len(shape) < 2:
        raise RuntimeError("torch.lu_unpack: The input tensor LU_data must have at least 2 dimensions.")
    if unpack_pivots and pivots.dtype != np.int32:
        raise RuntimeError("torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
                           "Note: this function is intended to be used with the output produced by "
                           "torch.linalg.lu_factor")
    if unpack_pivots and pivots.size and not ((pivots >= 1) & (pivots <= shape[-2])).all():
        raise RuntimeError("pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive.Did you properly "
                           "pass the result of lu_factor?")
    P = kernels.permutation(pivots, shape[-2], LU_data._array.dtype) if unpack_pivots else \
        np.empty(0, LU_data._array.dtype)
    L, U = _unpack(shape[-2:], LU_data) if unpack_data else [wrap(np.empty(0, LU_data._array.dtype)) for _ in range(2)]
    return return_types.lu_unpack(wrap(P), L, U)


# ------------------------------------------------------------------ systems
@public("linalg_lu_solve", out=EXACT, apart=None, autocast="up")
def linalg_lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False,
                    out: Tensor | None = None) -> Tensor:
    """The X with A @ X = B (X @ A = B if not `left`), where `LU` and `pivots` are the result of `lu_factor` for A. With
    `adjoint`, A^H takes the place of A.

    >>> import tinytorch as torch
    >>> torch.linalg.lu_solve(*torch.linalg.lu_factor(torch.tensor([[2., 0.], [0., 4.]])), torch.ones(2, 1))
    tensor([[0.5000],
            [0.2500]])
    """
    if LU._array.dtype.kind not in "fc" or LU._array.dtype.itemsize == 2:
        _check("torch.linalg.lu_solve", LU)
    if pivots._array.dtype != np.int32:
        raise RuntimeError("linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32")
    if LU._array.dtype != B._array.dtype:
        raise RuntimeError(f"linalg.lu_solve: Expected LU and B to have the same dtype, but found LU of type "
                           f"{type_name(LU)} and B of type {type_name(B)} instead")
    _check("torch.linalg.lu_solve", LU)
    a, b = LU._array.shape, B._array.shape
    if len(b) < 2:
        raise RuntimeError("linalg.lu_solve: The input tensor B must have at least 2 dimensions.")
    if a[-1] != b[-2 if left else -1]:
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(f"linalg.lu_solve: Incompatible shapes of A and B for the equation {equation} "
                           f"({a[-2]}x{a[-1]} and {b[-2]}x{b[-1]})")
    if pivots._array.shape[-1:] != a[-1:]:
        raise RuntimeError("linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix")
    if pivots._array.shape[:-1] != a[:-2]:
        raise RuntimeError(f"linalg.lu_solve: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots "
                           f"with shape {list(pivots._array.shape)} instead")
    numbers = raw(pivots)
    if type(numbers) is np.ndarray and numbers.size and not (1 <= numbers.min() and numbers.max() <= a[-1]):
        which = "greater or equal to 1" if numbers.min() < 1 else "smaller or equal to LU.size(-2)"
        raise RuntimeError(f"Pivots given to lu_solve must all be {which}. Did you properly pass the result of "
                           "lu_factor?")
    return _solve(left, adjoint, pivots, LU, B)


@public(out=EXACT, apart=None, method=True, autocast="up")
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`torch.linalg.lu_solve` under its older name.

    >>> import tinytorch as torch
    >>> torch.lu_solve(torch.ones(2, 1), *torch.linalg.lu_factor(torch.tensor([[2., 0.], [0., 4.]])))
    tensor([[0.5000],
            [0.2500]])
    """
    warn_once("torch.lu_solve is deprecated in favor of torch.linalg.lu_solveand will be removed in a future PyTorch "
              "release.\nNote that torch.linalg.lu_solve has its arguments reversed.\n"
              "X = torch.lu_solve(B, LU, pivots)\nshould be replaced with\nX = torch.linalg.lu_solve(LU, pivots, B)")
    return linalg_lu_solve(LU_data, LU_pivots, input)
