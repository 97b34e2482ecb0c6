"""OneHotCategorical: one of several categories, as a vector."""
from __future__ import annotations

from collections.abc import Sequence

from .. import eye
from ..nn.functional import one_hot
from ..tensor import Size, Tensor
from . import constraints
from .categorical import Categorical
from .distribution import Distribution
from .over_categorical import OverCategorical

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(OverCategorical):
    """Vectors with a single 1, whose place has the probabilities of a Categorical, and zeros elsewhere.

    >>> import tinytorch as torch
    >>> OneHotCategorical(torch.tensor([1., 3.])).mode
    tensor([0., 1.])
    """

    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
                 ) -> None:
        self._set_categorical(Categorical(probs, logits), validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Distribution:
        return self._like(OneHotCategorical, batch_shape, _instance, _categorical=self._categorical.expand(batch_shape))

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return one_hot(self.probs.argmax(dim=-1), num_classes=self.probs.shape[-1]).to(self.probs)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        places = self._categorical.sample(sample_shape)
        return one_hot(places, self._categorical._num_events).to(self.probs)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self.event_shape[0]
        values = eye(n, dtype=self._param.dtype).view((n,) + (1,) * len(self.batch_shape) + (n,))
        return values.expand((n,) + self.batch_shape + (n,)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """OneHotCategorical whose samples pass their gradient to the probabilities unchanged (Bengio et al.,
    2013)."""

    has_rsample = True

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        sample = self.sample(sample_shape)
        return sample + (self.probs - self.probs.detach())
