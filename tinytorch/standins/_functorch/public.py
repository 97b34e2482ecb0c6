"""functorch, the library that became torch.func: its functions, and make_functional for modules."""
from .._refused import refused
from ..func import functionalize, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp, vmap
from ..missing import namespace as _namespace
from .make_functional import (
    FunctionalModule,
    FunctionalModuleWithBuffers,
    combine_state_for_ensemble,
    make_functional,
    make_functional_with_buffers,
)

__all__ = ["FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble", "functionalize", "grad",
           "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "make_functional", "make_functional_with_buffers",
           "make_fx", "vjp", "vmap"]

__path__: list[str] = []         # the table of finder.py has its submodules
make_fx = refused("functorch", "make_fx", "graphs of symbolic operations are not built here")
__getattr__ = _namespace(__name__)
