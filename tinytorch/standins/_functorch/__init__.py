"""torch._functorch: names to import of what vmap is made of. The transforms themselves are in torch.func."""
from ..missing import namespace as _namespace

__getattr__ = _namespace(__name__, ("_C", "apis", "vmap"))
