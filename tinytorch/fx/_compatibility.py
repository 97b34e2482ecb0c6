"""torch.fx._compatibility: which names stay as they are from one release to the next. The marks are kept; nothing reads
them here."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["compatibility"]

_BACK_COMPAT_OBJECTS: dict[Any, None] = {}
_MARKED_WITH_COMPATIBILITY: dict[Any, None] = {}


def compatibility(is_backward_compatible: bool) -> Callable[[Any], Any]:
    """A decorator that enters a function or class in the lists of this module."""
    def mark(marked):
        _MARKED_WITH_COMPATIBILITY.setdefault(marked)
        if is_backward_compatible:
            _BACK_COMPAT_OBJECTS.setdefault(marked)
        return marked
    return mark
