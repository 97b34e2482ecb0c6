"""Helpers of distributions: broadcasting of parameters, probabilities and logits, and properties that are computed
once."""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .. import arange, broadcast_tensors, empty, finfo, get_default_dtype, log, log1p, sigmoid, tensor
from ..autograd.grad_mode import enable_grad
from ..nn.functional import softmax
from ..tensor import Size, Tensor, wrap

__all__ = ["broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits",
           "tril_matrix_to_vec", "vec_to_tril_matrix"]

#: Euler's constant.
euler_constant = 0.57721566490153286060

#: The types that may stand for a tensor of one element.
NUMBER = (int, float, bool)


def all_true(condition: Tensor) -> bool:
    """Whether a condition holds for all elements, and under vmap for all samples of the batch."""
    array = condition._array
    while hasattr(array, "physical"):
        array = array.physical
    return bool(wrap(array).all())


def _is_like_tensor(x):
    return isinstance(x, Tensor) or hasattr(type(x), "__torch_function__")


def broadcast_all(*values: Tensor | float) -> tuple[Tensor, ...]:
    """Tensors of one shape. Numbers become tensors of the dtype of the first tensor, or of the default dtype.

    ValueError for anything else.

    >>> import tinytorch as torch
    >>> broadcast_all(torch.zeros(2), 1)
    (tensor([0., 0.]), tensor([1., 1.]))
    """
    if not all(_is_like_tensor(v) or isinstance(v, NUMBER) for v in values):
        raise ValueError("Input arguments must all be instances of Number, torch.Tensor or objects implementing "
                         "__torch_function__.")
    dtype = next((v.dtype for v in values if isinstance(v, Tensor)), get_default_dtype())
    return broadcast_tensors(*[v if _is_like_tensor(v) else tensor(v, dtype=dtype) for v in values])


def _standard_normal(shape: Sequence[int], dtype: Any, device: Any) -> Tensor:
    return empty(shape, dtype=dtype, device=device).normal_()


def _sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """The sum over the last `dim` dimensions."""
    return value if dim == 0 else value.reshape(value.shape[:-dim] + (-1,)).sum(-1)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities of log odds (`is_binary`), or of unnormalised log probabilities along the last dimension.

    >>> import tinytorch as torch
    >>> logits_to_probs(torch.zeros(2)), logits_to_probs(torch.zeros(4), is_binary=True)
    (tensor([0.5000, 0.5000]), tensor([0.5000, 0.5000, 0.5000, 0.5000]))
    """
    return sigmoid(logits) if is_binary else softmax(logits, dim=-1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities, clamped so that they differ from 0 and 1 by at least the epsilon of their dtype.

    >>> import tinytorch as torch
    >>> clamp_probs(torch.tensor([0., .5]))
    tensor([1.1921e-07, 5.0000e-01])
    """
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Log odds of probabilities (`is_binary`), or their logarithms.

    >>> import tinytorch as torch
    >>> probs_to_logits(torch.tensor([.5]), is_binary=True)
    tensor([0.])
    """
    probs = clamp_probs(probs)
    return log(probs) - log1p(-probs) if is_binary else log(probs)


class lazy_property:
    """Decorator for an attribute that is computed when it is first read, and then kept.

    >>> class Circle:
    ...     radius = 1.
    ...     @lazy_property
    ...     def area(self):
    ...         return 3.14 * self.radius ** 2
    >>> circle = Circle()
    >>> circle.area, vars(circle)
    (3.14, {'area': 3.14})
    """

    def __init__(self, wrapped: Callable) -> None:
        self.wrapped = wrapped
        functools.update_wrapper(self, wrapped)

    def __get__(self, instance: Any, obj_type: Any = None) -> Any:
        if instance is None:
            return _LazyOfClass(self.wrapped)
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _LazyOfClass(lazy_property, property):
    """A lazy property as its class shows it. Tools that write documentation see it as a property."""

    def __init__(self, wrapped):
        property.__init__(self, wrapped)


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The elements of (..., D, D) on and below diagonal number `diag`, row after row. ValueError if there is no such
    diagonal.

    >>> import tinytorch as torch
    >>> tril_matrix_to_vec(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 3, 4])
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    return mat[..., _lower(n, diag)]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """The matrix (..., D, D) with these elements on and below diagonal number `diag`, zero elsewhere. ValueError if
    their number does not fit.

    >>> import tinytorch as torch
    >>> vec_to_tril_matrix(torch.tensor([1., 3., 4.]))
    tensor([[1., 0.],
            [3., 4.]])
    """
    length = vec.shape[-1]
    n = (((1 + 2 * diag) ** 2 + 8 * length + 4 * abs(diag) * (diag + 1)) ** .5 - (1 + 2 * diag)) / 2
    if round(n) - n > finfo(vec.dtype).eps:
        raise ValueError(f"The size of last dimension is {length} which cannot be expressed as the lower triangular "
                         "part of a square D x D matrix.")
    n = round(n)
    mat = vec.new_zeros(vec.shape[:-1] + Size((n, n)))
    mat[..., _lower(n, diag)] = vec
    return mat


def _lower(n, diag):
    place = arange(n)
    return place < place.view(-1, 1) + (diag + 1)
