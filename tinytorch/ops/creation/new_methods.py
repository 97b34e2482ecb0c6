"""The methods that make new tensors with the dtype and the device of a tensor: new_zeros new_tensor ..."""
import numpy as np

from ...autograd import late_bound
from ...autograd.grad_mode import mode
from ...autograd.public import method
from ...errors import warn
from ...kernels import arrange
from ...tensor import Tensor
from .factories import _filled, _full, _ones, _strided, _unset, tensor
from .options import check_options


def _for_samples(self, result):
    """`result`, new memory. Under vmap it gets memory for each sample if `self` differs between samples."""
    return late_bound.vmap.beside(self, result) if mode.vmap_levels else result


def _device(self, device):
    """The given device, else that of `self`. None means the CPU."""
    return self.device if device is None and type(self._array) is not np.ndarray else device


@method()
def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
    """`torch.tensor(data)` in the dtype of `self`."""
    if isinstance(data, Tensor) and not data.is_sparse:
        warn("To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
             "sourceTensor.detach().clone().requires_grad_(True), rather than tensor.new_tensor(sourceTensor).")
        data = data.detach().to(dtype=self.dtype if dtype is None else dtype, device=_device(self, device), copy=True)
        return data.requires_grad_(requires_grad)
    return tensor(data, dtype=self.dtype if dtype is None else dtype, device=_device(self, device),
                  requires_grad=requires_grad)


@method()
def new_zeros(self, *args, size=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """`torch.zeros(size)` in the dtype of `self`."""
    return _for_samples(self, _filled("new_zeros", arrange.zeros, args, size, None,
                                      self.dtype if dtype is None else dtype, layout, _device(self, device),
                                      requires_grad, pin_memory))


@method()
def new_ones(self, *args, size=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """`torch.ones(size)` in the dtype of `self`."""
    return _for_samples(self, _filled("new_ones", _ones, args, size, None, self.dtype if dtype is None else dtype,
                                      layout, _device(self, device), requires_grad, pin_memory))


@method()
def new_empty(self, *args, size=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """`torch.empty(size)` in the dtype of `self`."""
    return _for_samples(self, _filled("new_empty", _unset, args, size, None, self.dtype if dtype is None else dtype,
                                      layout, _device(self, device), requires_grad, pin_memory))


@method()
def new_full(self, size, fill_value, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """`torch.full(size, fill_value)` in the dtype of `self`."""
    return _for_samples(self, _full("new_full", size, fill_value, None, self.dtype if dtype is None else dtype, layout,
                                    _device(self, device), requires_grad, pin_memory))


@method()
def new_empty_strided(self, size, stride, *, dtype=None, layout=None, device=None, requires_grad=False,
                      pin_memory=False):
    """`torch.empty_strided(size, stride)` in the dtype of `self`."""
    check_options("new_empty_strided", layout, device, requires_grad, pin_memory)
    return _strided("new_empty_strided", size, stride, self.dtype if dtype is None else dtype, _device(self, device),
                    requires_grad, pin_memory)
