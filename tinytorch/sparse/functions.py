"""torch.sparse: products, sums and softmax, and the switch for checks of sparse tensors' parts."""
from __future__ import annotations

import contextlib

from .. import dtypes as dt
from ..autograd.public import public
from ..tensor import Tensor
from . import products, reduction

__all__ = ["addmm", "check_sparse_tensor_invariants", "log_softmax", "mm", "sampled_addmm", "softmax", "sum"]


@public("_sparse_mm", any_layout=True)
def mm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices, one of them sparse. It is dense, or sparse if both are sparse.

    As `torch.mm`, but the gradient of a sparse matrix is sparse too and has elements in the same places. RuntimeError
    for sizes that do not fit and for different dtypes.

    >>> import tinytorch as torch
    >>> a = torch.sparse_coo_tensor([[0, 1], [1, 0]], [2., 3.], (2, 2))
    >>> torch.sparse.mm(a, torch.tensor([[1., 2.], [3., 4.]]))
    tensor([[6., 8.],
            [3., 6.]])
    """
    return products.sparse_mm(mat1, mat2)


@public("sparse_addmm", any_layout=True)
def addmm(mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1.0, alpha: float = 1.0) -> Tensor:
    """beta * mat + alpha * (mat1 @ mat2), where `mat1` is sparse and gets a sparse gradient.

    >>> import tinytorch as torch
    >>> torch.sparse.addmm(torch.ones(2, 2), torch.eye(2).to_sparse(), torch.ones(2, 2), alpha=3.)
    tensor([[4., 4.],
            [4., 4.]])
    """
    return products.sparse_addmm(mat, mat1, mat2, beta=beta, alpha=alpha)


@public("_sparse_sum", any_layout=True)
def sum(input: Tensor, dim: int | Ints | None = None, dtype: dt.dtype | None = None) -> Tensor:     # noqa: F821
    """The sum of a sparse tensor, over all dimensions or over `dim` (a number or several). The result is dense if no
    sparse dimension is left, else sparse. The gradient has elements where `input` has some.

    >>> import tinytorch as torch
    >>> torch.sparse.sum(torch.eye(3).to_sparse())
    tensor(3.)
    """
    return reduction.sparse_sum(input, dim, dtype)


@public("_sparse_softmax", any_layout=True)
def softmax(input: Tensor, dim: int, *, dtype: dt.dtype | None = None) -> Tensor:
    """Softmax of a sparse_coo tensor along `dim`, over the elements that it holds. Absent elements count as -inf.

    >>> import tinytorch as torch
    >>> x = torch.sparse_coo_tensor([[0, 0], [0, 2]], [1., 1.], (2, 3))
    >>> torch.sparse.softmax(x, 1).values()
    tensor([0.5000, 0.5000])
    """
    return reduction.sparse_softmax(input, dim, dtype)


@public("_sparse_log_softmax", any_layout=True)
def log_softmax(input: Tensor, dim: int, *, dtype: dt.dtype | None = None) -> Tensor:
    """The logarithm of `softmax`.

    >>> import tinytorch as torch
    >>> x = torch.sparse_coo_tensor([[0, 0], [0, 2]], [1., 1.], (2, 3))
    >>> torch.sparse.log_softmax(x, 1).values()
    tensor([-0.6931, -0.6931])
    """
    return reduction.sparse_log_softmax(input, dim, dtype)


@public("sparse_sampled_addmm", any_layout=True)
def sampled_addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1.0,     # noqa: F821
                  alpha: Number = 1.0) -> Tensor:                                       # noqa: F821
    """beta * input + alpha * (mat1 @ mat2) at the places of the sparse_csr matrix `input`. Other elements of the
    product are not computed.

    >>> import tinytorch as torch
    >>> torch.sparse.sampled_addmm(torch.eye(2).to_sparse_csr(), torch.ones(2, 3), torch.ones(3, 2)).values()
    tensor([4., 4.])
    """
    return products.sampled_addmm(input, mat1, mat2, beta, alpha)


class check_sparse_tensor_invariants(contextlib.ContextDecorator):
    """The setting whether the parts of new sparse tensors are checked: `enable`, `disable`, `is_enabled`, or a with
    statement. tinytorch always checks them, since its functions rely on it, and keeps the setting for programs that
    ask for it.

    >>> import tinytorch as torch
    >>> with torch.sparse.check_sparse_tensor_invariants():
    ...     torch.sparse.check_sparse_tensor_invariants.is_enabled()
    True
    """

    _enabled = False

    def __init__(self, enable: bool = True) -> None:
        self.state, self.saved_state = enable, None

    @staticmethod
    def is_enabled() -> bool:
        """Whether checks were enabled last."""
        return check_sparse_tensor_invariants._enabled

    @staticmethod
    def enable() -> None:
        """Enables the checks."""
        check_sparse_tensor_invariants._enabled = True

    @staticmethod
    def disable() -> None:
        """Disables the checks: a setting without effect here."""
        check_sparse_tensor_invariants._enabled = False

    def __enter__(self) -> None:
        if self.saved_state is not None:
            raise RuntimeError("This context manager instance is already activated. Use a different context manager "
                               "instance for context nesting.")
        self.saved_state = self.is_enabled()
        check_sparse_tensor_invariants._enabled = self.state

    def __exit__(self, *exc_info: object) -> None:
        check_sparse_tensor_invariants._enabled, self.saved_state = self.saved_state, None
