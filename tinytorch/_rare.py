"""Names at the top of torch that few programs use."""
from __future__ import annotations

import sys
from types import ModuleType

from . import dtypes as dt
from ._refused import refused_class
from .device import device as Device
from .errors import kind_of
from .ops.nn.embedding import embedding_renorm_
from .ops.nn.pixel_shuffle import channel_shuffle as native_channel_shuffle
from .storage import UntypedStorage
from .tensor import Tensor, wrap
from .types import Device as AnyDevice

__all__ = ["DeviceObjType", "TensorType", "embedding_renorm_", "from_file", "get_device_module",
           "native_channel_shuffle", "qint32", "qint8", "quint2x4", "quint4x2", "quint8"]

DeviceObjType, TensorType = [refused_class("torch", name, "it is a type of TorchScript's")
                             for name in ("DeviceObjType", "TensorType")]


class _Quantised(dt.dtype):
    """A dtype to tell tensors by, of which there are none."""

    __slots__ = ()

    def __init__(self, name):
        self.name = name

    def __getattr__(self, name: str) -> object:
        if not hasattr(dt.dtype, name):
            raise AttributeError(f"'torch.dtype' object has no attribute '{name}'", name=name, obj=self)
        raise NotImplementedError(f"torch.{self.name}: there are no quantised numbers")


qint8, qint32, quint8, quint4x2, quint2x4 = map(_Quantised, ("qint8", "qint32", "quint8", "quint4x2", "quint2x4"))


def get_device_module(device: AnyDevice = None) -> ModuleType:
    """The module of a kind of device: torch.cpu, unless another is named. RuntimeError where there is none."""
    hash(device)                               # TypeError for a list
    if not isinstance(device, (Device, str, type(None))):
        raise RuntimeError(f"Invalid value of device '{device}', expect torch.device, str, or None")
    kind = Device("cpu" if device is None else device).type
    package = sys.modules[__package__]
    try:
        return getattr(package, kind)
    except AttributeError:
        raise RuntimeError(f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'."
                           ) from None


def from_file(filename: str, shared: bool | None = None, size: int | None = 0, *, dtype: dt.dtype | None = None,
              layout: object = None, device: AnyDevice = None, pin_memory: bool = False,
              requires_grad: bool = False) -> Tensor:
    """A tensor of `size` numbers in the memory of a file, which writes reach if `shared`. RuntimeError if the file is
    shorter and is not shared."""
    for name, value, kinds in (("filename", filename, (str,)), ("shared", shared, (bool, type(None))),
                               ("size", size, (int, type(None)))):
        if not isinstance(value, kinds):
            raise TypeError(f"from_file(): argument '{name}' must be {kinds[0].__name__}, not {kind_of(value)}")
    dtype = dtype or dt.get_default_dtype()
    storage = UntypedStorage.from_file(filename, bool(shared), (size or 0) * dtype.itemsize)
    tensor = wrap(storage.numbers(dtype)[:size])
    return tensor.requires_grad_() if requires_grad else tensor
