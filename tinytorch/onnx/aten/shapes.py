"""Shapes and the order of dimensions; joining, splitting, repeating, padding."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ..registry import Refusal, entered, translation
from ..writer import Value


@translation("view", "reshape", put="shape")
def view(g, x, sizes):
    if isinstance(sizes, dt.dtype):
        raise Refusal("the bits of a tensor as another dtype")
    return g.reshaped_to(x, g.out, sizes)


@translation("view_as", "reshape_as", put="shape")
def view_as(g, x, other):
    return g.reshaped_to(x, g.out, g.sizes(other))


@translation("flatten", put="shape")
def flatten(g, x, start=0, end=-1):
    if not x.rank:
        return g.reshape(x, [1])
    start, end = start % x.rank, end % x.rank
    sizes = g.sizes(x) if sum(g.out.dynamic) > 1 else [0] * x.rank
    return g.reshaped_to(x, g.out, [*sizes[:start], -1, *sizes[end + 1:]])


@translation("unflatten", put="shape")
def unflatten(g, x, dim, sizes):
    dim %= x.rank
    around = g.sizes(x) if sum(g.out.dynamic) > 1 else [0] * x.rank
    return g.reshaped_to(x, g.out, [*around[:dim], *sizes, *around[dim + 1:]])


@translation("ravel", put="shape")
def ravel(g, x):
    return g.reshape(x, [-1])


@translation("squeeze", put="shape")
def squeeze(g, x, dims=None):
    dims = [dims] if isinstance(dims, int) else dims
    if dims is None:
        dims = range(x.rank)
    found = sorted([dim % max(x.rank, 1) for dim in dims])
    found = [dim for dim in found if x.rank and x.shape[dim] == 1 and not x.dynamic[dim]]
    return g.squeeze(x, found) if found else g.op("Identity", x)


@translation("unsqueeze", put="shape")
def unsqueeze(g, x, dim):
    return g.unsqueeze(x, [dim % (x.rank + 1)])


@translation("permute", put="order")
def permute(g, x, dims):
    return g.transpose(x, [dim % x.rank for dim in dims]) if x.rank else g.op("Identity", x)


@translation("transpose", "swapaxes", "swapdims", put="order")
def transpose(g, x, a, b):
    order = list(range(x.rank))
    if order:
        order[a], order[b] = order[b], order[a]
    return permute(g, x, order)


@translation("t", "numpy_T", put="order")
def t(g, x):
    return permute(g, x, list(range(x.rank))[::-1])


@translation("mT", "mH", "adjoint", "matrix_H", put="order")
def matrix_transpose(g, x):
    return transpose(g, x, -1, -2)


@translation("movedim", "moveaxis", put="order")
def movedim(g, x, source, destination):
    source, destination = [[y] if isinstance(y, int) else y for y in (source, destination)]
    order = np.moveaxis(np.empty(range(1, x.rank + 1)), source, destination).shape
    return permute(g, x, [n - 1 for n in order])


# ------------------------------------------------------------------ repeating
@translation("expand")
def expand(g, x, sizes, implicit=False):
    return g.expand(x, sizes)


@translation("expand_as")
def expand_as(g, x, other):
    return g.expand(x, g.sizes(other))


@translation("broadcast_to")
def broadcast_to(g, x, sizes):
    return g.expand(x, sizes)


@translation("broadcast_tensors")
def broadcast_tensors(g, tensors):
    rank = max([x.rank for x in tensors])
    total = tensors[0]
    for x in tensors[1:]:
        zeros = g.op("Add", g.cast(_zeros(g, total), dt.int32), g.cast(_zeros(g, x), dt.int32))
        total = Value(zeros, (1,) * rank, dt.int32, ((1, 2),) * rank)
    shape = g.op("Shape", total)
    return [g.op("Expand", x, shape) for x in tensors]


def _zeros(g, x):
    if x.dtype is dt.int32:
        return x
    return Value(g.expand(g.number(0, dt.int32), g.sizes(x)), x.shape, dt.int32, x.history)


@translation("repeat")
def repeat(g, x, repeats):
    if len(repeats) > x.rank:
        x = g.unsqueeze(x, range(len(repeats) - x.rank))
    return g.op("Tile", x, g.ints(repeats)) if repeats else g.op("Identity", x)


@translation("tile")
def tile(g, x, dims):
    return repeat(g, x, [1] * (x.rank - len(dims)) + list(dims))


@translation("repeat_interleave.self_int")
def repeat_interleave(g, x, repeats, dim=None, output_size=None):
    if dim is None:
        x = Value(g.reshape(x, [-1]), (0,), x.dtype, ((0, 1),))
        dim = 0
    dim %= x.rank
    wider = g.expand(g.unsqueeze(x, [dim + 1]), [1] * (dim + 1) + [repeats] + [1] * (x.rank - dim - 1))
    sizes = g.sizes(x)
    return g.reshaped_to(wider, g.out, [*sizes[:dim], -1, *sizes[dim + 1:]])


@translation("meshgrid")
def meshgrid(g, tensors, indexing="ij"):
    rank = len(tensors)
    sizes = [g.count(x) for x in tensors]
    if indexing == "xy" and rank > 1:
        sizes[:2] = sizes[1::-1]
    made, counts = [], [g.count(x) for x in tensors]
    for i, x in enumerate(tensors):
        at = {0: 1, 1: 0}.get(i, i) if indexing == "xy" else i
        made.append(g.expand(g.reshape(x, [counts[i] if j == at else 1 for j in range(rank)]), sizes))
    return made


# ------------------------------------------------------------------ joining and splitting
@translation("cat", "concat", "concatenate")
def cat(g, tensors, dim=0):
    kept = [x for x in tensors if x.shape != (0,) or x.dynamic[0] or g.out.rank == 1]
    kept = kept or tensors[:1]
    return g.op("Concat", *[g.cast(x, g.out.dtype) for x in kept], axis=dim % max(g.out.rank, 1))


@translation("stack")
def stack(g, tensors, dim=0):
    dim %= g.out.rank
    return g.op("Concat", *[g.unsqueeze(g.cast(x, g.out.dtype), [dim]) for x in tensors], axis=dim)


def _at_least(g, x, rank, last):
    """The tensor with at least `rank` dimensions: new dimensions lead, and for dstack one comes last."""
    while x.rank < rank:
        at = x.rank if last and x.rank >= last else 0
        history = [*x.history] or [(n,) for n in x.shape]
        shape = [*x.shape]
        shape.insert(at, 1)
        history.insert(at, (1,))
        x = Value(g.unsqueeze(x, [at]), shape, x.dtype, history)
    return x


@translation("hstack")
def hstack(g, tensors):
    tensors = [_at_least(g, x, 1, 0) for x in tensors]
    return cat(g, tensors, 0 if tensors[0].rank == 1 else 1)


@translation("vstack", "row_stack")
def vstack(g, tensors):
    return cat(g, [_at_least(g, x, 2, 0) for x in tensors], 0)


@translation("dstack")
def dstack(g, tensors):
    return cat(g, [_at_least(g, x, 3, 2) for x in tensors], 2)


@translation("column_stack")
def column_stack(g, tensors):
    return cat(g, [_at_least(g, x, 2, 1) for x in tensors], 1)


def parts(g, x, dim, ends):
    """The parts of a dimension between these places, each as a slice; the last part ends at the end."""
    places = [0, *ends, 1 << 62]
    return [g.slice(x, dim, a, b) for a, b in zip(places, places[1:])]


@translation("split.Tensor", "split.sizes", "split", "split_with_sizes", "unsafe_split", "unsafe_split_with_sizes",
             put="parts")
def split(g, x, sizes, dim=0):
    dim %= x.rank
    if isinstance(sizes, (list, tuple)):
        return g.split(x, sizes, dim)
    if not x.dynamic[dim]:
        n = x.shape[dim]
        return g.split(x, [min(sizes, n - i) for i in range(0, max(n, 1), max(sizes, 1))], dim)
    return parts(g, x, dim, [g.arithmetic("Mul", i, sizes) for i in range(1, len(g.outs))])


@translation("chunk", "unsafe_chunk", put="parts")
def chunk(g, x, chunks, dim=0):
    n = g.size(x, dim)
    size = g.arithmetic("Div", g.arithmetic("Add", n, chunks - 1), chunks)
    return split(g, x, size, dim)


@translation("tensor_split.sections", "tensor_split.indices", put="parts")
def tensor_split(g, x, sections, dim=0):
    dim %= x.rank
    if isinstance(sections, (list, tuple)):
        return parts(g, x, dim, sections)
    if x.dynamic[dim]:
        raise Refusal("sections of a size that may vary")
    whole, rest = divmod(x.shape[dim], sections)
    return g.split(x, [whole + (i < rest) for i in range(sections)], dim)


def _splits(at):
    def write(g, x, sections):
        dim = at if at >= 0 else int(x.rank > 1)
        return tensor_split(g, x, sections, dim)
    return write


entered([("vsplit", _splits(0)), ("hsplit", _splits(-1)), ("dsplit", _splits(2))])


@translation("unbind")
def unbind(g, x, dim=0):
    dim %= x.rank
    if x.dynamic[dim]:
        raise Refusal("as many results as a size that may vary")
    return [g.op("Gather", x, g.constant(i, dt.int64), axis=dim) for i in range(x.shape[dim])]


# ------------------------------------------------------------------ order and padding
@translation("flip")
def flip(g, x, dims):
    dims = [dim % x.rank for dim in dims]
    if not dims:
        return g.op("Identity", x)
    ends, least = [-1] * len(dims), [-(1 << 62)] * len(dims)
    return g.op("Slice", x, g.ints(ends), g.ints(least), g.ints(dims), g.ints(ends))


@translation("fliplr")
def fliplr(g, x):
    return flip(g, x, [1])


@translation("flipud")
def flipud(g, x):
    return flip(g, x, [0])


@translation("rot90")
def rot90(g, x, k=1, dims=(0, 1)):
    k, (a, b) = k % 4, dims
    if k == 2:
        return flip(g, x, dims)
    if k == 1:
        return transpose(g, Value(flip(g, x, [b]), x.shape, x.dtype), a, b)
    if k == 3:
        return transpose(g, Value(flip(g, x, [a]), x.shape, x.dtype), a, b)
    return g.op("Identity", x)


@translation("roll")
def roll(g, x, shifts, dims=()):
    if not dims:
        flat = Value(g.reshape(x, [-1]), (1,), x.dtype, ((1, 2),))
        return g.reshaped_to(_rolled(g, flat, shifts[0], 0), x, g.sizes(x))
    for shift, dim in zip(shifts, dims):
        x = Value(_rolled(g, x, shift, dim % x.rank), x.shape, x.dtype, x.history)
    return x


def _rolled(g, x, shift, dim):
    n = g.size(x, dim)
    if isinstance(n, int) and isinstance(shift, int):
        shift %= max(n, 1)
        if not shift:
            return g.op("Identity", x)
    at = g.arithmetic("Sub", 0, shift)         # counted from the end, where it is negative
    if isinstance(at, int) and at == 0:
        return g.op("Identity", x)
    return g.op("Concat", g.slice(x, dim, at, 1 << 62), g.slice(x, dim, 0, at), axis=dim)


@translation("constant_pad_nd")
def constant_pad(g, x, pads, value=0):
    return pad(g, x, pads, "constant", value)


@translation("pad")
def pad(g, x, pads, mode="constant", value=None):
    n = len(pads) // 2
    before = [0] * (x.rank - n) + list(pads[0::2])[::-1]
    after = [0] * (x.rank - n) + list(pads[1::2])[::-1]
    plain = all([isinstance(y, int) for y in pads])
    if mode == "constant":
        return g.op("Pad", x, g.ints([*before, *after]), g.number(value or 0, x.dtype), mode="constant")
    if mode == "circular":
        if not plain or min(pads) < 0:
            raise Refusal("circular padding by sizes that may vary, or that are negative")
        for dim, (a, b) in enumerate(zip(before, after)):
            pieces = [g.slice(x, dim, -a, 1 << 62)] * bool(a) + [x] + [g.slice(x, dim, 0, b)] * bool(b)
            x = g.op("Concat", *pieces, axis=dim) if len(pieces) > 1 else x
        return x
    return g.op("Pad", x, g.ints([*before, *after]), mode={"replicate": "edge"}.get(mode, mode))


# ------------------------------------------------------------------ triangles and diagonals
def _triangle(upper):
    def write(g, x, diagonal=0):
        y = g.cast(x, dt.int32) if x.dtype is dt.bool else x
        if g.opset >= 14:
            made = g.op("Trilu", y, g.cast(diagonal, dt.int64), upper=int(upper))
        else:
            rows = g.op("Range", g.constant(0, dt.int64), g.cast(g.size(x, -2), dt.int64), g.constant(1, dt.int64))
            columns = g.op("Range", g.constant(0, dt.int64), g.cast(g.size(x, -1), dt.int64), g.constant(1, dt.int64))
            ahead = g.op("Sub", g.unsqueeze(columns, [0]), g.unsqueeze(rows, [1]))
            kept = g.op("GreaterOrEqual" if upper else "LessOrEqual", ahead, g.cast(diagonal, dt.int64))
            made = g.where(kept, y, g.number(0, y.dtype))
        return g.cast(Value(made, (), y.dtype), x.dtype)
    return write


entered([("triu", _triangle(True)), ("tril", _triangle(False))])


@translation("diagonal")
def diagonal(g, x, offset=0, dim1=0, dim2=1):
    dim1, dim2 = dim1 % x.rank, dim2 % x.rank
    if x.dynamic[dim1] or x.dynamic[dim2]:
        raise Refusal("a diagonal of sizes that may vary")
    rest = [i for i in range(x.rank) if i not in (dim1, dim2)]
    n = g.out.shape[-1]
    places = np.arange(n) + max(-offset, 0), np.arange(n) + max(offset, 0)
    flat = g.transpose(x, [dim1, dim2, *rest])
    found = g.op("GatherND", flat, g.constant(np.stack(places, 1), dt.int64))
    return g.transpose(found, [*range(1, len(rest) + 1), 0]) if rest else found


@translation("diag")
def diag(g, x, offset=0):
    return diagonal(g, x, offset) if x.rank == 2 else diag_embed(g, x, offset)


@translation("diag_embed")
def diag_embed(g, x, offset=0, dim1=-2, dim2=-1):
    if x.dynamic[-1]:
        raise Refusal("a diagonal of a size that may vary")
    n, rank = x.shape[-1] + abs(offset), x.rank + 1
    mask = np.zeros((n, n), bool)
    places = np.arange(x.shape[-1])
    mask[places + max(-offset, 0), places + max(offset, 0)] = True
    before = [0] * (x.rank - 1) + [max(offset, 0)]
    wide = g.op("Pad", x, g.ints(before + [0] * (x.rank - 1) + [max(-offset, 0)]), g.number(0, x.dtype))
    made = g.where(g.constant(mask), g.unsqueeze(wide, [x.rank - 1]), g.number(0, x.dtype))
    dim1, dim2 = dim1 % rank, dim2 % rank
    return g.transpose(made, np.argsort([i for i in range(rank) if i not in (dim1, dim2)] + [dim1, dim2]).tolist())


@translation("trace")
def trace(g, x):
    if not x.is_static:
        raise Refusal("of sizes that may vary")
    return g.op("ReduceSum", g.where(g.constant(np.eye(*x.shape, dtype=bool)), x, g.number(0, x.dtype)), keepdims=0)


# ------------------------------------------------------------------ blocks
@translation("pixel_shuffle")
def pixel_shuffle(g, x, factor):
    if x.rank == 4:
        return g.op("DepthToSpace", x, blocksize=factor, mode="CRD")
    return g.squeeze(g.op("DepthToSpace", g.unsqueeze(x, [0]), blocksize=factor, mode="CRD"), [0])


@translation("pixel_unshuffle")
def pixel_unshuffle(g, x, factor):
    *rest, channels, height, width = g.sizes(x)
    n = len(rest)
    apart = g.reshape(x, [*rest, channels, g.arithmetic("Div", height, factor), factor,
                          g.arithmetic("Div", width, factor), factor])
    moved = g.transpose(apart, [*range(n), n, n + 2, n + 4, n + 1, n + 3])
    return g.reshaped_to(moved, g.out, [*rest, g.arithmetic("Mul", channels, factor * factor),
                                        g.arithmetic("Div", height, factor), g.arithmetic("Div", width, factor)])


@translation("channel_shuffle", "native_channel_shuffle")
def channel_shuffle(g, x, groups):
    sizes = g.sizes(x)
    apart = g.reshape(x, [sizes[0], groups, x.shape[1] // groups, *sizes[2:]])
    return g.reshaped_to(g.transpose(apart, [0, 2, 1, *range(3, x.rank + 1)]), x, sizes)


@translation("unfold")
def unfold(g, x, dim, size, step):
    if not x.rank:
        return g.reshape(x, [size])
    if x.dynamic[dim]:
        raise Refusal("windows of a size that may vary")
    dim %= x.rank
    count = (x.shape[dim] - size) // step + 1
    places = np.arange(count)[:, None] * step + np.arange(size)
    found = g.op("Gather", x, g.constant(places, dt.int64), axis=dim)
    order = [*range(dim + 1), *range(dim + 2, x.rank + 1), dim + 1]
    return g.transpose(found, order)


def _at_least_each(rank, last):
    def write(g, x):
        made = [_at_least(g, y, rank, last) for y in (x if isinstance(x, list) else [x])]
        made = [g.op("Identity", y) for y in made]
        return made if isinstance(x, list) else made[0]
    return write


entered([("atleast_1d", _at_least_each(1, 0)), ("atleast_2d", _at_least_each(2, 0)),
         ("atleast_3d", _at_least_each(3, 2))])


@translation("diff")
def diff(g, x, n=1, dim=-1, prepend=None, append=None):
    given = [y for y in (prepend, x, append) if y is not None]
    if x.dtype is dt.bool:
        raise Refusal("of truth values")
    whole = g.op("Concat", *given, axis=dim % x.rank) if len(given) > 1 else x
    for _ in range(n):
        whole = g.op("Sub", g.slice(whole, dim % x.rank, 1, 1 << 62), g.slice(whole, dim % x.rank, 0, -1))
    return whole if n else g.op("Identity", whole)
