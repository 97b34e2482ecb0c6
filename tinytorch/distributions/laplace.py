"""Laplace: an exponential number of either sign."""
from __future__ import annotations

from collections.abc import Sequence

from .. import abs as absolute, expm1, finfo, log, log1p
from ..tensor import Size, Tensor
from . import constraints
from .distribution import Distribution

__all__ = ["Laplace"]


class Laplace(Distribution):
    """The Laplace distribution, with the density exp(-|x - loc| / scale) / (2 scale).

    >>> Laplace(0., 1.).variance
    tensor(2.)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _tensors = "loc", "scale"

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(self._broadcast(loc=loc, scale=scale), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Tensor:
        return 2 ** .5 * self.scale

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        u = self.loc.new(self._extended_shape(sample_shape)).uniform_(finfo(self.loc.dtype).eps - 1, 1)
        return self.loc - self.scale * u.sign() * log1p(-u.abs())

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        return -log(2 * self.scale) - absolute(value - self.loc) / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        self._check(value)
        away = value - self.loc
        return .5 - .5 * away.sign() * expm1(-away.abs() / self.scale)

    def icdf(self, value: Tensor) -> Tensor:
        above = value - .5
        return self.loc - self.scale * above.sign() * log1p(-2 * above.abs())

    def entropy(self) -> Tensor:
        return 1 + log(2 * self.scale)
