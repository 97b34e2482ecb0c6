"""LKJCholesky: Cholesky factors of correlation matrices."""
from __future__ import annotations

import math
from collections.abc import Sequence

from .. import arange, cat, clamp, diag_embed, finfo, lgamma, mvlgamma, randn, sqrt, sum as total
from ..tensor import Size, Tensor
from . import constraints
from .beta import Beta
from .distribution import Distribution

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Lower Cholesky factors of dim x dim correlation matrices C, with the density in proportion to det(C) **
    (concentration - 1). With 1 all C are equally likely. They are drawn row by row ("onion": Lewandowski, Kurowicka
    and Joe, 2009).

    >>> LKJCholesky(2, 1.)
    LKJCholesky(concentration: 1.0)
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Tensor | float = 1., validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        shape = self._broadcast(concentration=concentration)
        offset = arange(dim - 1, dtype=self.concentration.dtype)
        offset = cat([offset.new_zeros((1,)), offset])
        self._beta = Beta(offset + .5, (self.concentration + .5 * (dim - 2)).unsqueeze(-1) - .5 * offset)
        super().__init__(shape, Size((dim, dim)), validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Distribution:
        batch_shape = Size(batch_shape)
        return self._like(LKJCholesky, batch_shape, _instance, dim=self.dim,
                          concentration=self.concentration.expand(batch_shape),
                          _beta=self._beta.expand(batch_shape + (self.dim,)))

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        squared_length = self._beta.sample(sample_shape).unsqueeze(-1)
        direction = randn(self._extended_shape(sample_shape), dtype=squared_length.dtype).tril(-1)
        direction = direction / direction.norm(dim=-1, keepdim=True)
        direction[..., 0, :].fill_(0.)         # the first row has no elements before the diagonal
        factor = sqrt(squared_length) * direction
        diagonal = clamp(1 - total(factor ** 2, dim=-1), min=finfo(factor.dtype).tiny).sqrt()
        factor += diag_embed(diagonal)
        return factor

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        diagonal, n = value.diagonal(dim1=-1, dim2=-2)[..., 1:], self.dim - 1
        power = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - arange(2, self.dim + 1)
        alpha = self.concentration + .5 * n
        normalizer = .5 * n * math.log(math.pi) + mvlgamma(alpha - .5, n) - lgamma(alpha) * n
        return total(power * diagonal.log(), dim=-1) - normalizer
