"""torch._library: where torch keeps what torch.library consists of."""
from ..missing import namespace as _namespace

__getattr__ = _namespace(__name__, ("custom_ops", "infer_schema", "triton"))
