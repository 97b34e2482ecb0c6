"""torch.autograd.variable: the old module of Variable, the old name of Tensor."""
from .tensor_methods import Variable

__all__ = ["Variable"]
