"""Multinomial: the number of times that each of several events happens."""
from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from .. import contiguous_format, exp, lgamma, ones_like, tensor
from ..tensor import Size, Tensor
from . import constraints
from .binomial import Binomial
from .categorical import Categorical
from .distribution import Distribution
from .over_categorical import OverCategorical
from .utils import broadcast_all

__all__ = ["Multinomial"]


class Multinomial(OverCategorical):
    """The number of times that each category of a Categorical comes up in `total_count` draws.

    >>> import tinytorch as torch
    >>> Multinomial(8, torch.tensor([1., 3.])).mean
    tensor([2., 6.])
    """

    def __init__(self, total_count: int = 1, probs: Tensor | None = None, logits: Tensor | None = None,
                 validate_args: bool | None = None) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=categorical.probs)
        self._set_categorical(categorical, validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Distribution:
        return self._like(Multinomial, batch_shape, _instance, total_count=self.total_count,
                          _categorical=self._categorical.expand(batch_shape))

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        sample_shape = Size(sample_shape)
        draws = self._categorical.sample(Size((self.total_count,)) + sample_shape)
        draws = draws.permute(*range(1, draws.dim()), 0)
        counts = draws.new(self._extended_shape(sample_shape)).zero_()
        counts.scatter_add_(-1, draws, ones_like(draws))
        return counts.type_as(self.probs)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.clone(memory_format=contiguous_format)
        logits[(value == 0) & (logits == -inf)] = 0
        return lgamma(value.sum(-1) + 1) - lgamma(value + 1).sum(-1) + (logits * value).sum(-1)

    def entropy(self) -> Tensor:
        n = tensor(self.total_count)
        counts = self._binomial.enumerate_support(expand=False)[1:]
        of_counts = (exp(self._binomial.log_prob(counts)) * lgamma(counts + 1)).sum([0, -1])
        return n * self._categorical.entropy() - lgamma(n + 1) + of_counts
