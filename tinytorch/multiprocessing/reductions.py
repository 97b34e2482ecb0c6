"""Pickling of tensors and storages for another process: their shared memory is sent, not their numbers."""
import os
import threading
import weakref
from multiprocessing import reduction

import numpy as np

from ..checkpoint.sharing import share
from ..kernels import shared
from ..kinds.lazy import address_of, bits_of, raw, seen
from ..nn.parameter import Parameter
from ..storage import TypedStorage, UntypedStorage
from ..tensor import Tensor, wrap

__all__ = ["init_reductions", "reduce_storage", "reduce_tensor"]

#: Mapped memory by the identity of its file, so that memory that is sent twice is mapped once.
_mapped = weakref.WeakValueDictionary()
_mapping = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_mapping.acquire, after_in_parent=_mapping.release, after_in_child=_mapping.release)


def _handle(memory):
    """The arguments by which another process maps shared memory."""
    segment = shared.segment_of(memory)
    status = os.fstat(segment.fd)
    with _mapping:
        _mapped.setdefault((status.st_dev, status.st_ino), memory)
    return reduction.DupFd(segment.fd), memory.nbytes


def _opened(descriptor, size):
    fd = descriptor.detach()
    status = os.fstat(fd)
    key = status.st_dev, status.st_ino
    with _mapping:
        memory = _mapped.get(key)
        if memory is None:
            memory = _mapped[key] = shared.mapped(fd, size, keep=True)
        else:
            os.close(fd)
        return memory


def reduce_tensor(tensor):
    """The pickle of a tensor. RuntimeError for a tensor with a history, because gradients stay in their process."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(shared.NON_LEAF)
    memory = share(tensor, with_descriptor=True)
    array = raw(tensor._array)
    return _rebuild_tensor, (type(tensor), *_handle(memory), array.dtype, array.shape,
                             address_of(array) - address_of(memory) if array.size else 0, array.strides,
                             bits_of(tensor._array), tensor.requires_grad)


def _rebuild_tensor(cls, descriptor, nbytes, dtype, shape, offset, strides, bits, requires_grad):
    array = np.ndarray(shape, dtype, _opened(descriptor, nbytes), offset, strides)
    tensor = wrap(seen(array, *bits))
    if cls is Tensor:
        tensor.requires_grad = requires_grad
        return tensor
    return cls(tensor, requires_grad)


def reduce_storage(storage):
    """The pickle of a storage: the whole memory, of which the storage may be a part, is sent."""
    memory = share(storage, with_descriptor=True)
    offset = address_of(storage.memory) - address_of(memory) if storage.memory.size else 0
    return _rebuild_storage, (type(storage), *_handle(memory), offset, storage.memory.nbytes,
                              getattr(storage, "dtype", None))


def _rebuild_storage(cls, descriptor, nbytes, offset, size, dtype):
    memory = _opened(descriptor, nbytes)[offset:offset + size]
    return cls._over(memory) if dtype is None else cls._over(memory.view(dtype.numpy), dtype)


def init_reductions():
    """Registers these functions with Python's multiprocessing, if the system has shared memory."""
    if not shared.available():
        return
    for cls in (Tensor, Parameter):
        reduction.ForkingPickler.register(cls, reduce_tensor)
    for cls in (TypedStorage, UntypedStorage):
        reduction.ForkingPickler.register(cls, reduce_storage)
