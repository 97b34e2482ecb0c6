"""StudentT: a mean over an estimated deviation."""
from __future__ import annotations

import math
from collections.abc import Sequence
from math import inf, nan

from .. import contiguous_format, digamma, lgamma, log1p, rsqrt
from ..tensor import Size, Tensor
from . import constraints
from .chi2 import Chi2
from .distribution import Distribution
from .utils import _standard_normal

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Student's t distribution of `df` degrees of freedom, shifted by `loc` and scaled by `scale`.

    >>> StudentT(4.).variance
    tensor(2.)
    """

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _tensors = "df", "loc", "scale", "_chi2"

    def __init__(self, df: Tensor | float, loc: Tensor | float = 0., scale: Tensor | float = 1.,
                 validate_args: bool | None = None) -> None:
        shape = self._broadcast(df=df, loc=loc, scale=scale)
        self._chi2 = Chi2(self.df)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        mean = self.loc.clone(memory_format=contiguous_format)
        mean[self.df <= 1] = nan
        return mean

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        variance, has_one = self.df.clone(memory_format=contiguous_format), self.df > 2
        variance[has_one] = self.scale[has_one].pow(2) * self.df[has_one] / (self.df[has_one] - 2)
        variance[(self.df <= 2) & (self.df > 1)] = inf
        variance[self.df <= 1] = nan
        return variance

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        noise = _standard_normal(self._extended_shape(sample_shape), self.df.dtype, self.df.device)
        return self.loc + self.scale * (noise * rsqrt(self._chi2.rsample(sample_shape) / self.df))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        y = (value - self.loc) / self.scale
        normalizer = (self.scale.log() + .5 * self.df.log() + .5 * math.log(math.pi) + lgamma(.5 * self.df)
                      - lgamma(.5 * (self.df + 1.)))
        return -.5 * (self.df + 1.) * log1p(y ** 2. / self.df) - normalizer

    def entropy(self) -> Tensor:
        half, more = .5 * self.df, .5 * (self.df + 1)
        log_beta = lgamma(half) + math.lgamma(.5) - lgamma(more)
        return self.scale.log() + more * (digamma(more) - digamma(half)) + .5 * self.df.log() + log_beta
