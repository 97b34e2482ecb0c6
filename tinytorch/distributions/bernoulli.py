"""Bernoulli: an event that happens or not."""
from __future__ import annotations

from collections.abc import Sequence
from math import nan

from .. import arange, bernoulli, exp, log1p, logit
from ..autograd.grad_mode import no_grad
from ..nn.functional import binary_cross_entropy_with_logits
from ..tensor import Size, Tensor
from . import constraints
from .binary import Binary
from .exp_family import ExponentialFamily
from .utils import broadcast_all

__all__ = ["Bernoulli"]


class Bernoulli(Binary, ExponentialFamily):
    """1 with probability `probs`, which may be given by its log odds `logits`, and 0 otherwise.

    >>> import tinytorch as torch
    >>> Bernoulli(torch.tensor([.25])).log_prob(torch.ones(1))
    tensor([-1.3863])
    """

    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0
    _tensors = "probs", "logits"

    def __init__(self, probs: Tensor | float | None = None, logits: Tensor | float | None = None,
                 validate_args: bool | None = None) -> None:
        super().__init__(self._broadcast_binary(probs, logits), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        mode = (self.probs >= .5).to(self.probs)
        mode[self.probs == .5] = nan
        return mode

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            return bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._enumerated(arange(2, dtype=self._param.dtype), expand)

    @property
    def _natural_params(self):
        return logit(self.probs),

    def _log_normalizer(self, x):
        return log1p(exp(x))
