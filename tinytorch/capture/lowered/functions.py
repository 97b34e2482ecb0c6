"""How a tape records NumPy's functions that are not elementwise."""
from __future__ import annotations

import numpy as np

from .arrays import NotLowered, Traced
from .tape import FUNCTIONS, offset_in

_BOOL = np.dtype(np.bool_)


def _plain(x):
    return np.ndarray.view(x, np.ndarray) if type(x) is Traced else x


def _viewed(function):
    def view(tape, x, *args, **kwargs):
        made = function(_plain(x), *args, **kwargs)
        if tape.known(made):
            root = tape.owner(made)
            return tape.array(root, made.shape, made.dtype, offset_in(made, root), made.strides)
        raise NotLowered(function.__name__)
    return view


def _where(tape, condition, x, y):
    parts = [tape.constant(np.asarray(p)) if isinstance(p, np.generic) else p for p in (condition, x, y)]
    with np.errstate(all="ignore"):
        shown = np.where(*[_plain(p) for p in parts])
    if parts[0].dtype not in (_BOOL, shown.dtype) or shown.dtype not in tape.operations or any(
            [isinstance(p, np.ndarray) and p.dtype != shown.dtype for p in parts[1:]]):
        raise NotLowered("np.where")
    return tape._each_of("where", parts, shown, None)


def _concatenate(tape, parts, axis=0, out=None):
    if out is not None or axis is None:
        raise NotLowered("np.concatenate")
    shown = np.concatenate([_plain(p) for p in parts], axis)
    if any([p.dtype != shown.dtype for p in parts]):
        raise NotLowered("np.concatenate of several dtypes")
    made, start = tape.array(tape.root("made", shown.nbytes), shown.shape, shown.dtype, 0, shown.strides), 0
    axis %= shown.ndim
    for part in parts:
        stop = start + part.shape[axis]
        made[(slice(None),) * axis + (slice(start, stop),)] = part
        start = stop
    return made


def _stack(tape, parts, axis=0, out=None):
    ndim = parts[0].ndim + 1
    axis %= ndim
    return _concatenate(tape, [p[(slice(None),) * axis + (None,)] for p in parts], axis, out)


def _ascontiguous(tape, x, dtype=None):
    x = x if isinstance(x, np.ndarray) else tape.constant(np.asarray(x))
    if dtype is not None and np.dtype(dtype) != x.dtype:
        return x.astype(dtype)
    x = x if x.ndim else x.reshape(1)
    return tape._contiguous(x)


def _asarray(tape, x, dtype=None, **kwargs):
    if not isinstance(x, np.ndarray):
        return tape.constant(np.asarray(x, dtype, **kwargs))
    if dtype is not None and np.dtype(dtype) != x.dtype:
        return x.astype(dtype)
    return x


def _like(kind):
    def make(tape, x, dtype=None, order="K", subok=True, shape=None):
        shown = np.empty_like(_plain(x), dtype=dtype, order=order, shape=shape)
        made = tape.array(tape.root("made", shown.nbytes), shown.shape, shown.dtype, 0, shown.strides)
        if kind is not None:
            made[...] = kind
        return made
    return make


def _copyto(tape, to, value, casting="same_kind", where=True):
    if where is True:
        return tape.move(value, to)
    if isinstance(value, np.generic) or type(value) is int:
        value = to.dtype.type(value).item()
    if type(value) is not float and (not isinstance(value, np.ndarray) or value.dtype != to.dtype) or (
            to.dtype not in tape.operations or where.dtype != _BOOL):
        raise NotLowered("np.copyto where")
    place = tape.place(to)
    tape.each("where", [tape.place(where), tape.place(value) if isinstance(value, np.ndarray) else value, place], place)


def _array(tape, x, dtype=None, copy=True, order="K", subok=False, ndmin=0):
    if not isinstance(x, np.ndarray):
        if isinstance(x, (list, tuple)) and any([isinstance(y, np.ndarray) for y in x]):
            raise NotLowered("an array of arrays")
        return tape.constant(np.array(x, dtype, order=order, ndmin=ndmin))
    if ndmin > x.ndim or dtype is not None and np.dtype(dtype) != x.dtype:
        raise NotLowered("np.array in another dtype")
    return tape.moved(x, order) if copy is True else x


def _clip(tape, x, low=None, high=None, out=None, **kwargs):
    low, high = kwargs.pop("min", low), kwargs.pop("max", high)
    if kwargs:
        raise NotLowered("np.clip")
    return tape.clip(x, low, high, out)


FUNCTIONS.update({
    np.where: _where, np.concatenate: _concatenate, np.stack: _stack, np.ascontiguousarray: _ascontiguous,
    np.asarray: _asarray, np.array: _array, np.copyto: _copyto, np.clip: _clip, np.empty_like: _like(None),
    np.zeros_like: _like(0), np.ones_like: _like(1), np.dot: lambda tape, a, b, out=None: tape.dot(a, b, out),
    np.shape: lambda tape, x: x.shape, np.ndim: lambda tape, x: x.ndim, np.size: lambda tape, x: x.size,
    np.sum: lambda tape, x, axis=None, keepdims=False: x.sum(axis, keepdims=keepdims),
    np.reshape: lambda tape, x, shape: x.reshape(shape),
    np.ravel: lambda tape, x: x.reshape(-1),
    np.copy: lambda tape, x, order="K": x.copy(order),
    np.full_like: lambda tape, x, value, dtype=None: _like(value)(tape, x, dtype),
})
for _function in (np.transpose, np.swapaxes, np.moveaxis, np.expand_dims, np.squeeze, np.broadcast_to, np.diagonal,
                  np.flip, np.atleast_1d, np.atleast_2d, np.rollaxis, np.lib.stride_tricks.as_strided):
    FUNCTIONS[_function] = _viewed(_function)
