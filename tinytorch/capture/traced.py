"""The arrays of tensors while a call is recorded as a program. Each stands for an ndarray, and records its uses.

The `value` of a Traced is the ndarray of eager execution. Every NumPy function that gets a Traced becomes a step of the
recording, and so does every write. An operation that would make a Python number of it ends the recording: see
`Unrecordable`.
"""
from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from ..kinds.lazy import StandIn, part, restrided as _restrided

__all__ = ["Traced", "Unrecordable", "has_traced", "plain"]


class Unrecordable(TypeError):
    """Raised where a call does something that cannot be recorded."""


_SEQUENCES = (list, tuple)


def plain(x: Any) -> Any:
    """Nested arguments with ndarrays in place of Traced arrays."""
    kind = type(x)
    if kind is Traced:
        return x.value
    if kind in _SEQUENCES:
        return kind([plain(y) for y in x]) if x else x
    if kind is dict:
        return {key: plain(y) for key, y in x.items()}
    if kind is slice:
        return slice(plain(x.start), plain(x.stop), plain(x.step))
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return kind(*[plain(y) for y in x])
    return x


def has_traced(x: Any) -> bool:
    """Whether a Traced is among nested arguments."""
    kind = type(x)
    if kind is Traced:
        return True
    if kind in _SEQUENCES or isinstance(x, tuple):
        return any([has_traced(y) for y in x])
    if kind is dict:
        return any([has_traced(y) for y in x.values()])
    return kind is slice and has_traced((x.start, x.stop, x.step))


def _number(what):
    def convert(self, *args, **kwargs):
        return self.read(what, getattr(self.value, what), *args, **kwargs)
    return convert


class Traced(StandIn):
    """Stands for the ndarray `value` in a recording."""

    __slots__ = ("value", "recording", "__weakref__")

    def __init__(self, value, recording):
        self.value, self.recording = value, recording

    base = property(lambda self: self.value if self.value.base is None else self.value.base)
    device = property(lambda self: _cpu())

    def read(self, what, function, *args, **kwargs):
        """Makes a Python number of the array."""
        if self.recording.here():
            self.recording.ends(f"{what} of a tensor")
        return function(*args, **kwargs)

    __int__ = __float__ = __complex__ = __index__ = item = tolist = tobytes = None
    for _what in ("__int__", "__float__", "__complex__", "__index__", "item", "tolist", "tobytes"):
        locals()[_what] = _number(_what)

    def __bool__(self):
        if self.recording.here() and not self.recording.checked(self):
            self.recording.ends("the truth value of a tensor")
        return bool(self.value)

    def __array__(self, dtype=None, copy=None):
        if self.recording.here():
            self.recording.ends("numbers written to an array of NumPy's, or read by a function that is not recorded")
        return np.array(self.value, dtype, copy=copy) if dtype is not None else self.value

    def __repr__(self):
        return f"Traced({self.value!r})"

    # -------------------------------------------------------------- checks of the kernels
    def check_static(self, name):
        if self.recording.here():
            raise Unrecordable(f"{name}, the shape of whose result depends on numbers")

    def check_mask(self):
        if self.dtype == bool and self.recording.here():
            raise Unrecordable("an index by a mask, whose result has a size that depends on numbers")

    def check_number(self):
        if self.recording.here():
            raise Unrecordable("an index that is a tensor of one number, which selects a view")

    def check_storage(self, force=False):
        if self.recording.here():
            raise Unrecordable("a NumPy array made of a tensor")

    def truth(self):
        raise Unrecordable("the truth value of a tensor")

    def holds(self):
        return bool(self)

    def relied_on(self):
        number = int(self.value)
        if self == number:                     # notes a check
            return number
        raise Unrecordable("a shape that depends on the numbers of a tensor")

    def over(self, memory):
        return self.recording.standing(memory)

    def restrided(self, size, strides):
        return self.recording.standing(_restrided(self.value, size, strides))

    def filled(self, fill, *arguments):
        self.recording.step("fill", fill, (self, *arguments), {}, draws=True)
        return self

    # -------------------------------------------------------------- NumPy
    def __getitem__(self, index):
        if _has_mask(index):
            self.check_static("an index by a mask")
        return self.recording.step("getitem", operator.getitem, (self, index), {})

    def __setitem__(self, index, value):
        self.recording.step("setitem", operator.setitem, (self, index, value), {})

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        call = ufunc if method == "__call__" else getattr(ufunc, method)
        if out is None:
            return self.recording.step("numpy", call, inputs, options)
        self.recording.step("numpy", call, inputs, {**options, "out": out if len(out) > 1 else out[0]})
        return out[0] if len(out) == 1 else out

    def __array_function__(self, function, types, args, options):
        if function in _ABOUT_MEMORY:
            return function(*plain(args), **plain(options))
        if function in _BY_NUMBERS or function is np.repeat and has_traced((args[1:], options)) or (
                function.__module__ not in _MODULES):
            self.check_static(function.__name__)
        result = self.recording.step("numpy", function, args, options)
        given = options.get("out")
        return result if given is None else given

    real = part(lambda self: self.recording.step("part", _REAL, (self,), {}))
    imag = part(lambda self: self.recording.step("part", _IMAG, (self,), {}))


def _has_mask(index):
    for item in index if index.__class__ is tuple else (index,):
        if isinstance(item, (ndarray, np.bool_, bool)) and getattr(item, "dtype", None) in (None, np.dtype(bool)):
            return True
        if item.__class__ is list and any([isinstance(x, (bool, np.bool_)) for x in item]):
            return True
    return False


def _cpu():
    from ..device import CPU
    return CPU


Traced.raw = Traced.memory = Traced.value
_REAL, _IMAG = operator.attrgetter("real"), operator.attrgetter("imag")
_ABOUT_MEMORY = {np.may_share_memory, np.shares_memory, np.shape, np.ndim, np.size, np.result_type, np.can_cast,
                 np.iscomplexobj, np.isrealobj}
#: Functions whose result is not an array, or has a size that depends on numbers.
_BY_NUMBERS = {np.nonzero, np.flatnonzero, np.argwhere, np.unique, np.extract, np.compress, np.trim_zeros, np.bincount,
               np.array_equal, np.array_equiv, np.allclose, np.union1d, np.intersect1d, np.setdiff1d, np.delete,
               np.array2string, np.array_str, np.array_repr, np.save, np.savetxt, np.interp,
               np.histogram,
               np.histogramdd, np.histogram_bin_edges, np.insert, np.place, np.putmask}
_MODULES = ("numpy", "numpy.linalg", "numpy.fft", "numpy.lib.stride_tricks")


def _method(name: str) -> Callable:
    function = getattr(ndarray, name)

    def method(self: Traced, *args: Any, **options: Any) -> Any:
        result = self.recording.step("method", function, (self, *args), options)
        given = options.get("out")
        return result if given is None else given
    return method


for _name in ("all any argmax argmin argpartition argsort astype choose clip conj conjugate copy cumprod cumsum "
              "diagonal dot flatten max mean min partition prod put ravel reshape round searchsorted sort squeeze std "
              "sum swapaxes take trace transpose var view byteswap fill").split():
    setattr(Traced, _name, _method(_name))


def _by_numbers(name: str) -> Callable:
    def method(self: Traced, *args: Any, **options: Any) -> Any:
        self.check_static(name)
        return getattr(self.value, name)(*args, **options)
    return method


for _name in ("nonzero", "compress"):
    setattr(Traced, _name, _by_numbers(_name))


def _repeat(self, repeats, axis=None):
    return np.repeat(self, repeats, axis)


Traced.repeat = _repeat
