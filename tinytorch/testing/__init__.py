"""torch.testing: tools for tests of programs: comparisons that report the differences, and random tensors."""
from ..missing import namespace as _namespace
from .comparison import assert_allclose, assert_close
from .creation import make_tensor
from .file_check import FileCheck

__all__ = ["FileCheck", "assert_allclose", "assert_close", "make_tensor"]

__getattr__ = _namespace(__name__)
