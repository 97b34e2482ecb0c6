"""Where the elements of an array lie in memory, and values carried over from one array to another by place.

A layout is (shape, strides, offset, dtype), strides and offset in bytes, the offset from the beginning of the
memory. With that of a view and that of its base, the view's elements are found in anything laid out as the base
is: in the base's gradient.
"""
import numpy as np

from .. import dtypes as dt
from .scatter import add_flat


def end_of(layout):
    """Where the memory that a layout needs ends, in bytes."""
    shape, strides, offset, dtype = layout
    return offset if 0 in shape else offset + dtype.itemsize + sum([(n - 1) * s for n, s in zip(shape, strides)])


def at(memory, layout, start=0):
    """`memory`, a contiguous array that stands for memory from byte `start` on, seen through a layout."""
    shape, strides, offset, dtype = layout
    if 0 in shape:
        return np.empty(shape, dtype)
    return np.ndarray(shape, dtype, memory, offset - start, strides)


def dense_copy(array):
    """A copy without gaps, with the dimensions in memory in the order that they have in `array`."""
    if array.flags.forc:
        return array.copy("K")
    order = _dense_order(array)
    return array.transpose(order).copy("C").transpose(sorted(range(len(order)), key=order.__getitem__))


def _dense_order(array):
    """The dimensions from the slowest to the fastest: by falling strides; those of expanded ones compare with none."""
    shape, strides = array.shape, array.strides
    order = list(range(array.ndim))[::-1]      # the fastest first
    for i in range(1, array.ndim):             # torch's insertion sort: what compares with none may be passed over
        for j in range(i - 1, -1, -1):
            a, b = order[j], order[i]
            if strides[a] == 0 or strides[b] == 0 or strides[a] == strides[b] and shape[a] <= shape[b]:
                continue
            if strides[a] < strides[b]:
                break
            order[j], order[i], i = b, a, j
    return tuple(order[::-1])


def overlaps(layout):
    """Whether several elements may lie at the same place."""
    shape, strides, _, dtype = layout
    reach = dtype.itemsize
    for stride, n in sorted([(s, n) for s, n in zip(strides, shape) if n > 1]):
        if stride < reach:
            return 0 not in shape
        reach += stride * (n - 1)
    return False


def relaid(g, source, target):
    """Add each element of `g` to zeroed memory where the layout `source` has it; read that memory as `target` does."""
    low = min(source[2], target[2])
    size = max(end_of(source), end_of(target)) - low
    memory = np.zeros(-(-size // 16) * 16, np.uint8)           # whole elements of every dtype
    if g.dtype != source[3]:
        g = dt.cast(g, source[3])
    if overlaps(source):
        add_flat(memory.view(source[3]), _places(source, low), g)
    else:
        at(memory, source, low)[...] = g
    return at(memory, target, low)


def split_off(g, part, whole):
    """The elements of `g`, which is to lie as the layout `whole`, in two arrays: with zeros in the part that `part`
    covers, and that part."""
    memory = np.zeros(end_of(whole) - whole[2], np.uint8)
    rest = at(memory, whole, whole[2])
    rest[...] = g if g.dtype == rest.dtype else dt.cast(g, rest.dtype)
    view = at(memory, part, whole[2])
    taken = view.copy("K")
    view[...] = np.zeros((), view.dtype)
    return rest, taken


def check_bounds(size, stride, offset, count, itemsize):
    """RuntimeError if a view with these sizes, strides and offset (in elements) needs more than `count` bytes."""
    if 0 in size:
        return
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    need = (offset + 1 + sum([(n - 1) * s for n, s in zip(size, stride)])) * itemsize
    if need > count:
        raise RuntimeError(f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and "
                           f"itemsize {itemsize} requiring a storage size of {need} are out of bounds for "
                           f"storage of size {count}")


def _places(layout, start):
    """Which element of the memory each element of a layout is."""
    shape, strides, offset, dtype = layout
    places = np.full(shape, (offset - start) // dtype.itemsize)
    for i, (n, s) in enumerate(zip(shape, strides)):
        places += (np.arange(n) * (s // dtype.itemsize)).reshape((-1,) + (1,) * (len(shape) - 1 - i))
    return places


def sharers(layout):
    """How many elements of a layout lie where each of them lies, as an array of its shape."""
    places = _places(layout, layout[2])
    return np.bincount(places.reshape(-1))[places].astype(np.zeros(0, layout[3]).real.dtype)
