"""Which parts of their memory tensors show, and the same tensors over memory that has no others."""
import copy

import numpy as np

from ..kinds.lazy import PLAIN, address_of, bits_of
from ..memory_format import strided
from ..storage import memory_of
from ..tensor import Tensor, wrap

__all__ = ["Shown", "copied"]


def copied(tensors):
    """{name: copy} of a dict of tensors and others: copies show nothing but what they are copies of, and share what
    these share. What is no plain tensor is copied as copy.deepcopy does."""
    shown, placed, copies, memo = Shown(), {}, {}, {}
    for name, tensor in tensors.items():
        memory = None
        if type(tensor) is Tensor and tensor.layout is strided and not tensor.is_meta and tensor.is_leaf:
            array = tensor._array
            memory = memory_of(array) if bits_of(array) == PLAIN and not tensor.__dict__ else None
        if memory is None:
            copies[name] = copy.deepcopy(tensor, memo)
            continue
        n = array.itemsize
        offset = (address_of(array) - address_of(memory)) // n if array.size else 0
        placed[name] = view = memory, offset, array.shape, tuple(s // n for s in array.strides), n
        shown.place(*view)
    shown.settle(copy=True)
    for name, (memory, offset, shape, strides, n) in placed.items():
        tensor = tensors[name]
        memory, offset, strides = shown.place(memory, offset, shape, strides, n)
        array = np.ndarray(shape, tensor._array.dtype, memory, offset * n, tuple(s * n for s in strides))
        copies[name] = wrap(array)
        copies[name]._requires_grad = tensor._requires_grad
    return {name: copies[name] for name in tensors}


class Shown:
    """First `place` is told of each tensor; then, after `settle`, it says where that lies in memory without what none
    of them shows. What shared memory shares it then.

    Memory is a flat uint8 array, the whole of what a tensor is a view of; places and strides are in elements.
    """

    def __init__(self):
        self._views = {}                       # (address, bytes) -> (memory, {views of it}), None for those of a whole
        self._plans = None
        self._nothing = np.empty(0, np.uint8)

    def place(self, memory, offset, shape, strides, itemsize):
        """(memory, offset, strides) of a view."""
        key = _key(memory)
        if 0 in shape:
            return self._nothing, 0, strides
        if self._plans is None:
            known, views = self._views.setdefault(key, (memory, set()))
            if views is not None:
                views.add((offset, tuple(shape), tuple(strides), itemsize))
            return self._nothing, 0, strides
        plan = self._plans.get(key)
        if plan is None:
            return memory, offset, strides
        return plan[0], *plan[1][offset, tuple(shape), tuple(strides), itemsize]

    def keep_whole(self, memory):
        """All of this memory is shown."""
        if memory.nbytes:
            self._views[_key(memory)] = memory, None

    def settle(self, copy=False):
        """All are told of. `copy`: memory of which all is shown is another one, too."""
        self._plans = {}
        for key, (memory, views) in self._views.items():
            if views is not None and (plan := _plan(memory, views, copy)) is not None:
                self._plans[key] = plan


def _key(memory):
    return memory.__array_interface__["data"][0], memory.nbytes


def _plan(memory, views, copy):
    """(new memory, {view: (offset, strides) in it}) of what `views` show of `memory`, None if that is all of it."""
    unit = max(itemsize for *_, itemsize in views)               # each a power of two: all places stay multiples
    parts, placed, end = [], {}, 0
    for first, last, inside in _segments(views):
        for low, high, used, places in _squeezed(first, last, inside):
            parts.append((end, low, high, used))
            for view, (offset, strides) in places.items():
                placed[view] = offset + end // view[3], strides
            size = high - low if used is None else int(used.sum()) * inside[0][3]
            end += -(-size // unit) * unit
    if end >= memory.nbytes and not copy:
        return None
    new = np.zeros(end, np.uint8)
    for at, low, high, used in parts:
        part = memory[low:high]
        if used is not None:
            part = part.reshape(len(used), -1)[used].reshape(-1)
        new[at:at + len(part)] = part
    return new, placed


def _segments(views):
    """(first byte, end, views) of stretches of memory with the views that overlap, in order."""
    extents = []
    for view in views:
        offset, shape, strides, itemsize = view
        last = offset + sum((n - 1) * s for n, s in zip(shape, strides))
        extents.append((offset * itemsize, (last + 1) * itemsize, view))
    found = []
    for low, high, view in sorted(extents):
        if found and low < found[-1][1]:
            found[-1][1] = max(found[-1][1], high)
            found[-1][2].append(view)
        else:
            found.append([low, high, [view]])
    return found


def _squeezed(low, high, views):
    """(first byte, end, which elements of that are used, {view: (offset, strides) among these}) of those views in a
    segment that have elements in common, and of the next. None instead of the elements if all are wanted, or if without
    the others some view would not be one."""
    itemsize = views[0][3]
    if any(view[3] != itemsize for view in views) or any(_is_all(high - low, view) for view in views):
        return [(low, high, None, {view: (view[0] - low // view[3], view[2]) for view in views})]
    owner = np.zeros((high - low) // itemsize, np.int32)         # of each element: the number of a group of views
    groups = {}
    for number, view in enumerate(views, 1):
        seen = _seen(owner, view[0] - low // itemsize, view[1], view[2])
        groups[number] = [view]
        for other in np.unique(seen).tolist() if seen.any() else ():
            if other:
                groups[number] += groups.pop(other)
                owner[owner == other] = number
        seen[...] = number
    found = []
    for number, group in groups.items():
        used = np.flatnonzero(owner == number)
        begin, end = int(used[0]), int(used[-1]) + 1
        of_segment = owner[begin:end] == number
        places = {view: (view[0] - low // itemsize - begin, view[2]) for view in group}
        squeezed = None if of_segment.all() else _among(of_segment, places)
        if squeezed is None:
            of_segment, squeezed = None, places
        found.append((low + begin * itemsize, low + end * itemsize, of_segment, squeezed))
    return found


def _is_all(size, view):
    """Whether a view shows all of so many bytes, each element once."""
    _, shape, strides, covered = view
    for stride, n in sorted((s, n) for n, s in zip(shape, strides) if n > 1):
        if stride * view[3] != covered:
            return False
        covered *= n
    return covered == size


def _among(used, places):
    """The places of views among the elements that are used; None if there is no such place."""
    rank, found = np.cumsum(used, dtype=np.int64) - 1, {}
    for view, (offset, strides) in places.items():
        shape = view[1]
        ranks = _seen(rank, offset, shape, strides)
        first = ranks[(0,) * len(shape)]
        new = tuple(int(ranks[(0,) * d + (1,) + (0,) * (len(shape) - d - 1)] - first) if n > 1 else s
                    for d, (n, s) in enumerate(zip(shape, strides)))
        expected = first
        for d, (n, s) in enumerate(zip(shape, new)):
            expected = expected + (np.arange(n) * s).reshape(n, *(1,) * (len(shape) - d - 1))
        if not np.array_equal(ranks, expected):
            return None
        found[view] = int(first), new
    return found


def _seen(array, offset, shape, strides):
    """That view of a flat array."""
    return np.ndarray(shape, array.dtype, array, offset * array.itemsize, tuple(s * array.itemsize for s in strides))
