"""NumPy's functions for arrays without numbers (meta_array.py): they return the shape and the dtype of the result.

The dtype is found by calling NumPy with single elements; the shape is computed here.
"""
from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy import ndarray

from ..kinds.lazy import root_of
from .errstate import ignored
from .layout import dense_order
from .meta_array import FUNCTIONS, Meta, is_meta, meta_like, new_meta, no_values, written

__all__ = ["Meta", "is_meta", "meta_like", "new_meta"]


def _without_numbers(inputs):
    """NoValues if an input is an ndarray with dimensions, which has numbers."""
    for x in inputs:
        if isinstance(x, ndarray) and x.ndim and not is_meta(x):
            raise no_values()


def _array_ufunc(self, ufunc, method, *inputs, out=None, **options):
    if method == "__call__":
        result = _computed(ufunc, inputs, options)
    elif method in ("reduce", "accumulate"):
        result = _reduced(getattr(ufunc, method), *inputs, **options)
    else:
        raise no_values()
    if out is None or all([o is None for o in out]):
        return result
    results = result if isinstance(result, tuple) else (result,)
    filled = tuple([written(o, r) for o, r in zip(out, results)])
    return filled if isinstance(result, tuple) else filled[0]


Meta.__array_ufunc__ = _array_ufunc


def _as_ones(x):
    """An array of ones with one element, and the dtype and number of dimensions of array `x`; anything else as it
    is."""
    return np.ones((1,) * x.ndim, x.dtype) if isinstance(x, ndarray) else x


def _shaped(shape, dtype, operands):
    """The result of an elementwise computation, in NumPy's memory order."""
    same = [x for x in operands if isinstance(x, ndarray) and x.shape == shape]
    if not same or all([x.flags.c_contiguous for x in same]):
        return new_meta(shape, dtype)
    return new_meta(shape, dtype, dense_order(shape, *[x.strides for x in same]))


def _computed(ufunc, inputs, options):
    if ufunc.signature is not None:
        rule = _PRODUCTS.get(ufunc)
        if rule is None:
            raise no_values()
        return rule(ufunc, *inputs)
    _without_numbers(inputs)
    where = options.pop("where", True)
    with ignored():
        sample = ufunc(*[_as_ones(x) for x in inputs], **options)
    shape = np.broadcast_shapes(*[np.shape(x) for x in inputs], np.shape(where))
    if isinstance(sample, tuple):
        return tuple([_shaped(shape, r.dtype, inputs) for r in sample])
    return _shaped(shape, sample.dtype, inputs)


def _product_shape(a, b):
    """The shape of a matrix product. ValueError in NumPy's words if the shapes do not fit."""
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
    if axis is None:
        axis = range(ndim)
    axes = axis if isinstance(axis, (tuple, range)) else (axis,)
    for a in axes:
        if not -ndim <= a < ndim:
            raise np.exceptions.AxisError(a, ndim)
    return {a % ndim for a in axes}


def _reduced(function, array, axis=0, dtype=None, keepdims=False, initial=None, where=True, **options):
    given = {} if dtype is None else {"dtype": dtype}
    sample = function(_as_ones(array), 0 if array.ndim else None, **given)
    if function.__name__ == "accumulate":
        return new_meta(array.shape, sample.dtype)
    return _without(array, axis, np.asarray(sample).dtype, keepdims)


def _without(array, axis, dtype, keepdims=False):
    """The result of a reduction over an axis, several axes, or all of them (None)."""
    gone = _axes(axis, array.ndim)
    shape = [1 if i in gone else n for i, n in enumerate(array.shape) if keepdims or i not in gone]
    return new_meta(tuple(shape), np.dtype(dtype))


def _reduction(name: str) -> Callable:
    """The rule for the NumPy function of this name, which reduces one axis or all."""
    plain = getattr(np, name)

    def rule(array, axis=None, dtype=None, out=None, keepdims=False, **options):
        if axis is not None and not isinstance(axis, (int, np.integer, tuple)):
            raise no_values()
        given = {} if dtype is None else {"dtype": dtype}
        with ignored():
            sample = plain(np.ones(1, array.dtype), **given)
        if name in ("max", "min", "amax", "amin") and not array.size and options.get("initial") is None:
            plain(np.empty(array.shape, array.dtype), axis)
        return written(out, _without(array, axis, sample.dtype, keepdims is True))
    return rule


def _running(name: str) -> Callable:
    plain = getattr(np, name)

    def rule(array, axis=None, dtype=None, out=None):
        shape = (array.size,) if axis is None else array.shape
        return written(out, new_meta(shape, plain(np.ones(1, array.dtype), dtype=dtype).dtype))
    return rule


def _same(array, *args, **options):
    """A new array like `array`: the rule for functions that keep shape and dtype, such as sort."""
    return array.copy("K")


def _indices(array, *args, **options):
    return new_meta(array.shape, np.dtype(np.int64))


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
    return written(out, new_meta(shape, np.dtype(dtype) if dtype else np.result_type(*[x.dtype for x in arrays])))


def _stacked(arrays, axis=0, out=None, **options):
    arrays = list(arrays)
    _without_numbers(arrays)
    shape = list(arrays[0].shape)
    if any([x.shape != arrays[0].shape for x in arrays]):
        raise ValueError("all input arrays must have the same shape")
    shape.insert(axis % (len(shape) + 1), len(arrays))
    return written(out, new_meta(tuple(shape), np.result_type(*[x.dtype for x in arrays])))


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
    return _shaped(shape, np.where(True, *map(_as_ones, values)).dtype, (condition, *values))


def _copyto(target, source, casting="same_kind", where=True):
    if not is_meta(target):
        raise no_values()
    np.broadcast_shapes(np.shape(source), target.shape)


def _shares(a, b, *bound):
    return is_meta(a) and is_meta(b) and root_of(a) is root_of(b) and np.may_share_memory(a.raw, b.raw)


def _about(function: Callable) -> Callable:
    return lambda *args: function(*[_as_ones(x) if is_meta(x) else x for x in args])


def _broadcast_arrays(*arrays, subok=False):
    shape = np.broadcast_shapes(*[x.shape for x in arrays])
    return tuple([np.broadcast_to(x, shape) for x in arrays])


def _at_least_1d(a):
    return a if a.ndim else a.reshape(1)


def _dot(a, b):
    return a.dot(b) if is_meta(a) else np.matmul(a, b)


FUNCTIONS.update({
    np.concatenate: _joined, np.stack: _stacked, np.where: _where, np.copyto: _copyto,
    np.may_share_memory: _shares, np.shares_memory: _shares, np.shape: lambda x: x.shape, np.ndim: lambda x: x.ndim,
    np.size: lambda x: x.size, np.broadcast_arrays: _broadcast_arrays,
    np.broadcast_to: lambda a, shape, subok=False: Meta(np.broadcast_to(a.raw, shape)),
    np.take_along_axis: _taken_along, np.tile: _tiled, np.nonzero: _nonzero, np.argwhere: _nonzero,
    np.flatnonzero: _nonzero, np.atleast_1d: _at_least_1d,
    np.take: lambda a, *args, **options: a.take(*args, **options),
    np.repeat: lambda a, *args, **options: a.repeat(*args, **options), np.sort: _same, np.clip: _same, np.flip: _same,
    np.round: _same, np.copy: _same, np.argsort: _indices, np.argpartition: _indices, np.partition: _same,
    np.tril: _same, np.triu: _same, np.roll: _same, np.nan_to_num: _same,
    np.ravel: lambda a, order="C": a.ravel(order), np.reshape: lambda a, shape, **options: a.reshape(shape),
    np.dot: _dot,
})
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
