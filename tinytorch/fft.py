"""torch.fft: discrete Fourier transforms. The functions are in ops/fft."""
import sys as _sys

from .autograd.overridable import complete as _complete
from .missing import namespace as _namespace
from .ops.fft import transforms as _transforms
from .ops.fft.frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from .ops.fft.transforms import *

__all__ = [*_transforms.__all__, "fftfreq", "fftshift", "ifftshift", "rfftfreq"]

__getattr__ = _namespace(__name__)


_complete("fft", _sys.modules[__name__])
