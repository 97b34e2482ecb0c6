"""tinytorch: PyTorch's API on NumPy. `import tinytorch as torch`."""
from . import autograd
from .autograd import (enable_grad, inference_mode, is_grad_enabled, is_inference_mode_enabled, no_grad,
                       set_grad_enabled)
from .autograd.promotion import result_type
from .device import device
from .dtype import (bfloat16, bool, can_cast, complex64, complex128, finfo, float16, float32, float64,
                    get_default_dtype, iinfo, int8, int16, int32, int64, promote_types, set_default_dtype, uint8,
                    uint16, uint32, uint64)
from .dtype import dtype as _dtype_class
from .ops.arithmetic import *
from .ops.cast import clone
from .ops.create import *
from .ops.linear import *
from .ops.math import *
from .ops.reduce import *
from .ops.shape import *
from .tensor import Size, Tensor

dtype = _dtype_class
half, float, double = float16, float32, float64
short, int, long = int16, int32, int64
cfloat, cdouble = complex64, complex128
