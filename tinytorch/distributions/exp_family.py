"""ExponentialFamily: densities exp(t(x) · θ - F(θ) + k(x))."""
from __future__ import annotations

from ..autograd.tensor_methods import grad
from ..tensor import Tensor
from .distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A distribution with the density exp(t(x) · θ - F(θ) + k(x)): natural parameters θ, statistics t, the log
    normalizer F and the carrier measure k. Its entropy, and the Kullback-Leibler divergence of two of one class, follow
    from F and its gradient (Bregman divergences)."""

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        """θ."""
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        """F(θ)."""
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> float:
        """The expectation of k(x)."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """F(θ) - θ · grad F(θ) - E[k(x)]."""
        params = [p.detach().requires_grad_() for p in self._natural_params]
        normalizer = self._log_normalizer(*params)
        gradients = grad(normalizer.sum(), params, create_graph=True)
        result = -self._mean_carrier_measure + normalizer
        for p, g in zip(params, gradients):
            result = result - (p * g).reshape(self._batch_shape + (-1,)).sum(-1)
        return result
