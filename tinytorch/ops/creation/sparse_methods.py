"""Methods of all tensors that concern sparse ones: conversions, sizes, and the parts of a sparse tensor."""
from __future__ import annotations

from ...autograd.public import public
from ...dtypes import dtype as dtype_class
from ...errors import layout_expected
from ...memory_format import LAYOUT_NAMES, layout as layout_class, sparse_coo, sparse_csc, sparse_csr, strided
from ...tensor import Tensor, method, wrap
from ...types import Ints


def is_sparse(x):
    return x.layout is not strided


def _operations():
    """The module of conversions. The first call loads the package tinytorch.sparse."""
    from ...sparse import conversion
    return conversion


def _resizing(name, self):
    """The module that resizes sparse_coo tensors. NotImplementedError for another layout."""
    _check_backend(name, self, self.layout is sparse_coo)
    from ...sparse import resizing
    return resizing


# ------------------------------------------------------------------ conversions
@method()
def to_sparse(self: Tensor, sparse_dim: int | None = None, *, layout: layout_class | None = None,
              blocksize: tuple[int, int] | None = None, dense_dim: int | None = None) -> Tensor:
    """The tensor in a sparse layout (by default torch.sparse_coo), with its non-zero elements.

    sparse_dim    the number of sparse dimensions, which are the first ones (all); the others are dimensions of the
                  values
    dense_dim     the number of those others

    >>> import tinytorch as torch
    >>> torch.eye(2).to_sparse()
    tensor(indices=tensor([[0, 1],
                           [0, 1]]),
           values=tensor([1., 1.]),
           size=(2, 2), nnz=2, layout=torch.sparse_coo)
    """
    if isinstance(sparse_dim, layout_class):
        layout, sparse_dim = sparse_dim, None
    if layout not in (None, sparse_coo, sparse_csr, sparse_csc) or blocksize is not None:
        raise NotImplementedError(f"tinytorch has no sparse tensors of blocks: layout {layout}")
    if is_sparse(self):
        if sparse_dim is not None and sparse_dim != self._array.sparse_dim:
            raise RuntimeError("to_sparse: conversion from Sparse to Sparse with sparse_dim argument "
                               "!=self.sparse_dim() is not supported")
        target = sparse_coo if layout is None else layout
        return self if target is self.layout else _operations().to_layout(self, target)
    ndim = self._array.ndim
    if layout in (sparse_csr, sparse_csc):
        _check_matrix(ndim, layout)
        return _operations().to_layout(self, layout)
    if sparse_dim is None:
        return _operations().to_sparse_of(self, ndim - (dense_dim or 0))
    if not 0 <= sparse_dim <= ndim:
        raise RuntimeError(f"dense_to_sparse: sparse_dim argument must be in [0,{ndim}] range, but {sparse_dim} is "
                           "given")
    if ndim and not sparse_dim:
        raise RuntimeError("dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0")
    return _operations().to_sparse_of_dims(self, sparse_dim)


def _check_matrix(ndim, layout):
    if ndim < 2:
        raise RuntimeError(f"to_sparse: conversion from Strided to {LAYOUT_NAMES[layout]} is only possible for tensors "
                           f"of at least 2 dimensions, but got {ndim}")
    if ndim > 2:
        raise NotImplementedError(f"tinytorch has {layout} of matrices only, but got {ndim} dimensions")


@method()
def to_sparse_coo(self: Tensor) -> Tensor:
    """The tensor in layout torch.sparse_coo: `to_sparse()`."""
    return to_sparse(self)


def _compressed(self, layout, primitive, dense_dim):
    if dense_dim or is_sparse(self) and self._array.dense_dim:
        raise NotImplementedError(f"tinytorch has {layout} without dense dimensions only")
    if self.layout is layout:
        return self
    _check_matrix(self._array.ndim, layout)
    return getattr(_operations(), primitive)(self, layout)


@method()
def to_sparse_csr(self: Tensor, dense_dim: int | None = None) -> Tensor:
    """A matrix in layout torch.sparse_csr, which stores its elements row by row.

    >>> import tinytorch as torch
    >>> torch.eye(2).to_sparse_csr().crow_indices()
    tensor([0, 1, 2])
    """
    return _compressed(self, sparse_csr, "to_csr", dense_dim)


@method()
def to_sparse_csc(self: Tensor, dense_dim: int | None = None) -> Tensor:
    """A matrix in layout torch.sparse_csc, which stores its elements column by column."""
    return _compressed(self, sparse_csc, "to_csc", dense_dim)


@method("to_sparse_bsr", "to_sparse_bsc")
def _to_blocks(self: Tensor, blocksize: tuple[int, int], dense_dim: int | None = None) -> Tensor:
    """NotImplementedError: matrices of blocks are not supported."""
    raise NotImplementedError("tinytorch has no sparse tensors of blocks")


@method()
def to_dense(self: Tensor, dtype: dtype_class | None = None, *, masked_grad: bool | None = None) -> Tensor:
    """A sparse tensor as a dense one. A dense tensor is returned itself (or in `dtype`, if given).

    masked_grad    whether the gradient is that of the elements that the sparse tensor holds (True), or of all

    >>> import tinytorch as torch
    >>> torch.sparse_coo_tensor([[0, 0]], [1., 2.], (2,)).to_dense()
    tensor([3., 0.])
    """
    if not is_sparse(self):
        return self if dtype is None else self.to(dtype)
    if dtype is not None:
        kind = "sparse" if self.is_sparse else "sparse_csr"
        raise RuntimeError(f"dtype argument is not supported by {kind}_to_dense")
    return _operations().dense_of(self, masked_grad)


@method()
def sparse_mask(self: Tensor, mask: Tensor) -> Tensor:
    """The elements of `self` at the places where the sparse tensor `mask` has elements.

    >>> import tinytorch as torch
    >>> torch.arange(4.).reshape(2, 2).sparse_mask(torch.eye(2).to_sparse()).values()
    tensor([0., 3.])
    """
    if not is_sparse(mask):
        raise layout_expected("sparse_mask", "sparse ", mask)
    if self._array.shape != mask._array.shape:
        raise RuntimeError("sparse_mask(): operands have incompatible sizes; self has size "
                           f"{list(self._array.shape)} but mask has size {list(mask._array.shape)}")
    return _operations().masked_by(self, mask)


# ------------------------------------------------------------------ sizes
@public(any_layout=True, method=True)
def sparse_resize_(self: Tensor, size: Ints, sparse_dim: int, dense_dim: int) -> Tensor:
    """Gives a sparse_coo tensor another shape, of `sparse_dim` and `dense_dim` dimensions. RuntimeError if the tensor
    has elements and a size would shrink or the number of sparse or dense dimensions would change.

    >>> import tinytorch as torch
    >>> torch.sparse_coo_tensor([[0, 1]], [1., 2.], (2,)).sparse_resize_((4,), 1, 0).to_dense()
    tensor([1., 2., 0., 0.])
    """
    return _resizing("sparse_resize_", self).resized(self, size, sparse_dim, dense_dim)


@public(any_layout=True, method=True)
def sparse_resize_and_clear_(self: Tensor, size: Ints, sparse_dim: int, dense_dim: int) -> Tensor:
    """Gives a sparse_coo tensor another shape, of `sparse_dim` and `dense_dim` dimensions, and removes its elements.

    >>> import tinytorch as torch
    >>> torch.sparse_coo_tensor([[0, 1]], [1., 2.], (2,)).sparse_resize_and_clear_((4, 3), 2, 0)._nnz()
    0
    """
    return _resizing("sparse_resize_and_clear_", self).cleared(self, size, sparse_dim, dense_dim)


@public(any_layout=True, method=True)
def resize_as_sparse_(input: Tensor, the_template: Tensor) -> Tensor:
    """Gives `input` the shape and the numbers of sparse and dense dimensions of another tensor (`sparse_resize_`).

    >>> import tinytorch as torch
    >>> x = torch.sparse_coo_tensor([[0, 1]], [1., 2.], (2,))
    >>> torch.resize_as_sparse_(x, torch.sparse_coo_tensor(size=(3,))).to_dense()
    tensor([1., 2., 0.])
    """
    return _resizing("resize_as_sparse_", input).resized_as(input, the_template)


# ------------------------------------------------------------------ parts
def _check_coo(function, self):
    if self.layout is not sparse_coo:
        raise layout_expected(function, "sparse coordinate ", self)


def _check_coalesced(self, part):
    if not self._array.coalesced:
        raise RuntimeError(f"Cannot get {part} on an uncoalesced tensor, please call .coalesce() first")


@method()
def coalesce(self: Tensor) -> Tensor:
    """A sparse_coo tensor with sorted indices and with the elements of equal places summed. A coalesced tensor is
    returned itself.

    >>> import tinytorch as torch
    >>> torch.sparse_coo_tensor([[1, 0, 1]], [1., 2., 3.], (2,)).coalesce().values()
    tensor([2., 4.])
    """
    _check_coo("coalesce", self)
    return _operations().coalesced(self)


@method()
def is_coalesced(self: Tensor) -> bool:
    """Whether the indices of a sparse_coo tensor are known to be sorted and without repetition."""
    _check_coo("is_coalesced", self)
    return self._array.coalesced


@method()
def indices(self: Tensor) -> Tensor:
    """The indices (S, N) of a coalesced sparse_coo tensor."""
    _check_coo("indices", self)
    _check_coalesced(self, "indices")
    return wrap(self._array.plan)


@method()
def values(self: Tensor) -> Tensor:
    """The elements (N, *) of a sparse tensor, recorded by autograd. A sparse_coo tensor must be coalesced."""
    if not is_sparse(self):
        raise layout_expected("values", "sparse ", self)
    if self.layout is sparse_coo:
        _check_coalesced(self, "values")
    return _operations().values_of(self)


def _check_backend(name, self, good):
    if not good:
        backend = "CPU" if self.layout is strided else "SparseCsrCPU"
        raise NotImplementedError(f"Could not run 'aten::{name}' with arguments from the '{backend}' backend.")


@method(seen=True)
def _indices(self: Tensor) -> Tensor:
    """The indices of a sparse_coo tensor, coalesced or not."""
    _check_backend("_indices", self, self.layout is sparse_coo)
    return wrap(self._array.plan)


@method(seen=True)
def _values(self: Tensor) -> Tensor:
    """The elements of a sparse_coo tensor, coalesced or not. They are not recorded by autograd."""
    _check_backend("_values", self, self.layout is sparse_coo)
    return wrap(self._array.values)


@method(seen=True)
def _nnz(self: Tensor) -> int:
    """The number of elements that a sparse tensor holds."""
    _check_backend("_nnz", self, is_sparse(self))
    return self._array.nnz


@method("sparse_dim", "_dimI", seen=True)
def sparse_dim(self: Tensor) -> int:
    """The number of sparse dimensions. A dense tensor has none."""
    return self._array.sparse_dim if is_sparse(self) else 0


@method("dense_dim", "_dimV", seen=True)
def dense_dim(self: Tensor) -> int:
    """The number of dense dimensions. In a dense tensor these are all."""
    return self._array.dense_dim if is_sparse(self) else self._array.ndim


def _part(function, self, layout, kind, number):
    if self.layout is not layout:
        raise layout_expected(function, f"sparse {kind} compressed ", self)
    return wrap(self._array.plan[number])


@method()
def crow_indices(self: Tensor) -> Tensor:
    """The positions where the rows of a sparse_csr matrix begin, followed by the number of elements."""
    return _part("crow_indices", self, sparse_csr, "row", 0)


@method()
def col_indices(self: Tensor) -> Tensor:
    """The column of each element of a sparse_csr matrix."""
    return _part("col_indices", self, sparse_csr, "row", 1)


@method()
def ccol_indices(self: Tensor) -> Tensor:
    """The positions where the columns of a sparse_csc matrix begin, followed by the number of elements."""
    return _part("ccol_indices", self, sparse_csc, "column", 0)


@method()
def row_indices(self: Tensor) -> Tensor:
    """The row of each element of a sparse_csc matrix."""
    return _part("row_indices", self, sparse_csc, "column", 1)
