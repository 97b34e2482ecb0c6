"""HalfCauchy: the absolute value of a Cauchy number."""
from __future__ import annotations

import math

from .. import full
from ..tensor import Tensor
from .cauchy import Cauchy
from .half import Half

__all__ = ["HalfCauchy"]


class HalfCauchy(Half):
    """The absolute value of a sample of Cauchy(0, scale).

    >>> HalfCauchy(1.).icdf(HalfCauchy(1.).mode + .5)
    tensor(1.)
    """

    def __init__(self, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), validate_args)

    @property
    def mean(self) -> Tensor:
        return full(self._extended_shape(), math.inf, dtype=self.scale.dtype)

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance
