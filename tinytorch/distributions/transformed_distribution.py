"""TransformedDistribution: the samples of another distribution after transforms."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..autograd.grad_mode import no_grad
from ..tensor import Size, Tensor
from . import constraints
from .distribution import Distribution
from .independent import Independent
from .transforms import ComposeTransform, Transform
from .utils import _sum_rightmost

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of f(x) for samples x of `base_distribution`, where f is one transform or a list of transforms,
    of which the first is applied first. ValueError for anything else, and for a base with too few dimensions.

    >>> import tinytorch as torch
    >>> from tinytorch.distributions import ExpTransform, Normal
    >>> TransformedDistribution(Normal(0., 1.), ExpTransform()).log_prob(torch.tensor(1.))
    tensor(-0.9189)
    """

    arg_constraints: dict = {}

    def __init__(self, base_distribution: Distribution, transforms: Transform | list[Transform],
                 validate_args: bool | None = None) -> None:
        if isinstance(transforms, Transform):
            transforms = [transforms]
        elif not isinstance(transforms, list):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        elif not all(isinstance(t, Transform) for t in transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        self.transforms = transforms
        whole = ComposeTransform(transforms)
        shape, base_dims = base_distribution.batch_shape + base_distribution.event_shape, len(
            base_distribution.event_shape)
        if len(shape) < whole.domain.event_dim:
            raise ValueError("base_distribution needs to have shape with size at least "
                             f"{whole.domain.event_dim}, but got {shape}.")
        result_shape = Size(whole.forward_shape(shape))
        needed = Size(whole.inverse_shape(result_shape))
        if shape != needed:                    # the transforms have a batch of parameters
            base_distribution = base_distribution.expand(needed[:len(needed) - base_dims])
        more = whole.domain.event_dim - base_dims
        self.base_dist = Independent(base_distribution, more) if more > 0 else base_distribution
        event_dim = max(whole.codomain.event_dim, base_dims + whole.codomain.event_dim - whole.domain.event_dim)
        cut = len(result_shape) - event_dim
        super().__init__(result_shape[:cut], result_shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Distribution:
        shape = Size(batch_shape) + self.event_shape
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        base = self.base_dist.expand(shape[:len(shape) - len(self.base_dist.event_shape)])
        return self._like(TransformedDistribution, batch_shape, _instance, base_dist=base, transforms=self.transforms)

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        more = len(self.event_shape) - support.event_dim
        return constraints.independent(support, more) if more > 0 else support

    @property
    def has_rsample(self) -> bool:             # type: ignore[override]
        return self.base_dist.has_rsample

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self._transformed(self.base_dist.rsample(sample_shape))

    def _transformed(self, x):
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        event_dim, log_prob, y = len(self.event_shape), 0., value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            volume = transform.log_abs_det_jacobian(x, y)
            log_prob = log_prob - _sum_rightmost(volume, event_dim - transform.domain.event_dim)
            y = x
        return log_prob + _sum_rightmost(self.base_dist.log_prob(y), event_dim - len(self.base_dist.event_shape))

    def _monotonize_cdf(self, value):
        """The probability of at most a value. Decreasing transforms turn it into the probability of at least the
        value."""
        sign = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return value if isinstance(sign, int) and sign == 1 else sign * (value - .5) + .5

    def cdf(self, value: Tensor) -> Tensor:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._transformed(self.base_dist.icdf(self._monotonize_cdf(value)))
