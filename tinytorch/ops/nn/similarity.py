"""Distances and similarities of vectors: cosine_similarity pairwise_distance pdist normalize."""
import numpy as np

from ...autograd.promotion import promoted, write_out
from ...tensor import wrap

__all__ = ["cosine_similarity", "pairwise_distance", "pdist"]


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """x1 . x2 / (max(|x1|, eps) * max(|x2|, eps)) along `dim`, with broadcasting.

    >>> import tinytorch as torch
    >>> torch.cosine_similarity(torch.tensor([[1., 1.]]), torch.tensor([[1., 0.]]))
    tensor([0.7071])
    """
    x1, x2 = promoted(x1, x2)
    if x1.array.dtype.kind not in "fV":
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is "
                           f"{str(x1.dtype)[6:].title()}")
    shape = (x1 * x2).array.shape if x1.array.shape != x2.array.shape else None
    if shape is not None:
        x1, x2 = x1.expand(shape), x2.expand(shape)
    return (_unit(x1, dim, eps) * _unit(x2, dim, eps)).sum(dim)


def _unit(x, dim, eps):
    return x / x.norm(2, dim, keepdim=True).clamp(min=eps)


def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """The p-norm of x1 - x2 + eps over the last dimension, with broadcasting.

    >>> import tinytorch as torch
    >>> torch.pairwise_distance(torch.tensor([[1., 0.]]), torch.tensor([[0., 0.]]))
    tensor([1.0000])
    """
    return (x1 - x2 + eps).norm(p, -1, keepdim=keepdim)


def pdist(input, p=2):
    """The p-norm distance of each pair of rows of `input` (N, D): N (N - 1) / 2 numbers. RuntimeError if p < 0.

    >>> import tinytorch as torch
    >>> torch.pdist(torch.tensor([[0., 0.], [3., 4.], [0., 1.]]))
    tensor([5.0000, 1.0000, 4.2426])
    """
    if input.array.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.array.ndim}D")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    i, j = np.triu_indices(len(input.array), 1)
    return (input[wrap(i)] - input[wrap(j)]).norm(p, 1)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """input / max(p-norm along `dim`, eps).

    >>> import tinytorch as torch
    >>> torch.nn.functional.normalize(torch.tensor([[3., 4.]]))
    tensor([[0.6000, 0.8000]])
    """
    return write_out(out, input / input.norm(p, dim, keepdim=True).clamp(min=eps))
