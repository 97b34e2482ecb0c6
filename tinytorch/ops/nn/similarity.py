"""Distances and similarities of vectors: cosine_similarity pairwise_distance pdist normalize."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...autograd.grad_mode import mode, no_grad
from ...autograd.op import op, unwatched
from ...autograd.promotion import converted, result_dtype, underivable, write_out
from ...autograd.public import public
from ...errors import not_implemented, type_name
from ...kernels import expressions
from ...kernels.errstate import ignored
from ...kernels.expressions import expression
from ...kernels.sums import add_up
from ...tensor import Tensor, check_dim, wrap
from ..linalg.distance import distances, distances_grad
from ..linalg.norms import norm_over, vector_norm, vector_norm_over
from ..reduction.reductions import at_once, axes

__all__ = ["cosine_similarity", "pairwise_distance", "pdist"]


_quotient = expression(lambda x, norm, least: x / expressions.maximum(norm, least), 2)
_products = expression(lambda x, y, norm, other, least: (
    x / expressions.maximum(norm, least)) * (y / expressions.maximum(other, least)), 4)
_apart = expression(lambda x1, x2, eps: x1 - x2 + eps, 2)


@public(repeats=True)
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """x1 . x2 / (max(|x1|, eps) * max(|x2|, eps)) along `dim`, with broadcasting.

    >>> import tinytorch as torch
    >>> torch.cosine_similarity(torch.tensor([[1., 1.]]), torch.tensor([[1., 0.]]))
    tensor([0.7071])
    """
    if not eps >= 0:
        raise RuntimeError(f"eps must be non-negative, got: {eps:g}")
    common = result_dtype((x1, x2))
    if not common.is_floating_point:
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {type_name(common)}")
    if unwatched(x1) and unwatched(x2) and _are_alike(x1._array, x2._array):
        over = check_dim(dim, x1._array.ndim),
        with ignored():
            a, b = x1._array, x2._array
            norms = [vector_norm_over.op.forward(x, 2, over, True) for x in (a, b)]
            return wrap(np.asarray(add_up(_products(a, b, *norms, float(eps)), over), order="C"))
    x1, x2 = (converted(x, common.numpy) if x._array.dtype.kind in dt.INTEGRAL else x for x in (x1, x2))
    shape = (x1 * x2)._array.shape if x1._array.shape != x2._array.shape else None
    if shape is not None:
        x1, x2 = x1.expand(shape), x2.expand(shape)
    return (_unit(x1, dim, eps) * _unit(x2, dim, eps)).sum(dim)


def _are_alike(a, b):
    """Whether two arrays of floats have one shape and dtype, and are in C order."""
    return a.shape == b.shape and a.dtype == b.dtype and a.dtype.char in "fd" and a.ndim > 0 and (
        a.flags.c_contiguous and b.flags.c_contiguous)


def _unit_of(x, over, eps):
    """x / max(|x|, eps) of arrays."""
    return _quotient(x, vector_norm_over.op.forward(x, 2, over, True), float(eps))


def _unit(x, dim, eps):
    size = vector_norm(x, 2, dim, True).clone()
    with no_grad():                            # the gradient is that of the norm, also below `eps`
        size.clamp_min_(float(eps))
    return x / size


@public(repeats=True)
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The p-norm of x1 - x2 + eps over the last dimension, with broadcasting.

    >>> import tinytorch as torch
    >>> torch.pairwise_distance(torch.tensor([[1., 0.]]), torch.tensor([[0., 0.]]))
    tensor([1.0000])
    """
    if unwatched(x1) and unwatched(x2) and _are_alike(x1._array, x2._array):
        with ignored():
            difference = wrap(_apart(x1._array, x2._array, float(eps)))
    else:
        difference = x1 - x2 + float(eps)
    last = difference._array.ndim - 1
    if (p < 0 or p == float("inf")) and last >= 0 and not difference._array.shape[last]:
        raise RuntimeError(f"linalg.vector_norm cannot compute the {p:g} norm on the dimension {last}because this "
                           "dimension is empty and the operation does not have an identity")
    return at_once(norm_over, difference, p, axes(-1, difference._array.ndim), keepdim)


_none = underivable("_pdist_backward")


@op(name="pdist_backward", g=_none, input=_none, found=_none)
def _pdist_backward(g, input, p, found):
    i, j = np.triu_indices(len(input), 1)
    parts = distances_grad(g[:, None], input[i] - input[j], p, found[:, None])
    result = np.zeros_like(input)
    np.add.at(result, i, parts)
    np.subtract.at(result, j, parts)
    return result


def _pdist_grad(g, ans, input, p):
    """The gradient, which in torch has no derivative. Forward mode, which torch lacks here, uses differentiable ops."""
    if not mode.computing_jvp:
        return _pdist_backward(g, input, p, ans)
    i, j = map(wrap, np.triu_indices(len(input), 1))
    parts = distances_grad(g[:, None], input[i] - input[j], p, ans[:, None])
    return input.new_zeros(input.shape).index_add(0, i, parts).index_add(0, j, -parts)


@op(name="pdist", input=_pdist_grad)
def _pdist(input, p):
    i, j = np.triu_indices(len(input), 1)
    return distances(input[i] - input[j], p)


@public()
def pdist(input: Tensor, p: float = 2) -> Tensor:
    """The p-norm distance of each pair of rows of `input` (N, D): N (N - 1) / 2 numbers. RuntimeError if p < 0.

    >>> import tinytorch as torch
    >>> torch.pdist(torch.tensor([[0., 0.], [3., 4.], [0., 1.]]))
    tensor([5.0000, 1.0000, 4.2426])
    """
    if input._array.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input._array.ndim}D")
    if dt.kind(input._array.dtype) not in dt.FLOATING:
        raise RuntimeError("pdist only supports floating-point dtypes")
    p = float(p)
    if not p >= 0:
        raise RuntimeError("pdist only supports non-negative p values")
    if input._array.dtype.char not in "fd":
        raise not_implemented("pdist", input)
    return _pdist(input, p)


@public(python=True, repeats=True)
def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """input / max(p-norm along `dim`, eps).

    >>> import tinytorch as torch
    >>> torch.nn.functional.normalize(torch.tensor([[3., 4.]]))
    tensor([[0.6000, 0.8000]])
    """
    usual = p.__class__ in (int, float) and p == 2 and dim.__class__ is int and eps.__class__ is float and out is None
    if usual and isinstance(input, Tensor) and unwatched(input) and _are_alike(input._array, input._array):
        with ignored():
            return wrap(_unit_of(input._array, axes(dim, input._array.ndim), eps))
    return write_out(out, input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input))
