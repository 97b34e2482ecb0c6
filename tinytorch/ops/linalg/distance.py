"""Lengths and distances: norm dist cdist renorm."""
from ...autograd.promotion import EXACT, promoted, write_out
from ...autograd.public import methods
from ...autograd.views import assign, check_in_place
from ...errors import type_name
from ...tensor import check_dim
from ..reduction.reductions import check_tensor, like, masked, numpy_names
from .norms import matrix_norm, vector_norm, vector_norm_over

__all__ = ["cdist", "dist", "norm", "renorm"]


@numpy_names
def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The norm of order p of all elements or over `dim`: "fro" (the root of the sum of squares), "nuc" (the
    sum of the singular values of matrices), or a number as in `torch.linalg.vector_norm`.

    >>> import tinytorch as torch
    >>> torch.norm(torch.tensor([[3., 0.], [0., 4.]]))
    tensor(5.)
    """
    check_tensor("norm", input)
    if p == "nuc":
        return matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, dtype=dtype, out=out)
    if p is None or p == "fro":
        p = 2
    elif isinstance(p, str):
        raise RuntimeError(f"only valid string values are 'fro' and 'nuc', found: {p}")
    return vector_norm(input, p, dim, keepdim, dtype=dtype, out=out)


def dist(input, other, p=2):
    """The norm of order p of input - other.

    >>> import tinytorch as torch
    >>> torch.dist(torch.tensor([0., 3.]), torch.tensor([4., 0.]))
    tensor(5.)
    """
    return norm(input - other, float(p))


def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """Distances (norms of order p) of every row of x1 (..., n, d) to every row of x2 (..., m, d): (..., n, m).

    >>> import tinytorch as torch
    >>> torch.cdist(torch.tensor([[0., 0.]]), torch.tensor([[3., 4.], [0., 1.]]))
    tensor([[5., 1.]])
    """
    for name, x in (("X1", x1), ("X2", x2)):
        if x.array.dtype.kind != "f":
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {type_name(x)}")
        if x.array.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.array.ndim}D")
    if x1.array.shape[-1] != x2.array.shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1.array.shape[-1]} "
                           f"X2: {x2.array.shape[-1]}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    x1, x2 = promoted(x1, x2)
    difference = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    return vector_norm_over(difference, p, (difference.array.ndim - 1,), False)


def renorm(input, p, dim, maxnorm, *, out=None):
    """`input` with each slice along `dim` scaled down so that its norm of order p is at most `maxnorm`.

    >>> import tinytorch as torch
    >>> torch.renorm(torch.tensor([[3., 4.], [0., 1.]]), 2, 0, 1.)
    tensor([[0.6000, 0.8000],
            [0.0000, 1.0000]])
    """
    array = input.array
    if array.dtype.kind not in "fc":
        raise RuntimeError("linalg.vector_norm: Expected a floating point or complex tensor as input. "
                           f"Got {type_name(input)}")
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if array.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {array.ndim} dimensions")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    dim = check_dim(dim, array.ndim)
    size = vector_norm_over(input, p, tuple(d for d in range(array.ndim) if d != dim), True)
    large = size.array > maxnorm
    factor = masked(maxnorm / (size + 1e-7), large) + like(size, (~large).astype(size.array.dtype))
    return write_out(out, input * factor, exact=EXACT)


def renorm_(self, p, dim, maxnorm):
    """In-place form of `renorm`: writes the result into `self` and returns it."""
    check_in_place(self)
    return assign(self, renorm(self.clone(), p, dim, maxnorm))       # its steps keep what they read: a copy


methods(norm, dist, renorm, renorm_)
