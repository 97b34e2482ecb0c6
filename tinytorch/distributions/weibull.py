"""Weibull: a waiting time that ages."""
from __future__ import annotations

from collections.abc import Sequence

from .. import exp, lgamma, log, ones_like
from ..tensor import Tensor
from . import constraints
from .distribution import Distribution
from .exponential import Exponential
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .utils import euler_constant

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """The Weibull distribution, with the cumulative distribution 1 - exp(-(x / scale) ** concentration).

    >>> Weibull(2., 1.).mean
    tensor(2.)
    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale: Tensor | float, concentration: Tensor | float, validate_args: bool | None = None) -> None:
        self._broadcast(scale=scale, concentration=concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        super().__init__(Exponential(ones_like(self.scale), validate_args=validate_args), self._steps(),
                         validate_args=validate_args)

    def _steps(self):
        return [PowerTransform(self.concentration_reciprocal), AffineTransform(loc=0, scale=self.scale)]

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Distribution:
        new = self._like(Weibull, batch_shape, _instance, scale=self.scale.expand(batch_shape),
                         concentration=self.concentration.expand(batch_shape),
                         base_dist=self.base_dist.expand(batch_shape))
        new.concentration_reciprocal = new.concentration.reciprocal()
        new.transforms = new._steps()
        return new

    @property
    def mean(self) -> Tensor:
        return self.scale * exp(lgamma(1 + self.concentration_reciprocal))

    @property
    def mode(self) -> Tensor:
        return self.scale * ((self.concentration - 1) / self.concentration) ** self.concentration.reciprocal()

    @property
    def variance(self) -> Tensor:
        inverse = self.concentration_reciprocal
        return self.scale.pow(2) * (exp(lgamma(1 + 2 * inverse)) - exp(2 * lgamma(1 + inverse)))

    def entropy(self) -> Tensor:
        inverse = self.concentration_reciprocal
        return euler_constant * (1 - inverse) + log(self.scale * inverse) + 1
