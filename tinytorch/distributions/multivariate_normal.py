"""MultivariateNormal: vectors of normal numbers that are correlated."""
from __future__ import annotations

import math
from collections.abc import Sequence

from .. import broadcast_shapes, cholesky_inverse, eye, flip, linalg, matmul
from ..tensor import Size, Tensor
from . import constraints
from .distribution import Distribution
from .utils import _standard_normal, lazy_property

__all__ = ["MultivariateNormal"]


def _batch_mv(matrices, vectors):
    return matmul(matrices, vectors.unsqueeze(-1)).squeeze(-1)


def _half_log_det(factor):
    """The logarithm of the determinant of triangular matrices, which is half of that of the matrices that they
    factor."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def _batch_mahalanobis(factors, x):
    """The squared length of inverse(factor) @ x for lower triangular factors (..., n, n) and vectors (..., n). The
    last batch dimensions of x are those of the factors, or multiples of them. Each factor is used once, for all of its
    vectors."""
    n, batch = x.size(-1), x.shape[:-1]
    outer = len(batch) - (factors.dim() - 2)
    pairs = [size for f, s in zip(factors.shape[:-2], batch[outer:]) for size in (s // f, f)]
    apart = x.reshape(batch[:outer] + tuple(pairs) + (n,))
    ends = outer + len(pairs)
    order = [*range(outer), *range(outer, ends, 2), *range(outer + 1, ends, 2)]      # the batch of the factors last
    sorted_x = apart.permute([*order, ends])
    flat = factors.reshape(-1, n, n)
    columns = sorted_x.reshape(-1, flat.size(0), n).permute(1, 2, 0)
    squares = linalg.solve_triangular(flat, columns, upper=False).pow(2).sum(-2).t()
    back = [order.index(i) for i in range(ends)]
    return squares.reshape(sorted_x.shape[:-1]).permute(back).reshape(batch)


def _precision_to_scale_tril(precision):
    """The lower Cholesky factor of the inverse, from that of the matrix read backwards."""
    backwards = linalg.cholesky(flip(precision, (-2, -1)))
    inverse = flip(backwards, (-2, -1)).transpose(-2, -1)
    return linalg.solve_triangular(inverse, eye(precision.shape[-1], dtype=precision.dtype), upper=False)


class MultivariateNormal(Distribution):
    """The normal distribution of vectors with the mean `loc` (..., n) and one of three matrices: `covariance_matrix`,
    its inverse `precision_matrix`, or `scale_tril`, its lower Cholesky factor (..., n, n). ValueError unless exactly
    one is given.

    >>> import tinytorch as torch
    >>> MultivariateNormal(torch.zeros(2), torch.eye(2)).log_prob(torch.zeros(2))
    tensor(-1.8379)
    """

    arg_constraints = {"loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
                       "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky}
    support = constraints.real_vector
    has_rsample = True
    _matrices = "covariance_matrix", "precision_matrix", "scale_tril"

    def __init__(self, loc: Tensor, covariance_matrix: Tensor | None = None, precision_matrix: Tensor | None = None,
                 scale_tril: Tensor | None = None, validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix,
                 "scale_tril": scale_tril}
        given = {name: matrix for name, matrix in given.items() if matrix is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        (name, matrix), = given.items()
        if matrix.dim() < 2:
            word = " matrix" if name == "scale_tril" else ""
            raise ValueError(f"{name}{word} must be at least two-dimensional, with optional leading batch dimensions")
        batch_shape = broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand(batch_shape + (-1, -1)))
        self.loc = loc.expand(batch_shape + (-1,))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = _to_scale_tril(name, matrix)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Distribution:
        shape = Size(batch_shape) + self.event_shape
        held = {name: vars(self)[name].expand(shape + self.event_shape) for name in self._matrices
                if name in vars(self)}
        return self._like(MultivariateNormal, batch_shape, _instance, loc=self.loc.expand(shape),
                          _unbroadcasted_scale_tril=self._unbroadcasted_scale_tril, **held)

    def _as_batch(self, matrix):
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        return self._as_batch(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        return self._as_batch(matmul(self._unbroadcasted_scale_tril, self._unbroadcasted_scale_tril.mT))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        return self._as_batch(cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        noise = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, noise)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        squares = _batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        return (-.5 * (self._event_shape[0] * math.log(2 * math.pi) + squares)
                - _half_log_det(self._unbroadcasted_scale_tril))

    def entropy(self) -> Tensor:
        entropy = (.5 * self._event_shape[0] * (1. + math.log(2 * math.pi))
                   + _half_log_det(self._unbroadcasted_scale_tril))
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy


def _to_scale_tril(name, matrix):
    if name == "scale_tril":
        return matrix
    return linalg.cholesky(matrix) if name == "covariance_matrix" else _precision_to_scale_tril(matrix)
