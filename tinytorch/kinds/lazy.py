"""Memory seen conjugated or negated: the `Tensor._array` of tensors such as x.conj() and x.conj().imag.

Only a tensor made by `conj`, by `imag` of a conjugate or by `_neg_view` has such an array. All others have plain
ndarrays, and this file costs them nothing. A Lazy stands in for the ndarray of the numbers that it shows. Views of it
are Lazy over views of the memory. Numbers that are written to it arrive in the memory conjugated or negated. Ufuncs,
functions and conversions of NumPy that read it get an array of the numbers that it shows. It says that its class is
ndarray, as proxies do, but it is no ndarray, so that NumPy never mistakes the memory for the numbers. Code that needs
the memory asks for `raw`.
"""
from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from ..device import CPU, device as Device
from ..dtypes import BFLOAT16, BY_NUMPY, COMPLEX32, WIDENED, is_complex

#: Why conjugated memory cannot be seen as pairs of reals.
UNRESOLVED = ("view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can "
              "view it as real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias "
              "the original.")
#: Neither conjugated nor negated.
PLAIN = (False, False)
_SIGN = np.uint16(0x8000)                      # the sign bit of a bfloat16


def part(read: Callable) -> property:
    """A property for a part of an array that can be written to: its real or its imaginary numbers."""

    def write(self, value):
        read(self)[...] = value
    return property(read, write)


class StandIn(NDArrayOperatorsMixin):
    """The base class of arrays that stand in for an ndarray as `Tensor._array`: a Lazy, a batch (func/batched.py), or
    an array without numbers (kernels/meta_array.py).

    memory     the ndarray in which the numbers lie
    restrided  a view of the array with any sizes and strides
    filled     the array itself, after fill(array, *arguments) has filled it with random numbers
    truth      whether the only element of the array is true
    """

    __slots__ = ()
    raw: Any                                   # what it stands upon, of each class
    __hash__ = None
    _seems = ndarray
    __class__ = property(attrgetter("_seems"))

    shape = property(attrgetter("raw.shape"))
    strides = property(attrgetter("raw.strides"))
    ndim = property(attrgetter("raw.ndim"))
    size = property(attrgetter("raw.size"))
    dtype = property(attrgetter("raw.dtype"))
    itemsize = property(attrgetter("raw.itemsize"))
    nbytes = property(attrgetter("raw.nbytes"))
    flags = property(attrgetter("raw.flags"))
    base = property(attrgetter("raw"))         # never None, so that a search for the owner of the memory ends there
    T = property(lambda self: self.transpose())
    mT = property(lambda self: self.swapaxes(-1, -2))

    def __len__(self):
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def __deepcopy__(self, memo):
        return self.copy("K")

    def fill(self, value):
        self[...] = value

    def ravel(self, order="C"):
        return self.reshape(-1) if order == "C" else self.flatten(order)

    def samples(self):
        """(the number of nested vmaps, all samples) of a batch; None for other arrays."""

    def truth(self):
        return bool(self.item())

    def holds(self):
        """`item` of an array of one bool, on which the library decides. A recorded program checks it."""
        return bool(self.item())

    def relied_on(self):
        """An array of one integer on which shapes depend, or the integer. A recorded program checks that it is the
        same."""
        return self

    def check_static(self, name):
        """Raises RuntimeError if the result of the operation of this name may have another shape for each sample."""

    def check_mask(self):
        """Raises RuntimeError if this is a mask, which may pick another number of elements in each sample."""

    def check_number(self):
        """Raises an error if this array of one integer cannot be an index as a Python integer is one."""

    def over(self, memory):
        """The array that stands for `memory`, of which this array is a view."""
        return memory

    def check_storage(self, force=False):
        """Raises an error if NumPy cannot have the memory or, with `force`, a copy of it."""

    @property
    def device(self):
        return device_of(self.raw)

    @property
    def memory(self):
        raw = self.raw
        return raw.memory if isinstance(raw, StandIn) else raw


#: The message for a copy from the device `meta` to another.
NO_DATA = "Cannot copy out of meta tensor; no data!"


class NoValues(NotImplementedError, TypeError):
    """Raised where an operation needs the numbers of an array that has none."""


def root_of(array: ndarray) -> ndarray:
    """The array that owns the memory of `array`."""
    while True:
        base = array.base
        if not isinstance(base, ndarray):
            base = getattr(base, "base", None)     # NumPy's as_strided puts an object of its own between the two
        if not isinstance(base, ndarray):
            return array
        array = base


def device_of(array: ndarray) -> Device:
    """The device of the numbers of an array."""
    return array.device if isinstance(array, StandIn) else CPU


def is_lazy(array: ndarray) -> bool:
    """Whether an array shows its memory conjugated or negated."""
    return type(array) is Lazy


def bits_of(array: ndarray) -> tuple[bool, bool]:
    """(conjugated, negated)."""
    return (array.conj_bit, array.neg_bit) if type(array) is Lazy else PLAIN


def raw(array: ndarray) -> ndarray:
    """The memory that an array shows, as it is."""
    return array.raw if type(array) is Lazy else array


def resolved(array: ndarray) -> ndarray:
    """The numbers that an array shows: a copy for a Lazy, and the array itself for others."""
    return array.copy("K") if type(array) is Lazy else array


def seen(memory: ndarray, conj: bool, neg: bool) -> ndarray:
    """`memory`, a plain array, seen conjugated, negated or both. Real numbers are never seen conjugated."""
    conj = conj and is_complex(memory.dtype)
    return Lazy(memory, conj, neg) if conj or neg else memory


def toggled(array: ndarray, conj: bool = False, neg: bool = False) -> ndarray:
    """The same memory with the given bits inverted: seen conjugated (`conj`) if `array` shows it unconjugated, and the
    other way round, and so for `neg`."""
    before = bits_of(array)
    return seen(raw(array), before[0] != conj, before[1] != neg)


def restrided(array: ndarray, size: tuple, strides: tuple) -> ndarray:
    """A view of `array` with any sizes and strides."""
    return array.restrided(size, strides) if isinstance(array, StandIn) else as_strided(array, size, strides)


def address_of(array: ndarray) -> int:
    """The address of the first element."""
    return (array.memory if isinstance(array, StandIn) else array).__array_interface__["data"][0]


def changed(values: ndarray, conj: bool, neg: bool, order: str = "K") -> ndarray:
    """A copy of `values` conjugated, negated, or both."""
    if values.dtype.kind == WIDENED:
        return _changed_bits(values.copy(order), conj, neg)
    result = np.empty_like(values, order=order)
    if conj:
        np.conjugate(values, out=result)
    if neg:
        if values.dtype == bool:
            raise NotImplementedError("\"neg_cpu\" not implemented for 'Bool'")
        np.negative(result if conj else values, out=result)
    return result


def _changed_bits(records, conj, neg):
    if records.dtype == COMPLEX32:
        for name in ("real",) * neg + ("imag",) * (neg != conj):
            np.negative(records[name], out=records[name])
    elif records.dtype == BFLOAT16:
        records["bfloat16"] ^= _SIGN
    else:
        raise NotImplementedError(f"\"neg_cpu\" not implemented for '{BY_NUMPY[records.dtype].type_name}'")
    return records


class Lazy(StandIn):
    """The numbers of `raw`, a plain ndarray, conjugated if `conj_bit`, negated if `neg_bit`."""

    __slots__ = ("raw", "conj_bit", "neg_bit", "__weakref__")

    def __init__(self, raw, conj_bit, neg_bit):
        self.raw, self.conj_bit, self.neg_bit = raw, conj_bit, neg_bit

    def __reduce__(self):
        return seen, (self.raw, self.conj_bit, self.neg_bit)

    # -------------------------------------------------------------- the numbers
    def copy(self, order="C"):
        return changed(self.raw, self.conj_bit, self.neg_bit, order)

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("these numbers are nowhere in memory: a copy cannot be avoided")
        numbers = self.copy("K") if dtype is None else self.copy("K").astype(dtype, copy=False)
        numbers.flags.writeable = bool(copy)   # a write to this temporary copy would be lost
        return numbers

    def __repr__(self):
        return f"Lazy({self.raw!r}, {self.conj_bit}, {self.neg_bit})"

    def dot(self, other):
        if self.raw.ndim == 1 == other.ndim and bits_of(self) == bits_of(other) == (True, False):
            return toggled(np.asarray(toggled(self, conj=True).dot(toggled(other, conj=True))), conj=True)
        return self.copy("K").dot(other)

    # -------------------------------------------------------------- views
    def restrided(self, size, strides):
        return seen(restrided(self.raw, size, strides), self.conj_bit, self.neg_bit)

    def filled(self, fill, *arguments):
        fill(self.raw, *arguments)             # the layout of the memory decides the order of the draws
        self[...] = self.raw.copy("K")
        return self

    def _view(self, result):
        """The result for `result`, which a method of `raw` returned. A view of the memory is seen in the same way, and
        a copy gives the numbers."""
        if root_of(result) is root_of(self.raw):
            return seen(result, self.conj_bit, self.neg_bit)
        return changed(result, self.conj_bit, self.neg_bit)

    real = part(lambda self: seen(self.raw.real, False, self.neg_bit))
    imag = part(lambda self: seen(self.raw.imag, False, self.neg_bit != self.conj_bit))

    def view(self, dtype):
        """A view as another dtype. If the dtypes differ only in how many real numbers an element has, it shows negated
        numbers. If not, it is a copy of the bits that cannot be written to."""
        plain = self.raw.dtype.kind != WIDENED
        if plain and not self.conj_bit and self.raw.real.dtype == np.empty(0, dtype).real.dtype:
            return seen(self.raw.view(dtype), False, True)
        return self.__array__().view(dtype)

    # -------------------------------------------------------------- indexing
    def __getitem__(self, index):
        items = index if index.__class__ is tuple else (index,)
        if not all([item is None or item is Ellipsis or item.__class__ in _BASIC for item in items]):
            return self.__array__()[index]
        result = self.raw[index]
        if isinstance(result, ndarray):
            return seen(result, self.conj_bit, self.neg_bit)
        return changed(np.asarray(result), self.conj_bit, self.neg_bit)[()]

    def __setitem__(self, index, value):
        bits = self.conj_bit, self.neg_bit
        if bits_of(value) == bits and value.dtype == self.raw.dtype:
            self.raw[index] = value.raw
        else:
            self.raw[index] = changed(np.asarray(value).astype(self.raw.dtype), *bits)

    # -------------------------------------------------------------- NumPy's functions
    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        numbers = [resolved(x) for x in inputs]
        options = {name: resolved(x) for name, x in options.items()}
        if method == "at":
            ufunc.at(*numbers, **options)
            if numbers[0] is not inputs[0]:
                inputs[0][...] = numbers[0]
            return None
        if out is None:
            return getattr(ufunc, method)(*numbers, **options)
        fresh = tuple([resolved(x) for x in out])
        results = getattr(ufunc, method)(*numbers, out=fresh, **options)
        for target, values in zip(out, fresh):
            if target is not values:
                target[...] = values
        if len(out) == 1:
            return out[0]
        return tuple([r if o is None else o for r, o in zip(results, out)])

    def __array_function__(self, function, types, args, options):
        if function in _ABOUT_MEMORY:
            return function(*[raw(x) for x in args], **options)
        if function in _LIKE:
            return function(raw(args[0]), *[_numbers(x) for x in args[1:]], **options)
        if function in _VIEWS and type(args[0]) is Lazy:
            return args[0]._view(function(args[0].raw, *args[1:], **options))
        given = [_numbers(x) for x in args]
        target = args[0] if function in _WRITERS else options.get("out")
        options = {name: _numbers(x) for name, x in options.items()}
        if type(target) is not Lazy:
            return function(*given, **options)
        numbers = target.copy("K")
        if function in _WRITERS:
            given[0] = numbers
        else:
            options["out"] = numbers
        result = function(*given, **options)
        target[...] = numbers
        return target if result is numbers else result


def _numbers(x):
    """The numbers that an argument shows. For a Lazy they are an array that must not be written to."""
    if type(x) is Lazy:
        return x.__array__()
    return x.__class__(map(_numbers, x)) if x.__class__ in (list, tuple) else x


_BASIC = {int, slice} | {np.dtype(c).type for c in np.typecodes["AllInteger"]}
_ABOUT_MEMORY = {np.may_share_memory, np.shares_memory, np.shape, np.ndim, np.size, np.result_type, np.can_cast,
                 np.iscomplexobj, np.isrealobj}
_LIKE = {np.empty_like, np.zeros_like, np.ones_like, np.full_like}
_VIEWS = {np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.expand_dims, np.squeeze, np.broadcast_to, np.diagonal,
          np.reshape, np.ravel, np.matrix_transpose, np.flip, sliding_window_view}
_WRITERS = {np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis}


def _viewing(name: str) -> Callable:
    def method(self: Lazy, *args: Any, **options: Any) -> ndarray:
        return self._view(getattr(self.raw, name)(*args, **options))
    return method


def _reading(name: str) -> Callable:
    def method(self: Lazy, *args: Any, **options: Any) -> Any:
        return getattr(self.copy("K"), name)(*args, **options)
    return method


def _writing(name: str) -> Callable:
    def method(self: Lazy, *args: Any, **options: Any) -> None:
        numbers = self.copy("K")
        getattr(numbers, name)(*args, **options)
        self[...] = numbers
    return method


Lazy.flat = property(lambda self: self.__array__().flat)
for _name in ("transpose", "swapaxes", "reshape", "ravel", "squeeze", "diagonal"):
    setattr(Lazy, _name, _viewing(_name))
for _name in ("all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "choose", "clip", "compress",
              "conj", "conjugate", "cumprod", "cumsum", "flatten", "item", "max", "mean", "min", "nonzero", "prod",
              "repeat", "round", "searchsorted", "std", "sum", "take", "tobytes", "tolist", "trace", "var", "__bool__",
              "__int__", "__float__", "__complex__", "__index__", "__contains__", "__format__"):
    setattr(Lazy, _name, _reading(_name))
for _name in ("sort", "partition", "put"):
    setattr(Lazy, _name, _writing(_name))
