"""Transforms of vectors and matrices, and of the parts of a tensor."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .. import cat, clamp, cumsum, eye, finfo, linalg, stack, tanh
from ..nn.functional import logsigmoid, pad, softplus
from ..tensor import Tensor
from . import constraints
from .base_transforms import Alike, Transform
from .elementwise_transforms import within_unit
from .utils import _sum_rightmost, lazy_property, tril_matrix_to_vec, vec_to_tril_matrix


def _need_dims(shape, number):
    if len(shape) < number:
        raise ValueError("Too few dimensions on input")


class SoftmaxTransform(Alike):
    """y = softmax(x) along the last dimension. It is no bijection, because a shift of x does not change y."""

    domain, codomain = constraints.real_vector, constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        weights = (x - x.max(-1, True)[0]).exp()
        return weights / weights.sum(-1, True)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        _need_dims(shape, 1)
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(Alike):
    """Turns K numbers into K + 1 positive numbers that add up to 1: number k breaks off a share sigmoid(x - log(K -
    k)) of the rest of a stick of length 1."""

    domain, codomain, bijective = constraints.real_vector, constraints.simplex, True

    def _call(self, x: Tensor) -> Tensor:
        share = within_unit((x - _left(x).log()).sigmoid())
        return pad(share, [0, 1], value=1) * pad((1 - share).cumprod(-1), [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        first = y[..., :-1]
        rest = clamp(1 - first.cumsum(-1), min=finfo(y.dtype).tiny)
        return first.log() - rest.log() + _left(first).log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        x = x - _left(x).log()
        return (-x + logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        _need_dims(shape, 1)
        return shape[:-1] + (shape[-1] + 1,)

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        _need_dims(shape, 1)
        return shape[:-1] + (shape[-1] - 1,)


def _left(x):
    """The number of parts of the stick that are still to come: K, K - 1, ..., 1."""
    return x.shape[-1] + 1 - x.new_ones(x.shape[-1]).cumsum(-1)


class CorrCholeskyTransform(Transform):
    """Turns D (D - 1) / 2 numbers into the Cholesky factor of a D x D correlation matrix: tanh(x) are the canonical
    partial correlations (Lewandowski, Kurowicka and Joe, 2009), row after row."""

    domain, codomain, bijective = constraints.real_vector, constraints.corr_cholesky, True

    def _call(self, x: Tensor) -> Tensor:
        eps = finfo(x.dtype).eps
        partial = vec_to_tril_matrix(tanh(x).clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - partial ** 2).sqrt().cumprod(-1)
        partial = partial + eye(partial.shape[-1], dtype=partial.dtype)
        return partial * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        left = pad((1 - cumsum(y * y, dim=-1))[..., :-1], [1, 0], value=1)
        t = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor, intermediates: Any = None) -> Tensor:
        left = tril_matrix_to_vec(1 - (y * y).cumsum(dim=-1), diag=-2)
        of_tanh = -2 * (x + softplus(-2 * x) - math.log(2.)).sum(dim=-1)
        return .5 * left.log().sum(-1) + of_tanh

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        _need_dims(shape, 1)
        n = shape[-1]
        d = round((.25 + 2 * n) ** .5 + .5)
        if d * (d - 1) // 2 != n:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return shape[:-1] + (d, d)

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        _need_dims(shape, 2)
        d = shape[-1]
        if shape[-2] != d:
            raise ValueError("Input is not square")
        return shape[:-2] + (d * (d - 1) // 2,)


class LowerCholeskyTransform(Alike):
    """Turns matrices into lower triangular ones with the exponential of their diagonal."""

    domain, codomain = constraints.independent(constraints.real, 2), constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Alike):
    """Turns matrices into positive definite ones, by their Cholesky factor."""

    domain, codomain = constraints.independent(constraints.real, 2), constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(linalg.cholesky(y))


# ------------------------------------------------------------------ of parts
class _OfParts(Transform):
    """Transforms of the parts of a tensor along dimension `dim`."""

    def __init__(self, tseq: Sequence[Transform], dim: int, cache_size: int) -> None:
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    @property
    def bijective(self) -> bool:
        return all(t.bijective for t in self.transforms)

    def _check(self, value, name, length, of_length):
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dim {self.dim} out of range for {name} with {value.dim()} dimensions")
        if value.size(self.dim) != length:
            raise AssertionError(f"{name if name != 'tensor' else 'x'}.size({self.dim}) = {value.size(self.dim)} must "
                                 f"equal {of_length} {length}")


class CatTransform(_OfParts):
    """Transforms of the parts, of the given lengths, that `torch.cat` would join."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None,
                 cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})")

    @lazy_property
    def event_dim(self) -> int:
        return max(t.event_dim for t in self.transforms)

    @lazy_property
    def length(self) -> int:
        return sum(self.lengths)

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else CatTransform(
            self.transforms, self.dim, self.lengths, cache_size)

    def _parts(self, value, name):
        self._check(value, name, self.length, "length")
        starts = [sum(self.lengths[:i]) for i in range(len(self.lengths))]
        return [value.narrow(self.dim, start, length) for start, length in zip(starts, self.lengths)]

    def _call(self, x: Tensor) -> Tensor:
        return cat([t(part) for t, part in zip(self.transforms, self._parts(x, "tensor"))], dim=self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return cat([t.inv(part) for t, part in zip(self.transforms, self._parts(y, "tensor"))], dim=self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        terms = []
        for t, x_part, y_part in zip(self.transforms, self._parts(x, "x"), self._parts(y, "y")):
            term = t.log_abs_det_jacobian(x_part, y_part)
            terms.append(_sum_rightmost(term, self.event_dim - t.event_dim) if t.event_dim < self.event_dim else term)
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim
        dim += self.event_dim
        return cat(terms, dim=dim) if dim < 0 else sum(terms)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_OfParts):
    """Transforms of the parts that `torch.stack` would join."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def _parts(self, value, name):
        self._check(value, name, len(self.transforms), "len(transforms)")
        return [value.select(self.dim, i) for i in range(value.size(self.dim))]

    def _joined(self, function: Callable, *values: list) -> Tensor:
        return stack([function(t, *parts) for t, *parts in zip(self.transforms, *values)], dim=self.dim)

    def _call(self, x: Tensor) -> Tensor:
        return self._joined(lambda t, part: t(part), self._parts(x, "tensor"))

    def _inverse(self, y: Tensor) -> Tensor:
        return self._joined(lambda t, part: t.inv(part), self._parts(y, "tensor"))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self._joined(lambda t, *parts: t.log_abs_det_jacobian(*parts), self._parts(x, "x"), self._parts(y, "y"))

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
