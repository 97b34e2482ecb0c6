"""The arrays of tensors on the device `meta`: shapes, strides and dtypes without numbers.

A Meta stands in for an ndarray, as Lazy (lazy.py) and Batched (func/batched.py) do: it has the sizes and strides of
`raw`, a view of memory that is reserved and never used, so views, offsets and the question who shares memory with whom
are NumPy's own. NumPy's ufuncs and functions reach it by NumPy's own protocols and give the shape and dtype of what
they would compute; what is written to it goes nowhere. There is no conversion to an ndarray: whatever asks for numbers
gets NoValues or, from what Python calls, torch's error.
"""
from __future__ import annotations

import math
import mmap
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..device import META
from ..lazy import NO_DATA, NoValues, StandIn, address_of, restrided, root_of
from .layout import _dense_order, _dense_strides
from .memory import check_size

__all__ = ["Meta", "is_meta", "meta_like", "new_meta"]

class _Reserve(threading.local):
    """Addresses that nothing is at: arrays get the next ones, each array others."""

    memory, used = None, 0


_reserve = _Reserve()
_PIECE = 1 << 30


def _reserved(nbytes):
    """An array of bytes at addresses of its own. It takes no memory: pages that are only reserved, and not to be written
    to, all show one page of zeros."""
    nbytes = max(nbytes, 1)
    if _reserve.memory is None or _reserve.used + nbytes > len(_reserve.memory):
        size = max(nbytes, _PIECE)
        if sys.platform == "win32":
            _reserve.memory = mmap.mmap(-1, size, access=mmap.ACCESS_READ)
        else:
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
            _reserve.memory = mmap.mmap(-1, size, flags, mmap.PROT_READ)
        _reserve.used = 0
    start = _reserve.used
    _reserve.used = -(-(start + nbytes) // 64) * 64
    return np.frombuffer(_reserve.memory, np.uint8, nbytes, start)


def new_meta(shape: tuple, dtype: np.dtype, order: Any = None) -> Meta:
    """A meta array of a shape and dtype without gaps, its dimensions in memory in C order or that given."""
    check_size(shape, dtype.itemsize)
    raw = _reserved(math.prod(shape) * dtype.itemsize)[:math.prod(shape) * dtype.itemsize].view(dtype).reshape(shape)
    if order is None:
        return Meta(raw)
    strides = _dense_strides(raw, tuple(order))
    return Meta(raw if raw.strides == strides else ndarray(shape, dtype, root_of(raw), 0, strides))


def meta_like(array: ndarray, dtype: np.dtype | None = None) -> Meta:
    """A meta array with the shape of `array`, its dtype unless told, and its dimensions in the same order in memory."""
    dtype = array.dtype if dtype is None else dtype
    if array.flags.c_contiguous and 1 not in array.shape:
        return new_meta(array.shape, dtype)
    result = new_meta(array.shape, dtype, _dense_order(array.shape, array.strides))
    steps = tuple([s // array.itemsize * dtype.itemsize for s in array.strides])
    if steps != result.strides and all([a == b or n == 1 for a, b, n in zip(steps, result.strides, array.shape)]):
        return Meta(restrided(result.raw, array.shape, steps))
    return result


def is_meta(array: Any) -> bool:
    """Whether an array has no numbers."""
    return type(array) is Meta


def _without_numbers(inputs):
    """NoValues if there are arrays of numbers too; those without dimensions may be."""
    for x in inputs:
        if isinstance(x, ndarray) and x.ndim and not is_meta(x):
            raise no_values()


def no_values():
    """The error for a function of the library that needs numbers: the one that was called from outside."""
    name, frame = "", sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith(_PACKAGE) and frame.f_code.co_name not in _BETWEEN:
            name = frame.f_code.co_name
        frame = frame.f_back
    return NoValues(f"{name} needs the numbers of a tensor on the device meta, which has none")


_PACKAGE = __name__.partition(".")[0] + "."
#: Names of functions that stand between a public function and its caller.
_BETWEEN = {"call", "method", "compute", "run", "wrapped", "__array__", "__array_function__", "__array_ufunc__",
            "__call__", "_call_impl", "_wrapped_call_impl", "no_values"}


class Meta(NDArrayOperatorsMixin, StandIn):
    """An array of which all is known but the numbers."""

    __slots__ = ("raw", "__weakref__")
    __hash__ = None
    device = META

    def __init__(self, raw):
        self.raw = raw

    __class__ = property(lambda self: ndarray)

    shape = property(lambda self: self.raw.shape)
    strides = property(lambda self: self.raw.strides)
    ndim = property(lambda self: self.raw.ndim)
    size = property(lambda self: self.raw.size)
    dtype = property(lambda self: self.raw.dtype)
    itemsize = property(lambda self: self.raw.itemsize)
    nbytes = property(lambda self: self.raw.nbytes)
    flags = property(lambda self: self.raw.flags)
    base = property(lambda self: self.raw)

    # -------------------------------------------------------------- what there is not
    def item(self, *index):
        raise RuntimeError("Tensor.item() cannot be called on meta tensors")

    def truth(self):
        return self.item()

    def tolist(self):
        raise NotImplementedError(NO_DATA)

    def __array__(self, dtype=None, copy=None):
        raise no_values()

    tobytes = searchsorted = __bool__ = __int__ = __float__ = __complex__ = __index__ = __array__

    def nonzero(self):
        self.check_static("nonzero")

    def check_storage(self, force=False):
        if force:
            raise NotImplementedError(NO_DATA)
        raise TypeError("can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
                        "memory first.")

    def check_static(self, name):
        raise NotImplementedError(f"aten::{name}: the shape of its result depends on numbers, which meta tensors have "
                                  "none of")

    def check_mask(self):
        if self.dtype == bool:
            self.check_static("nonzero")

    def __repr__(self):
        return f"Meta({self.shape}, {self.dtype})"

    def __len__(self):
        return len(self.raw)

    def __iter__(self):
        return iter([self[i] for i in range(len(self.raw))])

    def __deepcopy__(self, memo):
        return meta_like(self.raw)

    def __reduce__(self):
        return _rebuilt, (self.shape, self.strides, self.dtype)

    # -------------------------------------------------------------- views
    def over(self, memory):
        return Meta(memory)

    def restrided(self, size, strides):
        return Meta(restrided(self.raw, size, strides))

    def resized(self, like):
        """The memory from the first element on in the shape of `like`, and its order; new memory if it is too small."""
        root, start = root_of(self.raw), address_of(self.raw)
        offset = start - address_of(root)
        if offset + like.size * self.itemsize > root.nbytes:
            return new_meta(like.shape, self.dtype)
        return Meta(ndarray(like.shape, self.dtype, root, offset, meta_like(like, self.dtype).strides))

    def filled(self, fill, *arguments):
        return self

    def __getitem__(self, index):
        items = index if index.__class__ is tuple else (index,)
        if any([isinstance(i, (ndarray, list)) for i in items]):
            return _picked(self, items)
        if not isinstance(index, (str, list)) and not any([i is Ellipsis for i in items]):
            index = (*items, Ellipsis)         # of a single element too an array
        return Meta(self.raw[index])

    def __setitem__(self, index, value):
        if not isinstance(index, str):
            np.broadcast_shapes(np.shape(value), self[index].shape)

    def fill(self, value):
        """Nothing: there is nowhere to write to."""

    sort = partition = put = fill

    def _view(self, name, *args):
        return Meta(getattr(self.raw, name)(*args))

    def reshape(self, *shape, order="C", copy=None):
        if len(shape) == 1 and not hasattr(shape[0], "__index__"):
            shape = tuple(shape[0])
        if self.raw.flags.c_contiguous and order in "CA":
            return Meta(self.raw.reshape(shape))
        try:
            return Meta(_seen_as(self.raw, shape))
        except ValueError:                     # as it lies in memory it is no view
            return Meta(new_meta((self.size,), self.dtype).raw.reshape(shape))

    def transpose(self, *axes):
        return self._view("transpose", *axes)

    def swapaxes(self, a, b):
        return self._view("swapaxes", a, b)

    def squeeze(self, axis=None):
        return self._view("squeeze", axis)

    def diagonal(self, offset=0, axis1=0, axis2=1):
        return self._view("diagonal", offset, axis1, axis2)

    def view(self, dtype):
        return self._view("view", dtype)

    def ravel(self, order="C"):
        return self.reshape(-1) if order == "C" else self.flatten(order)

    T = property(lambda self: Meta(self.raw.T))
    mT = property(lambda self: Meta(self.raw.mT))
    real = property(lambda self: Meta(self.raw.real))
    imag = property(lambda self: Meta(self.raw.imag))

    @real.setter
    def real(self, value):
        self.real[...] = value

    @imag.setter
    def imag(self, value):
        self.imag[...] = value

    # -------------------------------------------------------------- new arrays
    def copy(self, order="C"):
        return meta_like(self.raw) if order in "KA" else new_meta(
            self.shape, self.dtype, range(self.ndim)[::-1] if order == "F" else None)

    def flatten(self, order="C"):
        return new_meta((self.size,), self.dtype)

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        dtype = np.dtype(dtype)
        if not copy and dtype == self.dtype:
            return self
        return meta_like(self.raw, dtype) if order == "K" else new_meta(self.shape, dtype)

    def conj(self):
        return self.copy("K")

    conjugate = conj

    def round(self, decimals=0):
        return self.copy("K")

    def dot(self, other):
        if not self.ndim or not getattr(other, "ndim", 0):
            return np.multiply(self, other)
        if getattr(other, "ndim", 3) > 2:
            raise no_values()
        return np.matmul(self, other)

    def take(self, indices, axis=None, out=None, mode="raise"):
        flat, axis = (self.reshape(-1), 0) if axis is None else (self, axis % self.ndim)
        return _written(out, new_meta(flat.shape[:axis] + np.shape(indices) + flat.shape[axis + 1:], self.dtype))

    def repeat(self, repeats, axis=None):
        if not isinstance(repeats, int):
            raise no_values()
        flat, axis = (self.reshape(-1), 0) if axis is None else (self, axis % self.ndim)
        n = flat.shape[axis] * repeats
        return new_meta((*flat.shape[:axis], n, *flat.shape[axis + 1:]), self.dtype)

    # -------------------------------------------------------------- NumPy's functions
    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        if method == "__call__":
            result = _computed(ufunc, inputs, options)
        elif method in ("reduce", "accumulate"):
            result = _reduced(getattr(ufunc, method), *inputs, **options)
        else:
            raise no_values()
        if out is None or all([o is None for o in out]):
            return result
        results = result if isinstance(result, tuple) else (result,)
        written = tuple([_written(o, r) for o, r in zip(out, results)])
        return written if isinstance(result, tuple) else written[0]

    def __array_function__(self, function, types, args, options):
        rule = FUNCTIONS.get(function)
        if rule is None:
            raise no_values()
        return rule(*args, **options)


def _rebuilt(shape, strides, dtype):
    result = new_meta(shape, dtype)
    if result.strides == strides:
        return result
    count = 1 + sum([(n - 1) * s for n, s in zip(shape, strides)]) // dtype.itemsize if 0 not in shape else 0
    return new_meta((count,), dtype).restrided(shape, strides)


def _seen_as(raw, shape):
    """A view of `raw` in another shape. ValueError if there is none."""
    if _RESHAPES:
        return np.reshape(raw, shape, copy=False)
    view = raw.view()
    try:
        view.shape = shape
    except AttributeError as error:
        raise ValueError(str(error)) from None
    return view


_RESHAPES = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


def _written(out, result):
    """`out`, to which a result is written, if that is all right."""
    if out is None:
        return result
    if not is_meta(out):
        raise no_values()
    np.broadcast_to(np.empty(0, np.int8) if 0 in result.shape else np.empty((), np.int8), result.shape)
    if np.broadcast_shapes(out.shape, result.shape) != out.shape:
        raise ValueError("non-broadcastable output operand")
    return out


def _sample(x):
    """A small array of the dtype of a meta one; anything else as it is."""
    return np.zeros((), x.dtype).reshape((1,) * x.ndim) if isinstance(x, ndarray) else x


def _as_ones(x):
    return np.ones((1,) * x.ndim, x.dtype) if isinstance(x, ndarray) else x


def _shaped(shape, dtype, operands):
    """The result of an element by element computation, with its dimensions in memory as NumPy puts them."""
    same = [x for x in operands if isinstance(x, ndarray) and x.shape == shape]
    if not same or all([x.flags.c_contiguous for x in same]):
        return new_meta(shape, dtype)
    return new_meta(shape, dtype, _dense_order(shape, *[x.strides for x in same]))


def _computed(ufunc, inputs, options):
    if ufunc.signature is not None:
        rule = _PRODUCTS.get(ufunc)
        if rule is None:
            raise no_values()
        return rule(ufunc, *inputs)
    _without_numbers(inputs)
    where = options.pop("where", True)
    with np.errstate(all="ignore"):
        sample = ufunc(*[_as_ones(x) for x in inputs], **options)
    shape = np.broadcast_shapes(*[np.shape(x) for x in inputs], np.shape(where))
    if isinstance(sample, tuple):
        return tuple([_shaped(shape, r.dtype, inputs) for r in sample])
    return _shaped(shape, sample.dtype, inputs)


def _product_shape(a, b):
    """The shape of a matrix product. ValueError as NumPy's if they do not fit."""
    if not a or not b:
        raise ValueError("matmul: Input operand does not have enough dimensions")
    rows, cols = a[-2:-1], b[-1:] if len(b) > 1 else ()
    if a[-1] != b[-2:][0]:
        raise ValueError(f"matmul: Input operand 1 has a mismatch in its core dimension 0 (size {b[-2:][0]} is "
                         f"different from {a[-1]})")
    return (*np.broadcast_shapes(a[:-2], b[:-2]), *rows, *cols)


def _matmul(ufunc, a, b):
    _without_numbers((a, b))
    return new_meta(_product_shape(a.shape, b.shape), np.result_type(a.dtype, b.dtype))


_PRODUCTS = {np.matmul: _matmul}


def _axes(axis, ndim):
    axes = range(ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    for a in axes:
        if not -ndim <= a < ndim:
            raise np.exceptions.AxisError(a, ndim)
    return {a % ndim for a in axes}


def _reduced(function, array, axis=0, dtype=None, keepdims=False, initial=None, where=True, **options):
    sample = function(_as_ones(array), 0 if array.ndim else None, **{} if dtype is None else {"dtype": dtype})
    if function.__name__ == "accumulate":
        return new_meta(array.shape, sample.dtype)
    return _without(array, axis, np.asarray(sample).dtype, keepdims)


def _without(array, axis, dtype, keepdims=False):
    """The result of a reduction over an axis, several or (None) all."""
    gone = _axes(axis, array.ndim)
    shape = [1 if i in gone else n for i, n in enumerate(array.shape) if keepdims or i not in gone]
    return new_meta(tuple(shape), np.dtype(dtype))


def _reduction(name: str) -> Callable:
    """The function and method of NumPy's of this name, which reduces one axis or all."""
    plain = getattr(np, name)

    def rule(array, axis=None, dtype=None, out=None, keepdims=False, **options):
        if axis is not None and not isinstance(axis, (int, np.integer, tuple)):
            raise no_values()
        given = {} if dtype is None else {"dtype": dtype}
        with np.errstate(all="ignore"):
            sample = plain(np.ones(1, array.dtype), **given)
        if name in ("max", "min", "amax", "amin") and not array.size and options.get("initial") is None:
            plain(np.empty(array.shape, array.dtype), axis)
        return _written(out, _without(array, axis, sample.dtype, keepdims is True))
    return rule


def _running(name: str) -> Callable:
    plain = getattr(np, name)

    def rule(array, axis=None, dtype=None, out=None):
        shape = (array.size,) if axis is None else array.shape
        return _written(out, new_meta(shape, plain(np.ones(1, array.dtype), dtype=dtype).dtype))
    return rule


def _same(array, *args, **options):
    """A new array like it: of a sort, of what is cut off to limits."""
    return array.copy("K")


def _indices(array, *args, **options):
    return new_meta(array.shape, np.dtype(np.int64))


def _picked(array, items):
    """What an index with arrays in it takes."""
    items, expanded, dim = list(items), [], 0
    if not any([i is Ellipsis for i in items]):
        items.append(Ellipsis)
    used = sum([i.ndim if isinstance(i, ndarray) and i.dtype == bool else 0 if i is None or i is Ellipsis else 1
                for i in items])
    for i in items:
        expanded += [slice(None)] * (array.ndim - used) if i is Ellipsis else [i]
    shape, picked, place, apart = [], [], None, False
    for i in expanded:
        if i is None:
            shape.append(1)
        elif isinstance(i, slice):
            shape.append(len(range(*i.indices(array.shape[dim]))))
            dim += 1
        else:
            if is_meta(i):
                i.check_mask()
            i = i if isinstance(i, ndarray) else np.asarray(i)
            count = i.ndim if i.dtype == bool else 1
            apart = apart or place is not None and place + len(picked) != len(shape) + len(picked)
            place = len(shape) if place is None else place
            picked.append((int(np.count_nonzero(i)),) if i.dtype == bool else i.shape)
            dim += count
    found = np.broadcast_shapes(*picked)
    at = 0 if apart else place
    return new_meta((*shape[:at], *found, *shape[at:]), array.dtype)


def _like(value: Callable) -> Callable:
    def rule(array, *args, dtype=None, order="K", subok=True, shape=None, device=None):
        if value is np.full_like:
            args = args[1:]
        if args:
            dtype, order = args[0], args[1] if len(args) > 1 else order
        if not is_meta(array):
            raise no_values()
        if shape is not None:
            return new_meta(tuple(shape) if isinstance(shape, (tuple, list)) else (shape,), np.dtype(
                dtype or array.dtype))
        return array.copy(order) if dtype is None else array.astype(dtype, order)
    return rule


def _viewing(name: str) -> Callable:
    function = getattr(np, name)

    def rule(array, *args, **options):
        if not is_meta(array):
            raise no_values()
        return Meta(function(array.raw, *args, **options))
    return rule


def _joined(arrays, axis=0, out=None, dtype=None, casting="same_kind"):
    _without_numbers(arrays)
    if axis is None:
        arrays, axis = [x.reshape(-1) for x in arrays], 0
    first = arrays[0]
    axis %= first.ndim
    for x in arrays:
        if x.shape[:axis] + x.shape[axis + 1:] != first.shape[:axis] + first.shape[axis + 1:]:
            raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
    shape = (*first.shape[:axis], sum([x.shape[axis] for x in arrays]), *first.shape[axis + 1:])
    return _written(out, new_meta(shape, np.dtype(dtype) if dtype else np.result_type(*[x.dtype for x in arrays])))


def _stacked(arrays, axis=0, out=None, **options):
    arrays = list(arrays)
    shape = list(arrays[0].shape)
    if any([x.shape != arrays[0].shape for x in arrays]):
        raise ValueError("all input arrays must have the same shape")
    shape.insert(axis % (len(shape) + 1), len(arrays))
    return _written(out, new_meta(tuple(shape), np.result_type(*[x.dtype for x in arrays])))


def _taken_along(array, indices, axis=-1):
    shape = list(indices.shape)
    if axis is not None:
        shape = [max(n, k) if i != axis % array.ndim else k for i, (n, k) in enumerate(zip(array.shape, shape))]
    return new_meta(tuple(shape), array.dtype)


def _tiled(array, repeats):
    repeats = (*(1,) * (array.ndim - len(repeats)), *repeats)
    shape = (*(1,) * (len(repeats) - array.ndim), *array.shape)
    return new_meta(tuple([n * k for n, k in zip(shape, repeats)]), array.dtype)


def _nonzero(array):
    array.check_static("nonzero")


def _where(condition, *values):
    if not values:
        raise no_values()
    _without_numbers((condition, *values))
    shape = np.broadcast_shapes(*[np.shape(x) for x in (condition, *values)])
    return _shaped(shape, np.where(True, *map(_sample, values)).dtype, (condition, *values))


def _copyto(target, source, casting="same_kind", where=True):
    if not is_meta(target):
        raise no_values()
    np.broadcast_shapes(np.shape(source), target.shape)


def _shares(a, b, *bound):
    return is_meta(a) and is_meta(b) and root_of(a) is root_of(b) and np.may_share_memory(a.raw, b.raw)


def _about(function: Callable) -> Callable:
    return lambda *args: function(*[_sample(x) if is_meta(x) else x for x in args])


def _broadcast_to(array, shape, subok=False):
    return Meta(np.broadcast_to(array.raw, shape))


def _broadcast_arrays(*arrays, subok=False):
    shape = np.broadcast_shapes(*[x.shape for x in arrays])
    return tuple([np.broadcast_to(x, shape) for x in arrays])


#: NumPy's functions that tell of a meta array, or make one.
FUNCTIONS = {
    np.concatenate: _joined, np.stack: _stacked, np.where: _where, np.copyto: _copyto,
    np.may_share_memory: _shares, np.shares_memory: _shares, np.shape: lambda x: x.shape, np.ndim: lambda x: x.ndim,
    np.size: lambda x: x.size, np.broadcast_to: _broadcast_to, np.broadcast_arrays: _broadcast_arrays,
    np.take_along_axis: _taken_along, np.tile: _tiled, np.nonzero: _nonzero, np.argwhere: _nonzero,
    np.flatnonzero: _nonzero, np.atleast_1d: lambda a: a if a.ndim else a.reshape(1),
    np.take: lambda a, *args, **options: a.take(*args, **options),
    np.repeat: lambda a, *args, **options: a.repeat(*args, **options), np.sort: _same, np.clip: _same, np.flip: _same,
    np.round: _same, np.copy: _same, np.argsort: _indices, np.argpartition: _indices, np.partition: _same,
    np.tril: _same, np.triu: _same, np.roll: _same, np.nan_to_num: _same,
    np.ravel: lambda a, order="C": a.ravel(order), np.reshape: lambda a, shape, **options: a.reshape(shape),
    np.dot: lambda a, b: a.dot(b) if is_meta(a) else np.matmul(a, b),
}
for _name in ("empty_like", "zeros_like", "ones_like", "full_like"):
    FUNCTIONS[getattr(np, _name)] = _like(getattr(np, _name))
for _name in ("transpose", "swapaxes", "moveaxis", "rollaxis", "expand_dims", "squeeze", "diagonal",
              "matrix_transpose"):
    FUNCTIONS[getattr(np, _name)] = _viewing(_name)
FUNCTIONS[np.lib.stride_tricks.sliding_window_view] = lambda a, *args, **options: Meta(
    np.lib.stride_tricks.sliding_window_view(a.raw, *args, **options))
for _name in ("iscomplexobj", "isrealobj", "result_type", "can_cast"):
    FUNCTIONS[getattr(np, _name)] = _about(getattr(np, _name))
for _name in ("sum", "prod", "mean", "max", "min", "amax", "amin", "any", "all", "std", "var", "argmax", "argmin",
              "count_nonzero"):
    FUNCTIONS[getattr(np, _name)] = _reduction(_name)
    setattr(Meta, _name, _reduction(_name))
for _name in ("cumsum", "cumprod"):
    FUNCTIONS[getattr(np, _name)] = _running(_name)
    setattr(Meta, _name, _running(_name))
for _name, _rule in (("clip", _same), ("argsort", _indices), ("argpartition", _indices)):
    setattr(Meta, _name, _rule)
