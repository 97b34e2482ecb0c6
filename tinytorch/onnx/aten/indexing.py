"""Parts of tensors by indices: select, slice, index, gather, scatter; embeddings."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ..registry import Refusal, Unwritable, translation
from ..writer import Value


@translation("select.int", put="scatter")
def select(g, x, dim, index):
    return g.op("Gather", x, g.cast(index, dt.int64), axis=dim % x.rank)


@translation("slice", put="scatter")
def slice_(g, x, dim=0, start=None, end=None, step=1):
    start = 0 if start is None else start
    end = (1 << 63) - 1 if end is None else end
    return g.slice(x, dim % x.rank, start, end, step)


@translation("narrow")
def narrow(g, x, dim, start, length):
    if isinstance(start, Value):
        return g.slice(x, dim % x.rank, start, g.arithmetic("Add", start, length))
    if isinstance(start, int) and start < 0:
        start = g.arithmetic("Add", g.size(x, dim), start)
    return g.slice(x, dim % x.rank, start, g.arithmetic("Add", start, length))


@translation("index_select")
def index_select(g, x, dim, index):
    if not x.rank:
        return g.op("Identity", x)
    return g.op("Gather", x, index if index.rank else g.unsqueeze(index, [0]), axis=dim % x.rank)


@translation("take")
def take(g, x, index):
    return g.op("Gather", g.reshape(x, [-1]), index, axis=0)


@translation("gather")
def gather(g, x, dim, index, sparse_grad=False):
    if not x.rank:
        return g.expand(x, g.sizes(index))
    return g.op("GatherElements", x, g.cast(index, dt.int64), axis=dim % x.rank)


@translation("take_along_dim")
def take_along_dim(g, x, index, dim=None):
    if dim is None:
        return g.op("GatherElements", g.reshape(x, [-1]), g.reshape(index, [-1]), axis=0)
    sizes = [[g.size(y, i) for i in range(x.rank)] for y in (x, index)]
    apart = [i for i in range(x.rank) if i != dim % x.rank and x.shape[i] != index.shape[i]]
    if apart:
        wider = [[1 if i not in apart else sizes[1 - k][i] for i in range(x.rank)] for k in (0, 1)]
        x, index = [Value(g.expand(y, wide), g.out.shape, y.dtype) for y, wide in zip((x, index), wider)]
    return g.op("GatherElements", x, index, axis=dim % x.rank)


@translation("embedding")
def embedding(g, weight, index, padding_idx=-1, scale=False, sparse=False):
    return g.op("Gather", weight, index, axis=0)


@translation("embedding_bag")
def embedding_bag(g, weight, index, offsets, scale=False, mode=0, sparse=False, weights=None, include_last=False,
                  padding_idx=None):
    """Looks up the rows of all bags, and reduces the rows of each bag: sums by a product with a matrix that says which
    rows belong to which bag, and maxima (mode="max") over the rows that this matrix does not mask."""
    n, dtype = g.count(index), weight.dtype
    places = g.op("Range", g.constant(0, dt.int64), g.cast(n, dt.int64), g.constant(1, dt.int64))
    begins = g.cast(offsets, dt.int64)
    ends = g.op("Concat", g.slice(begins, 0, 1, 1 << 62), g.ints([n]), axis=0)
    if include_last:
        begins, ends = g.slice(begins, 0, 0, -1), g.slice(begins, 0, 1, 1 << 62)
    begins, ends = g.unsqueeze(begins, [1]), g.unsqueeze(ends, [1])
    own = g.op("And", g.op("GreaterOrEqual", g.unsqueeze(places, [0]), begins),
               g.op("Less", g.unsqueeze(places, [0]), ends))
    flat = g.reshape(index, [-1])
    if padding_idx is not None:
        wanted = padding_idx % weight.shape[0]
        real = g.op("Not", g.op("Equal", flat, g.number(wanted, index.dtype)))
        own = g.op("And", own, g.unsqueeze(real, [0]))
    rows = g.op("Gather", weight, flat, axis=0)
    if mode == 2:
        masked = g.where(g.unsqueeze(own, [2]), g.unsqueeze(rows, [0]), g.number(-np.inf, dtype))
        largest = g.reduce("ReduceMax", masked, [1])
        return (g.where(g.op("IsInf", largest), g.number(0.0, dtype), largest),)
    if weights is not None:
        rows = g.op("Mul", rows, g.unsqueeze(g.reshape(weights, [-1]), [1]))
    shares = Value(own, (), dt.bool)
    shares = g.cast(shares, dtype)
    total = g.op("MatMul", shares, rows)
    if mode == 1:
        count = g.op("Max", g.reduce("ReduceSum", shares, [1], True), g.number(1.0, dtype))
        total = g.op("Div", total, count)
    return (total,)


@translation("one_hot")
def one_hot(g, x, classes=-1):
    if not x.rank:
        x = Value(g.unsqueeze(x, [0]), (1,), x.dtype)
        return g.squeeze(_one_hot(g, x, classes), [0])
    return _one_hot(g, x, classes)


def _one_hot(g, x, classes):
    if classes == -1:
        if g.out.dynamic[-1]:
            raise Refusal("classes counted from the indices; pass num_classes")
        classes = g.out.shape[-1]
    return g.op("OneHot", x, g.constant(classes, dt.int64), g.constant([0, 1], dt.int64), axis=-1)


# ------------------------------------------------------------------ several indices
def _places(g, x, indices):
    """(the indices that are tensors, as integers counted from the front; their dimensions)."""
    dims, tensors = [], []
    for i, index in enumerate(indices):
        if index is None:
            continue
        if index.dtype in (dt.bool, dt.uint8):
            raise Refusal("masks among other indices")
        dims.append(i)
        tensors.append(_from_front(g, g.cast(index, dt.int64), g.size(x, i)))
    return tensors, dims


def _from_front(g, index, size):
    """Counts indices that may be negative from the front."""
    if index.array is not None and isinstance(size, int):
        return g.constant(np.where(index.array < 0, index.array + size, index.array), dt.int64)
    behind = g.op("Add", index, g.cast(size, dt.int64))
    moved = g.where(g.op("Less", index, g.constant(0, dt.int64)), behind, index)
    return Value(moved, index.shape, dt.int64, index.history)


def _stacked(g, tensors):
    """Broadcasts indices and stacks them along a new last dimension: (the tensor, its rank without this dimension)."""
    rank = max([x.rank for x in tensors])
    shapes = {x.shape for x in tensors}
    if len(shapes) > 1 or any([not x.is_static for x in tensors]):
        total = tensors[0]
        for x in tensors[1:]:
            total = Value(g.op("Add", total, x), (), dt.int64)
        shape = g.op("Shape", total)
        tensors = [g.op("Expand", x, shape) for x in tensors] if len(tensors) > 1 else tensors
    return g.op("Concat", *[g.unsqueeze(x, [rank]) for x in tensors], axis=-1), rank


def _mask_of(g, x, indices):
    """The mask over leading dimensions if it is the only index, else None."""
    given = [index for index in indices if index is not None]
    if len(given) == 1 and given[0].dtype in (dt.bool, dt.uint8):
        if indices[0] is None:
            raise Refusal("a mask after dimensions without an index")
        return g.cast(given[0], dt.bool)
    return None


@translation("index.Tensor")
def index(g, x, indices):
    mask = _mask_of(g, x, indices)
    if mask is not None:
        where = g.op("Transpose", g.op("NonZero", mask), perm=[1, 0])
        return g.op("GatherND", x, where)
    tensors, dims = _places(g, x, indices)
    if len(dims) == 1:
        return g.op("Gather", x, tensors[0], axis=dims[0])
    rest = [i for i in range(x.rank) if i not in dims]
    moved = g.transpose(x, [*dims, *rest]) if [*dims, *rest] != list(range(x.rank)) else x
    places, rank = _stacked(g, tensors)
    found = g.op("GatherND", moved, places)
    if dims != list(range(dims[0], dims[0] + len(dims))) or not dims[0]:
        return found                           # the new dimensions lead
    front = dims[0]
    order = [*range(rank, rank + front), *range(rank), *range(rank + front, rank + len(rest))]
    return g.transpose(found, order)


@translation("index_put")
def index_put(g, x, indices, values, accumulate=False):
    values = g.cast(values, x.dtype)
    mask = _mask_of(g, x, indices)
    if mask is not None:
        return _masked_put(g, x, mask, values, accumulate)
    tensors, dims = _places(g, x, indices)
    rest = [i for i in range(x.rank) if i not in dims]
    order = [*dims, *rest]
    moved = g.transpose(x, order) if order != list(range(x.rank)) else x
    places, rank = _stacked(g, tensors)
    shape = g.slice(g.op("Shape", places), 0, 0, -1)
    if rest:
        shape = g.op("Concat", shape, g.ints([g.size(x, i) for i in rest]), axis=0)
    contiguous = dims == list(range(dims[0], dims[0] + len(dims))) and dims[0]
    if contiguous and values.rank > rank:
        front = dims[0]
        if values.rank != rank + len(rest):
            values = Value(g.unsqueeze(values, range(rank + len(rest) - values.rank)), (1,) * (rank + len(rest)),
                           values.dtype)
        values = g.transpose(values, [*range(front, front + rank), *range(front),
                                      *range(front + rank, rank + len(rest))])
    values = g.op("Expand", values, shape)
    made = g.op("ScatterND", moved, places, values, **_accumulating(g, accumulate))
    return g.transpose(made, np.argsort(order).tolist()) if order != list(range(x.rank)) else made


def _masked_put(g, x, mask, values, accumulate):
    """x with the values where the mask over its leading dimensions holds."""
    if values.rank == 0 or values.shape == (1,):
        wide = g.unsqueeze(mask, range(mask.rank, x.rank)) if x.rank > mask.rank else mask
        return g.where(wide, g.op("Add", x, values) if accumulate else values, x)
    places = g.op("Transpose", g.op("NonZero", mask), perm=[1, 0])
    if not accumulate and values.rank < x.rank - mask.rank + 1:
        shape = g.op("Concat", g.slice(g.op("Shape", places), 0, 0, 1), g.ints(g.sizes(x)[mask.rank:]), axis=0)
        values = g.op("Expand", values, shape)
    return g.op("ScatterND", x, places, values, **_accumulating(g, accumulate))


def _accumulating(g, accumulate):
    """The attributes of a ScatterND that adds, or replaces. ONNX has reductions from opset 16 on."""
    if not accumulate:
        return {}
    if g.opset < 16:
        raise Unwritable(16)
    return {"reduction": "add"}


@translation("masked_select")
def masked_select(g, x, mask):
    shape = g.op("Shape", g.op("Or", mask, Value(g.op("Cast", x, to=9), (), dt.bool)))
    flat = [g.reshape(g.op("Expand", y, shape), [-1]) for y in (x, mask)]
    return g.op("Compress", *flat, axis=0)


@translation("masked_scatter")
def masked_scatter(g, x, mask, source):
    shape = g.shape(x)
    if not x.rank:
        raise Refusal("of a tensor without dimensions")
    where = g.op("Transpose", g.op("NonZero", g.op("Expand", mask, shape)), perm=[1, 0])
    count = g.slice(g.op("Shape", where), 0, 0, 1)
    first = g.op("Slice", g.reshape(source, [-1]), g.ints([0]), count, g.ints([0]))
    return g.op("ScatterND", x, where, first)


@translation("nonzero", "argwhere")
def nonzero(g, x):
    if not x.rank:
        raise Refusal("of a tensor without dimensions")
    return g.op("Transpose", g.op("NonZero", x), perm=[1, 0])


@translation("nonzero_numpy", "where")
def nonzero_numpy(g, x):
    return [g.squeeze(y, [0]) for y in g.split(g.op("NonZero", x), [1] * x.rank, 0)]


# ------------------------------------------------------------------ writing
def scattered(g, x, dim, index, source, reduction=None):
    """A ScatterElements. ONNX has its reductions from opset 16 or 18 on."""
    if reduction in ("max", "min") and g.opset < 18:
        raise Unwritable(18)
    if reduction is not None and g.opset < 16:
        raise Unwritable(16)
    if x.rank == 0:
        raise Refusal("of a tensor without dimensions")
    if isinstance(source, Value) and source.rank and source.shape != index.shape:
        for i in range(x.rank):
            if source.shape[i] != index.shape[i]:
                source = Value(g.slice(source, i, 0, g.size(index, i)), source.shape, source.dtype, source.history)
    elif not isinstance(source, Value) or not source.rank:
        source = g.expand(g.cast(source, x.dtype), g.sizes(index))
    return g.op("ScatterElements", x, index, source, axis=dim % x.rank, reduction=reduction)


@translation("scatter.src", "scatter.value")
def scatter(g, x, dim, index, source):
    return scattered(g, x, dim, index, source)


_REDUCED = {"add": "add", "sum": "add", "multiply": "mul", "prod": "mul", "amax": "max", "amin": "min"}


@translation("scatter.reduce", "scatter.value_reduce")
def scatter_with(g, x, dim, index, source, reduce):
    return scattered(g, x, dim, index, source, _REDUCED[reduce])


@translation("scatter_add")
def scatter_add(g, x, dim, index, source):
    return scattered(g, x, dim, index, source, "add")


@translation("scatter_reduce")
def scatter_reduce(g, x, dim, index, source, reduce, include_self=True):
    if not include_self or reduce not in _REDUCED:
        raise Refusal(f"reduce={reduce!r}, include_self={include_self}")
    return scattered(g, x, dim, index, source, _REDUCED[reduce])


def _rows(g, x, dim, index):
    """The indices of rows, expanded to the shape of the rows for ScatterElements."""
    if not x.rank:
        raise Refusal("of a tensor without dimensions")
    dim %= x.rank
    flat = index if index.rank else Value(g.unsqueeze(index, [0]), (1,), index.dtype)
    wide = g.reshape(flat, [1] * dim + [-1] + [1] * (x.rank - dim - 1))
    sizes = g.sizes(x)
    sizes[dim] = g.size(flat, 0)
    history = [*(x.history or [(n,) for n in x.shape])]
    history[dim] = (flat.history or ((flat.shape[0],),))[0]
    shape = [n if i != dim else flat.shape[0] for i, n in enumerate(x.shape)]
    if len({len(each) for each in history}) > 1:
        most = max([len(each) for each in history])
        history = [each if len(each) == most else each * most for each in history]
    return Value(g.expand(wide, sizes), shape, index.dtype, history)


@translation("index_add")
def index_add(g, x, dim, index, source, alpha=1):
    if alpha != 1:
        source = Value(g.op("Mul", source, g.number(alpha, x.dtype)), source.shape, source.dtype, source.history)
    return scattered(g, x, dim, _rows(g, x, dim, index), source, "add")


@translation("index_copy")
def index_copy(g, x, dim, index, source):
    return scattered(g, x, dim, _rows(g, x, dim, index), source)


@translation("index_fill.int_Scalar", "index_fill.int_Tensor")
def index_fill(g, x, dim, index, value):
    return scattered(g, x, dim, _rows(g, x, dim, index), value)


@translation("select_scatter")
def select_scatter(g, x, source, dim, index):
    dim %= x.rank
    if isinstance(index, int) and index < 0:
        index = g.arithmetic("Add", g.size(x, dim), index)
    return _between(g, x, g.unsqueeze(g.cast(source, x.dtype), [dim]), dim, index, g.arithmetic("Add", index, 1))


def _between(g, x, source, dim, start, end):
    """x with the part between two places of a dimension replaced."""
    pieces = [source]
    if not (isinstance(start, int) and start == 0):
        pieces.insert(0, g.slice(x, dim, 0, start))
    if not (isinstance(end, int) and (end >= 1 << 62 or not x.dynamic[dim] and end >= x.shape[dim])):
        pieces.append(g.slice(x, dim, end, 1 << 62))
    return g.op("Concat", *pieces, axis=dim) if len(pieces) > 1 else g.op("Identity", source)


@translation("slice_scatter")
def slice_scatter(g, x, source, dim=0, start=None, end=None, step=1):
    dim, source = dim % x.rank, g.cast(source, x.dtype)
    start = 0 if start is None else start
    end = (1 << 63) - 1 if end is None else end
    if step == 1:
        if isinstance(start, int) and start < 0:
            start = g.arithmetic("Add", g.size(x, dim), max(start, -x.shape[dim]) if not x.dynamic[dim] else start)
        if isinstance(start, int) and isinstance(end, int) and 0 <= end < start:
            end = start
        return _between(g, x, source, dim, start, end)
    if x.dynamic[dim] and isinstance(start, int) and start >= 0 and isinstance(end, int) and end >= 1 << 62:
        rows = g.op("Range", g.cast(start, dt.int64), g.cast(g.size(x, dim), dt.int64), g.cast(step, dt.int64))
        history = (source.history[dim],) if source.history else ()
        return scattered(g, x, dim, _rows(g, x, dim, Value(rows, (source.shape[dim],), dt.int64, history)), source)
    if x.dynamic[dim] or not isinstance(start, int) or not isinstance(end, int):
        raise Refusal("steps in a size that may vary")
    places = np.arange(x.shape[dim])[start:end:step]
    return scattered(g, x, dim, _rows(g, x, dim, g.constant(places, dt.int64)), source)


@translation("searchsorted.Tensor")
def searchsorted(g, known, x, out_int32=False, right=False, side=None, sorter=None):
    if sorter is not None or known.rank != 1:
        raise Refusal("a sorter, or a sequence for each row")
    right = right or side == "right"
    below = g.op("LessOrEqual" if right else "Less", known, g.unsqueeze(x, [x.rank]))
    return g.cast(Value(g.reduce("ReduceSum", g.op("Cast", below, to=7), [x.rank]), (), dt.int64), g.out.dtype)


@translation("bucketize.Tensor")
def bucketize(g, x, known, out_int32=False, right=False):
    return searchsorted(g, known, x, out_int32, right)
