"""The parts of memory that tensors show, and the same tensors over memory that holds only these parts."""
import copy

import numpy as np

from ..kinds.lazy import PLAIN, address_of, bits_of
from ..memory_format import strided
from ..storage import memory_of
from ..tensor import Tensor, wrap

__all__ = ["Shown", "copied"]


def copied(tensors):
    """{name: copy} of a dict of tensors and other objects. The memory of the copies holds only what the tensors show,
    and copies share memory where the tensors do. Objects that are no plain tensors are copied by copy.deepcopy."""
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
    """Collects the parts of memory that tensors show. Before `settle`, `place` notes a tensor. After it, `place`
    returns where the tensor lies in new memory without the parts that no tensor shows. Tensors that share memory still
    share it there.

    Memory is a flat uint8 array, all of the memory that a tensor is a view of; offsets and strides are in elements.
    """

    def __init__(self):
        self._views = {}                       # (address, bytes) -> (memory, {views}), or (memory, None): kept whole
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
        """Note that all of this memory is shown."""
        if memory.nbytes:
            self._views[_key(memory)] = memory, None

    def settle(self, copy=False):
        """Plan the new memory, after all tensors are noted. `copy`: memory that is shown completely is copied too."""
        self._plans = {}
        for key, (memory, views) in self._views.items():
            if views is not None and (plan := _plan(memory, views, copy)) is not None:
                self._plans[key] = plan


def _key(memory):
    return memory.__array_interface__["data"][0], memory.nbytes


def _plan(memory, views, copy):
    """(new memory, {view: (offset, strides) in it}) with the parts of `memory` that `views` show; None if that is all
    of it."""
    unit = max(itemsize for *_, itemsize in views)               # a power of two, so offsets stay multiples
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
    """(first byte, end, views) of separate stretches of memory, each with the views in it, in order."""
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
    """For each group of views that have elements in common: (first byte, end, which elements in between are used,
    {view: (offset, strides) among these}). The mask of elements is None if all are kept: because all are used, or
    because some view would not have strides without the others."""
    itemsize = views[0][3]
    if any(view[3] != itemsize for view in views) or any(_is_all(high - low, view) for view in views):
        return [(low, high, None, {view: (view[0] - low // view[3], view[2]) for view in views})]
    owner = np.zeros((high - low) // itemsize, np.int32)         # for each element the number of its group of views
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
    """{view: (offset, strides)} of views among the elements that are used; None if a view would not have strides."""
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
    """The view of a flat array with this offset, shape and strides."""
    return np.ndarray(shape, array.dtype, array, offset * array.itemsize, tuple(s * array.itemsize for s in strides))
