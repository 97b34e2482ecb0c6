"""Tensors and storages in memory that other processes see."""
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
    """Move the memory of a tensor or storage into a shared segment, unless it is in one (`with_descriptor`: in one
    that has a descriptor, for other processes to map). Every tensor and storage that shows it follows; ndarrays do not.

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


#: What is counted of an array that nothing but a tensor holds.
_ALONE = (lambda tensor: sys.getrefcount(tensor._array))(wrap(np.empty(1)))


def _showing(root, owner):
    """[(tensor or storage, name of the attribute)] for all that show the memory of `root`, `owner` among them."""
    found = {}
    for one in [owner, *gc.get_objects()]:     # which are not all, if they are frozen
        name = "_array" if issubclass(type(one), Tensor) else "memory" if issubclass(type(one), _Storage) else None
        array = getattr(one, name, None) if name else None
        if array is not None and root_of(raw(array)) is root:
            found[id(one)] = one, name
    return list(found.values())


@method(in_python=True)
def share_memory_(self: Tensor) -> Tensor:
    """Move this tensor, and all that are views of the same memory, to memory that processes started later see, and
    those that it is sent to by torch.multiprocessing: what one of them writes, all of them read. ndarrays that were
    made of it before stay with the old memory.

    NotImplementedError on a system without such memory.

    >>> import tinytorch as torch
    >>> torch.ones(2).share_memory_().is_shared()
    True
    """
    share(self)
    return self


def _share_storage(self):
    """Move the memory to where other processes can see it, for all tensors that show it, and return the storage."""
    share(self)
    return self


_Storage.share_memory_ = _share_storage
