"""Tensors that share the memory of an ndarray or a Python buffer: from_numpy frombuffer."""
from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes as dt
from ...arguments.data import check_array
from ...autograd.public import public
from ...errors import warn
from ...kernels.memory import given
from ...kinds.lazy import root_of
from ...tensor import Tensor, wrap
from .options import as_dtype, finish, wrong

__all__ = ["from_numpy", "frombuffer"]


@public(python=True, seen=False, shares=True)
def from_numpy(ndarray: np.ndarray, /) -> Tensor:
    """A tensor that shares the memory of an ndarray. Read-only memory stays read-only, with a warning.

    TypeError for dtypes that torch lacks, ValueError for strides that are negative or no multiple of the itemsize.

    >>> import numpy, tinytorch as torch
    >>> torch.from_numpy(numpy.arange(3))
    tensor([0, 1, 2])
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    ndarray = check_array(ndarray)
    if not ndarray.flags.writeable:
        warn("The given NumPy array is not writable, and PyTorch does not support non-writable tensors. Here "
             "it stays as it is: writing to this tensor is an error.")
    return wrap(given(plain_array(ndarray)))


def plain_array(array):
    """The same memory in a new array, whose shape, dtype and flags nobody else can set. A subclass of ndarray becomes a
    plain one. The array that it views is left out if it cannot be a tensor's storage, since its elements are not
    aligned to those of `array`."""
    root = root_of(array)
    if root is not array:
        place = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
        if place < 0 or place % array.itemsize or root.nbytes % array.itemsize or min(root.strides, default=0) < 0:
            return np.asarray(memoryview(array))
    return array.view(np.ndarray)


@public(seen=False, shares=True)
def frombuffer(buffer: Any, *, dtype: dt.dtype | type, count: int = -1, offset: int = 0,
               requires_grad: bool | None = False) -> Tensor:
    """A vector that shares the memory of a Python buffer. Read-only memory stays read-only, with a warning.

    ValueError for an argument that is no buffer, or whose length does not fit the count, the offset or the itemsize.

    >>> import tinytorch as torch
    >>> torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.int16)
    tensor([1, 2], dtype=torch.int16)
    """
    dtype = as_dtype(dtype, "frombuffer")
    if dtype is None:
        raise wrong("frombuffer", "dtype", "torch.dtype", dtype)
    try:
        memory = memoryview(buffer)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    if not memory.c_contiguous:
        raise RuntimeError("could not retrieve buffer from object")
    length = memory.nbytes
    if length == 0 or count == 0:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} "
                         "bytes) minus 1")
    if count < 0 and (length - offset) % dtype.itemsize:
        raise ValueError(f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple of "
                         f"element size ({dtype.itemsize})")
    if count > 0 and offset + count * dtype.itemsize > length:
        raise ValueError(f"requested buffer length ({count} * {dtype.itemsize} bytes) after offset ({offset} bytes) "
                         f"must not be greater than actual buffer length ({length} bytes)")
    if memory.readonly:
        warn("The given buffer is not writable, and PyTorch does not support non-writable tensors. Here it "
             "stays as it is: writing to this tensor is an error.")
    return finish(given(np.frombuffer(buffer, dtype.numpy, count, offset)), requires_grad=requires_grad)
