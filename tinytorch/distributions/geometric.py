"""Geometric: failures before the first success."""
from __future__ import annotations

from collections.abc import Sequence

from .. import contiguous_format, finfo, zeros_like
from ..autograd.grad_mode import no_grad
from ..nn.functional import binary_cross_entropy_with_logits
from ..tensor import Size, Tensor
from . import constraints
from .binary import Binary
from .utils import broadcast_all

__all__ = ["Geometric"]


class Geometric(Binary):
    """The number of events that fail before the first one happens, each with probability `probs` (or log odds
    `logits`).

    >>> import tinytorch as torch
    >>> Geometric(torch.tensor([.25])).mean
    tensor([3.])
    """

    support = constraints.nonnegative_integer
    _tensors = "probs", "logits"

    def __init__(self, probs: Tensor | float | None = None, logits: Tensor | float | None = None,
                 validate_args: bool | None = None) -> None:
        super().__init__(self._broadcast_binary(probs, logits), validate_args=validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all():
            value = self.probs
            raise ValueError(
                f"Expected parameter probs ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                f"{self!r} to be positive but found invalid values:\n{value.data[~(value > 0)]}")

    @property
    def mean(self) -> Tensor:
        return 1. / self.probs - 1.

    @property
    def mode(self) -> Tensor:
        return zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1. / self.probs - 1.) / self.probs

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            u = self.probs.new(self._extended_shape(sample_shape)).uniform_(finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        value, probs = broadcast_all(value, self.probs)
        failing = probs.clone(memory_format=contiguous_format)
        failing[(probs == 1) & (value == 0)] = 0
        return value * (-failing).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
