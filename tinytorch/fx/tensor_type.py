"""torch.fx.tensor_type: types of tensors, by their sizes."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["Dyn", "TensorType", "is_consistent", "is_more_precise"]


class TensorType:
    """The type of tensors with these sizes; unknown sizes are Dyn.

    >>> from tinytorch.fx.tensor_type import Dyn, TensorType, is_consistent
    >>> TensorType((1, Dyn))
    TensorType[(1, Dyn)]
    >>> is_consistent(TensorType((1, Dyn)), TensorType((1, 3)))
    True
    """

    def __init__(self, dim: Sequence[Any]) -> None:
        self.__origin__, self.__args__ = TensorType, dim

    @property
    def dims(self) -> Sequence[Any]:
        """The sizes."""
        return self.__args__

    def __repr__(self) -> str:
        return f"TensorType[{self.dims}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorType) and list(self.dims) == list(other.dims)

    __hash__ = None

    def __class_getitem__(cls, dims: Any) -> TensorType:
        return cls(dims if isinstance(dims, tuple) else (dims,))


class _DynType:
    """The type of a value, or a size, about which nothing is known."""

    __name__ = "_DynType"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _DynType)

    __hash__ = None

    def __repr__(self) -> str:
        return "Dyn"


Dyn = _DynType()


def _of_each(relation, t1, t2):
    return isinstance(t1, TensorType) and isinstance(t2, TensorType) and len(t1.dims) == len(t2.dims) and all(
        [relation(a, b) for a, b in zip(t1.dims, t2.dims)])


def is_consistent(t1: object, t2: object) -> bool:
    """Whether a value may have both types: they are equal where both are known."""
    return t1 == t2 or t1 == Dyn or t2 == Dyn or _of_each(is_consistent, t1, t2)


def is_more_precise(t1: object, t2: object) -> bool:
    """Whether every value of the type t1 also has the type t2."""
    return t1 == t2 or t2 == Dyn or _of_each(is_more_precise, t1, t2)
