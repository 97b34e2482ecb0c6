"""The base class of distributions of an event that happens or not."""
from __future__ import annotations

from typing import Any

from ..tensor import Size, Tensor
from . import constraints
from .distribution import Distribution
from .utils import lazy_property, logits_to_probs, probs_to_logits


def only_one(probs: Any, logits: Any) -> None:
    """Raises ValueError unless exactly one of the two is given."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class Binary(Distribution):
    """A distribution that is given by the probability `probs` of the event, or by its log odds `logits`. The other one
    is computed when it is asked for."""

    arg_constraints: Any = {"probs": constraints.unit_interval, "logits": constraints.real}

    def _broadcast_binary(self, probs: Any, logits: Any, **others: Any) -> Size:
        """`_broadcast` of `others` and of the given one of `probs` and `logits`, in the dtype of the latter."""
        only_one(probs, logits)
        self._given = "logits" if probs is None else "probs"
        shape = self._broadcast(**others, **{self._given: logits if probs is None else probs})
        for name in others:
            setattr(self, name, getattr(self, name).type_as(self._param))
        return shape

    def _like(self, cls: type, batch_shape: Any, _instance: Any, **attributes: Any) -> Distribution:
        return super()._like(cls, batch_shape, _instance, _given=self._given, **attributes)

    @property
    def _param(self) -> Tensor:
        return getattr(self, self._given)

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._param.new(*args, **kwargs)

    @property
    def param_shape(self) -> Size:
        """The shape of `probs` and `logits`."""
        return self._param.size()

    @lazy_property
    def logits(self) -> Tensor:
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        return logits_to_probs(self.logits, is_binary=True)
