"""torch.quantization: torch.ao.quantization, as it was called before."""
from ..ao.quantization import *
from ..ao.quantization import __all__, fake_quantize, observer, qconfig, stubs  # noqa: F401
from ..missing import namespace as _namespace

__getattr__ = _namespace(__name__)
