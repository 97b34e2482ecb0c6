"""Triangular systems: solve_triangular triangular_solve cholesky_solve cholesky_inverse."""
from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes as dt, return_types
from ...autograd.op import op
from ...autograd.promotion import converted
from ...autograd.public import public
from ...errors import not_implemented, type_name, warn_once
from ...kernels.linalg import triangles
from ...kernels.linalg.triangles import columns
from ...tensor import Tensor
from ..reduction.reductions import masked
from .decompositions import _check, singular
from .products import _matmul, mT

__all__ = ["cholesky_inverse", "cholesky_solve", "triangular_solve"]


def _triangle(x, upper, beyond=0):
    """A triangle of matrices (with `beyond` without the diagonal), and zeros elsewhere."""
    ones = np.ones(x.shape[-2:], bool)
    return masked(x, np.triu(ones, beyond) if upper else np.tril(ones, -beyond))


# ------------------------------------------------------------------ systems of one triangle
def _solve_triangular_grad(g, wanted, upper, left, unitriangular, A, ans):
    back = _solve_triangular(not upper, left, unitriangular, mT(A), g)
    if not wanted[0]:
        return None, back
    product = _matmul(back, mT(ans)) if left else _matmul(mT(ans), back)
    return _triangle(-product, upper, int(unitriangular)), back


@op(name="linalg_solve_triangular", batches="leading", first=3, joint=_solve_triangular_grad)
def _solve_triangular(upper, left, unitriangular, A, B):
    if left:
        return columns(triangles.solved(A, B, upper, unitriangular))
    A, B = A.swapaxes(-1, -2), B.swapaxes(-1, -2)
    return columns(triangles.solved(A, B, not upper, unitriangular).swapaxes(-1, -2))


@public("linalg_solve_triangular", out="expected scalar type {Want} but found {Have}", apart=None)
def solve_triangular(input: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False,
                     out: Tensor | None = None) -> Tensor:
    """The X with A @ X = B (X @ A = B if not `left`), where A = `input` is triangular. Its other triangle is not read.

    >>> import tinytorch as torch
    >>> torch.linalg.solve_triangular(torch.tensor([[2., 9.], [0., 4.]]), torch.ones(2, 1), upper=False)
    tensor([[0.5000],
            [0.2500]])
    """
    _check("linalg.solve_triangular", input, kernel="triangular_solve_cpu", by_kernel=dt.INTEGRAL + dt.FLOATING,
           empty=False)
    a, b = input._array.shape, B._array.shape
    if len(b) < 2:
        raise RuntimeError("linalg.solve_triangular: The input tensor B must have at least 2 dimensions.")
    if a[-1] != b[-2 if left else -1]:
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(f"linalg.solve_triangular: Incompatible shapes of A and B for the equation {equation} "
                           f"({a[-2]}x{a[-1]} and {b[-2]}x{b[-1]})")
    return _solve_triangular(upper, left, unitriangular, input, converted(B, input._array.dtype))


def _triangular_solve_grad(g, wanted, upper, transpose, unitriangular, A, ans):
    of_solution, of_copy = g
    if of_solution is None:
        return None, of_copy
    back, _ = _solve_and_copy(upper, not transpose, unitriangular, of_solution, A.conjugate())
    if not wanted[1]:
        return back, None
    d = _triangle(-_matmul(back, mT(ans[0])), upper != transpose, int(unitriangular))
    d = d.swapaxes(-1, -2) if transpose else d
    return back, d if of_copy is None else d + of_copy


@op(name="triangular_solve", first=3, multi=True, joint=_triangular_solve_grad, saved_outputs=(0,))
def _solve_and_copy(upper, transpose, unitriangular, input, A):
    lead = np.broadcast_shapes(A.shape[:-2], input.shape[:-2])
    A, input = (np.broadcast_to(x, lead + x.shape[-2:]) for x in (A, input))
    M = A.swapaxes(-1, -2) if transpose else A
    return columns(triangles.solved(M, input, upper != transpose, unitriangular)), columns(A)


@public(out="", apart=None, method=True, autocast="up")
def triangular_solve(input: Tensor, A: Tensor, upper: bool = True, transpose: bool = False,
                     unitriangular: bool = False, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """(solution, cloned_coefficient): the X with A @ X = input (with `transpose`: A.T @ X = input) for triangular A,
    and a copy of A.

    >>> import tinytorch as torch
    >>> torch.triangular_solve(torch.ones(2, 1), torch.tensor([[2., 0.], [9., 4.]])).solution
    tensor([[0.5000],
            [0.2500]])
    """
    warn_once("torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangularand will be removed in a "
              "future PyTorch release.\ntorch.linalg.solve_triangular has its arguments reversed and does not return a "
              "copy of one of the inputs.\nX = torch.triangular_solve(B, A).solution\nshould be replaced with\n"
              "X = torch.linalg.solve_triangular(A, B).")
    for name, x in (("b", input), ("A", A)):
        if x._array.ndim < 2:
            raise RuntimeError(f"torch.triangular_solve: Expected {name} to have at least 2 dimensions, but it has "
                               f"{x._array.ndim} dimensions instead")
    _check_system("triangular_solve", input, A)
    if A._array.dtype.kind not in dt.NATIVE + dt.COMPLEX or A._array.itemsize == 2:
        raise not_implemented("triangular_solve_cpu", A)
    return return_types.triangular_solve(*_solve_and_copy(upper, transpose, unitriangular, input, A))


def _check_system(name, input, A):
    """RuntimeError unless `A` is square matrices with the dtype and the number of rows of `input`."""
    rows, columns_ = A._array.shape[-2:]
    if rows != columns_:
        raise RuntimeError(f"A must be batches of square matrices, but they are {rows} by {columns_} matrices")
    if input._array.shape[-2] != rows:
        n, m = input._array.shape[-2:]
        raise RuntimeError(f"Incompatible matrix sizes for {name}: each A matrix is {rows} by {rows} but each "
                           f"b matrix is {n} by {m}")
    if input._array.dtype != A._array.dtype:
        raise RuntimeError(f"Expected b and A to have the same dtype, but found b of type {type_name(input)} and A of "
                           f"type {type_name(A)} instead.")


# ------------------------------------------------------------------ systems of a Cholesky factor
def _factor_grad(common, factor, upper):
    """The gradient of a factor. In torch it covers both triangles, though only one is read."""
    return -(_matmul(factor, common) if upper else _matmul(common, factor))


def _cholesky_solve_grad(g, wanted, upper, input, input2, ans):
    """The rule names `input`, so that it is saved as in torch."""
    back = _cholesky_solve(upper, g, input2)
    if not wanted[1]:
        return back, None
    common = _matmul(back, mT(ans))
    return back, _factor_grad(common + mT(common), input2, upper)


@op(name="cholesky_solve", first=1, joint=_cholesky_solve_grad)
def _cholesky_solve(upper, input, input2):
    first = mT(input2) if upper else input2
    return columns(triangles.solved(mT(first), triangles.solved(first, input, False, False), True, False))


@public(out="", apart=None, method=True, autocast="up")
def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The X with (L @ L^H) @ X = input, where L = input2. With `upper`, input2 is the factor U of U^H @ U.

    >>> import tinytorch as torch
    >>> torch.cholesky_solve(torch.tensor([[4.], [8.]]), torch.tensor([[2., 0.], [0., 2.]]))
    tensor([[1.],
            [2.]])
    """
    for name, x in (("b", input), ("u", input2)):
        if x._array.ndim < 2:
            raise RuntimeError(f"{name} should have at least 2 dimensions, but has {x._array.ndim} dimensions instead")
    _check_system("cholesky_solve", input, input2)
    _refuse("cholesky_solve_cpu", input)
    return _cholesky_solve(upper, input, input2)


def _refuse(name, input):
    """NotImplementedError for dtypes in which no triangular system is solved."""
    if input._array.dtype.char not in "fdFD":
        raise not_implemented(name, input)


@op(name="cholesky_inverse", first=1, input=lambda g, upper, input, ans: _factor_grad(
    _matmul(ans, _matmul(g + mT(g), ans)), input, upper))
def _cholesky_inverse(upper, input):
    diagonal = input.diagonal(0, -2, -1)
    if not (diagonal != 0).all():
        raise singular("cholesky_inverse", (diagonal == 0).any(-1), diagonal == 0)
    return _cholesky_solve(upper, np.broadcast_to(np.eye(input.shape[-1], dtype=input.dtype), input.shape), input)


@public(out="", apart=None, method=True, autocast="up")
def cholesky_inverse(input: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The inverse of L @ L^H, where L = input (with `upper`: of U^H @ U).

    >>> import tinytorch as torch
    >>> torch.cholesky_inverse(torch.tensor([[2., 0.], [0., 4.]]))
    tensor([[0.2500, 0.0000],
            [0.0000, 0.0625]])
    """
    shape = input._array.shape
    if len(shape) < 2:
        raise RuntimeError("cholesky_inverse: The input tensor A must have at least 2 dimensions.")
    if shape[-1] != shape[-2]:
        raise RuntimeError("cholesky_inverse: A must be batches of square matrices, but they are "
                           f"{shape[-2]} by {shape[-1]} matrices")
    _refuse("cholesky_inverse_out_cpu", input)
    return _cholesky_inverse(upper, input)
