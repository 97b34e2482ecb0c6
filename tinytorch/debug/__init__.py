"""tinytorch.debug: answers for programs that go wrong. PyTorch has no such module; nothing of it is at work, or loaded,
unless it is asked for.

nonfinite    which operation made the first NaN or Inf, forward or backward
inplace      which lines saved and wrote to a tensor that backward needs
leaks        which tensors live on after a step, and who holds them
"""
from .finite import NonFiniteError, nonfinite
from .living import leaks
from .writes import inplace

__all__ = ["NonFiniteError", "inplace", "leaks", "nonfinite"]
