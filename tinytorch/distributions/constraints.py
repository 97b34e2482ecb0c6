"""Constraints: the sets that parameters and samples lie in.

`constraint.check(value)` says for each event, which has the last `event_dim` dimensions, whether it lies in the set.
Constraints without arguments are objects (`real`, `positive`, `simplex`), and constraints with arguments are classes
(`interval(0, 1)`).
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import bool as bool_, cat as concatenate, finfo, full, isclose, linalg, stack as stacked
from ..tensor import Tensor

__all__ = ["Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent",
           "dependent_property", "greater_than", "greater_than_eq", "half_open_interval", "independent",
           "integer_interval", "interval", "is_dependent", "less_than", "lower_cholesky", "lower_triangular",
           "multinomial", "nonnegative", "nonnegative_integer", "one_hot", "positive", "positive_definite",
           "positive_integer", "positive_semidefinite", "real", "real_vector", "simplex", "square", "stack",
           "symmetric", "unit_interval"]


class Constraint:
    """A set of values.

    is_discrete   whether the set consists of single points
    event_dim     the number of last dimensions that belong to one value

    >>> import tinytorch as torch
    >>> positive.check(torch.tensor([1., 0.])), positive
    (tensor([ True, False]), GreaterThan(lower_bound=0.0))
    """

    is_discrete = False
    event_dim = 0
    _bounds: tuple[str, ...] = ()              # the attributes that repr shows

    def check(self, value: Tensor) -> Tensor:
        """A bool tensor of the shape of `value` without its last `event_dim` dimensions."""
        raise NotImplementedError

    def __repr__(self) -> str:
        bounds = [f"{name}={getattr(self, name)}" for name in self._bounds]
        return f"{type(self).__name__.lstrip('_')}({', '.join(bounds)})"


# ------------------------------------------------------------------ of other parameters, or of other constraints
class _Dependent(Constraint):
    """The constraint of a parameter whose set depends on other parameters. It cannot be checked by itself.
    `is_discrete` and `event_dim` raise NotImplementedError unless they are given."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim

    @property
    def is_discrete(self) -> bool:             # type: ignore[override]
        return self._known(self._is_discrete, ".is_discrete")

    @property
    def event_dim(self) -> int:                # type: ignore[override]
        return self._known(self._event_dim, ".event_dim")

    @staticmethod
    def _known(value, name):
        if value is NotImplemented:
            raise NotImplementedError(f"{name} cannot be determined statically")
        return value

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> _Dependent:
        if is_discrete is NotImplemented:
            is_discrete = self._is_discrete
        if event_dim is NotImplemented:
            event_dim = self._event_dim
        return _Dependent(is_discrete=is_discrete, event_dim=event_dim)

    def check(self, x: Tensor) -> Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint depends on other parameters.

    >>> is_dependent(dependent), is_dependent(real)
    (True, False)
    """
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property that on the class is a dependent constraint: `@dependent_property`, or `@dependent_property(
    is_discrete=..., event_dim=...)`."""

    def __init__(self, fn: Callable | None = None, *, is_discrete: Any = NotImplemented,
                 event_dim: Any = NotImplemented) -> None:
        property.__init__(self, fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn: Callable) -> _DependentProperty:    # type: ignore[override]
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _OverBase(Constraint):
    """A constraint that is made of another, and is discrete if that one is."""

    def __init__(self, base_constraint: Constraint) -> None:
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(f"base_constraint must be a Constraint, got {type(base_constraint).__name__}")
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> bool:             # type: ignore[override]
        return self.base_constraint.is_discrete


class _IndependentConstraint(_OverBase):
    """Values whose parts satisfy another constraint, for parts along the last `reinterpreted_batch_ndims` dimensions of
    the result of its check."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        super().__init__(base_constraint)
        if not isinstance(reinterpreted_batch_ndims, int):
            raise AssertionError("reinterpreted_batch_ndims must be an int, got "
                                 f"{type(reinterpreted_batch_ndims).__name__}")
        if reinterpreted_batch_ndims < 0:
            raise AssertionError(f"reinterpreted_batch_ndims must be >= 0, got {reinterpreted_batch_ndims}")
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def event_dim(self) -> int:                # type: ignore[override]
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        result = self.base_constraint.check(value)
        kept = result.dim() - self.reinterpreted_batch_ndims
        if kept < 0:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return result.reshape(result.shape[:kept] + (-1,)).all(-1)

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(_OverBase):
    """Values that satisfy the constraint of each component of a mixture. They lack the dimension of the components."""

    @property
    def event_dim(self) -> int:                # type: ignore[override]
        return self.base_constraint.event_dim

    def check(self, value: Tensor) -> Tensor:
        result = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        if value.dim() < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return result.reshape(result.shape[:value.dim() - self.event_dim] + (-1,)).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"


class _Joint(Constraint):
    """Constraints of the parts of a value along one dimension."""

    def __init__(self, cseq: Sequence[Constraint], dim: int) -> None:
        if not all(isinstance(c, Constraint) for c in cseq):
            raise AssertionError("All elements of cseq must be Constraint instances")
        self.cseq, self.dim = list(cseq), dim

    @property
    def is_discrete(self) -> bool:             # type: ignore[override]
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self) -> int:                # type: ignore[override]
        return max(c.event_dim for c in self.cseq)

    def _check_dim(self, value):
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dim {self.dim} out of range for value with {value.dim()} dimensions")


class _Cat(_Joint):
    """Constraints of the parts, of the given lengths, that `torch.cat` would join."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})")

    def check(self, value: Tensor) -> Tensor:
        self._check_dim(value)
        checks, start = [], 0
        for constraint, length in zip(self.cseq, self.lengths):
            checks.append(constraint.check(value.narrow(self.dim, start, length)))
            start += length
        return concatenate(checks, self.dim)


class _Stack(_Joint):
    """Constraints of the parts that `torch.stack` would join."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        super().__init__(cseq, dim)

    @property
    def event_dim(self) -> int:                # type: ignore[override]
        dim = max(c.event_dim for c in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value: Tensor) -> Tensor:
        self._check_dim(value)
        parts = [value.select(self.dim, i) for i in range(value.size(self.dim))]
        return stacked([constraint.check(part) for part, constraint in zip(parts, self.cseq)], self.dim)


# ------------------------------------------------------------------ of numbers
class _Real(Constraint):
    """All numbers but NaN."""

    def check(self, value: Tensor) -> Tensor:
        return value == value


class _Boolean(Constraint):
    """0 and 1."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


class _Bounded(Constraint):
    """Numbers within bounds, which are given in the order of `_bounds`."""

    def __init__(self, *bounds: Any, **named: Any) -> None:
        given = dict(zip(self._bounds, bounds), **named)
        if len(bounds) + len(named) != len(self._bounds) or set(given) != set(self._bounds):
            raise TypeError(f"{type(self).__name__}() takes {', '.join(self._bounds)}")
        vars(self).update(given)


class _GreaterThan(_Bounded):
    """Numbers above a bound."""

    _bounds = "lower_bound",

    def check(self, value: Tensor) -> Tensor:
        return self.lower_bound < value


class _GreaterThanEq(_Bounded):
    """Numbers not below a bound."""

    _bounds = "lower_bound",

    def check(self, value: Tensor) -> Tensor:
        return self.lower_bound <= value


class _LessThan(_Bounded):
    """Numbers below a bound."""

    _bounds = "upper_bound",

    def check(self, value: Tensor) -> Tensor:
        return value < self.upper_bound


class _Interval(_Bounded):
    """Numbers from one bound to another, the bounds included."""

    _bounds = "lower_bound", "upper_bound"

    def check(self, value: Tensor) -> Tensor:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Bounded):
    """Numbers from one bound to another, the upper one not included."""

    _bounds = "lower_bound", "upper_bound"

    def check(self, value: Tensor) -> Tensor:
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _IntegerInterval(_Interval):
    """Whole numbers from one bound to another, the bounds included."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & super().check(value)


class _IntegerGreaterThan(_Bounded):
    """Whole numbers not below a bound."""

    is_discrete = True
    _bounds = "lower_bound",

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (value >= self.lower_bound)


# ------------------------------------------------------------------ of vectors
class _OneHot(Constraint):
    """Vectors with a single element 1 and zeros elsewhere."""

    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return _Boolean().check(value).all(-1) & value.sum(-1).eq(1)


class _Simplex(Constraint):
    """Vectors of numbers that are not negative and add up to 1."""

    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(_Bounded):
    """Vectors of counts that add up to at most a bound."""

    is_discrete = True
    event_dim = 1
    _bounds = "upper_bound",

    def check(self, x: Tensor) -> Tensor:
        return (x >= 0).all(-1) & (x.sum(-1) <= self.upper_bound)

    def __repr__(self) -> str:
        return "Multinomial()"


# ------------------------------------------------------------------ of matrices
class _LowerTriangular(Constraint):
    """Matrices that are zero above the diagonal."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return (value.tril() == value).view(value.shape[:-2] + (-1,)).min(-1)[0]


class _LowerCholesky(_LowerTriangular):
    """Lower triangular matrices with a positive diagonal."""

    def check(self, value: Tensor) -> Tensor:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).min(-1)[0]


class _CorrCholesky(_LowerCholesky):
    """Lower triangular matrices with a positive diagonal and rows of length 1."""

    def check(self, value: Tensor) -> Tensor:
        tolerance = 10 * finfo(value.dtype).eps * value.size(-1)
        lengths = linalg.norm(value.detach(), dim=-1)
        return super().check(value) & ((lengths - 1.).abs() <= tolerance).all(-1)


class _Square(Constraint):
    """Matrices with as many rows as columns."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=bool_)


class _Symmetric(_Square):
    """Symmetric matrices."""

    def check(self, value: Tensor) -> Tensor:
        square = super().check(value)
        return isclose(value, value.mT, atol=1e-6).all(-2).all(-1) if square.all() else square


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without negative eigenvalues."""

    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        return linalg.eigvalsh(value).ge(0).all(-1) if symmetric.all() else symmetric


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices for which LAPACK finds a Cholesky factor."""

    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        return linalg.cholesky_ex(value).info.eq(0) if symmetric.all() else symmetric


dependent, dependent_property, independent = _Dependent(), _DependentProperty, _IndependentConstraint
cat, stack = _Cat, _Stack
real, boolean, positive, nonnegative = _Real(), _Boolean(), _GreaterThan(0.), _GreaterThanEq(0.)
greater_than, greater_than_eq, less_than = _GreaterThan, _GreaterThanEq, _LessThan
interval, half_open_interval, unit_interval = _Interval, _HalfOpenInterval, _Interval(0., 1.)
integer_interval = _IntegerInterval
nonnegative_integer, positive_integer = _IntegerGreaterThan(0), _IntegerGreaterThan(1)
real_vector, one_hot, simplex, multinomial = independent(real, 1), _OneHot(), _Simplex(), _Multinomial
lower_triangular, lower_cholesky, corr_cholesky = _LowerTriangular(), _LowerCholesky(), _CorrCholesky()
square, symmetric = _Square(), _Symmetric()
positive_semidefinite, positive_definite = _PositiveSemidefinite(), _PositiveDefinite()
