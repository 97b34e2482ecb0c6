"""Tensors and storages in memory that other processes share."""
from __future__ import annotations

import gc
import sys

import numpy as np

from ..autograd.public import method
from ..device import META
from ..kernels import shared
from ..kinds.lazy import address_of, bits_of, raw, root_of, seen
from ..ops.layout.strided import _memory
from ..storage import _Storage
from ..tensor import Tensor, wrap

__all__ = ["share"]


def share(owner: Tensor | _Storage, with_descriptor: bool = False) -> np.ndarray:
    """Move the memory of a tensor or storage into a shared segment, unless it is in one (`with_descriptor`: in one with
    a file descriptor, which other processes need to map it). All tensors and storages on that memory move with it;
    ndarrays do not.

    Returns the array of its bytes.
    """
    if owner.device is META:
        raise RuntimeError("_share_fd_: only available on CPU")
    alone = isinstance(owner, Tensor) and sys.getrefcount(owner._array) <= _ALONE
    array = raw(owner._array if isinstance(owner, Tensor) else owner.memory)
    root = root_of(array)
    segment = shared.segment_of(root)
    if segment is not None and not (with_descriptor and segment.fd is None):
        return root
    old = _memory(root)
    size, start = old.nbytes, address_of(old)
    memory = shared.mapped(shared.new_file(size), size, keep=True)
    if size:
        memory[:] = old.view(np.uint8)
    for one, name in [(owner, "_array")] if alone and array is root else _showing(root, owner):
        before = getattr(one, name)
        plain = raw(before)
        after = np.ndarray(plain.shape, plain.dtype, memory, address_of(plain) - start if size else 0, plain.strides)
        setattr(one, name, seen(after, *bits_of(before)))
    return memory


#: The reference count of an array that only a tensor holds.
_ALONE = (lambda tensor: sys.getrefcount(tensor._array))(wrap(np.empty(1)))


def _showing(root, owner):
    """[(tensor or storage, name of its attribute)] for all that lie in the memory of `root`, `owner` among them."""
    found = {}
    for one in [owner, *gc.get_objects()]:     # does not list frozen objects
        if issubclass(type(one), Tensor):
            name = "_array"
        elif issubclass(type(one), _Storage):
            name = "memory"
        else:
            continue
        array = getattr(one, name, None)
        if array is not None and root_of(raw(array)) is root:
            found[id(one)] = one, name
    return list(found.values())


@method(in_python=True, leaves=True)
def share_memory_(self: Tensor) -> Tensor:
    """Move this tensor, and all views of its memory, to shared memory. Processes that are started later see it, and
    processes that the tensor is sent to by torch.multiprocessing: all of them read what one of them writes. ndarrays
    that were made from the tensor before stay with the old memory.

    NotImplementedError on a system without such memory.

    >>> import tinytorch as torch
    >>> torch.ones(2).share_memory_().is_shared()
    True
    """
    share(self)
    return self


def _share_storage(self):
    """Move the memory, with all tensors on it, to shared memory, and return the storage."""
    share(self)
    return self


_Storage.share_memory_ = _share_storage
