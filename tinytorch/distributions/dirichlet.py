"""Dirichlet: probabilities that add up to 1."""
from __future__ import annotations

from collections.abc import Sequence

from .. import _dirichlet_grad, _sample_dirichlet, digamma, lgamma, xlogy
from ..autograd.function import Function, once_differentiable
from ..nn.functional import one_hot
from ..tensor import Size, Tensor
from . import constraints
from .distribution import Distribution
from .exp_family import ExponentialFamily

__all__ = ["Dirichlet"]


def _Dirichlet_backward(x, concentration, grad_output):
    total = concentration.sum(-1, True).expand_as(concentration)
    return _dirichlet_grad(x, concentration, total) * (grad_output - (x * grad_output).sum(-1, True))


class _Dirichlet(Function):
    """A sample, with the gradient of the implicit function that the cumulative distribution defines."""

    @staticmethod
    def forward(ctx, concentration):
        x = _sample_dirichlet(concentration)
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        return _Dirichlet_backward(*ctx.saved_tensors, grad_output)


class Dirichlet(ExponentialFamily):
    """Vectors of K numbers that are positive and add up to 1, with the density in proportion to the product of
    x_k ** (concentration_k - 1).

    >>> import tinytorch as torch
    >>> Dirichlet(torch.tensor([1., 3.])).mean
    tensor([0.2500, 0.7500])
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Distribution:
        return self._like(Dirichlet, batch_shape, _instance,
                          concentration=self.concentration.expand(Size(batch_shape) + self.event_shape))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return _Dirichlet.apply(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        return (xlogy(self.concentration - 1., value).sum(-1) + lgamma(self.concentration.sum(-1))
                - lgamma(self.concentration).sum(-1))

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        above = (self.concentration - 1).clamp(min=0.)
        mode = above / above.sum(-1, True)
        corner = (self.concentration < 1).all(dim=-1)
        mode[corner] = one_hot(mode[corner].argmax(dim=-1), above.shape[-1]).to(mode)
        return mode

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self) -> Tensor:
        k, total = self.concentration.size(-1), self.concentration.sum(-1)
        return (lgamma(self.concentration).sum(-1) - lgamma(total) - (k - total) * digamma(total)
                - ((self.concentration - 1.) * digamma(self.concentration)).sum(-1))

    @property
    def _natural_params(self):
        return self.concentration,

    def _log_normalizer(self, x):
        return x.lgamma().sum(-1) - lgamma(x.sum(-1))
