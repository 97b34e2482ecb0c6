"""tinytorch: PyTorch's API on NumPy. `import tinytorch as torch`, and the script runs."""
import warnings as _warnings

from .allocator import keep_freed_memory as _keep_freed_memory
from .kernels.blas import openblas as _openblas

_keep_freed_memory()
_openblas()                                    # holds it to one thread
# NumPy warns where torch silently gives inf or nan: quiet for our own modules, and for them alone.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"tinytorch\.")

from . import autograd
from .autograd import (enable_grad, inference_mode, is_grad_enabled, is_inference_mode_enabled, no_grad,
                       set_grad_enabled)
from .autograd.grad_mode import is_inference
from .autograd.anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled
from .autograd.promotion import result_type
from .autograd.tensor_methods import detach
from .device import device
from .dtypes import (bfloat16, bool, can_cast, complex64, complex128, dtype, finfo, float16, float32, float64,
                     get_default_dtype, iinfo, int8, int16, int32, int64, promote_types, set_default_dtype, uint8,
                     uint16, uint32, uint64)
from .legacy import *
from .memory_format import (channels_last, channels_last_3d, contiguous_format, layout, memory_format,
                            preserve_format, strided)
from .ops.adaptive_pool import adaptive_avg_pool1d, adaptive_max_pool1d_with_indices as adaptive_max_pool1d
from .ops.activation import *
from .ops.arithmetic import *
from .ops.bessel import *
from .ops.bilinear import *
from .ops.bitwise import *
from .ops.broadcast import *
from .ops.compare import *
from .ops.complex import *
from .ops.conv import *
from .ops.create import *
from .ops.decompose import *
from .ops.diagonal import *
from .ops.distance import *
from .ops.einsum import *
from .ops.index import *
from .ops.inplace import *
from .ops.join import *
from .ops.linear import *
from .ops.masked import *
from .ops.math import *
from .ops.matrix import *
from .ops.native_dropout import *
from .ops.norm import *
from .ops.packing import *
from .ops.pad import *
from .ops.pool import *
from .ops.power import *
from .ops.product import *
from .ops.random import *
from .ops.ranges import *
from .ops.rearrange import *
from .ops.reduce import *
from .ops.rnn import *
from .ops.rounding import *
from .ops.scan import *
from .ops.scatter import *
from .ops.shape import *
from .ops.smooth import *
from .ops.similarity import *
from .ops.softmax import *
from .ops.sort import *
from .ops.special_math import *
from .ops.stats import *
from .ops.view_copies import *
from .ops.views import *
from .ops.where import *
from .ops.cast import clone, fill
from .printing import *
from .random import Generator, default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state
from .runtime import *
from .serialization import load, save
from .storage import *
from .tensor import Size, Tensor
from .version import __version__

from . import (accelerator, backends, compiler, cpu, cuda, distributed, func, jit, linalg, mps, nn, optim,
               return_types, serialization, special, utils, version, xpu)
from .func import vmap

half, float, double = float16, float32, float64
short, int, long = int16, int32, int64
cfloat, cdouble = complex64, complex128

#: Parts that take long to import and that few scripts use: loaded when first asked for.
_LATER = ("multiprocessing", "profiler", "vision")


def __getattr__(name):
    if name in _LATER:
        import importlib
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
