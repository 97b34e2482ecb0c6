"""The base class of distributions of vectors that use a Categorical."""
from __future__ import annotations

from typing import Any

from ..tensor import Size, Tensor
from . import constraints
from .categorical import Categorical
from .distribution import Distribution


class OverCategorical(Distribution):
    """A distribution whose events are vectors with one element per category."""

    arg_constraints: Any = {"probs": constraints.simplex, "logits": constraints.real_vector}
    _categorical: Categorical

    def _set_categorical(self, categorical: Categorical, validate_args: bool | None) -> None:
        self._categorical = categorical
        Distribution.__init__(self, categorical.batch_shape, categorical.param_shape[-1:], validate_args=validate_args)

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._categorical._new(*args, **kwargs)

    @property
    def _param(self) -> Tensor:
        return self._categorical._param

    @property
    def probs(self) -> Tensor:
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        return self._categorical.logits

    @property
    def param_shape(self) -> Size:
        """The shape of `probs` and `logits`."""
        return self._categorical.param_shape
