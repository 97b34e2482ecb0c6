"""DLPack: tensors that share memory with those of other libraries. NumPy makes and reads the capsules."""
from __future__ import annotations

import enum
from typing import Any

import numpy as np

from ... import dtypes as dt
from ...arguments.data import check_array
from ...autograd.public import method, public
from ...device import check_device, device as DeviceClass
from ...errors import not_a_tensor
from ...kernels.memory import given
from ...kinds.lazy import bits_of, resolved
from ...tensor import Tensor, wrap
from ...types import Device

__all__ = ["from_dlpack", "to_dlpack"]


class DLDeviceType(enum.IntEnum):
    """The kinds of devices of the DLPack standard."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


#: The standard's codes of the dtypes that NumPy lacks.
_CODES = {dt.bfloat16: 4, dt.complex32: 5, dt.float8_e4m3fn: 10, dt.float8_e4m3fnuz: 11, dt.float8_e5m2: 12,
          dt.float8_e5m2fnuz: 13, dt.float8_e8m0fnu: 14}
_DTYPES = {(code, 8 * d.itemsize): d for d, code in _CODES.items()}
_UNSIGNED = 1
_CPU = (DLDeviceType.kDLCPU, 0)
#: NumPy before 2.1 makes and reads only capsules without a version.
_VERSIONED = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


@method(in_python=True)
def __dlpack_device__(self: Tensor) -> tuple[DLDeviceType, int]:
    """(kCPU, 0): tensors are on the CPU."""
    return _CPU


@method(in_python=True, leaves=True)
def __dlpack__(self: Tensor, *, stream: int | None = None, max_version: tuple[int, int] | None = None,
               dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
    """A DLPack capsule of the tensor's memory, or of a copy of it. It has a version if `max_version` is 1.0 or later.

    BufferError for a tensor that requires grad or is a lazy conjugate, and for other devices.
    """
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if bits_of(self._array)[0]:
        raise BufferError("Can't export tensors with the conjugate bit set")
    if self.is_meta:
        raise BufferError("Cannot pack tensors on meta")
    if stream is not None and type(stream) is not int:
        raise TypeError("stream must be ``int`` or ``none``")
    if stream not in (None, -1):
        raise AssertionError("stream should be None on cpu.")
    if dl_device is not None and not isinstance(dl_device, tuple):
        raise TypeError(f"_to_dlpack(): argument 'dl_device' must be tuple of ints, not {type(dl_device).__name__}")
    if dl_device not in (None, _CPU):
        raise BufferError(f"the tensor is on the CPU, and there is no device {dl_device} to export it to")
    return _capsule(self, max_version is not None and max_version[0] >= 1, copy)


def _capsule(tensor, versioned, copy=None):
    array = tensor._array
    array = resolved(array) if type(array) is not np.ndarray else array
    array = array.copy() if copy else array
    code = _CODES.get(tensor.dtype)
    if code is not None:
        array = array.view(f"u{array.itemsize}")         # NumPy makes the capsule of the bits; then the code is set
    capsule = array.__dlpack__(max_version=(1, 0)) if versioned and _VERSIONED else array.__dlpack__()
    if code is not None:
        _dtype_in(capsule)[0] = code
    return capsule


def _dtype_in(capsule):
    """The bytes (code, bits) of the dtype in a capsule's structure, for reading and writing."""
    import ctypes  # some builds of Python lack it
    name = b"dltensor" if _is_without_version(capsule) else b"dltensor_versioned"
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    # A structure with a version begins with the version, the owner, its deleter and the flags. Then both have the data,
    # the device and the number of dimensions before the dtype.
    return (ctypes.c_uint8 * 2).from_address(get(capsule, name) + (name == b"dltensor_versioned") * 32 + 20)


def _is_without_version(capsule):
    return '"dltensor"' in repr(capsule)


@public(python=True, in_python=False)
def to_dlpack(data: Tensor) -> Any:
    """A DLPack capsule of the tensor's memory, which `from_dlpack` can read once. Passing the tensor itself to it is
    simpler."""
    if not isinstance(data, Tensor):
        raise not_a_tensor("_to_dlpack", "data", 1, data)
    return _capsule(data, False)


@public(python=True, seen=False, shares=True)
def from_dlpack(ext_tensor: Any, *, device: Device = None, copy: bool | None = None) -> Tensor:
    """A tensor that shares the memory of another library's tensor (an object with `__dlpack__`) or of a capsule, which
    can be read once. With `copy` it gets new memory. Read-only memory stays read-only.

    RuntimeError for any other object, BufferError and ValueError for memory that cannot be shared.

    >>> import numpy, tinytorch as torch
    >>> a = numpy.arange(3)
    >>> torch.from_dlpack(a).add_(1); a
    tensor([1, 2, 3])
    array([1, 2, 3])
    """
    if not hasattr(ext_tensor, "__dlpack__"):
        if device is not None or copy is not None:
            raise AssertionError("device and copy kwargs not supported when ext_tensor is already a DLPack capsule.")
        return wrap(_array(ext_tensor))
    if isinstance(device, str):
        device = DeviceClass(device)
    if device is not None and not isinstance(device, DeviceClass):
        raise AssertionError(f"from_dlpack: unsupported device type: {type(device)}")
    check_device(device)
    source = tuple(ext_tensor.__dlpack_device__())
    if source != _CPU:
        raise BufferError(f"the tensor is on device {source}, and tinytorch imports only tensors on the CPU")
    try:
        capsule = ext_tensor.__dlpack__(max_version=(1, 0)) if _VERSIONED else ext_tensor.__dlpack__()
    except TypeError:                          # an exporter from before DLPack had versions
        capsule = ext_tensor.__dlpack__()
    array = _array(capsule)
    return wrap(array.copy() if copy else given(array))


class _Exporter:
    """An object around a capsule. NumPy reads capsules only from such objects."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **options):
        return self.capsule

    def __dlpack_device__(self):
        return _CPU


def _array(capsule):
    """The ndarray on the memory of a capsule. A capsule without a version does not say whether its memory is read-only.
    NumPy takes the memory to be read-only, and torch to be writable."""
    without_version, dtype = _is_without_version(capsule), None
    try:
        if '"dltensor' in repr(capsule):
            named = _dtype_in(capsule)
            dtype = _DTYPES.get(tuple(named))
            if dtype is not None:
                named[0] = _UNSIGNED           # NumPy reads the bits as unsigned integers
        array = np.from_dlpack(_Exporter(capsule))
    except (TypeError, ValueError):
        raise RuntimeError("from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only "
                           "once, so you might have already constructed a tensor from it once.") from None
    array = check_array(array)
    if dtype is not None:
        array = array.view(dtype.numpy)
    if not without_version or not array.size:
        return array
    span = sum([(n - 1) * step for n, step in zip(array.shape, array.strides)]) + array.itemsize
    import ctypes
    memory = (ctypes.c_char * span).from_address(array.__array_interface__["data"][0])
    memory.owner = array                       # keeps the capsule alive as long as the view
    return np.ndarray(array.shape, array.dtype, memory, strides=array.strides)
