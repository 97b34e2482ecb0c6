"""torch.fft: discrete Fourier transforms. The functions are in ops/fft."""
import sys as _sys

from .autograd.overridable import complete as _complete
from .missing import namespace as _namespace
from .ops.fft.frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from .ops.fft.transforms import (
                                 fft,
                                 fft2,
                                 fftn,
                                 hfft,
                                 hfft2,
                                 hfftn,
                                 ifft,
                                 ifft2,
                                 ifftn,
                                 ihfft,
                                 ihfft2,
                                 ihfftn,
                                 irfft,
                                 irfft2,
                                 irfftn,
                                 rfft,
                                 rfft2,
                                 rfftn,
)

__all__ = ["fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2", "ifftn",
           "ifftshift", "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn"]

__getattr__ = _namespace(__name__)


_complete("fft", _sys.modules[__name__])
