"""torch.func: transforms of functions (derivatives and batching), and modules as functions.

>>> import tinytorch as torch
>>> torch.func.grad(torch.sin)(torch.tensor(0.))
tensor(1.)
"""
from ..missing import namespace as _namespace
from . import custom, inside  # what operations and autograd.Function ask of them
from .batching import vmap
from .derivatives import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp
from .modules import functional_call, stack_module_state

__all__ = ["functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
           "stack_module_state", "vjp", "vmap"]

__getattr__ = _namespace(__name__)
