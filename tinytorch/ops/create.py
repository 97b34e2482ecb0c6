"""New tensors: tensor zeros ones full arange linspace eye ... and the legacy constructors."""
import numpy as np

from .. import dtype as dt
from ..autograd.graph import check_can_require_grad
from ..device import check_device
from ..tensor import Tensor, wrap
from .shape import sizes

__all__ = ["arange", "from_numpy", "ones", "tensor", "zeros"]


def finish(array, dtype=None, device=None, requires_grad=False):
    """A leaf around `array`, converted to `dtype`, with torch's checks."""
    check_device(device)
    if dtype is not None and array.dtype != dtype.numpy:
        array = dt.cast(array, dtype.numpy)
    result = wrap(array)
    if requires_grad:
        check_can_require_grad(result)
        result.tracked = True
    return result


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor with a copy of `data`: numbers, nested sequences, arrays, tensors.

    >>> import tinytorch as torch
    >>> torch.tensor([[1, 2], [3, 4]], dtype=torch.float64)
    tensor([[1., 2.],
            [3., 4.]], dtype=torch.float64)
    """
    if isinstance(data, Tensor):
        return finish(data.array.copy(), dtype, device, requires_grad)
    array = np.array(data)
    if not isinstance(data, (np.ndarray, np.generic)) and dtype is None:
        if array.dtype == np.float64:
            dtype = dt.get_default_dtype()
    return finish(array, dtype, device, requires_grad)


def from_numpy(ndarray):
    """A tensor that shares the memory of an ndarray."""
    dt.of(ndarray)
    return wrap(ndarray)


def zeros(*size, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of zeros."""
    return finish(np.zeros(sizes(size), (dtype or dt.get_default_dtype()).numpy), None, device, requires_grad)


def ones(*size, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of ones."""
    return finish(np.ones(sizes(size), (dtype or dt.get_default_dtype()).numpy), None, device, requires_grad)


def arange(start, end=None, step=1, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """Numbers from start to end (without it) by step."""
    if end is None:
        start, end = 0, start
    if dtype is None:
        dtype = dt.int64 if all(isinstance(v, int) for v in (start, end, step)) else dt.get_default_dtype()
    return finish(np.arange(start, end, step).astype(dtype.numpy), None, device, requires_grad)
