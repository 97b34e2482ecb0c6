"""LowRankMultivariateNormal: vectors of normal numbers that a few factors correlate."""
from __future__ import annotations

import math
from collections.abc import Sequence

from .. import broadcast_tensors, diag_embed, linalg, matmul
from ..tensor import Size, Tensor
from . import constraints
from .distribution import Distribution
from .multivariate_normal import _batch_mahalanobis, _batch_mv, _half_log_det
from .utils import _standard_normal, lazy_property

__all__ = ["LowRankMultivariateNormal"]


def _add_to_diagonal(matrices):
    """Adds 1 to the diagonals, in place."""
    n = matrices.size(-1)
    matrices.view(-1, n * n)[:, ::n + 1] += 1
    return matrices


def _batch_capacitance_tril(factor, diagonal):
    """The Cholesky factor of I + W^T D^-1 W, for the matrix determinant lemma and the Woodbury identity."""
    return linalg.cholesky(_add_to_diagonal(matmul(factor.mT / diagonal.unsqueeze(-2), factor).contiguous()))


def _batch_lowrank_logdet(factor, diagonal, capacitance_tril):
    """log det(W W^T + D)."""
    return 2 * _half_log_det(capacitance_tril) + diagonal.log().sum(-1)


def _batch_lowrank_mahalanobis(factor, diagonal, x, capacitance_tril):
    """x^T (W W^T + D)^-1 x."""
    scaled = _batch_mv(factor.mT / diagonal.unsqueeze(-2), x)
    return (x.pow(2) / diagonal).sum(-1) - _batch_mahalanobis(capacitance_tril, scaled)


class LowRankMultivariateNormal(Distribution):
    """The normal distribution of vectors with the mean `loc` (..., n) and the covariance matrix cov_factor @
    cov_factor.mT + diag(cov_diag), with `cov_factor` (..., n, m) of a small m and `cov_diag` (..., n).

    >>> import tinytorch as torch
    >>> LowRankMultivariateNormal(torch.zeros(2), torch.ones(2, 1), torch.ones(2)).variance
    tensor([2., 2.])
    """

    arg_constraints = {"loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2),
                       "cov_diag": constraints.independent(constraints.positive, 1)}
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event_shape = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2:-1] != event_shape:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event_shape[0]} x m")
        if cov_diag.shape[-1:] != event_shape:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event_shape}")
        try:
            column, self.cov_factor, diagonal = broadcast_tensors(loc.unsqueeze(-1), cov_factor, cov_diag.unsqueeze(-1))
        except RuntimeError as error:
            raise ValueError(f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag "
                             f"{cov_diag.shape}") from error
        self.loc, self.cov_diag = column[..., 0], diagonal[..., 0]
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = _batch_capacitance_tril(cov_factor, cov_diag)
        super().__init__(self.loc.shape[:-1], event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Distribution:
        shape = Size(batch_shape) + self.event_shape
        same = ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril")
        return self._like(LowRankMultivariateNormal, batch_shape, _instance, loc=self.loc.expand(shape),
                          cov_diag=self.cov_diag.expand(shape),
                          cov_factor=self.cov_factor.expand(shape + self.cov_factor.shape[-1:]),
                          **{name: getattr(self, name) for name in same})

    @property
    def _parts(self):
        return self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag

    def _as_batch(self, matrix):
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        factor, diagonal = self._parts
        return (factor.pow(2).sum(-1) + diagonal).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        factor, diagonal = self._parts         # W W^T + D = D^1/2 (I + D^-1/2 W W^T D^-1/2) D^1/2
        root = diagonal.sqrt().unsqueeze(-1)
        scaled = factor / root
        return self._as_batch(root * linalg.cholesky(_add_to_diagonal(matmul(scaled, scaled.mT).contiguous())))

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        factor, diagonal = self._parts
        return self._as_batch(matmul(factor, factor.mT) + diag_embed(diagonal))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        factor, diagonal = self._parts
        a = linalg.solve_triangular(self._capacitance_tril, factor.mT / diagonal.unsqueeze(-2), upper=False)
        return self._as_batch(diag_embed(diagonal.reciprocal()) - a.mT @ a)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        factor, diagonal = self._parts
        shared = _standard_normal(shape[:-1] + self.cov_factor.shape[-1:], self.loc.dtype, self.loc.device)
        own = _standard_normal(shape, self.loc.dtype, self.loc.device)
        return self.loc + _batch_mv(factor, shared) + diagonal.sqrt() * own

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        squares = _batch_lowrank_mahalanobis(*self._parts, value - self.loc, self._capacitance_tril)
        log_det = _batch_lowrank_logdet(*self._parts, self._capacitance_tril)
        return -.5 * (self._event_shape[0] * math.log(2 * math.pi) + log_det + squares)

    def entropy(self) -> Tensor:
        log_det = _batch_lowrank_logdet(*self._parts, self._capacitance_tril)
        entropy = .5 * (self._event_shape[0] * (1. + math.log(2 * math.pi)) + log_det)
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy
