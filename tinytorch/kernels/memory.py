"""Memory that is asked for by sizes. What cannot be had is a RuntimeError in torch's words, where NumPy has a
MemoryError and several ValueErrors."""
import math
import weakref

import numpy as np

from .. import dtypes as dt
from ..kinds.lazy import root_of
from ..memory_format import dense_steps

#: The most that 64 bits count: elements and bytes.
LARGEST = 2 ** 63 - 1
#: The most dimensions that an ndarray has.
DIMENSIONS = 64
#: How NumPy begins to refuse sizes.
_REFUSALS = ("array is too big", "Maximum allowed", "iterator is too large", "broadcast dimensions too large",
             "negative dimensions are not allowed", "maximum supported dimension")

#: Why nothing is written to memory that belongs to a constant or a file: torch would write, whatever comes of it.
READ_ONLY = ("unsupported operation: the written-to tensor lies in read-only memory. Please clone() the tensor before "
             "performing the operation.")


#: Memory that was given to tensors from outside, which cannot be exchanged for more: by the id of its array.
_given = weakref.WeakValueDictionary()


def given(array):
    """An array of the caller's, whose memory tensors share from now on."""
    root = root_of(array)
    _given[id(root)] = root
    return array


def is_given(array):
    """Whether the memory of an array came from outside."""
    root = root_of(array)
    return _given.get(id(root)) is root


def empty(size, dtype, make=np.empty):
    """make(size, dtype), by default uninitialised memory, or torch's refusal."""
    try:
        return make(size, dtype)
    except (MemoryError, ValueError) as error:
        raise refusal(error, size, dtype) from None


def with_strides(array, order=None):
    """A new array without elements with torch's strides, which its views then follow: NumPy gives it zeros."""
    if type(array) is not np.ndarray or any(array.strides):
        return array
    steps = dense_steps(array.shape, order)
    return np.ndarray(array.shape, array.dtype, array, 0, [n * array.itemsize for n in steps])


#: Elements of a tensor above which what changes it element by element does so in pieces, and of a piece: the memory
#: that is needed besides is some pieces then, 12 MB at most, and not the whole once more.
WHOLE, PIECE = 1 << 19, 1 << 17


def pieces(array):
    """The slices of an array, flat, one after the other, if it is large and lies in one run; else the array itself.
    All but the last have a multiple of 16 elements: so many normal numbers are drawn at a time. The last is half a
    piece at least, which every kernel takes that takes the whole: shorter ones are left to NumPy, whose last bits
    differ."""
    if type(array) is not np.ndarray or array.size <= WHOLE or not array.flags.c_contiguous:
        return [array]
    flat = array.reshape(-1)
    starts = list(range(0, flat.size, PIECE))
    if flat.size - starts[-1] < PIECE // 2:
        starts.pop()
    return [flat[start:end] for start, end in zip(starts, [*starts[1:], flat.size])]


class Unset:
    """What elements that nothing sets hold: whatever was in memory, or known numbers if both are true."""

    deterministic = False                      # torch.use_deterministic_algorithms
    filled = True                              # torch.utils.deterministic.fill_uninitialized_memory


def unset(array):
    """`array`, of new memory that a program gets to see: where it asks for determinism, full of NaN, of True, or of the
    greatest integer of the dtype."""
    if Unset.deterministic and Unset.filled:
        kind = dt.kind(array.dtype)
        if kind in dt.INTEGER:
            array[...] = np.iinfo(array.dtype).max
        elif kind in dt.BOOL:
            array[...] = True
        else:
            array[...] = dt.cast(np.array(math.nan), array.dtype)
    return array


def refusal(error, size=None, dtype=None):
    """What to raise for an exception of NumPy: torch's if the array (of a known size and dtype, or not) is too large
    to be made, READ_ONLY if it may not be written to, else that very exception."""
    if isinstance(error, MemoryError):
        if size is None:                       # NumPy tells what it could not make
            size, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)
        asked = "" if size is None else f": you tried to allocate {math.prod(size) * dtype.itemsize} bytes"
        return RuntimeError("[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate "
                            f"memory{asked}. Error code 12 (Cannot allocate memory)")
    if isinstance(error, ValueError) and str(error).endswith(" is read-only"):
        return RuntimeError(READ_ONLY)
    if not isinstance(error, ValueError) or not str(error).startswith(_REFUSALS):
        return error
    return RuntimeError("Storage size calculation overflowed") if size is None else overflow(size)


def overflow(size, stride=None):
    """The error for sizes (and strides) that need more bytes than 64 bits count."""
    strides = "" if stride is None else f" and strides={list(stride)}"
    return RuntimeError(f"Storage size calculation overflowed with sizes={list(size)}{strides}")


def check_size(size, itemsize, stride=None):
    """RuntimeError for sizes and strides (in elements) that NumPy cannot hold. It counts the bytes of an array as if
    no two elements lay at one place, and for one without elements as if no dimension were 0."""
    if len(size) > DIMENSIONS:
        raise RuntimeError(f"only tensors with up to {DIMENSIONS} dims are supported")
    if min(size, default=0) < 0:
        raise overflow(size, stride)
    count = math.prod([n or 1 for n in size])
    if count > LARGEST:
        raise RuntimeError("numel: integer multiplication overflow")
    if count * itemsize > LARGEST:
        raise overflow(size, stride)
    if stride and max(map(abs, stride)) * itemsize > LARGEST:
        raise RuntimeError("Stride calculation overflowed")
