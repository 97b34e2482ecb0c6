"""The LDL decomposition of symmetric and Hermitian matrices, definite or not: ldl_factor ldl_solve."""
from __future__ import annotations

import numpy as np

from ... import return_types
from ...autograd.op import op
from ...autograd.promotion import EXACT
from ...autograd.public import public
from ...errors import not_implemented, type_name
from ...kernels.errstate import ignored
from ...kernels.linalg import ldl as kernels
from ...kernels.linalg.triangles import columns
from ...tensor import Tensor, wrap
from ...types import Tensors
from .decompositions import _check


def _not_derived(g, wanted):
    raise RuntimeError("derivative for aten::linalg_ldl_factor_ex is not implemented")


@op(name="linalg_ldl_factor_ex", batches="leading", multi=True, joint=_not_derived,
    backward_name="torch::autograd::NotImplemented")
def _factor(input, hermitian):
    LD, pivots, info = kernels.factored(input, hermitian)
    return columns(LD), pivots, info


@public("linalg_ldl_factor_ex", out=EXACT, apart=None)
def ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False,
                  out: Tensors | None = None) -> return_types.linalg_ldl_factor_ex:
    """`ldl_factor`, where `info` (int32) is the number of the first element of D that is zero, or 0.

    >>> import tinytorch as torch
    >>> torch.linalg.ldl_factor_ex(torch.zeros(2, 2)).info
    tensor(1, dtype=torch.int32)
    """
    _check("torch.linalg.ldl_factor_ex", A, kernel="ldl_factor_kernel_cpu")
    LD, pivots, info = _factor(A, hermitian)
    if check_errors and info._array.any():
        k = int(info._array[info._array != 0].reshape(-1)[0])
        raise RuntimeError(f"torch.linalg.ldl_factor: the element {k} of D is zero")
    return return_types.linalg_ldl_factor_ex(LD, pivots, info)


@public("linalg_ldl_factor", out=EXACT, apart=None)
def ldl_factor(A: Tensor, *, hermitian: bool = False,
               out: Tensors | None = None) -> return_types.linalg_ldl_factor:
    """A = L @ D @ L^T (L^H if `hermitian`) of symmetric (..., n, n) matrices with permuted rows and columns. Only the
    lower triangle of A is read. One matrix holds L below D, whose blocks have size 1 or 2. The pivots are those of
    LAPACK's sytrf. It has no derivative.

    >>> import tinytorch as torch
    >>> torch.linalg.ldl_factor(torch.tensor([[2., 1.], [1., 3.]])).LD
    tensor([[2.0000, 0.0000],
            [0.5000, 2.5000]])
    """
    return return_types.linalg_ldl_factor(*ldl_factor_ex(A, hermitian=hermitian, check_errors=True)[:2])


@public("linalg_ldl_solve", out=EXACT, apart=None)
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False, out: Tensor | None = None) -> Tensor:
    """The X with A @ X = B, where `LD` and `pivots` are the result of `ldl_factor` for A.

    >>> import tinytorch as torch
    >>> torch.linalg.ldl_solve(*torch.linalg.ldl_factor(torch.tensor([[2., 0.], [0., 4.]])), torch.ones(2, 1))
    tensor([[0.5000],
            [0.2500]])
    """
    a, b, p = LD._array, B._array, pivots._array
    if a.ndim < 2:
        raise RuntimeError("torch.linalg.ldl_solve: The input tensor A must have at least 2 dimensions.")
    if a.shape[-1] != a.shape[-2]:
        raise RuntimeError("torch.linalg.ldl_solve: A must be batches of square matrices, but they are "
                           f"{a.shape[-2]} by {a.shape[-1]} matrices")
    if b.ndim < 2:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-max(b.ndim, 1)}, "
                         f"{max(b.ndim, 1) - 1}], but got -2)")
    if a.shape[:-1] != p.shape:
        raise RuntimeError("torch.linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same, but got "
                           f"pivots with shape {list(p.shape)} instead")
    if p.dtype.kind not in "iu":
        raise RuntimeError(f"torch.linalg.ldl_solve: Expected pivots to be integers. Got {type_name(pivots)}")
    if a.dtype != b.dtype:
        raise RuntimeError(f"Expected b and A to have the same dtype, but found b of type {type_name(B)} and A of "
                           f"type {type_name(LD)} instead.")
    if a.shape[-1] != b.shape[-2]:
        raise RuntimeError(f"Incompatible matrix sizes for torch.linalg.ldl_solve: each A matrix is {a.shape[-1]} by "
                           f"{a.shape[-1]} but each b matrix is {b.shape[-2]} by {b.shape[-1]}")
    if a.dtype.char not in "fdFD":
        raise not_implemented("ldl_solve_kernel_cpu", LD)
    with ignored():
        return wrap(columns(np.asarray(kernels.solution(a, p, b, hermitian))))
