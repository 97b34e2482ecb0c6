"""PyTorch's random numbers, bit for bit."""
from ..later import namespace as _namespace

__getattr__ = _namespace(__name__, "exact implicit normal rejection samplers")
