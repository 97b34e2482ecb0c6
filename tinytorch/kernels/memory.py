"""New arrays of given sizes. A request that fails is a RuntimeError in torch's words, where NumPy raises MemoryError or
one of several ValueErrors."""
import math
import weakref

import numpy as np

from .. import dtypes as dt
from ..kinds.lazy import root_of
from ..memory_format import dense_steps

#: The largest number of elements or bytes: that of a signed 64-bit integer.
LARGEST = 2 ** 63 - 1
#: NumPy's largest number of dimensions.
DIMENSIONS = 64
#: The beginnings of NumPy's messages for sizes that it refuses.
_REFUSALS = ("array is too big", "Maximum allowed", "iterator is too large", "broadcast dimensions too large",
             "negative dimensions are not allowed", "maximum supported dimension")

#: The error for a write to read-only memory, such as that of a constant or a file. torch would write to it.
READ_ONLY = ("unsupported operation: the written-to tensor lies in read-only memory. Please clone() the tensor before "
             "performing the operation.")


#: Arrays from outside whose memory tensors use, by id. Such memory cannot be enlarged.
_given = weakref.WeakValueDictionary()


def given(array):
    """`array`, an array of the caller, whose memory tensors use from now on."""
    root = root_of(array)
    _given[id(root)] = root
    return array


def is_given(array):
    """Whether the memory of an array came from the caller."""
    root = root_of(array)
    return _given.get(id(root)) is root


def empty(size, dtype, make=np.empty):
    """make(size, dtype), by default uninitialised memory. Raises torch's error if NumPy cannot make the array."""
    try:
        return make(size, dtype)
    except (MemoryError, ValueError) as error:
        raise refusal(error, size, dtype) from None


def with_strides(array, order=None):
    """`array`, new and perhaps without elements, with torch's strides, on which its views depend. NumPy gives an empty
    array strides of 0."""
    if type(array) is not np.ndarray or any(array.strides):
        return array
    steps = dense_steps(array.shape, order)
    return np.ndarray(array.shape, array.dtype, array, 0, [n * array.itemsize for n in steps])


#: A tensor of more than WHOLE elements is changed element by element in pieces of PIECE elements. The additional memory
#: is then that of some pieces, at most 12 MB, and not that of the tensor.
WHOLE, PIECE = 1 << 19, 1 << 17


def pieces(array):
    """The flat slices of an array, in order, if it is large and contiguous; else the array itself. All slices but the
    last have a multiple of 16 elements, because normal numbers are drawn in blocks of 16. The last slice has at least
    half a piece, so that every kernel that takes the whole takes it: NumPy, which computes shorter arrays, has other
    last bits."""
    if type(array) is not np.ndarray or array.size <= WHOLE or not array.flags.c_contiguous:
        return [array]
    flat = array.reshape(-1)
    starts = list(range(0, flat.size, PIECE))
    if flat.size - starts[-1] < PIECE // 2:
        starts.pop()
    return [flat[start:end] for start, end in zip(starts, [*starts[1:], flat.size])]


class Unset:
    """The settings for uninitialised memory. If both are true it is filled with known numbers."""

    deterministic = False                      # torch.use_deterministic_algorithms
    filled = True                              # torch.utils.deterministic.fill_uninitialized_memory


def unset(array):
    """`array`, new memory that a program will see. If the program asks for determinism it is filled with NaN, True, or
    the largest integer of the dtype."""
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
    """The exception to raise for NumPy's exception `error`: torch's if the array (of `size` and `dtype`, if known) is
    too large, READ_ONLY if the array must not be written to, else `error` itself."""
    if isinstance(error, MemoryError):
        if size is None:                       # NumPy's error has the shape and the dtype
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
    """RuntimeError for sizes and strides (in elements) that NumPy refuses. NumPy counts the bytes of an array as if no
    two elements shared a place, and those of an empty array as if no dimension were 0."""
    if len(size) > DIMENSIONS:
        raise RuntimeError(f"only tensors with up to {DIMENSIONS} dims are supported")
    for n in size:
        if n < 0:
            raise overflow(size, stride)
    count = math.prod(size) or math.prod([n or 1 for n in size])
    if count > LARGEST:
        raise RuntimeError("numel: integer multiplication overflow")
    if count * itemsize > LARGEST:
        raise overflow(size, stride)
    if stride and max(map(abs, stride)) * itemsize > LARGEST:
        raise RuntimeError("Stride calculation overflowed")
