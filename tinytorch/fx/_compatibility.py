"""torch.fx._compatibility: marks of names that stay the same from one release to the next. Nothing reads the marks
here."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["compatibility"]

_BACK_COMPAT_OBJECTS: dict[Any, None] = {}
_MARKED_WITH_COMPATIBILITY: dict[Any, None] = {}


def compatibility(is_backward_compatible: bool) -> Callable[[Any], Any]:
    """A decorator that adds a function or class to the lists of this module."""
    def mark(marked):
        _MARKED_WITH_COMPATIBILITY.setdefault(marked)
        if is_backward_compatible:
            _BACK_COMPAT_OBJECTS.setdefault(marked)
        return marked
    return mark
