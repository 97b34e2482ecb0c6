"""torch._tensor: the module of the class Tensor in torch."""
import importlib

from .overrides import get_default_nowrap_functions
from .tensor import Tensor

__all__ = ["Tensor", "get_default_nowrap_functions"]


def __getattr__(name):
    """The functions that pickles of tensors name."""
    if name == "_rebuild_from_type_v2":
        return getattr(importlib.import_module(f"{__package__}.checkpoint.rebuild"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
