"""torch.fft: discrete Fourier transforms. The functions are in ops/fft."""
from .ops.fft.frequencies import *
from .ops.fft.frequencies import __all__ as _frequencies
from .ops.fft.transforms import *
from .ops.fft.transforms import __all__ as _transforms

__all__ = sorted(_transforms + _frequencies)
