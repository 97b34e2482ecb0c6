"""Functions on arrays that a recording of torch.compile notes as one step, whatever they compute inside."""
from __future__ import annotations

from types import FunctionType
from typing import TypeVar

__all__ = ["STEPS", "one_step"]

_Function = TypeVar("_Function", bound=FunctionType)

#: All functions that `one_step` was applied to. A recording exchanges them in their modules (capture/exchanged.py).
STEPS: list[FunctionType] = []


def one_step(function: _Function) -> _Function:
    """Decorator for a function of a module, which is called by its name there. It may read the numbers of its arrays,
    and decide by them or raise an error. It returns an array, None, or a list or tuple of arrays, whose shapes do not
    depend on the numbers; it writes to none of its arguments and draws no random numbers."""
    STEPS.append(function)
    return function
