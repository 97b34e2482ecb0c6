"""torch._functorch: names of the parts of vmap. The transforms themselves are in torch.func."""
from ..missing import namespace as _namespace

__getattr__ = _namespace(__name__, ("_C", "apis", "vmap"))
