"""torch.ao.quantization.fx: quantised graphs, of which there are none."""
from ....missing import namespace as _namespace

__getattr__ = _namespace(__name__, ("_decomposed",))
