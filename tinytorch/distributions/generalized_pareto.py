"""GeneralizedPareto: the excess over a threshold."""
from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan
from typing import Any

from .. import broadcast_to, exp, expm1, isclose, log, log1p, ones_like, rand, tensor, where
from ..tensor import Size, Tensor
from . import constraints
from .distribution import Distribution

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """The generalized Pareto distribution of threshold `loc`, `scale`, and shape `concentration`. With 0 it is the
    exponential distribution, and with a negative shape it has an upper end.

    >>> GeneralizedPareto(0., 1., .5).mean
    tensor(2.)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True
    _tensors = "loc", "scale", "concentration"

    def __init__(self, loc: Tensor | float, scale: Tensor | float, concentration: Tensor | float,
                 validate_args: bool | None = None) -> None:
        shape = self._broadcast(loc=loc, scale=scale, concentration=concentration)
        super().__init__(shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        end = where(self.concentration < 0, self.loc - self.scale / self.concentration, inf)
        return constraints.interval(self.loc, end)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self.icdf(rand(self._extended_shape(sample_shape), dtype=self.loc.dtype))

    def _of_shape(self):
        """(a mask of the places where the concentration is 0, the concentration with 1 in these places)."""
        is_zero = isclose(self.concentration, tensor(0., dtype=self.concentration.dtype))
        return is_zero, where(is_zero, ones_like(self.concentration), self.concentration)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        z = (value - self.loc) / self.scale
        is_zero, shape = self._of_shape()
        power = 1 / shape + ones_like(z)
        term = where(power == 0, power, power * log1p(shape * z))
        return -self.scale.log() - where(is_zero, z, term)

    def log_survival_function(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of a sample above `value`."""
        self._check(value)
        z = (value - self.loc) / self.scale
        is_zero, shape = self._of_shape()
        return where(is_zero, -z, -log1p(shape * z) / shape)

    def log_cdf(self, value: Tensor) -> Tensor:
        """The logarithm of `cdf`."""
        return log1p(-exp(self.log_survival_function(value)))

    def cdf(self, value: Tensor) -> Tensor:
        return exp(self.log_cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        is_zero, shape = self._of_shape()
        log_rest = log1p(-value)
        return where(is_zero, self.loc - self.scale * log_rest,
                     self.loc + self.scale / shape * expm1(-shape * log_rest))

    @property
    def mean(self) -> Tensor:
        has_one = self.concentration < 1
        shape = where(has_one, self.concentration, .5)
        return where(has_one, self.loc + self.scale / (1 - shape), nan)

    @property
    def variance(self) -> Tensor:
        has_one = self.concentration < .5
        shape = where(has_one, self.concentration, .25)
        return where(has_one, self.scale ** 2 / ((1 - shape) ** 2 * (1 - 2 * shape)), nan)

    def entropy(self) -> Tensor:
        return broadcast_to(log(self.scale) + self.concentration + 1, self._batch_shape)

    @property
    def mode(self) -> Tensor:
        return self.loc
