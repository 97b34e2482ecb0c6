"""RelaxedBernoulli: an event that happens in part, so that samples are differentiable."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import rand
from ..tensor import Size, Tensor
from . import constraints
from .binary import Binary
from .distribution import Distribution
from .transformed_distribution import TransformedDistribution
from .transforms import SigmoidTransform
from .utils import broadcast_all, clamp_probs

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(Binary):
    """The log odds of RelaxedBernoulli (Maddison et al., 2017)."""

    support = constraints.real
    _tensors = "probs", "logits"

    def __init__(self, temperature: Tensor, probs: Tensor | float | None = None, logits: Tensor | float | None = None,
                 validate_args: bool | None = None) -> None:
        self.temperature = temperature
        super().__init__(self._broadcast_binary(probs, logits), validate_args=validate_args)

    def _like(self, cls: type, batch_shape: Any, _instance: Any, **attributes: Any) -> Distribution:
        return super()._like(cls, batch_shape, _instance, temperature=self.temperature, **attributes)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(rand(shape, dtype=probs.dtype))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        logits, value = broadcast_all(self.logits, value)
        difference = logits - value.mul(self.temperature)
        return self.temperature.log() + difference - 2 * difference.exp().log1p()


class RelaxedBernoulli(TransformedDistribution):
    """Numbers between 0 and 1 that are differentiable functions of the parameters. They approach those of Bernoulli as
    `temperature` falls.

    >>> import tinytorch as torch
    >>> RelaxedBernoulli(torch.tensor(.5), torch.tensor([.25])).has_rsample
    True
    """

    arg_constraints = Binary.arg_constraints
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, temperature: Tensor, probs: Tensor | float | None = None, logits: Tensor | float | None = None,
                 validate_args: bool | None = None) -> None:
        super().__init__(LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(),
                         validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Distribution:
        return super().expand(batch_shape, _instance=self._get_checked_instance(RelaxedBernoulli, _instance))

    @property
    def temperature(self) -> Tensor:
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        return self.base_dist.probs
