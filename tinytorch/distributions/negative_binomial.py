"""NegativeBinomial: successes before a number of failures."""
from __future__ import annotations

from collections.abc import Sequence

from .. import exp, lgamma, poisson, sigmoid
from ..autograd.grad_mode import no_grad
from ..nn.functional import logsigmoid
from ..tensor import Size, Tensor
from . import constraints
from .binary import Binary
from .gamma import Gamma
from .utils import lazy_property

__all__ = ["NegativeBinomial"]


class NegativeBinomial(Binary):
    """The number of events of probability `probs` (log odds `logits`) that happen before `total_count` events fail.

    >>> import tinytorch as torch
    >>> NegativeBinomial(3., torch.tensor([.5])).mean
    tensor([3.])
    """

    arg_constraints = {"total_count": constraints.greater_than_eq(0), "probs": constraints.half_open_interval(0., 1.),
                       "logits": constraints.real}
    support = constraints.nonnegative_integer
    _tensors = "total_count", "probs", "logits"

    def __init__(self, total_count: Tensor | float, probs: Tensor | float | None = None,
                 logits: Tensor | float | None = None, validate_args: bool | None = None) -> None:
        super().__init__(self._broadcast_binary(probs, logits, total_count=total_count), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.total_count * exp(self.logits)

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.)

    @property
    def variance(self) -> Tensor:
        return self.mean / sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Gamma:
        # Its samples are the rates of the Poisson numbers. They are positive and need no check.
        return Gamma(self.total_count, exp(-self.logits), validate_args=False)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            return poisson(self._gamma.sample(sample_shape=sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        n = self.total_count
        normalizer = -lgamma(n + value) + lgamma(1. + value) + lgamma(n)
        normalizer = normalizer.masked_fill(n + value == 0., 0.)
        return n * logsigmoid(-self.logits) + value * logsigmoid(self.logits) - normalizer
