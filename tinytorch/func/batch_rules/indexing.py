"""Indexing of batches: x[index] and x[index] = value, where x, index and value may be batches."""
import numpy as np

from ...kinds.lazy import address_of, root_of
from ...ops.layout import strided
from ..batched import Batched, NotBatchable, Refusal, aligned, level_of, max_ndim, physical_of, plain
from ..dispatch import forward_rule

_EVERY = slice(None)


def _items(index):
    return index if index.__class__ is tuple else (index,)


def _is_basic(item):
    return item is None or item is Ellipsis or item.__class__ is slice or item.__class__ is int or isinstance(
        item, np.integer)


def getitem(x, index):
    """x[index] for a Batched."""
    if index.__class__ is str:                 # a field of records
        return Batched(x.physical[index], x.level)
    items = _items(index)
    if all([_is_basic(item) for item in items]):
        if items[-1:] != (Ellipsis,) and Ellipsis not in items:
            items = (*items, Ellipsis)         # a view, also of a single element
        return Batched(x.physical[(_EVERY, *items)], x.level)
    return pick(x, items)


def setitem(x, index, value):
    """x[index] = value for a Batched."""
    if index.__class__ is str:
        x.physical[index] = physical_of(value, x.level)
        return
    items, value = _items(index), plain(value)
    level = level_of(x, value, *items)
    if level != x.level:
        raise NotBatchable("a batch cannot be written to an array that is none")
    if all([_is_basic(item) for item in items]):
        target = x.physical[(_EVERY, *items, *(() if Ellipsis in items else (Ellipsis,)))]
        target[...] = aligned(value, level, target.ndim - 1)
        return
    places, split = places_of(x, items, level)
    x.physical[places] = turned(x, places, split, value)


def turned(x, places, split, value):
    """`value`, as x[places] = value takes it where `places` and `split` are those of `places_of`: there the dimensions
    of the indices come first."""
    first, count = split
    ndim = x.physical[places].ndim - 1 if first or type(value) is Batched and value.level == x.level else 0
    if type(value) is Batched and value.level == x.level:
        value = aligned(value, x.level, ndim)
        return np.moveaxis(value, range(first + 1, first + count + 1), range(1, count + 1)) if first else value
    if first:
        value = np.asarray(value)
        value = value.reshape((1,) * (ndim - value.ndim) + value.shape)
        return np.moveaxis(value, range(first, first + count), range(count))
    return value


def _expanded(x, items):
    """The items with the Ellipsis written out, masks as the places that they select; NotBatchable for what has other
    meanings."""
    given, used = [], 0
    for item in items:
        if item.__class__ is list:
            item = np.asarray(item)
        if isinstance(item, np.ndarray) and item.dtype == bool:
            if not item.ndim or type(item) is not np.ndarray:
                raise NotBatchable("a mask of each sample")
            used += item.ndim
            given.extend(item.nonzero())
            continue
        if not (_is_basic(item) or isinstance(item, np.ndarray) and item.dtype.kind in "iu"):
            raise NotBatchable("an index of another kind")
        used += item is not None and item is not Ellipsis
        given.append(item)
    at = next((i for i, item in enumerate(given) if item is Ellipsis), len(given))
    return given[:at] + [_EVERY] * (x.ndim - used) + given[at + 1:]


def places_of(x, items, level):
    """(index into the physical array of `x`, (where the dimensions of the indices stand in the result of one sample,
    their number)): in the result for all samples they stand right behind that of the batch."""
    given = _expanded(x, items)
    advanced = [i for i, item in enumerate(given) if not (item is None or item.__class__ is slice)]
    count = max_ndim(*[given[i] for i in advanced])
    together = advanced[-1] - advanced[0] == len(advanced) - 1
    samples = np.arange(x.physical.shape[0]).reshape((-1,) + (1,) * count)
    places = [samples] + [aligned(item, level, count) if isinstance(item, np.ndarray) else item
                          for item in given]
    return tuple(places), (advanced[0] if together else 0, count)


def pick(x, items):
    """x[items] for indices among which there are arrays; `x` or they are batches."""
    level = level_of(x, *items)
    if type(x) is Batched and x.level == level:
        places, (first, count) = places_of(x, items, level)
        found = x.physical[places]             # (samples, *of the indices, *the rest)
        if first:
            found = np.moveaxis(found, range(1, count + 1), range(first + 1, first + count + 1))
        return Batched(found, level)
    given = _expanded(x, items)                # the indices alone differ
    advanced = [i for i, item in enumerate(given) if not (item is None or item.__class__ is slice)]
    count = max_ndim(*[given[i] for i in advanced])
    together = advanced[-1] - advanced[0] == len(advanced) - 1
    found = x[tuple([aligned(item, level, count) if isinstance(item, np.ndarray) else item for item in given])]
    return Batched(np.moveaxis(found, advanced[0] if together else 0, 0), level)


@forward_rule(strided._as_strided)
def _as_strided(level, input, size, stride, offset, whole):
    """as_strided for all samples: `offset` counts from the beginning of each sample."""
    physical = input.physical
    if type(physical) is not np.ndarray:
        raise NotBatchable("a batch of batches")
    item, rows = physical.itemsize, np.shape(physical)[0]
    behind = offset - (address_of(physical) - address_of(root_of(physical))) // item
    end = behind + 1 + sum([(n - 1) * s for n, s in zip(size, stride)]) if 0 not in size else behind
    room = 1 + sum([(n - 1) * (s // item) for n, s in zip(input.shape, input.strides)]) if input.size else 0
    if behind < 0 or end > room:
        raise Refusal(f"result = tensor.as_strided({list(size)}, {list(stride)}, {offset}) can access memory outside "
                      f"of `tensor`. `result` can access some memory in range [{offset}, {end - behind + offset}], but "
                      f"`tensor` can only access some memory in range [{offset - behind}, {offset - behind + room}]. "
                      "This is not supported inside of vmap, please try to rewrite the `as_strided` call as a sequence "
                      "of PyTorch view operations")
    steps = (physical.strides[0], *[s * item for s in stride])
    flat = np.lib.stride_tricks.as_strided(physical, (rows, max(room, 1)), (physical.strides[0], item))[:, behind:]
    return Batched(np.lib.stride_tricks.as_strided(flat, (rows, *size), steps), level)


Batched.__getitem__, Batched.__setitem__ = getitem, setitem
