"""tinytorch.debug: answers for programs that go wrong. PyTorch has no such module; nothing of it is at work, or loaded,
unless it is asked for.

nonfinite    which operation made the first NaN or Inf, forward or backward
"""
from .finite import NonFiniteError, nonfinite

__all__ = ["NonFiniteError", "nonfinite"]
