"""The arrays of tensors inside vmap: an array that holds a batch, and shows the shape of a single sample.

A Batched stands in for the ndarray of a sample, as Lazy (kinds/lazy.py) does for conjugated numbers. It has the shape,
dtype and methods of one sample, and `physical`, whose first dimension counts the samples. NumPy's ufuncs and functions
reach it by NumPy's own protocols and compute on all samples at once. So most operations, their checks, the tape and
the derivative rules run on it unchanged. It says that its class is ndarray, as proxies do, but it is no ndarray, and
it cannot be converted to one. Code that needs the memory, or a value that differs from sample to sample, gets
NotBatchable, and the operation is then computed sample by sample (dispatch.py).

With vmap inside vmap the physical array is itself a Batched, of a level further out: the largest level is outermost.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.lib.stride_tricks import as_strided

from ..kinds.lazy import Lazy, StandIn, part, resolved

__all__ = ["FUNCTIONS", "Batched", "NotBatchable", "aligned", "axes_of", "axis_of", "level_of", "max_ndim",
           "physical_of", "plain"]


class NotBatchable(TypeError):
    """Raised where code would have to look at the samples of a batch one by one."""


class Unreadable(NotBatchable, RuntimeError):
    """A NotBatchable with the words of torch's RuntimeError. The program sees it if the samples are not computed one
    by one."""


class Refusal(Exception):
    """Raised by a rule, in torch's words, for a computation that torch refuses for batches."""


_SEQUENCES = (list, tuple)
_NOT_PLAIN = (Lazy, list, tuple)


def level_of(*values: Any) -> int:
    """The largest level of the Batched among values, and in lists and tuples of values; 0 if there is none."""
    level = 0
    for x in values:
        kind = type(x)
        if kind is Batched:
            if x.level > level:
                level = x.level
        elif kind is Lazy:
            level = max(level, level_of(x.raw))
        elif kind in _SEQUENCES and x:
            level = max(level, level_of(*x))
    return level


def physical_of(x: Any, level: int) -> Any:
    """All samples of a Batched of this level. Other values are returned as they are."""
    return x.physical if type(x) is Batched and x.level == level else x


def max_ndim(*values: Any) -> int:
    """The largest number of dimensions among arrays and numbers."""
    return max([getattr(x, "ndim", 0) for x in values], default=0)


def aligned(x: Any, level: int, ndim: int) -> Any:
    """All samples of a Batched of this level, each with dimensions of size 1 in front so that it has `ndim`
    dimensions. Other values are returned as they are."""
    if type(x) is not Batched or x.level != level:
        return x
    physical = x.physical
    missing = ndim + 1 - physical.ndim
    return physical if missing <= 0 else physical.reshape(physical.shape[:1] + (1,) * missing + physical.shape[1:])


def plain(x: Any) -> Any:
    """The numbers that a conjugated or negated array shows, also within lists and tuples. Other values are returned as
    they are."""
    kind = type(x)
    if kind is Lazy:
        return resolved(x)
    if kind not in _SEQUENCES:
        return x
    return kind([plain(y) for y in x]) if any([type(y) in _NOT_PLAIN for y in x]) else x


#: A function of NumPy -> the function(level, function, *args, **options) that computes it if `level_of` the arguments
#: is `level`.
FUNCTIONS: dict[Callable, Callable] = {}


class Batched(StandIn):
    """A batch of arrays, in the first dimension of `physical`, seen as one of them."""

    __slots__ = ("physical", "level", "__weakref__")

    def __init__(self, physical, level):
        self.physical, self.level = physical, level

    # -------------------------------------------------------------- one sample
    raw = property(lambda self: self.physical)
    shape = property(lambda self: self.physical.shape[1:])
    strides = property(lambda self: self.physical.strides[1:])
    ndim = property(lambda self: self.physical.ndim - 1)
    nbytes = property(lambda self: self.size * self.physical.itemsize)

    @property
    def size(self):
        n = 1
        for length in self.physical.shape[1:]:
            n *= length
        return n

    @property
    def flags(self):
        return self.physical[0, ...].flags if self.physical.shape[0] else self.physical.flags

    def restrided(self, size, strides):
        physical = self.physical
        shape, steps = (physical.shape[0], *size), (physical.strides[0], *strides)
        if isinstance(physical, StandIn):
            return Batched(physical.restrided(shape, steps), self.level)
        return Batched(as_strided(physical, shape, steps), self.level)

    def filled(self, fill, *arguments):
        fill(self.physical, *[aligned(x, self.level, self.ndim) for x in arguments])
        return self

    # -------------------------------------------------------------- values, which differ from sample to sample
    def __array__(self, dtype=None, copy=None):
        raise NotBatchable("the samples of a batch differ")

    def agreed(self):
        """The only element of a sample, which must be the same in all samples."""
        values = self.physical
        while type(values) is Batched:
            values = values.physical
        values = values.reshape(-1)
        if self.size != 1 or not values.size or not (values == values[0]).all():
            raise NotBatchable("the samples of a batch differ")
        return values[0]

    def __bool__(self):
        return bool(self.agreed())

    def __int__(self):
        return int(self.agreed())

    def __float__(self):
        return float(self.agreed())

    def __complex__(self):
        return complex(self.agreed())

    def __index__(self):
        return self.agreed().__index__()

    def item(self, *index):
        raise Unreadable("vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling "
                         ".item() on a Tensor, please try to rewrite what you're doing with other operations. If "
                         "error is occurring somewhere inside PyTorch internals, please file a bug report.")

    def samples(self):
        return 1 + (self.physical.samples()[0] if type(self.physical) is Batched else 0), self.physical

    def truth(self):
        raise Unreadable("vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. "
                         "We don't support that yet, please file an issue at "
                         "https://github.com/pytorch/pytorch/issues .")

    def check_static(self, name):
        raise RuntimeError("vmap: We do not support batching operators that can output dynamic shape. Attempted to "
                           f"vmap over aten::{name}. Please file an issue at https://github.com/pytorch/pytorch/issues "
                           "if you need this feature.")

    def check_mask(self):
        if self.dtype == bool:
            raise RuntimeError("vmap: We do not support batching operators that can support dynamic shape. Attempting "
                               "to batch over indexing with a boolean mask.")

    def check_storage(self, force=False):
        raise Unreadable("Cannot access data pointer of Tensor that doesn't have storage")

    def tolist(self):
        self.check_storage()

    def __repr__(self):
        return f"Batched({self.physical!r}, {self.level})"

    # -------------------------------------------------------------- views and copies (batch_rules/indexing.py: parts)
    def reshape(self, *shape, order="C", copy=None):
        if len(shape) == 1 and not hasattr(shape[0], "__index__"):
            shape = tuple(shape[0])
        if order != "C":
            raise NotBatchable("only in C order")
        if -1 in shape:
            known = 1
            for n in shape:
                known *= n if n != -1 else 1
            if not known or self.size % known:
                raise ValueError(f"cannot reshape array of size {self.size} into shape {shape}")
            shape = tuple([self.size // known if n == -1 else n for n in shape])
        return Batched(self.physical.reshape(self.physical.shape[:1] + tuple(shape)), self.level)

    def transpose(self, *axes):
        if len(axes) == 1 and (axes[0] is None or not hasattr(axes[0], "__index__")):
            axes = axes[0]
        n = self.ndim
        axes = range(n)[::-1] if axes is None or len(axes) == 0 and n else axes
        return Batched(self.physical.transpose((0, *[a % n + 1 for a in axes])), self.level)

    def swapaxes(self, a, b):
        n = self.ndim
        return Batched(self.physical.swapaxes(axis_of(a, n), axis_of(b, n)), self.level)

    def squeeze(self, axis=None):
        n = self.ndim
        if axis is None:
            axis = tuple([i for i, size in enumerate(self.shape) if size == 1])
        return Batched(self.physical.squeeze(axes_of(axis, n)), self.level)

    def flatten(self, order="C"):
        if order != "C":
            raise NotBatchable("only in C order")
        return self.reshape(-1).copy()

    real = part(lambda self: Batched(self.physical.real, self.level))
    imag = part(lambda self: Batched(self.physical.imag, self.level))

    def view(self, dtype):
        if self.physical.dtype.itemsize != np.dtype(dtype).itemsize and self.physical.ndim < 2:
            return Batched(self.physical[:, None].view(dtype)[:, 0], self.level)
        return Batched(self.physical.view(dtype), self.level)

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        if not copy and self.physical.dtype == dtype:
            return self
        return Batched(self.physical.astype(dtype, order, casting), self.level)

    def copy(self, order="C"):
        return Batched(self.physical.copy(order), self.level)

    def dot(self, other):
        if self.ndim and 0 < getattr(other, "ndim", 3) <= 2:
            return np.matmul(self, other)
        raise NotBatchable("a product over other dimensions")

    # -------------------------------------------------------------- NumPy's functions
    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        given, inputs = out if out is not None else (), plain(inputs)
        level = level_of(*inputs, *given, options.get("where"))
        if any([x is not None and (type(x) is not Batched or x.level != level) for x in given]):
            raise NotBatchable("a batch cannot be written to an array that is none")
        if method == "__call__":
            rule = _GUFUNCS.get(ufunc) if ufunc.signature is not None else _elementwise
        else:
            rule = _METHODS.get(method)
        if rule is None:
            raise NotBatchable(f"{ufunc.__name__}.{method}")
        if out is not None:
            options["out"] = tuple([x if x is None else x.physical for x in out])
        result = rule(level, ufunc, *inputs, **options)
        if isinstance(result, tuple):
            return tuple([o if o is not None else Batched(_as_array(r), level)
                          for o, r in zip(out or (None,) * len(result), result)])
        return out[0] if out is not None and out[0] is not None else Batched(_as_array(result), level)

    def __array_function__(self, function, types, args, options):
        rule = FUNCTIONS.get(function)
        if rule is None:
            raise NotBatchable(getattr(function, "__name__", "a function"))
        return rule(level_of(*args, *options.values()), function, *plain(args), **options)


def new_batch(like: Batched, shape: tuple[int, ...], dtype: np.dtype) -> Batched:
    """Zeros of a shape. Each sample of `like` gets zeros of its own."""
    whole = like.physical.shape[0], *shape
    within = type(like.physical) is Batched
    return Batched(new_batch(like.physical, whole, dtype) if within else np.zeros(whole, dtype), like.level)


def _as_array(x):
    return x if isinstance(x, ndarray) else np.asarray(x)


def axis_of(axis, ndim):
    """The physical dimension that belongs to dimension `axis` of a sample."""
    extent = max(ndim, 1)
    if not -extent <= axis < extent:
        raise np.exceptions.AxisError(axis, ndim)
    return axis % extent + 1


def axes_of(axis, ndim):
    """As `axis_of`, for one dimension or several; None stands for all."""
    if axis is None:
        return tuple(range(1, ndim + 1))
    if isinstance(axis, (tuple, list)):
        return tuple([axis_of(a, ndim) for a in axis])
    return axis_of(axis, ndim)


# ------------------------------------------------------------------ ufuncs
def _elementwise(level, ufunc, *inputs, out=None, where=True, **options):
    ndim = max_ndim(*inputs, where)
    if out is not None:
        ndim = max(ndim, *[x.ndim - 1 for x in out if x is not None])
        options["out"] = out if len(out) > 1 else out[0]
        if any([x is not None and x.ndim - 1 < ndim for x in out]):
            raise ValueError("non-broadcastable output operand")
    if where is not True:
        options["where"] = aligned(where, level, ndim)
    return ufunc(*[aligned(x, level, ndim) for x in inputs], **options)


def _reduce(level, ufunc, x, axis=0, dtype=None, out=None, keepdims=False, where=True, **options):
    if type(x) is not Batched or x.level != level:
        raise NotBatchable("what is reduced is no batch")
    if where is not True:
        options["where"] = aligned(where, level, x.ndim)
    if x.ndim == 0:
        axis = ()
    return ufunc.reduce(x.physical, axis=axes_of(axis, x.ndim), dtype=dtype, out=out and out[0], keepdims=keepdims,
                        **options)


def _accumulate(level, ufunc, x, axis=0, dtype=None, out=None):
    if type(x) is not Batched or x.level != level:
        raise NotBatchable("what is accumulated is no batch")
    return ufunc.accumulate(x.physical, axis=axis_of(axis, x.ndim), dtype=dtype, out=out and out[0])


def _reduceat(level, ufunc, x, indices, axis=0, dtype=None, out=None):
    if level_of(indices):
        raise NotBatchable("indices that differ")
    return ufunc.reduceat(x.physical, indices, axis=axis_of(axis, x.ndim), dtype=dtype, out=out and out[0])


def _matmul(level, ufunc, a, b, out=None, **options):
    """The products. The first of these cases that applies is computed:

    - a batch of vectors with a single matrix, or a batch of anything with a single vector: one call of NumPy's;
    - a batch of matrices with a single matrix: one product of matrices, with the rows of all matrices;
    - a single vector or matrix with a batch of vectors: one product with the transposed matrix;
    - anything else: a broadcast product, in which vectors become matrices of one row or column.
    """
    batched_a, batched_b = (type(x) is Batched and x.level == level for x in (a, b))
    if not a.ndim or not b.ndim:
        raise ValueError("matmul: an operand does not have enough dimensions")
    if out is not None:
        result = _matmul(level, ufunc, a, b, **options)
        out[0][...] = result
        return out[0]
    if batched_a and not batched_b and b.ndim <= 2:
        physical = a.physical
        if physical.ndim == 2 or b.ndim == 1:
            return np.matmul(physical, b, **options)
        rows = physical.reshape(math.prod(physical.shape[:-1]), physical.shape[-1])
        return np.matmul(rows, b, **options).reshape(physical.shape[:-1] + b.shape[1:])
    if batched_b and not batched_a and a.ndim <= 2 and b.ndim == 1:
        return np.matmul(b.physical, a.T, **options)
    column, row = b.ndim == 1, a.ndim == 1
    x, y = (p.physical if batched else p for p, batched in ((a, batched_a), (b, batched_b)))
    if row:
        x = x[..., None, :]
    if column:
        y = y[..., None]
    ndim = max(a.ndim + row, b.ndim + column)
    x, y = (p.reshape(p.shape[:1] + (1,) * (ndim + 1 - p.ndim) + p.shape[1:]) if batched else p
            for p, batched in ((x, batched_a), (y, batched_b)))
    if x.shape[-1] == y.shape[-2] == 1 and not options:        # no sums: a fourth of the time
        result = x * y
    else:
        result = np.matmul(x, y, **options)
    if column:
        result = result[..., 0]
    if row:
        return result[..., 0] if column else result[..., 0, :]
    return result


def _vecdot(level, ufunc, a, b, **options):
    ndim = max_ndim(a, b)
    return ufunc(aligned(a, level, ndim), aligned(b, level, ndim), **options)


_GUFUNCS = {np.matmul: _matmul}
if hasattr(np, "vecdot"):
    _GUFUNCS[np.vecdot] = _vecdot
_METHODS = {"reduce": _reduce, "accumulate": _accumulate, "reduceat": _reduceat}


# ------------------------------------------------------------------ methods that are functions of NumPy
def _as_function(name: str) -> Callable:
    function = getattr(np, name)

    def method(self: Batched, *args: Any, **options: Any) -> Any:
        return function(self, *args, **options)
    return method


for _name in ("all", "any", "argmax", "argmin", "argsort", "clip", "conj", "conjugate", "cumprod", "cumsum", "diagonal",
              "max", "mean", "min", "nonzero", "prod", "repeat", "round", "std", "sum", "take", "trace", "var"):
    setattr(Batched, _name, _as_function(_name))


def _sort(self, axis=-1, kind=None):
    self.physical.sort(axis_of(axis, self.ndim), kind=kind)


Batched.sort = _sort
