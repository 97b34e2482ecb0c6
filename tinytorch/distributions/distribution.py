"""The base class of all distributions."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import exp
from ..autograd.grad_mode import no_grad
from ..errors import warn
from ..tensor import Size, Tensor
from .constraints import is_dependent
from .utils import all_true, broadcast_all, lazy_property

__all__ = ["Distribution"]

_EMPTY = Size()


class Distribution:
    """A probability distribution, or a batch of independent ones.

    batch_shape   the shape of the parameters
    event_shape   the shape of one sample of one of the distributions
    validate_args   whether parameters and values are checked; None: the setting of `set_default_validate_args`

    A sample of `sample_shape` has the shape sample_shape + batch_shape + event_shape. Its `log_prob` has the shape
    sample_shape + batch_shape.
    """

    has_rsample = False                        # whether samples carry gradients to the parameters
    has_enumerate_support = False
    _validate_args = __debug__
    _tensors: tuple[str, ...] = ()             # attributes of the batch shape, which `expand` expands

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Sets whether arguments are checked if a distribution gets no `validate_args`. They are, unless Python runs
        with -O."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape: Size = _EMPTY, event_shape: Size = _EMPTY, validate_args: bool | None = None
                 ) -> None:
        self._batch_shape, self._event_shape = batch_shape, event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self):
        try:
            arg_constraints = self.arg_constraints
        except NotImplementedError:
            arg_constraints = {}
            warn(f"{self.__class__} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or "
                 "initialize the distribution with `validate_args=False` to turn off validation.")
        for name, constraint in arg_constraints.items():
            follows = name not in vars(self) and isinstance(getattr(type(self), name), lazy_property)
            if is_dependent(constraint) or follows:
                continue                       # from what is checked
            value = getattr(self, name)
            if not all_true(constraint.check(value)):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                    f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value}")

    def _broadcast(self, **parameters: Any) -> Size:
        """Sets the parameters as attributes and returns their shape. Numbers become tensors, and all get one shape."""
        tensors = broadcast_all(*parameters.values())
        vars(self).update(zip(parameters, tensors))
        return tensors[0].size()

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Distribution:
        """The same distribution with parameters expanded to a batch shape. The parameters get no new memory."""
        owner = next((c for c in type(self).__mro__ if "_tensors" in vars(c)), Distribution)
        if owner is Distribution:
            raise NotImplementedError
        held = {name: vars(self)[name].expand(batch_shape) for name in self._tensors if name in vars(self)}
        return self._like(owner, batch_shape, _instance, **held)

    def _like(self, cls: type, batch_shape: Sequence[int], _instance: Distribution | None, **attributes: Any
              ) -> Distribution:
        """An instance of another batch shape, with these attributes, for the `expand` of class `cls`."""
        new = self._get_checked_instance(cls, _instance)
        vars(new).update(attributes)
        Distribution.__init__(new, Size(batch_shape), self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _get_checked_instance(self, cls: type, _instance: Distribution | None = None) -> Distribution:
        if _instance is None and type(self).__init__ != cls.__init__:
            raise NotImplementedError(
                f"Subclass {self.__class__.__name__} of {cls.__name__} that defines a custom __init__ method must also "
                "define a custom .expand() method.")
        return self.__new__(type(self)) if _instance is None else _instance

    @property
    def batch_shape(self) -> Size:
        """The shape of the parameters."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one sample of one distribution."""
        return self._event_shape

    @property
    def arg_constraints(self) -> dict[str, Any]:
        """{name of a parameter: the Constraint that it satisfies}."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """The Constraint that samples satisfy."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """The expectation, of shape batch_shape + event_shape."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The square root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        """A sample that passes no gradients to the parameters."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        """A sample that is a differentiable function of the parameters."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """sample((n,)), under an older name."""
        warn("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning)
        return self.sample(Size((n,)))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density, or probability, at `value`. ValueError for a value outside of the support."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of a sample of at most `value`."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """The number at which `cdf` is `value`."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values that a discrete distribution has, along dimension 0. Their shape is (cardinality,) + batch_shape +
        event_shape; without `expand` the batch shape consists of ones."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The entropy in nats, of shape batch_shape."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """The exponential of the entropy."""
        return exp(self.entropy())

    def _extended_shape(self, sample_shape: Sequence[int] = Size()) -> Size:
        """The shape of a sample."""
        return Size(Size(sample_shape) + self._batch_shape + self._event_shape)

    def _enumerated(self, values: Tensor, expand: bool) -> Tensor:
        """The result of `enumerate_support` for the numbers (n,) that a distribution of numbers has."""
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + self._batch_shape) if expand else values

    def _check(self, value: Any) -> None:
        """Calls `_validate_sample` if arguments are checked."""
        if self._validate_args:
            self._validate_sample(value)

    def _validate_sample(self, value: Any) -> None:
        """Raises ValueError for a value that is not a tensor of a fitting shape within the support."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        shape, expected = value.size(), self._batch_shape + self._event_shape
        if shape[len(shape) - len(self._event_shape):] != self._event_shape:
            raise ValueError(f"The right-most size of value must match event_shape: {shape} vs {self._event_shape}.")
        if any([i != j and 1 not in (i, j) for i, j in zip(reversed(shape), reversed(expected))]):
            raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {shape} vs {expected}.")
        try:
            support = self.support
        except NotImplementedError:
            warn(f"{self.__class__} does not define `support` to enable sample validation. Please initialize "
                 "the distribution with `validate_args=False` to turn off validation.")
            return
        if not all_true(support.check(value)):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(shape)}) to be within the support "
                f"({support!r}) of the distribution {self!r}, but found invalid values:\n{value}")

    def __repr__(self) -> str:
        held = {name: vars(self)[name] for name in self.arg_constraints if name in vars(self)}
        words = [f"{name}: {value if value.numel() == 1 else value.size()}" for name, value in held.items()]
        return f"{self.__class__.__name__}({', '.join(words)})"
