"""tinytorch.debug: tools that find faults in programs. PyTorch has no such module. It is imported when it is first
used, and nothing of it runs outside of its context managers.

nonfinite    finds the operation that made the first NaN or Inf, forward or backward
inplace      finds the lines that saved, and that wrote to, a tensor that backward needs
leaks        finds the tensors that stay alive after a step, and what holds them
"""
from .finite import NonFiniteError, nonfinite
from .living import leaks
from .writes import inplace

__all__ = ["NonFiniteError", "inplace", "leaks", "nonfinite"]
