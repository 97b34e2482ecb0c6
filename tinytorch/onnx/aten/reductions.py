"""Sums, means, extremes and norms over dimensions; running sums; sorting."""
from __future__ import annotations

import math

from ... import dtypes as dt
from ..registry import Refusal, entered, translation
from ..writer import Value


def _dims(x, dim):
    """Dimensions counted from the front; None for all."""
    if dim is None or dim == [] or dim == ():
        return None
    dims = [dim] if isinstance(dim, int) else dim
    return [i % x.rank for i in dims] if x.rank else None


def reduced(g, kind, x, dim, keepdim=False):
    """A reduction of a value. A value without dimensions is its own reduction."""
    if not x.rank:
        return g.op("Identity", x)
    return g.reduce(kind, x, _dims(x, dim), keepdim)


def _of_numbers(g, x):
    return g.cast(x, g.out.dtype)


def _summed(kind):
    def write(g, x, dim=None, keepdim=False, dtype=None):
        return reduced(g, kind, _of_numbers(g, x), dim, keepdim)
    return write


entered([(f"{name}.{form}", _summed(kind)) for name, kind, form in (
    ("sum", "ReduceSum", "dim_IntList"), ("mean", "ReduceMean", "dim"), ("prod", "ReduceProd", "dim_int"))])


@translation("sum")
def sum_(g, x, dtype=None):
    return reduced(g, "ReduceSum", _of_numbers(g, x), None)


@translation("mean")
def mean(g, x, dtype=None):
    return reduced(g, "ReduceMean", _of_numbers(g, x), None)


@translation("prod")
def prod(g, x, dtype=None):
    return reduced(g, "ReduceProd", _of_numbers(g, x), None)


@translation("nansum")
def nansum(g, x, dim=None, keepdim=False, dtype=None):
    y = _of_numbers(g, x)
    kept = Value(g.where(g.op("IsNaN", y), g.number(0.0, y.dtype), y), x.shape, y.dtype, x.history)
    return reduced(g, "ReduceSum", kept, dim, keepdim)


@translation("nanmean")
def nanmean(g, x, dim=None, keepdim=False, dtype=None):
    known = Value(g.op("Cast", g.op("Not", g.op("IsNaN", x)), to=1), x.shape, dt.float32, x.history)
    return g.op("Div", nansum(g, x, dim, keepdim), g.cast(Value(
        reduced(g, "ReduceSum", known, dim, keepdim), (), dt.float32), x.dtype))


def _extreme(kind):
    def write(g, x, dim=None, keepdim=False):
        if x.dtype is dt.bool:
            whole = Value(reduced(g, kind, g.cast(x, dt.int32), dim, keepdim), (), dt.int32)
            return g.cast(whole, dt.bool)
        return reduced(g, kind, x, dim, keepdim)
    return write


entered([("amax", _extreme("ReduceMax")), ("amin", _extreme("ReduceMin")),
         ("max", _extreme("ReduceMax")), ("min", _extreme("ReduceMin"))])


@translation("aminmax")
def aminmax(g, x, dim=None, keepdim=False):
    return reduced(g, "ReduceMin", x, dim, keepdim), reduced(g, "ReduceMax", x, dim, keepdim)


def _with_places(kind):
    def write(g, x, dim, keepdim=False):
        if not x.rank:
            return x, g.constant(0, dt.int64)
        places = g.op(f"Arg{kind}", x, axis=dim % x.rank, keepdims=1)
        values = g.op("GatherElements", x, places, axis=dim % x.rank)
        if keepdim:
            return values, places
        return g.squeeze(values, [dim % x.rank]), g.squeeze(places, [dim % x.rank])
    return write


entered([("max.dim", _with_places("Max")), ("min.dim", _with_places("Min"))])


def _place(kind):
    def write(g, x, dim=None, keepdim=False):
        if x.dtype is dt.bool:
            x = g.cast(x, dt.int32)
        if dim is None:
            found = g.op(kind, g.reshape(x, [-1]), axis=0, keepdims=0)
            return g.reshape(found, [1] * x.rank) if keepdim else found
        if not x.rank:
            return g.constant(0, dt.int64)
        return g.op(kind, x, axis=dim % x.rank, keepdims=int(keepdim))
    return write


entered([("argmax", _place("ArgMax")), ("argmin", _place("ArgMin"))])


def _of_truth(kind):
    def write(g, x, dim=None, keepdim=False):
        whole = g.cast(g.cast(x, dt.bool), dt.int32)
        return g.cast(Value(reduced(g, kind, whole, dim, keepdim), (), dt.int32), dt.bool)
    return write


entered([("any", _of_truth("ReduceMax")), ("all", _of_truth("ReduceMin"))])


@translation("count_nonzero")
def count_nonzero(g, x, dim=None):
    return reduced(g, "ReduceSum", g.cast(g.cast(x, dt.bool), dt.int64), dim)


# ------------------------------------------------------------------ spread
def spread(g, x, dim, correction, keepdim):
    """(variance, mean) of floating-point numbers."""
    dims = _dims(x, dim)
    if not x.rank:
        raise Refusal("of a tensor without dimensions")
    middle = g.reduce("ReduceMean", x, dims, True)
    apart = g.op("Sub", x, middle)
    squares = g.reduce("ReduceSum", g.op("Mul", apart, apart), dims, keepdim)
    count = g.count(x, range(x.rank) if dims is None else dims)
    if isinstance(count, int):
        n = g.number(float(max(count - correction, 0)), x.dtype)
    else:
        n = g.op("Sub", g.cast(count, x.dtype), g.number(float(correction), x.dtype))
        n = g.op("Max", n, g.number(0.0, x.dtype))
    if not keepdim:
        middle = g.squeeze(middle, range(x.rank) if dims is None else dims)
    return g.op("Div", squares, n), middle


def _spread(root, both):
    def write(g, x, dim=None, correction=1, keepdim=False):
        if isinstance(dim, bool):              # the form whose only argument is `unbiased`
            dim, correction = None, dim
        variance, middle = spread(g, x, dim, 1 if correction is None else float(correction), keepdim)
        result = g.op("Sqrt", variance) if root else variance
        return (result, middle) if both else result
    return write


entered([("var", _spread(False, False)), ("std", _spread(True, False)), ("var_mean", _spread(False, True)),
         ("std_mean", _spread(True, True))])


# ------------------------------------------------------------------ norms
@translation("linalg_vector_norm")
def vector_norm(g, x, order=2, dim=None, keepdim=False, dtype=None):
    x = g.cast(x, g.out.dtype)
    if not x.rank:
        x = Value(g.unsqueeze(x, [0]), (1,), x.dtype)
        return g.squeeze(vector_norm(g, x, order, 0, True), [0])
    dims = _dims(x, dim)
    if order == 2:
        return g.reduce("ReduceL2", x, dims, keepdim)
    if order == 1:
        return g.reduce("ReduceL1", x, dims, keepdim)
    size = g.op("Abs", x)
    if order in (math.inf, -math.inf):
        return g.reduce("ReduceMax" if order > 0 else "ReduceMin", size, dims, keepdim)
    if order == 0:
        return g.reduce("ReduceSum", g.cast(Value(g.op("Cast", x, to=9), (), dt.bool), x.dtype), dims, keepdim)
    total = g.reduce("ReduceSum", g.op("Pow", size, g.number(float(order), x.dtype)), dims, keepdim)
    return g.op("Pow", total, g.number(1 / order, x.dtype))


@translation("norm")
def norm(g, x, p=2, dim=None, keepdim=False, dtype=None):
    return vector_norm(g, x, 2 if p is None else p, dim, keepdim)


@translation("norm.ScalarOpt_dtype")
def norm_of_dtype(g, x, p=2, dtype=None):
    return vector_norm(g, x, 2 if p is None else p)


@translation("linalg_norm")
def linalg_norm(g, x, order=None, dim=None, keepdim=False, dtype=None):
    if order is not None and (dim is None and x.rank > 1 or isinstance(dim, list) and len(dim) > 1):
        raise Refusal("norms of matrices")
    return vector_norm(g, x, 2 if order is None else order, dim, keepdim)


@translation("logsumexp", "special_logsumexp")
def logsumexp(g, x, dim, keepdim=False):
    return reduced(g, "ReduceLogSumExp", g.cast(x, g.out.dtype), dim, keepdim)


# ------------------------------------------------------------------ running
@translation("cumsum")
def cumsum(g, x, dim, dtype=None):
    x = g.cast(x, g.out.dtype)
    if not x.rank:
        return g.op("Identity", x)
    return g.op("CumSum", x, g.constant(dim % x.rank, dt.int64))


@translation("cumprod")
def cumprod(g, x, dim, dtype=None):
    """Running products by doubling: each element is multiplied by the element `step` before it, for 1, 2, 4 ..."""
    x = g.cast(x, g.out.dtype)
    if not x.rank:
        return g.op("Identity", x)
    dim %= x.rank
    if x.dynamic[dim]:
        raise Refusal("along a size that may vary")
    step, made = 1, x
    while step < x.shape[dim]:
        zeros = [0] * x.rank
        before = [*zeros[:dim], step, *zeros[dim + 1:]]
        shifted = g.op("Pad", g.slice(made, dim, 0, x.shape[dim] - step), g.ints([*before, *zeros]),
                       g.number(1, x.dtype))
        made, step = g.op("Mul", made, shifted), 2 * step
    return made


@translation("logcumsumexp")
def logcumsumexp(g, x, dim):
    if not x.rank:
        return g.op("Identity", x)
    largest = g.reduce("ReduceMax", x, [dim % x.rank], True)
    total = g.op("CumSum", g.op("Exp", g.op("Sub", x, largest)), g.constant(dim % x.rank, dt.int64))
    return g.op("Add", g.op("Log", total), largest)


# ------------------------------------------------------------------ order
@translation("topk")
def topk(g, x, k, dim=-1, largest=True, sorted=True):
    if not x.rank:
        return x, g.constant(0, dt.int64)
    return g.op("TopK", x, g.ints([k]), outputs=2, axis=dim % max(x.rank, 1), largest=int(largest), sorted=1)


@translation("sort")
def sort(g, x, dim=-1, descending=False):
    return topk(g, x, g.size(x, dim) if x.rank else 1, dim, descending)


@translation("sort.stable")
def sort_stable(g, x, stable=None, dim=-1, descending=False):
    return sort(g, x, dim, descending)         # ONNX orders equal elements by their indices


@translation("argsort")
def argsort(g, x, dim=-1, descending=False):
    return sort(g, x, dim, descending)[1]


@translation("argsort.stable")
def argsort_stable(g, x, stable=None, dim=-1, descending=False):
    return sort(g, x, dim, descending)[1]


@translation("msort")
def msort(g, x):
    return sort(g, x, 0)[0]


@translation("kthvalue")
def kthvalue(g, x, k, dim=-1, keepdim=False):
    if not x.rank:
        return x, g.constant(0, dt.int64)
    found = g.op("TopK", x, g.ints([k]), outputs=2, axis=dim % x.rank, largest=0, sorted=1)
    made = [g.slice(y, dim % x.rank, k - 1, k) for y in found]
    return made if keepdim else [g.squeeze(y, [dim % x.rank]) for y in made]


@translation("median.dim")
def median_dim(g, x, dim, keepdim=False):
    if not x.rank:
        return x, g.constant(0, dt.int64)
    if x.dynamic[dim]:
        raise Refusal("along a size that may vary")
    return kthvalue(g, x, (x.shape[dim] + 1) // 2, dim, keepdim)


@translation("median")
def median(g, x):
    if not x.is_static:
        raise Refusal("along a size that may vary")
    n = math.prod(x.shape)
    return kthvalue(g, Value(g.reshape(x, [-1]), (n,), x.dtype), (n + 1) // 2, 0)[0]
