"""torch's functions that make sparse tensors. The first call loads the package tinytorch.sparse."""
from __future__ import annotations

from typing import Any

from ...autograd.public import public
from ...memory_format import sparse_csc, sparse_csr, strided
from ...tensor import Tensor
from ...types import Number
from ..linalg.products import mm

__all__ = ["dsmm", "hsmm", "hspmm", "saddmm", "smm", "sparse_compressed_tensor", "sparse_coo_tensor",
           "sparse_csc_tensor", "sparse_csr_tensor", "spmm", "sspaddmm"]


@public(python=True, seen=False)
def sparse_coo_tensor(*args: Any, **kwargs: Any) -> Tensor:
    """A tensor with the elements `values` (N, *) at the places `indices` (S, N): sparse_coo_tensor(indices, values,
    size, *, dtype, device, requires_grad, check_invariants, is_coalesced); or without elements, from `size` alone.

    Elements of the same place are summed by `coalesce`. The default size is the smallest that contains the places.
    RuntimeError for arguments that do not fit together, and for places outside `size`.

    >>> import tinytorch as torch
    >>> torch.sparse_coo_tensor([[0, 1], [2, 0]], [3., 4.], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    from ...sparse.construction import coo
    return coo(*args, **kwargs)


@public(python=True, seen=False)
def sparse_compressed_tensor(compressed_indices: Any, plain_indices: Any, values: Any, size: Any = None,
                             **kwargs: Any) -> Tensor:
    """A matrix whose elements are given row by row (layout=torch.sparse_csr) or column by column (torch.sparse_csc):
    the position where each row begins, and the column and value of each element. Further keywords as in
    `sparse_coo_tensor`.

    >>> import tinytorch as torch
    >>> torch.sparse_compressed_tensor([0, 1, 2], [1, 0], [3., 4.], layout=torch.sparse_csr).to_dense()
    tensor([[0., 3.],
            [4., 0.]])
    """
    return _compressed(compressed_indices, plain_indices, values, size, kwargs)


def _compressed(starts, inner, values, size, options):
    from ...sparse.construction import compressed
    return compressed(starts, inner, values, size, **options)


@public(python=True, seen=False)
def sparse_csr_tensor(crow_indices: Any, col_indices: Any, values: Any, size: Any = None, **kwargs: Any) -> Tensor:
    """`sparse_compressed_tensor` with layout torch.sparse_csr.

    >>> import tinytorch as torch
    >>> torch.sparse_csr_tensor([0, 1, 2], [1, 0], [3., 4.]).to_dense()
    tensor([[0., 3.],
            [4., 0.]])
    """
    kwargs["layout"] = kwargs.get("layout") or sparse_csr
    kwargs.update(function="sparse_csr_tensor", expected=sparse_csr)
    return _compressed(crow_indices, col_indices, values, size, kwargs)


@public(python=True, seen=False)
def sparse_csc_tensor(ccol_indices: Any, row_indices: Any, values: Any, size: Any = None, **kwargs: Any) -> Tensor:
    """`sparse_compressed_tensor` with layout torch.sparse_csc.

    >>> import tinytorch as torch
    >>> torch.sparse_csc_tensor([0, 1, 2], [1, 0], [3., 4.]).to_dense()
    tensor([[0., 4.],
            [3., 0.]])
    """
    kwargs["layout"] = kwargs.get("layout") or sparse_csc
    kwargs.update(function="sparse_csc_tensor", expected=sparse_csc)
    return _compressed(ccol_indices, row_indices, values, size, kwargs)


@public(any_layout=True)
def spmm(input: Tensor, mat2: Tensor) -> Tensor:
    """`torch.mm` under an older name for sparse matrices.

    >>> import tinytorch as torch
    >>> torch.spmm(torch.eye(2).to_sparse(), torch.ones(2, 1))
    tensor([[1.],
            [1.]])
    """
    if input.layout is strided and mat2.layout is strided:
        return mm(input, mat2)
    from ...sparse.products import mm as sparse_mm
    return sparse_mm(input, mat2)


@public(any_layout=True)
def dsmm(input: Tensor, mat2: Tensor) -> Tensor:
    """`spmm` under another name.

    >>> import tinytorch as torch
    >>> torch.dsmm(torch.eye(2).to_sparse(), torch.ones(2, 1))
    tensor([[1.],
            [1.]])
    """
    return spmm(input, mat2)


@public(any_layout=True, method=True)
def smm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of a sparse_coo matrix and a dense one, as a sparse_coo matrix. RuntimeError for other layouts, for
    sizes that do not fit, for different dtypes, and in backward.

    >>> import tinytorch as torch
    >>> torch.smm(torch.tensor([[0., 2.], [0., 0.]]).to_sparse(), torch.ones(2, 1))
    tensor(indices=tensor([[0],
                           [0]]),
           values=tensor([2.]),
           size=(2, 1), nnz=1, layout=torch.sparse_coo)
    """
    from ...sparse.products import sparse_result
    return sparse_result(input, mat2)


@public(any_layout=True, method=True, out="", older=("beta input mat1 mat2", "beta input alpha mat1 mat2"))
def sspaddmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1,
             out: Tensor | None = None) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2), where all but `mat2` are sparse_coo matrices. The elements of the product
    follow those of `input`. RuntimeError as in `smm`.

    >>> import tinytorch as torch
    >>> eye = torch.eye(2).to_sparse()
    >>> torch.sspaddmm(eye, eye, torch.ones(2, 2), beta=3)._values()
    tensor([3., 3., 1., 1., 1., 1.])
    """
    from ...sparse.products import sparse_sum
    return sparse_sum(input, mat1, mat2, beta=beta, alpha=alpha)


@public(any_layout=True, out="", older=("beta input mat1 mat2", "beta input alpha mat1 mat2"))
def saddmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1,
           out: Tensor | None = None) -> Tensor:
    """`sspaddmm` under another name.

    >>> import tinytorch as torch
    >>> torch.saddmm(torch.eye(2).to_sparse(), torch.eye(2).to_sparse(), torch.ones(2, 2)).shape
    torch.Size([2, 2])
    """
    return sspaddmm(input, mat1, mat2, beta=beta, alpha=alpha)


@public(any_layout=True, out="")
def hspmm(mat1: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of a sparse_coo matrix and a dense one, as a sparse_coo tensor. Its elements are the rows in which
    `mat1` has elements. RuntimeError as in `smm`.

    >>> import tinytorch as torch
    >>> torch.hspmm(torch.tensor([[0., 0.], [0., 2.]]).to_sparse(), torch.ones(2, 3))
    tensor(indices=tensor([[1]]),
           values=tensor([[2., 2., 2.]]),
           size=(2, 3), nnz=1, layout=torch.sparse_coo)
    """
    from ...sparse.products import hybrid_result
    return hybrid_result(mat1, mat2)


@public(any_layout=True, out="")
def hsmm(mat1: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`hspmm` under another name.

    >>> import tinytorch as torch
    >>> torch.hsmm(torch.eye(2).to_sparse(), torch.ones(2, 3)).shape
    torch.Size([2, 3])
    """
    return hspmm(mat1, mat2)
