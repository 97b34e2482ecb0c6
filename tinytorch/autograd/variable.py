"""torch.autograd.variable: where Variable, the old name of Tensor, was imported from."""
from .tensor_methods import Variable

__all__ = ["Variable"]
