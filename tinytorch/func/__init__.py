"""torch.func: transforms of functions (derivatives and batching), and modules as functions.

>>> import tinytorch as torch
>>> torch.func.grad(torch.sin)(torch.tensor(0.))
tensor(1.)
"""
from .._refused import refused as _refused
from ..missing import namespace as _namespace
from . import custom, inside  # operations and autograd.Function use them
from .batching import vmap
from .derivatives import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp
from .modules import functional_call, replace_all_batch_norm_modules_, stack_module_state

functionalize, rearrange, debug_unwrap = [_refused(__name__, _name, _reason) for _name, _reason in (
    ("functionalize", "functions are not rewritten without writes here"),
    ("rearrange", "see the library einops, which runs on it"),
    ("debug_unwrap", "tensors within transforms are looked at by themselves"))]

__all__ = ["debug_unwrap", "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd",
           "jacrev", "jvp", "linearize", "rearrange", "replace_all_batch_norm_modules_", "stack_module_state", "vjp",
           "vmap"]

__getattr__ = _namespace(__name__)
