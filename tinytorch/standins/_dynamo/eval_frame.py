"""torch._dynamo.eval_frame."""
from . import OptimizedModule

__all__ = ["OptimizedModule"]
