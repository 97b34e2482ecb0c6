"""Normal: the bell curve."""
from __future__ import annotations

import math
from collections.abc import Sequence

from .. import erf, erfinv, log, normal
from ..autograd.grad_mode import no_grad
from ..tensor import Size, Tensor
from . import constraints
from .exp_family import ExponentialFamily
from .utils import _standard_normal

__all__ = ["Normal"]


class Normal(ExponentialFamily):
    """The normal distribution of mean `loc` and standard deviation `scale`.

    >>> import tinytorch as torch
    >>> m = Normal(torch.tensor([0., 1.]), 2.)
    >>> m, m.log_prob(torch.zeros(2)), m.entropy()
    (Normal(loc: torch.Size([2]), scale: torch.Size([2])), tensor([-1.6121, -1.7371]), tensor([2.1121, 2.1121]))
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _mean_carrier_measure = 0
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
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        noise = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device)
        return self.loc + noise * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        return (-(value - self.loc) ** 2 / (2 * self.scale ** 2) - self.scale.log()
                - math.log(math.sqrt(2 * math.pi)))

    def cdf(self, value: Tensor) -> Tensor:
        self._check(value)
        return .5 * (1 + erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        return .5 + .5 * math.log(2 * math.pi) + log(self.scale)

    @property
    def _natural_params(self):
        return self.loc / self.scale.pow(2), -.5 * self.scale.pow(2).reciprocal()

    def _log_normalizer(self, x, y):
        return -.25 * x.pow(2) / y + .5 * log(-math.pi / y)
