"""ContinuousBernoulli: numbers between 0 and 1 for which BCE is a likelihood."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import (
    abs as absolute,
    ge,
    gt,
    le,
    log,
    log1p,
    max as larger,
    ones_like,
    pow,
    rand,
    special,
    sqrt,
    where,
    zeros_like,
)
from ..autograd.grad_mode import no_grad
from ..nn.functional import binary_cross_entropy_with_logits
from ..tensor import Size, Tensor
from . import constraints
from .binary import Binary, only_one
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(Binary, ExponentialFamily):
    """Numbers x between 0 and 1 with the density in proportion to probs ** x * (1 - probs) ** (1 - x) (Loaiza-Ganem and
    Cunningham, 2019). Between the limits `lims` around a half, where its formulas are unstable, Taylor series are used.

    >>> ContinuousBernoulli(.5).mean
    tensor(0.5000)
    """

    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0
    _tensors = "probs", "logits"

    def __init__(self, probs: Tensor | float | None = None, logits: Tensor | float | None = None,
                 lims: tuple[float, float] = (.499, .501), validate_args: bool | None = None) -> None:
        only_one(probs, logits)
        if probs is not None:
            probs, = broadcast_all(probs)
            if validate_args is not None and not self.arg_constraints["probs"].check(probs).all():
                raise ValueError("The parameter probs has invalid values")
            probs = clamp_probs(probs)
        self._lims = lims
        super().__init__(self._broadcast_binary(probs, logits), validate_args=validate_args)

    def _like(self, cls: type, batch_shape: Any, _instance: Any, **attributes: Any) -> Distribution:
        return super()._like(cls, batch_shape, _instance, _lims=self._lims, **attributes)

    @lazy_property
    def probs(self) -> Tensor:
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _is_stable(self, x, low, high):
        return larger(le(x, low), gt(x, high))

    def _outside_unstable_region(self):
        return self._is_stable(self.probs, *self._lims)

    def _cut_probs(self):
        return where(self._outside_unstable_region(), self.probs, self._lims[0] * ones_like(self.probs))

    def _cont_bern_log_norm(self):
        """The logarithm of the factor that turns the product into a density."""
        cut = self._cut_probs()
        below = where(le(cut, .5), cut, zeros_like(cut))
        above = where(ge(cut, .5), cut, ones_like(cut))
        log_norm = (log(absolute(log1p(-cut) - log(cut)))
                    - where(le(cut, .5), log1p(-2. * below), log(2. * above - 1.)))
        x = pow(self.probs - .5, 2)
        return where(self._outside_unstable_region(), log_norm, math.log(2.) + (4. / 3. + 104. / 45. * x) * x)

    @property
    def mean(self) -> Tensor:
        cut = self._cut_probs()
        exact = cut / (2. * cut - 1.) + 1. / (log1p(-cut) - log(cut))
        x = self.probs - .5
        return where(self._outside_unstable_region(), exact, .5 + (1. / 3. + 16. / 45. * pow(x, 2)) * x)

    @property
    def stddev(self) -> Tensor:
        return sqrt(self.variance)

    @property
    def variance(self) -> Tensor:
        cut = self._cut_probs()
        exact = cut * (cut - 1.) / pow(1. - 2. * cut, 2) + 1. / pow(log1p(-cut) - log(cut), 2)
        x = pow(self.probs - .5, 2)
        return where(self._outside_unstable_region(), exact, 1. / 12. - (1. / 15. - 128. / 945. * x) * x)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self.icdf(rand(self._extended_shape(sample_shape), dtype=self.probs.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none") + self._cont_bern_log_norm()

    def cdf(self, value: Tensor) -> Tensor:
        self._check(value)
        cut = self._cut_probs()
        exact = (pow(cut, value) * pow(1. - cut, 1. - value) + cut - 1.) / (2. * cut - 1.)
        inside = where(self._outside_unstable_region(), exact, value)
        return where(le(value, 0.), zeros_like(value), where(ge(value, 1.), ones_like(value), inside))

    def icdf(self, value: Tensor) -> Tensor:
        cut = self._cut_probs()
        exact = (log1p(-cut + value * (2. * cut - 1.)) - log1p(-cut)) / (log(cut) - log1p(-cut))
        return where(self._outside_unstable_region(), exact, value)

    def entropy(self) -> Tensor:
        log_fails, log_happens = log1p(-self.probs), log(self.probs)
        return self.mean * (log_fails - log_happens) - self._cont_bern_log_norm() - log_fails

    @property
    def _natural_params(self):
        return self.logits,

    def _log_normalizer(self, x):
        low, high = self._lims[0] - .5, self._lims[1] - .5
        stable = self._is_stable(x, low, high)
        cut = where(stable, x, low * ones_like(x))
        exact = log(absolute(special.expm1(cut))) - log(absolute(cut))
        return where(stable, exact, .5 * x + pow(x, 2) / 24. - pow(x, 4) / 2880.)
