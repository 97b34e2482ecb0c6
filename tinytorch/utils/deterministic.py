"""torch.utils.deterministic.fill_uninitialized_memory: whether uninitialized elements (`torch.empty`, `resize_`) are
set to NaN, True or the greatest integer while `torch.use_deterministic_algorithms` is on.

>>> import tinytorch as torch
>>> torch.use_deterministic_algorithms(True)
>>> torch.empty(2), torch.utils.deterministic.fill_uninitialized_memory
(tensor([nan, nan]), True)
>>> torch.use_deterministic_algorithms(False)
"""
import sys
import types

from ..kernels.memory import Unset


class _Deterministic(types.ModuleType):
    @property
    def fill_uninitialized_memory(self) -> bool:
        return Unset.filled

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise RuntimeError(f"expected a bool, but got {type(mode).__name__}")
        Unset.filled = mode


sys.modules[__name__].__class__ = _Deterministic
