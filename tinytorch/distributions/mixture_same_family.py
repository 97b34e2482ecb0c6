"""MixtureSameFamily: one of several distributions of one class."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import gather, log_softmax, logsumexp, sum as total
from ..autograd.grad_mode import no_grad
from ..tensor import Size, Tensor
from . import constraints
from .categorical import Categorical
from .distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A mixture: `mixture_distribution`, a Categorical, picks one along the last batch dimension of
    `component_distribution`. ValueError if the two do not fit.

    >>> import tinytorch as torch
    >>> from tinytorch.distributions import Normal
    >>> MixtureSameFamily(Categorical(torch.ones(2)), Normal(torch.tensor([-1., 1.]), 1.)).variance
    tensor(2.)
    """

    arg_constraints: dict = {}

    def __init__(self, mixture_distribution: Categorical, component_distribution: Distribution,
                 validate_args: bool | None = None) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution")
        of_mixture, batch_shape = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        if any([a != b and 1 not in (a, b) for a, b in zip(reversed(of_mixture), reversed(batch_shape))]):
            raise ValueError(f"`mixture_distribution.batch_shape` ({of_mixture}) is not compatible with "
                             f"`component_distribution.batch_shape`({batch_shape})")
        number, components = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if number != components:
            raise ValueError(f"`mixture_distribution component` ({number}) does not equal "
                             f"`component_distribution.batch_shape[-1]` ({components})")
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        self._num_component, self._event_ndims = number, len(component_distribution.event_shape)
        super().__init__(batch_shape, component_distribution.event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Distribution:
        batch_shape = Size(batch_shape)
        return self._like(MixtureSameFamily, batch_shape, _instance,
                          _component_distribution=self._component_distribution.expand(
                              batch_shape + (self._num_component,)),
                          _mixture_distribution=self._mixture_distribution.expand(batch_shape),
                          _num_component=self._num_component, _event_ndims=self._event_ndims)

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        return self._component_distribution

    def _averaged(self, of_components):
        return total(self._weights() * of_components, dim=-1 - self._event_ndims)

    def _weights(self):
        """The probabilities, with dimensions of 1 where the components have further batch or event dimensions."""
        probs, has = self.mixture_distribution.probs, len(self.mixture_distribution.batch_shape)
        more = 0 if has == 1 else len(self.batch_shape) - has
        return probs.reshape(probs.shape[:-1] + Size([1] * more) + probs.shape[-1:] + Size([1] * self._event_ndims))

    def _pad(self, x):
        return x.unsqueeze(-1 - self._event_ndims)

    @property
    def mean(self) -> Tensor:
        return self._averaged(self.component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        within = self._averaged(self.component_distribution.variance)
        return within + self._averaged((self.component_distribution.mean - self._pad(self.mean)).pow(2.))

    def cdf(self, x: Tensor) -> Tensor:
        return total(self.component_distribution.cdf(self._pad(x)) * self.mixture_distribution.probs, dim=-1)

    def log_prob(self, x: Tensor) -> Tensor:
        self._check(x)
        of_components = self.component_distribution.log_prob(self._pad(x))
        return logsumexp(of_components + log_softmax(self.mixture_distribution.logits, dim=-1), dim=-1)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            dim = len(sample_shape) + len(self.batch_shape)
            picked = self.mixture_distribution.sample(sample_shape)
            samples = self.component_distribution.sample(sample_shape)
            shape = picked.shape
            picked = picked.reshape(shape + Size([1] * (self._event_ndims + 1)))
            picked = picked.repeat(Size([1] * (len(shape) + 1)) + self.event_shape)
            return gather(samples, dim, picked).squeeze(dim)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
