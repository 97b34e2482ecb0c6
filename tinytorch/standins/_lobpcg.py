"""torch._lobpcg: where torch has this function."""
from .ops.linalg.lobpcg import lobpcg

__all__ = ["lobpcg"]
