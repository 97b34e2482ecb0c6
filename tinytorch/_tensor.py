"""torch._tensor: where torch keeps the class Tensor."""
from .overrides import get_default_nowrap_functions
from .tensor import Tensor

__all__ = ["Tensor", "get_default_nowrap_functions"]
