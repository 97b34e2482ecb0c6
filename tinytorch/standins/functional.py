"""torch.functional: the functions that torch implements in Python. They are also in `torch`, and defined in ops/."""
import sys as _sys

from .autograd.overridable import complete as _complete
from .missing import namespace as _namespace
from .ops.fft.stft import istft, stft
from .ops.layout.broadcast import broadcast_shapes, broadcast_tensors
from .ops.layout.join import atleast_1d, atleast_2d, atleast_3d, block_diag, cartesian_prod, meshgrid
from .ops.layout.masked import unravel_index
from .ops.layout.views import split
from .ops.linalg.contractions import tensordot
from .ops.linalg.distance import cdist, norm
from .ops.linalg.einsum import einsum
from .ops.linalg.functions import chain_matmul
from .ops.linalg.lowrank import pca_lowrank, svd_lowrank
from .ops.linalg.lu import lu
from .ops.reduction.sorting import unique, unique_consecutive

__all__ = ["atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors",
           "cartesian_prod", "cdist", "chain_matmul", "einsum", "istft", "lu", "meshgrid", "norm", "pca_lowrank",
           "split", "stft", "svd_lowrank", "tensordot", "unique", "unique_consecutive", "unravel_index"]

__getattr__ = _namespace(__name__)


_complete("functional", _sys.modules[__name__])
