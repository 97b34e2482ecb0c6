"""Wishart: covariance matrices of normal samples."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import (
    arange,
    broadcast_shapes,
    cholesky_solve,
    digamma,
    einsum,
    eye,
    finfo,
    linalg,
    mvlgamma,
    randn,
    tensor,
    tril_indices,
)
from ..errors import warn
from ..tensor import Size, Tensor
from . import constraints
from .chi2 import Chi2
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .multivariate_normal import _half_log_det, _to_scale_tril
from .utils import NUMBER, lazy_property

__all__ = ["Wishart"]

_LOG_2 = math.log(2)


def _mvdigamma(x, p):
    """The derivative of mvlgamma."""
    return digamma(x.unsqueeze(-1) - arange(p, dtype=x.dtype).div(2).expand(x.shape + (-1,))).sum(-1)


class Wishart(ExponentialFamily):
    """The sum of x x^T of `df` normal vectors x (..., p) of mean 0, given by one of three matrices:
    `covariance_matrix`, its inverse `precision_matrix`, or `scale_tril`, its lower Cholesky factor; `df` need not be
    whole, but must be above p - 1 (ValueError otherwise). Samples are drawn by the Bartlett decomposition.

    >>> import tinytorch as torch
    >>> Wishart(torch.tensor(4.), covariance_matrix=torch.eye(2)).mean
    tensor([[4., 0.],
            [0., 4.]])
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    _matrices = "covariance_matrix", "precision_matrix", "scale_tril"

    def __init__(self, df: Tensor | float, covariance_matrix: Tensor | None = None,
                 precision_matrix: Tensor | None = None, scale_tril: Tensor | None = None,
                 validate_args: bool | None = None) -> None:
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix,
                 "scale_tril": scale_tril}
        given = {name: matrix for name, matrix in given.items() if matrix is not None}
        if len(given) != 1:
            raise AssertionError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        (name, matrix), = given.items()
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        if isinstance(df, NUMBER):
            batch_shape = Size(matrix.shape[:-2])
            self.df = tensor(df, dtype=matrix.dtype)
        else:
            batch_shape = broadcast_shapes(matrix.shape[:-2], df.shape)
            self.df = df.expand(batch_shape)
        event_shape = matrix.shape[-2:]
        if self.df.le(event_shape[-1] - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {event_shape[-1] - 1}.")
        setattr(self, name, matrix.expand(batch_shape + (-1, -1)))
        if self.df.lt(event_shape[-1]).any():
            warn("Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < "
                 "ndim.")
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        self._unbroadcasted_scale_tril = _to_scale_tril(name, matrix)
        self._dist_chi2 = self._of_diagonal()

    @property
    def arg_constraints(self) -> dict[str, Any]:
        return {"covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite,
                "scale_tril": constraints.lower_cholesky,
                "df": constraints.greater_than(self.event_shape[-1] - 1)}

    def _of_diagonal(self):
        """The squares of the diagonal of the Bartlett factor."""
        place = arange(self._event_shape[-1], dtype=self._unbroadcasted_scale_tril.dtype)
        return Chi2(df=self.df.unsqueeze(-1) - place.expand(self._batch_shape + (-1,)))

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Distribution:
        shape = Size(batch_shape) + self.event_shape
        held = {name: vars(self)[name].expand(shape) for name in self._matrices if name in vars(self)}
        new = self._like(Wishart, batch_shape, _instance, df=self.df.expand(batch_shape),
                         _unbroadcasted_scale_tril=self._unbroadcasted_scale_tril.expand(shape), **held)
        new._dist_chi2 = new._of_diagonal()
        return new

    def _as_batch(self, matrix):
        return matrix.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        return self._as_batch(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        return self._as_batch(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.transpose(-2, -1))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        identity = eye(self._event_shape[-1], dtype=self._unbroadcasted_scale_tril.dtype)
        return self._as_batch(cholesky_solve(identity, self._unbroadcasted_scale_tril))

    @property
    def mean(self) -> Tensor:
        return self.df.view(self._batch_shape + (1, 1)) * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        factor[factor <= 0] = math.nan
        return factor.view(self._batch_shape + (1, 1)) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        return self.df.view(self._batch_shape + (1, 1)) * (v.pow(2) + einsum("...i,...j->...ij", diagonal, diagonal))

    def _bartlett_sampling(self, sample_shape):
        p = self._event_shape[-1]
        root = self._dist_chi2.rsample(sample_shape).sqrt()
        noise = root.clamp(min=finfo(root.dtype).eps).diag_embed(dim1=-2, dim2=-1)
        i, j = tril_indices(p, p, offset=-1)
        noise[..., i, j] = randn(Size(sample_shape) + self._batch_shape + (p * (p - 1) // 2,), dtype=noise.dtype)
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.transpose(-2, -1)

    def rsample(self, sample_shape: Sequence[int] = Size(), max_try_correction: int | None = None) -> Tensor:
        """A sample. A sample that rounding made singular is drawn again, at most `max_try_correction` times (10 by
        default)."""
        batch_dims = [-(x + 1) for x in range(len(self._batch_shape))]

        def over_batch(which):
            return which.amax(batch_dims) if batch_dims else which

        sample = self._bartlett_sampling(sample_shape)
        again = over_batch(self.support.check(sample))         # as in torch, whose mask has the valid samples
        if again.any():
            warn("Singular sample detected.")
            for _ in range(10 if max_try_correction is None else max_try_correction):
                fresh = self._bartlett_sampling(again[again].shape)
                sample[again] = fresh
                again[again.clone()] = over_batch(~self.support.check(fresh))
                if not again.any():
                    break
        return sample

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        nu, p = self.df, self._event_shape[-1]
        return (-nu * (p * _LOG_2 / 2 + _half_log_det(self._unbroadcasted_scale_tril)) - mvlgamma(nu / 2, p=p)
                + (nu - p - 1) / 2 * linalg.slogdet(value).logabsdet
                - cholesky_solve(value, self._unbroadcasted_scale_tril).diagonal(dim1=-2, dim2=-1).sum(dim=-1) / 2)

    def entropy(self) -> Tensor:
        nu, p = self.df, self._event_shape[-1]
        return ((p + 1) * (p * _LOG_2 / 2 + _half_log_det(self._unbroadcasted_scale_tril)) + mvlgamma(nu / 2, p=p)
                - (nu - p - 1) / 2 * _mvdigamma(nu / 2, p=p) + nu * p / 2)

    @property
    def _natural_params(self):
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x, y):
        p = self._event_shape[-1]
        above = y + (p + 1) / 2
        return above * (-linalg.slogdet(-2 * x).logabsdet + _LOG_2 * p) + mvlgamma(above, p=p)
