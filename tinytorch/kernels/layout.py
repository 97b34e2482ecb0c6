"""The memory layout of arrays: torch's orders of dimensions, views, and views carried over to other memory.

A layout is (shape, strides, offset, dtype, bits): strides and offset in bytes, the offset from the beginning of the
memory; `bits` says whether the memory is seen conjugated and negated. The layouts of a view and of its base lead to the
view's elements in any array with the base's layout, such as the base's gradient.
"""
from functools import lru_cache

import numpy as np

from .. import dtypes as dt
from ..device import META
from ..kinds.lazy import StandIn, device_of, raw, resolved, restrided, seen, toggled
from .copies import copied, in_rows
from .memory import LARGEST, check_size, overflow
from .scatter import add_flat


def as_array(x):
    """The result of a NumPy function as an array: for a single element NumPy may return a scalar."""
    return x if isinstance(x, np.ndarray) else np.asarray(x)


def laid_out(array, shape):
    """np.broadcast_to for an array with as many dimensions as `shape` or one element, in a fifth of the time."""
    if isinstance(array, np.generic):          # arithmetic of arrays without dimensions gives numbers
        array = np.asarray(array)
    # type() and not isinstance: the __class__ of stand-ins is ndarray too.
    if type(array) is not np.ndarray or not array.flags.c_contiguous or not array.size:
        return np.broadcast_to(array, shape)
    if array.size == 1:
        strides = (0,) * len(shape)
    else:
        strides = tuple([0 if n == 1 else step for n, step in zip(array.shape, array.strides)])
    result = np.ndarray(shape, array.dtype, array, 0, strides)
    result.flags.writeable = False
    return result


def end_of(layout):
    """The end of the memory that a layout needs, in bytes."""
    shape, strides, offset, dtype, _ = layout
    return offset if 0 in shape else offset + dtype.itemsize + sum([(n - 1) * s for n, s in zip(shape, strides)])


def at(memory, layout, start=0):
    """`memory`, a contiguous array that begins at byte `start`, seen through a layout."""
    shape, strides, offset, dtype, bits = layout
    if isinstance(memory, StandIn):
        return seen(memory.view(np.uint8)[offset - start:end_of(layout) - start].view(dtype).restrided(
            shape, strides), *bits)
    if 0 in shape:
        return np.empty(shape, dtype)
    return seen(np.ndarray(shape, dtype, memory, offset - start, strides), *bits)


def strided(memory, size, stride, offset=0):
    """`memory`, a contiguous array of one dimension, seen through sizes, strides and an offset in elements.

    All views with strides from a caller are made here. The bounds are computed with Python's integers, which do not
    overflow: RuntimeError for a view that leaves the memory, or that NumPy cannot hold.
    """
    check_bounds(size, stride, offset, memory.nbytes, memory.itemsize)
    steps = list(stride)
    # A negative stride is left only along dimensions without steps. torch replaces it by that of C order.
    for i in range(len(steps) - 1, -1, -1):
        if steps[i] < 0:
            steps[i] = max(size[i + 1], 1) * steps[i + 1] if i + 1 < len(steps) else 1
    check_size(size, memory.itemsize, steps)
    start = min(offset, memory.size)           # the offset of an empty view may be out of bounds
    if isinstance(memory, StandIn):
        return memory[start:].restrided(tuple(size), tuple([s * memory.itemsize for s in steps]))
    return np.ndarray(size, memory.dtype, memory, start * memory.itemsize, [s * memory.itemsize for s in steps])


def is_dense(array):
    """Whether the elements lie in memory without gaps or overlaps, in any order of the dimensions."""
    return _is_dense(array.shape, array.strides, array.itemsize)


def _is_dense(shape, strides, step):
    for stride, n in sorted((s, n) for s, n in zip(strides, shape) if n != 1):
        if stride != step:
            return False
        step *= n
    return True


def dense_copy(array):
    """A dense copy, with the dimensions in memory in the order of `array`."""
    if type(array) is np.ndarray and not array.flags.forc and array.size and (
            order := _order_of_copy(array.shape, array.strides, array.itemsize)) is not None:
        return in_order(array, order)
    if type(array) is np.ndarray and array.flags.forc:
        copy = copied(array)
    else:
        copy = array.copy("K") if device_of(array) is META else np.array(array, order="K")     # NumPy scalars too
    return copy if copy.strides == array.strides else ordered_like(copy, array)


@lru_cache(1024)
def _order_of_copy(shape, strides, itemsize):
    """The order of dimensions in memory, from the slowest to the fastest, of a copy of an array that has gaps or is
    expanded. None for any other array."""
    return None if _is_dense(shape, strides, itemsize) else dense_order(shape, strides)


def ordered_like(array, source):
    """`array`, computed from `source` element by element, in the memory order of torch's copy of `source`."""
    if source.flags.c_contiguous or is_dense(source):
        return like_dense(array, source)
    return in_order(array, dense_order(source.shape, source.strides))


def in_order(array, order):
    """A dense copy, with the dimensions in memory in the given order, from the slowest to the fastest."""
    if order == tuple(range(len(order))):
        return in_rows(array)
    return in_rows(array.transpose(order)).transpose(sorted(range(len(order)), key=order.__getitem__))


def channels_last(x):
    """Whether the memory format of `x` (N, C, *size) is channels last, (N, *size, C), for torch. The strides alone
    decide; there may be gaps.

    An array with `strides[1] > strides[-1]` never is: callers check that first.
    """
    shape, strides = x.shape, x.strides
    if strides[-1] < strides[1] * shape[1]:
        return False
    least = 0
    for d in (1, *range(x.ndim - 1, 1, -1), 0):
        step = strides[d]
        if not shape[d] or not step or step < least or d == 0 and least == strides[1]:
            return False
        least = step * shape[d]
    return True


def in_channels_last(x):
    """A copy of `x` (N, C, *size) whose memory is (N, *size, C)."""
    return in_order(x, (0, *range(2, x.ndim), 1))


def dense_order(shape, *operands):
    """The dimensions of a result from the slowest to the fastest. Two dimensions are compared by the strides of the
    first operand that has strides other than 0 in both; expanded dimensions compare as equal to any other."""
    order = list(range(len(shape)))[::-1]      # the fastest first
    for i in range(1, len(shape)):             # torch's insertion sort, which passes over equal ones
        for j in range(i - 1, -1, -1):
            a, b = order[j], order[i]
            compared = _compared(shape, operands, a, b)
            if compared < 0:
                break
            if compared > 0:
                order[j], order[i], i = b, a, j
    return tuple(order[::-1])


def _compared(shape, operands, a, b):
    """Negative if dimension `a` is the faster one, positive if `b` is, 0 if no operand decides."""
    for strides in operands:
        if strides[a] and strides[b]:
            if strides[a] != strides[b]:
                return strides[a] - strides[b]
            if shape[a] > shape[b]:
                return 1
    return 0


def operand_order(result, *operands):
    """`result`, computed element by element from the operands (arrays or numbers), in the memory order that torch
    derives from their strides. NumPy's order differs where operands disagree or a size is 1."""
    ndim = result.ndim
    if ndim < 2 or not result.size:
        return result
    key = result.shape, result.itemsize, *[
        (x.shape, x.strides, x.itemsize) if isinstance(x, np.ndarray) else None for x in operands]
    found = _orders.get(key)
    if found is None:
        if len(_orders) > 4096:
            _orders.clear()
        found = _orders[key] = _order_of(result, operands)
    return _with_strides(result, *found)


_orders = {}              # the results of `_order_of`, by shapes and strides


def _order_of(result, operands):
    """(strides, order of the dimensions in memory) of a result of these operands."""
    shape, ndim = result.shape, result.ndim
    arrays = [x for x in operands if isinstance(x, np.ndarray)]
    order = None
    if len(arrays) == len(operands) and all([x.shape == shape for x in arrays]):
        if all([x.flags.c_contiguous for x in arrays]):
            order = range(ndim)
        elif ndim == 4 and all([x.transpose(0, 2, 3, 1).flags.c_contiguous for x in arrays]):
            order = 0, 2, 3, 1
        elif len({tuple([s // x.itemsize for s in x.strides]) for x in arrays}) == 1 and is_dense(arrays[0]):
            return _strides_like(result, arrays[0])
    if order is None:
        order = dense_order(shape, *[[0] * (ndim - x.ndim) + [
            0 if n == 1 != m else s for s, n, m in zip(x.strides, x.shape, shape[ndim - x.ndim:])] for x in arrays])
    return _dense_strides(result, order), order


def _dense_strides(array, order):
    """The strides of a dense array like `array` with its dimensions in the given order."""
    strides, step = [0] * array.ndim, array.itemsize
    for d in reversed(order):
        strides[d] = step
        step *= max(1, array.shape[d])
    return tuple(strides)


@lru_cache(1024)
def _c_strides(shape, itemsize):
    """torch's strides of an array in C order."""
    strides, step = [], itemsize
    for n in reversed(shape):
        strides.append(step)
        step *= max(1, n)
    return tuple(strides[::-1])


def like_dense(array, like):
    """`array` with the strides of `like`, which has its shape and is dense."""
    return array if array.strides == like.strides else _with_strides(array, *_strides_like(array, like))


def _strides_like(array, like):
    strides = like.strides if like.itemsize == array.itemsize else tuple([
        s // like.itemsize * array.itemsize for s in like.strides])
    return strides, sorted(range(array.ndim), key=lambda d: -strides[d])


def _with_strides(array, strides, order):
    """`array` with `strides`, which belong to dense dimensions in the order `order`."""
    if array.strides == strides:
        return array
    different = [n != 1 and a != b for a, b, n in zip(array.strides, strides, array.shape)]
    if any(different):
        array = in_order(array, order)
    return array if array.strides == strides else restrided(array, array.shape, strides)


def joined_order(array, parts, new=None):
    """`array`, the concatenation of `parts` (or their stack along the dimension `new`), in torch's memory order:
    channels last if all parts are, else C order."""
    if array.ndim not in (4, 5) and array.strides == _c_strides(array.shape, array.itemsize):
        return array
    order = range(array.ndim)
    if array.ndim in (4, 5) and array.size:
        if new is not None:
            parts = [with_new_dims(x, (*x.shape[:new], 1, *x.shape[new:]), (new,)) for x in parts]
        if all([channels_last(part) for part in parts]):
            order = (0, *range(2, array.ndim), 1)
    return _with_strides(array, _dense_strides(array, order), order)


def with_new_dims(array, size, new):
    """A view of `array` in the shape `size`, which has additional dimensions of size 1 at the positions `new`."""
    if array.flags.c_contiguous:
        return array.reshape(size)
    # From the last to the first: the stride of a new dimension is the extent of the next old one.
    old, steps = list(array.strides), []
    for d in range(len(size) - 1, -1, -1):
        if d not in new:
            steps.append(old.pop())
            step = size[d] * steps[-1]
        else:
            steps.append(step if steps and len(old) < array.ndim else array.itemsize)
    return restrided(array, size, steps[::-1])


def picked_like(found, array, index):
    """`found`, which is array[index] for an advanced index, in torch's memory order."""
    if found.ndim < 2:
        return found
    at = [d for d, i in enumerate(index) if isinstance(i, np.ndarray)]
    taken = [index[d] for d in at]
    if taken[0].dtype == bool:                 # one mask
        indexed, places = range(at[0], at[0] + taken[0].ndim), [np.empty(found.shape[at[0]])]
    else:
        indexed, places = at, np.broadcast_arrays(*taken)
    count = places[0].ndim
    first = at[0] if at[-1] - at[0] == len(at) - 1 else 0      # the position of the index's dimensions in the result
    kept = [s for d, s in enumerate(array.strides) if d not in indexed]
    operands = [(*kept[:first], *(0,) * count, *kept[first:])]
    for p in places:                           # other dimensions of size 1 have strides too
        steps = p.strides or (p.itemsize,)
        before, behind = steps[0] * (p.shape or (1,))[0], steps[-1]
        operand = [n == 1 and (behind if d >= first else before) for d, n in enumerate(found.shape)]
        if count:
            operand[first:first + count] = steps
        operands.append(operand)
    order = dense_order(found.shape, *operands)
    return found if found.transpose(order).flags.c_contiguous else in_order(found, order)


def overlaps(layout):
    """Whether several elements may share a place in memory."""
    shape, strides, _, dtype, _ = layout
    reach = dtype.itemsize
    for stride, n in sorted([(s, n) for s, n in zip(strides, shape) if n > 1]):
        if stride < reach:
            return 0 not in shape
        reach += stride * (n - 1)
    return False


def relaid(g, source, target):
    """Adds each element of `g` to zeroed memory at its place in the layout `source`, and reads the memory in the layout
    `target`."""
    low = min(source[2], target[2])
    size = max(end_of(source), end_of(target)) - low
    memory = np.zeros(-(-size // 16) * 16, np.uint8)           # a whole number of elements of any dtype
    if g.dtype != source[3]:
        g = dt.cast(g, source[3])
    if overlaps(source):
        add_flat(memory.view(source[3]), _places(source, low), resolved(toggled(g, *source[4])))
    else:
        at(memory, source, low)[...] = g
    return resolved(at(memory, target, low))


def split_off(g, part, whole):
    """(`g` in the layout `whole`, with zeros where the layout `part` lies; the elements of that part)."""
    memory = np.zeros(end_of(whole) - whole[2], np.uint8)
    rest = at(memory, whole, whole[2])
    rest[...] = g if g.dtype == rest.dtype else dt.cast(g, rest.dtype)
    view = at(memory, part, whole[2])
    taken = view.copy("K")
    raw(view)[...] = np.zeros((), view.dtype)
    return resolved(rest), taken


def span(size, stride, offset, itemsize):
    """The bytes that a view with these sizes, strides and offset (in elements) needs from the start of the memory on.

    RuntimeError if its strides lead below the offset or the bytes are more than 64 bits count.
    """
    if 0 in size:
        return 0
    need = (offset + 1 + sum([(n - 1) * s for n, s in zip(size, stride)])) * itemsize
    if need > LARGEST or min([(n - 1) * s for n, s in zip(size, stride)], default=0) < 0:
        raise overflow(size, stride)
    return need


def check_bounds(size, stride, offset, count, itemsize):
    """RuntimeError if a view with these sizes, strides and offset (in elements) needs more than `count` bytes."""
    if 0 in size:
        return
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    need = span(size, stride, offset, itemsize)
    if need > count:
        raise RuntimeError(f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and "
                           f"itemsize {itemsize} requiring a storage size of {need} are out of bounds for "
                           f"storage of size {count}")


def _places(layout, start):
    """The position of each element of a layout in the memory from byte `start` on, in elements."""
    shape, strides, offset, dtype, _ = layout
    places = np.full(shape, (offset - start) // dtype.itemsize)
    for i, (n, s) in enumerate(zip(shape, strides)):
        places += (np.arange(n) * (s // dtype.itemsize)).reshape((-1,) + (1,) * (len(shape) - 1 - i))
    return places


def sharers(layout):
    """For each element of a layout, the number of elements that share its place, as an array of divisors."""
    places, dtype = _places(layout, layout[2]), layout[3]
    return np.bincount(places.reshape(-1))[places].astype(np.float32 if dtype.kind == "V" else dtype.type().real.dtype)
