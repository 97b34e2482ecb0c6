"""Binomial: the number of times that an event happens."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import abs as absolute, arange, binomial, exp, lgamma, log1p
from ..autograd.grad_mode import no_grad
from ..tensor import Size, Tensor
from . import constraints
from .binary import Binary

__all__ = ["Binomial"]


def _clamp_by_zero(x):
    """max(x, 0), with a gradient of a half at 0."""
    return (x.clamp(min=0) + x - x.clamp(max=0)) / 2


class Binomial(Binary):
    """The number of `total_count` independent events that happen, each with probability `probs` (or log odds `logits`).

    >>> import tinytorch as torch
    >>> Binomial(4, torch.tensor([.5])).mean
    tensor([2.])
    """

    arg_constraints = {"total_count": constraints.nonnegative_integer, **Binary.arg_constraints}
    has_enumerate_support = True
    _tensors = "total_count", "probs", "logits"

    def __init__(self, total_count: Tensor | int = 1, probs: Tensor | float | None = None,
                 logits: Tensor | float | None = None, validate_args: bool | None = None) -> None:
        super().__init__(self._broadcast_binary(probs, logits, total_count=total_count), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        n, logits = self.total_count, self.logits
        ways = lgamma(n + 1)
        normalizer = n * _clamp_by_zero(logits) + n * log1p(exp(-absolute(logits))) - ways
        return value * logits - lgamma(value + 1) - lgamma(n - value + 1) - normalizer

    def _one_count(self, method):
        count = int(self.total_count.max())
        if not self.total_count.min() == count:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{method}`.")
        return count

    def entropy(self) -> Tensor:
        self._one_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = self._one_count("enumerate_support")
        return self._enumerated(arange(1 + count, dtype=self._param.dtype), expand)
