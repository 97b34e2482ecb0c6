"""torch.signal: windows."""
from ..missing import namespace as _namespace
from . import windows

__all__ = ["windows"]

__getattr__ = _namespace(__name__)
