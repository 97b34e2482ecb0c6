"""Diagonals, slices, gathered and scattered elements of batches, and the memory that views share."""
import numpy as np

from ...autograd import views
from ...kernels import layout
from ...kernels.scatter import add_at
from ...ops.layout import diagonal, index, join, rearrange, slices, strided, unsafe_index
from ...ops.reduction import cumulative
from ..batched import Batched, NotBatchable, aligned, max_ndim
from ..dispatch import BACKWARD, FAMILIES, WORDS, backward_rule, forward_rule
from .functions import axes_of, axis_of, batch, size_of, some_of, spread
from .indexing import pick, places_of, turned

_EVERY = slice(None)


def family(*calls):
    """Decorator of rule(compute, level, *args) for these operations. `compute` is their forward function."""
    def decorate(rule):
        for call in calls:
            FAMILIES[call.op.forward] = lambda compute: lambda level, *args: rule(compute, level, *args)
        return rule
    return decorate


# ------------------------------------------------------------------ diagonals, blocks, copies
@family(diagonal._embed)
def _embed(compute, level, g, shape, offset, dim1, dim2):
    physical = g.physical
    return batch(compute(physical, (len(physical), *shape), offset, *axes_of((dim1, dim2), len(shape))), level)


@family(rearrange._repeat)
def _repeat(compute, level, input, repeats):
    return batch(compute(aligned(input, level, len(repeats)), (1, *repeats)), level)


@forward_rule(join._block_diag)
def _block_diag(level, sizes, shapes, *blocks):
    size = size_of(level, blocks)
    result = np.zeros([size, *[sum(n) for n in zip(*sizes)]], blocks[0].dtype)
    for place, shape, block in zip(join._blocks(sizes), sizes, blocks):
        result[(_EVERY, *place)] = spread(block, level, size).reshape(size, *shape)
    return batch(result, level)


# ------------------------------------------------------------------ indices
@family(index._put_in_zeros)
def _put_in_zeros(compute, level, g, shape, index):
    return batch(compute(g.physical, (len(g.physical), *shape), (_EVERY, *index)), level)


@forward_rule(index._add_in_zeros)
def _add_in_zeros(level, g, shape, index):
    result = Batched(np.zeros((size_of(level, g, index), *shape), g.dtype), level)
    _add(result, index, g)
    return result


@forward_rule(index._index)
def _index(level, input, indices):
    return pick(input, indices if indices.__class__ is tuple else (indices,))


@forward_rule(index._index_put)
def _index_put(level, input, values, indices, accumulate):
    result = Batched(np.array(spread(input, level, size_of(level, input, values, indices)), order="C"), level)
    if accumulate:
        _add(result, indices, values)
    else:
        result[indices] = values
    return result


def _add(result, index, values):
    """result[index] += values, with places that `index` names twice."""
    if type(result.physical) is not np.ndarray:
        raise NotBatchable("a batch of batches")
    places, split = places_of(result, index if index.__class__ is tuple else (index,), result.level)
    add_at(result.physical, places, turned(result, places, split, values))


@backward_rule(cumulative._cumprod)
def _cumprod_gradient(level, run, g, saved, edges):
    """By the zeros of all samples."""
    input, dim, wide, ans, *rest = saved
    size = size_of(level, g, input, ans)
    if not input.ndim:
        return [g]
    g, input, ans = [x if x is None else spread(x, level, size) for x in (g, input, ans)]
    return batch(run(g, (input, axis_of(dim, input.ndim - 1), wide, ans, *rest), edges), level)


# ------------------------------------------------------------------ along a dimension, an index for each element
def _of_elements(compute, o):
    """The rule of a function of arrays with the same number of dimensions. The result has the shape of an argument
    `shape`, or the shape of one of the arrays. Samples without dimensions become rows of one element."""
    arrays = [i for i, name in enumerate(o.params) if name in ("input", "g", "index", "src")]
    dim, shape_at = o.params.index("dim"), o.params.index("shape") if "shape" in o.params else None
    like = arrays[0 if "src" in o.params else -1]

    def rule(level, *args):
        given = [np.asarray(x) if isinstance(x, np.generic) else x for x in args]
        found = [given[i] for i in arrays if isinstance(given[i], np.ndarray)]
        size, shape = size_of(level, found), given[like if shape_at is None else shape_at]
        shape = tuple(shape if isinstance(shape, tuple) else shape.shape)
        flat = not all([x.ndim for x in found]) or not shape
        for i in arrays:
            if isinstance(given[i], np.ndarray):
                x = spread(given[i], level, size)
                if flat:
                    x = x.reshape(size, x.size // size if size else 1)
                given[i] = x
        given[dim] = 1 if flat else axis_of(given[dim], max_ndim(*found))
        if shape_at is not None:
            given[shape_at] = (size, 1) if flat else (size, *shape)
        result = compute(*given)
        return batch(result.reshape(size, *shape) if flat else result, level)
    return rule


def _at_places(compute, o):
    """Rule for operations that take elements from places along a dimension, or put them there."""
    def rule(level, input, index, dim, last=True):
        size = size_of(level, input, index)
        x = spread(input, level, size)
        return batch(compute(x, spread(index, level, size), dim + 1, last) if input.ndim else np.array(x), level)
    return rule


WORDS.update(indexed=_of_elements, places=_at_places)


# ------------------------------------------------------------------ slices of a dimension
@family(slices._index_select, slices._index_add, slices._index_copy, slices._index_fill)
def _of_slices(compute, level, input, dim, index, *rest):
    """If the indices differ, the slices of all samples are laid one after the other."""
    size, flat, source = some_of(level, input, index, rest), not input.ndim, rest[:1]
    x = spread(input, level, size)
    if source and isinstance(source[0], np.ndarray):
        source = spread(source[0], level, size),
        if flat and len(source[0].shape) == 1:
            source = source[0][:, None],
    x, dim = (x[:, None], 0) if flat else (x, dim)
    if type(index) is not Batched or index.level != level:
        if source and isinstance(source[0], np.ndarray) and source[0].ndim == 1:       # a value that differs
            source = source[0].reshape((-1,) + (1,) * (x.ndim - 1)),
        result = compute(x, dim + 1, index, *source, *rest[1:])
        return batch(result.reshape(size, *input.shape) if flat else result, level)
    places, count = index.physical.reshape(size, -1), x.shape[dim + 1]
    if places.size and not 0 <= places.min() <= places.max() < count:
        raise NotBatchable("an index out of range")

    def joined(a):
        if not isinstance(a, np.ndarray):
            return a
        if a.ndim == 1:
            return np.repeat(a, places.shape[1]).reshape((-1,) + (1,) * (x.ndim - 2))
        a = np.moveaxis(a, dim + 1, 1)
        return a.reshape(size * a.shape[1], *a.shape[2:])
    flat_places = (places + np.arange(0, size * count, count or 1)[:size, None]).reshape(-1)
    result = compute(joined(x), 0, flat_places, *map(joined, source), *rest[1:])
    result = np.moveaxis(result.reshape(size, len(result) // size, *result.shape[1:]), 1, dim + 1)
    return batch(result.reshape(size, *input.shape) if flat else result, level)


# ------------------------------------------------------------------ indices that may be out of range
def _all_indices(level, size, ndim, indices):
    samples = np.arange(size).reshape((-1,) + (1,) * ndim)
    return samples, *[aligned(i, level, ndim) for i in indices]


@family(unsafe_index._index)
def _masked_index(compute, level, mask, indices, fill, input):
    size = size_of(level, mask, indices, input)
    return batch(compute(spread(mask, level, size), _all_indices(level, size, mask.ndim, indices), fill,
                         spread(input, level, size)), level)


@family(unsafe_index._put_in_zeros)
def _masked_put_in_zeros(compute, level, shape, mask, indices, values):
    size = size_of(level, mask, indices, values)
    return batch(compute((size, *shape), spread(mask, level, size), _all_indices(level, size, mask.ndim, indices),
                         aligned(values, level, mask.ndim)), level)


@family(unsafe_index._put)
def _masked_put(compute, level, mask, indices, input, values):
    size = size_of(level, mask, indices, input, values)
    return batch(compute(spread(mask, level, size), _all_indices(level, size, mask.ndim, indices),
                         spread(input, level, size), aligned(values, level, mask.ndim)), level)


# ------------------------------------------------------------------ by place in memory
def _of_all(size, *layouts):
    """The layouts of all samples, each in memory of its own."""
    step = -(-(max(map(layout.end_of, layouts)) - min([x[2] for x in layouts])) // 16) * 16
    return [((size, *shape), (step, *strides), *rest) for shape, strides, *rest in layouts]


@forward_rule(strided.relaid)
def _relaid(level, g, source, target):
    return batch(layout.relaid(g.physical, *_of_all(len(g.physical), source, target)), level)


@forward_rule(strided.without_part)
def _without_part(level, g, part, whole):
    return batch(layout.split_off(g.physical, *_of_all(len(g.physical), part, whole))[0], level)


def _to_base(level, g, part, whole):
    result = _relaid(level, g, part, whole)
    return result / layout.sharers(whole) if layout.overlaps(whole) else result


BACKWARD[strided._as_strided.op.forward] = lambda level, run, g, saved, edges: (_to_base(
    level, g, strided.layout_of(*saved[1:4], *saved[4][3:]), saved[4]),)
BACKWARD[views.AS_STRIDED.forward] = lambda level, run, g, saved, edges: (_to_base(level, g, *saved[1:3]),)
BACKWARD[views.COPY_SLICE.forward] = lambda level, run, g, saved, edges: batch(layout.split_off(
    g.physical, *_of_all(len(g.physical), *saved[2:4])), level)
