"""torch._library: the package of the parts of torch.library in torch."""
from ..missing import namespace as _namespace

__getattr__ = _namespace(__name__, ("custom_ops", "infer_schema", "triton"))
