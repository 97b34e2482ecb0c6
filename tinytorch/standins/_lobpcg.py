"""torch._lobpcg: the module of this function in torch."""
from .ops.linalg.lobpcg import lobpcg

__all__ = ["lobpcg"]
