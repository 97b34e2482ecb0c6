"""torch.fx.experimental.symbolic_shapes, where every size is a number, so that every condition on sizes is known."""
from typing import Any

from ..._refused import refused_class as _refused_class

__all__ = ["GuardOnDataDependentSymNode", "free_symbols", "free_unbacked_symbols", "guard_or_false", "guard_or_true",
           "has_free_symbols", "statically_known_true"]


class GuardOnDataDependentSymNode(RuntimeError):
    """A value of a tensor decides the path of a program. torch.export raises this error."""


SymNode = _refused_class("torch.fx.experimental.symbolic_shapes", "SymNode", "every size is a number")


def guard_or_false(a: Any) -> bool:
    """bool(a)."""
    return bool(a)


def guard_or_true(a: Any) -> bool:
    """bool(a)."""
    return bool(a)


def statically_known_true(x: Any) -> bool:
    """bool(x)."""
    return bool(x)


def free_symbols(val: Any) -> set:
    """The empty set: sizes are numbers."""
    return set()


def free_unbacked_symbols(x: Any) -> set:
    """The empty set: sizes are numbers."""
    return set()


def has_free_symbols(val: Any) -> bool:
    """False: sizes are numbers."""
    return False
