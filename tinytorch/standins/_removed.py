"""Functions that torch has removed: RuntimeErrors that name the replacement."""
from __future__ import annotations

from typing import NoReturn

__all__ = ["eig", "lstsq", "matrix_rank", "solve", "symeig"]

_SINCE = "This function was deprecated since version 1.9 and is now removed."


def eig(self, eigenvectors=False, *, e=None, v=None) -> NoReturn:
    """RuntimeError: see torch.linalg.eig."""
    raise RuntimeError(f"{_SINCE} `torch.linalg.eig` takes its place: its results are complex. For eigenvalues alone "
                       "there is `torch.linalg.eigvals`.")


def symeig(input, eigenvectors=False, upper=True, *, out=None) -> NoReturn:
    """RuntimeError: see torch.linalg.eigh."""
    raise RuntimeError(f"{_SINCE} `torch.linalg.eigh` takes its place, which reads the lower triangle unless "
                       "UPLO='U'. For eigenvalues alone there is `torch.linalg.eigvalsh`.")


def solve(input, A, *, out=None) -> NoReturn:
    """RuntimeError: see torch.linalg.solve."""
    raise RuntimeError(f"{_SINCE} `torch.solve` is deprecated in favor of `torch.linalg.solve`, whose arguments are "
                       "reversed and which gives no LU factorization: that is `torch.linalg.lu_factor`'s.")


def lstsq(input, A, *, out=None) -> NoReturn:
    """RuntimeError: see torch.linalg.lstsq."""
    raise RuntimeError(f"{_SINCE} `torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`, whose arguments are "
                       "reversed and which gives the residuals apart and no QR decomposition: that is "
                       "`torch.linalg.qr`'s.")


def matrix_rank(input, tol=None, symmetric=False, *, out=None) -> NoReturn:
    """RuntimeError: see torch.linalg.matrix_rank."""
    raise RuntimeError(f"{_SINCE} Please use the `torch.linalg.matrix_rank` function instead, where 'symmetric' is "
                       "called 'hermitian'.")
