"""torch.ao: names to import; nothing is quantised."""
from ..missing import namespace as _namespace

__getattr__ = _namespace(__name__, ("quantization",))
