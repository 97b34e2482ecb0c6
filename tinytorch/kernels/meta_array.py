"""The arrays of tensors on the device `meta`: shapes, strides and dtypes without numbers.

A Meta stands in for an ndarray, as Lazy (kinds/lazy.py) and Batched (func/batched.py) do. It has the sizes and strides
of `raw`, a view of memory that is reserved and never used, so that NumPy itself computes views and offsets, and knows
which arrays share memory. NumPy's ufuncs and functions reach it by NumPy's protocols and return the shape and the dtype
of the result (meta.py). A write to it has no effect. It cannot be converted to an ndarray: a function that needs
numbers raises NoValues, or torch's error where Python calls it, as in float(x).
"""
from __future__ import annotations

import math
import sys
import threading
from typing import Any

import numpy as np
from numpy import ndarray

from ..device import META
from ..kinds.lazy import NO_DATA, NoValues, StandIn, address_of, part, restrided, root_of
from .layout import _dense_strides, dense_order
from .memory import check_size

try:
    import mmap
except ImportError:                            # as in browsers: the reserve is ordinary memory
    mmap = None

__all__ = ["FUNCTIONS", "Meta", "is_meta", "meta_like", "new_meta", "no_values", "written"]

#: NumPy function -> the rule that returns its result for meta arrays (meta.py).
FUNCTIONS = {}


class _Reserve(threading.local):
    """A range of addresses without memory. Each array gets the next addresses of its own."""

    memory, used = None, 0


_reserve = _Reserve()
_PIECE = 1 << 30


def _reserved(nbytes):
    """An array of bytes at addresses of its own. It takes no memory: its pages are reserved and never written to, and
    all of them show one page of zeros."""
    nbytes = max(nbytes, 1)
    if _reserve.memory is None or _reserve.used + nbytes > len(_reserve.memory):
        try:
            _reserve.memory = _mapped(max(nbytes, _PIECE)) if mmap else bytearray(nbytes)
        except (MemoryError, OSError, OverflowError, ValueError):
            raise RuntimeError(f"no room for the addresses of {nbytes} bytes on the device meta") from None
        _reserve.used = 0
    start = _reserve.used
    _reserve.used = -(-(start + nbytes) // 64) * 64
    return np.frombuffer(_reserve.memory, np.uint8, nbytes, start)


def _mapped(size):
    if sys.platform == "win32":
        return mmap.mmap(-1, size, access=mmap.ACCESS_READ)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    return mmap.mmap(-1, size, flags, mmap.PROT_READ)


def new_meta(shape: tuple, dtype: np.dtype, order: Any = None) -> Meta:
    """A dense meta array, with its dimensions in memory in C order or in `order`."""
    check_size(shape, dtype.itemsize)
    raw = _reserved(math.prod(shape) * dtype.itemsize)[:math.prod(shape) * dtype.itemsize].view(dtype).reshape(shape)
    if order is None:
        return Meta(raw)
    strides = _dense_strides(raw, tuple(order))
    return Meta(raw if raw.strides == strides else ndarray(shape, dtype, root_of(raw), 0, strides))


def meta_like(array: ndarray, dtype: np.dtype | None = None) -> Meta:
    """A meta array with the shape and memory order of `array`, and its dtype unless `dtype` is given."""
    dtype = array.dtype if dtype is None else dtype
    if array.flags.c_contiguous and 1 not in array.shape:
        return new_meta(array.shape, dtype)
    result = new_meta(array.shape, dtype, dense_order(array.shape, array.strides))
    steps = tuple([s // array.itemsize * dtype.itemsize for s in array.strides])
    if steps != result.strides and all([a == b or n == 1 for a, b, n in zip(steps, result.strides, array.shape)]):
        return Meta(restrided(result.raw, array.shape, steps))
    return result


def is_meta(array: Any) -> bool:
    """Whether an array is a meta array, which has no numbers."""
    return type(array) is Meta


def no_values():
    """The error for a function that needs numbers. It names the function of the library that was called from
    outside."""
    name, frame = "the operation", sys._getframe(1)
    while frame is not None:
        called = frame.f_code.co_name
        if frame.f_globals.get("__name__", "").startswith(_PACKAGE) and called[0] != "_" and called not in _BETWEEN:
            name = called
        frame = frame.f_back
    return NoValues(f"{name} needs the numbers of a tensor on the device meta, which has none")


_PACKAGE = __name__.partition(".")[0] + "."
#: Names of functions that stand between a public function and its caller.
_BETWEEN = {"call", "method", "compute", "run", "wrapped", "wrapper", "no_values"}


class Meta(StandIn):
    """An array with shape, strides and dtype, but without numbers."""

    __slots__ = ("raw", "__weakref__")
    device = META

    def __init__(self, raw):
        self.raw = raw

    # -------------------------------------------------------------- refused: numbers
    def item(self, *index):
        raise RuntimeError("Tensor.item() cannot be called on meta tensors")

    def truth(self):
        return self.item()

    def tolist(self):
        raise NotImplementedError(NO_DATA)

    def __array__(self, dtype=None, copy=None):
        raise no_values()

    tobytes = searchsorted = __bool__ = __int__ = __float__ = __complex__ = __index__ = __array__

    @property
    def __array_interface__(self):
        raise no_values()

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

    def __reduce__(self):
        return _rebuilt, (self.shape, self.strides, self.dtype)

    # -------------------------------------------------------------- views
    def over(self, memory):
        return Meta(memory)

    def restrided(self, size, strides):
        return Meta(restrided(self.raw, size, strides))

    def resized(self, like):
        """The memory from the first element on, in the shape and memory order of `like`; new memory if it is too
        small."""
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
            index = (*items, Ellipsis)         # then a single element is an array too
        return Meta(self.raw[index])

    def __setitem__(self, index, value):
        if not isinstance(index, str):
            np.broadcast_shapes(np.shape(value), self[index].shape)

    def fill(self, value):
        """Does nothing, because there is no memory to write to."""

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
        except ValueError:                     # the result cannot be a view
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

    real = part(lambda self: Meta(self.raw.real))
    imag = part(lambda self: Meta(self.raw.imag))

    # -------------------------------------------------------------- new arrays
    def copy(self, order="C"):
        if order in "KA":
            return meta_like(self.raw)
        return new_meta(self.shape, self.dtype, range(self.ndim)[::-1] if order == "F" else None)

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
        return written(out, new_meta(flat.shape[:axis] + np.shape(indices) + flat.shape[axis + 1:], self.dtype))

    def repeat(self, repeats, axis=None):
        if not isinstance(repeats, int):
            raise no_values()
        flat, axis = (self.reshape(-1), 0) if axis is None else (self, axis % self.ndim)
        n = flat.shape[axis] * repeats
        return new_meta((*flat.shape[:axis], n, *flat.shape[axis + 1:]), self.dtype)

    # -------------------------------------------------------------- NumPy's functions
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


def written(out, result):
    """`out` after a write of `result`, or `result` if `out` is None. Raises if the write is not possible."""
    if out is None:
        return result
    if not is_meta(out):
        raise no_values()
    if np.broadcast_shapes(out.shape, result.shape) != out.shape:
        raise ValueError("non-broadcastable output operand")
    return out


def _picked(array, items):
    """The result of indexing with arrays among `items`.

    First an ellipsis is added, if there is none, and expanded. Then each item adds to the shape (None, slices) or to
    the shapes of the advanced index (arrays, numbers). The dimensions of the advanced index come at its place, or first
    if its items are apart.
    """
    items, expanded, dim = list(items), [], 0
    if not any([i is Ellipsis for i in items]):
        items.append(Ellipsis)
    used = sum([i.ndim if isinstance(i, ndarray) and i.dtype == bool else 1
                for i in items if i is not None and i is not Ellipsis])
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
