"""Memory that several processes share: mapped files without names.

A file without a name disappears with its last mapping and descriptor, however its processes end. Python's mmap keeps a
descriptor for each mapping (until Python 3.13 always), and a process has about a thousand of them, so that waiting
batches would use them up. So the C library's mmap is called here, and descriptors are closed as soon as it has run.
"""
from __future__ import annotations

import functools
import os
import sys

import numpy as np
from numpy import ndarray

try:
    import ctypes
except ImportError:                            # as in browsers: there is no memory to share
    ctypes = None

_READ_AND_WRITE, _SHARED = 3, 1
_POPULATE = 0x8000 if sys.platform == "linux" else 0            # maps all pages at once, without page faults
_FAILED = ctypes and ctypes.c_void_p(-1).value


#: The error for a tensor that cannot be sent to another process.
NON_LEAF = ("Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
            "crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor before "
            "serializing (e.g., putting it on the queue).")


@functools.cache
def _libc():
    if ctypes is None or os.name != "posix" or sys.platform == "emscripten":
        return None
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int,
                              ctypes.c_long)
        libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    except (OSError, AttributeError):
        return None
    return libc


def available() -> bool:
    """Whether this system has memory that processes can share."""
    return _libc() is not None


class Segment:
    """A mapping, which ends with the last array that is a view of it.

    fd    the descriptor of the file, by which other processes can map it too; None if it is closed
    """

    __slots__ = ("fd", "_address", "_size", "_unmap")

    def __init__(self, fd, size):
        libc = _libc()
        if libc is None:
            raise NotImplementedError("this system has no memory that processes can share")
        if os.fstat(fd).st_size < size:        # a read beyond the end of a file kills the process
            raise ValueError("the file is smaller than the memory to map")
        address = libc.mmap(None, max(size, 1), _READ_AND_WRITE, _SHARED | _POPULATE, fd, 0)
        if address == _FAILED:
            raise OSError(ctypes.get_errno(), "no memory to share: " + os.strerror(ctypes.get_errno()))
        self.fd, self._address, self._size, self._unmap = None, address, size, libc.munmap

    @property
    def __array_interface__(self):
        return {"data": (self._address, False), "shape": (self._size,), "typestr": "|u1", "version": 3}

    def __del__(self, close=os.close):
        if hasattr(self, "_unmap"):
            self._unmap(self._address, max(self._size, 1))
            if self.fd is not None:
                close(self.fd)


def new_file(size: int) -> int:
    """The descriptor of a file of `size` zeros that has no name."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("tinytorch", os.MFD_CLOEXEC)
    else:
        # This import takes longer than that of all kernels.
        import tempfile
        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    try:
        os.truncate(fd, max(size, 1))
    except BaseException:
        os.close(fd)
        raise
    return fd


def mapped(fd: int, size: int, keep: bool = False) -> ndarray:
    """The first `size` bytes of a file as an array. The descriptor is closed, or with `keep` stays open as long as the
    array lives."""
    try:
        segment = Segment(fd, size)
    except BaseException:
        os.close(fd)
        raise
    if keep:
        segment.fd = fd
    else:
        os.close(fd)
    return np.asarray(segment)


def segment_of(array: ndarray) -> Segment | None:
    """The Segment of an array if its memory is shared, else None."""
    while array is not None and not isinstance(array, Segment):
        array = array.obj if isinstance(array, memoryview) else getattr(array, "base", None)
    return array
