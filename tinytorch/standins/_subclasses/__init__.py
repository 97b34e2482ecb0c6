"""torch._subclasses: classes for isinstance."""
from .fake_tensor import FakeTensor, FakeTensorMode
from ..missing import namespace as _namespace

__all__ = ["FakeTensor", "FakeTensorMode"]
__getattr__ = _namespace(__name__)
