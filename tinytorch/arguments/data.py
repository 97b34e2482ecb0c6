"""Numbers, nested sequences and arrays as one ndarray, with torch's dtypes and errors."""
from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence

import numpy as np

from .. import dtypes as dt
from ..errors import kind_of, warn_once
from ..kernels.errstate import ignored
from ..kernels.layout import dense_copy
from ..kernels.memory import DIMENSIONS, empty, unset
from ..tensor import Size, Tensor, method
from . import size_of

#: The depth to which torch lets sequences be nested.
_DEEPEST = 128


class StorageBase:
    """The base class of storages, for isinstance: storage.py imports this module."""

    def numbers(self, dtype: dt.dtype) -> np.ndarray | None:
        """The memory as numbers of a dtype; None if the storage holds numbers of another dtype."""
        raise NotImplementedError


def array_of(data: object, dtype: dt.dtype | None = None) -> np.ndarray:
    """A new ndarray of `data`, of the given dtype or the one torch infers; for a storage, its memory itself.

    ValueError for ragged sequences and for sequences nested too deep (a list may contain itself), RuntimeError for more
    dimensions than an ndarray has, TypeError for objects that are no numbers.
    """
    # In order: arrays and NumPy scalars; storages; the depth of nesting; numbers that NumPy converts all at once; other
    # objects, which `_checked` turns into numbers; then the dtype, and whether each number must be converted by itself.
    if isinstance(data, (np.ndarray, np.generic)):
        array = dense_copy(np.asarray(check_array(data)))
        if dtype is not None and dtype.category <= 1 and not isinstance(data, np.ndarray):
            return _one_by_one(data, array, dtype)
        return array if dtype is None else dt.cast(array, dtype.numpy)
    if isinstance(data, StorageBase):
        return _of_storage(data, dtype)
    leaf, depth = data, 0
    while isinstance(leaf, (list, tuple)) and leaf:
        depth += 1
        if depth > _DEEPEST:
            raise _too_deep(leaf)
        leaf = leaf[0]
    if depth == 1 and isinstance(leaf, np.ndarray) and leaf.ndim:
        warn_once("Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the "
                  "list to a single numpy.ndarray with numpy.array() before converting to a tensor.")
    if depth > DIMENSIONS:
        raise RuntimeError(f"only tensors with up to {DIMENSIONS} dims are supported")
    classes, given = _classes(data, depth), data
    try:
        if not classes <= _PYTHONS and not all([issubclass(c, _OF_NUMPY) or c in _PYTHONS for c in classes]):
            raise ValueError                   # tensors, empty lists and other objects go through `_checked`
        array = np.array(data)
        if array.dtype.kind not in dt.INTEGRAL + dt.NATIVE + dt.COMPLEX:
            raise ValueError
        if depth and not array.size:           # torch ignores dimensions below a size of 0
            array = array.reshape(array.shape[:array.shape.index(0) + 1])
    except (ValueError, TypeError, RuntimeError, OverflowError):
        data, array = _checked(data, dtype)
    large = array.dtype.kind in _LARGE or int in classes and array.dtype == float and (
        np.abs(array).max() >= 1 << 63)        # Python ints for which NumPy has no common integer dtype
    if dtype is None:
        if large or not classes <= _PYTHONS:
            dtype = _infer(given)
            large = dtype.category == 1 and (large or np.bool_ in classes) or dtype is dt.uint64
        else:
            dtype = dt.of_scalar(array.dtype.type(0).item())
    elif dtype.category == 1:                  # each number is checked by itself unless all are integers
        large = large or dtype is dt.uint64 or array.dtype.kind not in dt.INTEGRAL or np.bool_ in classes
    elif dtype is dt.bool:
        large = large or not classes <= _PYTHONS
    return _one_by_one(data, array, dtype) if large else _convert(data, array, dtype)


#: Kinds of the arrays that NumPy makes of Python ints which do not fit in int64.
_LARGE = dt.UNSIGNED + "O"
_PYTHONS, _OF_NUMPY = frozenset([int, float, bool, complex]), (np.generic, np.ndarray)


def _classes(data, depth):
    """The classes of the items of lists nested to that depth; the class of `data` if the lists are ragged."""
    for _ in range(depth - 1):
        data = itertools.chain.from_iterable(data)
    try:
        return set(map(type, data if depth else [data]))
    except TypeError:
        return {type(data)}


def _no_integer(x):
    name = f"numpy.{type(x).__name__}" if isinstance(x, np.generic) else type(x).__name__
    return TypeError(f"'{name}' object cannot be interpreted as an integer")


def _as_integer(x, target):
    """A number as the bits of an integer dtype, or the error for a number that does not fit."""
    if target is dt.uint64:
        if not isinstance(x, int):
            raise TypeError("an integer is required")
        if x < 0:
            raise OverflowError("can't convert negative int to unsigned")
        dt.check_long(x)
        return x
    high = (1 << 8 * target.itemsize - target.is_signed) - 1
    if isinstance(x, float):
        fits = (-high - 1 if target.is_signed else 0) <= x <= float(high)      # in double precision, as in C
    else:
        if not isinstance(x, (int, np.integer)):
            raise _no_integer(x)
        if not -1 << 63 <= x < 1 << 63:
            raise ValueError("Overflow when unpacking long long")
        fits = -high - target.is_signed <= x <= high           # a negative int wraps around
    if not fits:
        raise RuntimeError(f"value cannot be converted to type {target.name} without overflow")
    return int(x) & (1 << 8 * target.itemsize) - 1


def _one_by_one(data, array, target):
    """The ndarray of nested numbers in the requested dtype: each number is converted, or refused, by itself."""
    def stored(x):
        if target is dt.bool:
            if isinstance(x, np.inexact) and not isinstance(x, (float, complex)):
                raise _no_integer(x)
            return bool(x)
        if target.category == 1:
            return _as_integer(x, target)
        if isinstance(x, complex) and not target.is_complex:
            raise TypeError("must be real number, not complex")
        return complex(x) if target.is_complex else float(x)

    def flat(x):
        if isinstance(x, np.ndarray) and not x.ndim:
            x = _NUMBER_OF[target.category](x)
        return [n for y in x for n in flat(y)] if isinstance(x, (list, tuple, np.ndarray, range)) else [stored(x)]
    if target.category == 1:
        return np.array(flat(data), f"u{target.itemsize}").reshape(array.shape).view(target.numpy)
    return dt.cast(np.array(flat(data)).reshape(array.shape), target.numpy)


def _of_storage(storage, dtype, legacy=False):
    dtype = dtype or getattr(storage, "dtype", dt.int64)
    array = storage.numbers(dtype)
    if array is None:
        got = f"type {storage.dtype.type_name} for argument 1 'storage'" if legacy else storage.dtype.type_name
        raise RuntimeError(f"Expected a Storage of type {dtype.type_name} or an UntypedStorage, but got {got}")
    return array


def legacy_array(args: tuple, dtype: dt.dtype) -> np.ndarray:
    """The contents of a tensor made by an old constructor without a tensor: FloatTensor(2, 3) has uninitialised memory,
    FloatTensor([1, 2]) data, FloatTensor(storage) that memory. TypeError for a single number that is no size."""
    if not args:
        return np.empty(0, dtype.numpy)
    first = args[0]
    if isinstance(first, StorageBase):
        if len(args) == 1:
            return _of_storage(first, dtype, legacy=True)
    elif len(args) > 1 or isinstance(first, Size) or _is_size(first):
        return unset(empty(size_of(args, "new"), dtype.numpy))
    elif isinstance(first, (str, bytes)) or _is_sequence(first):
        return array_of(first, dtype)
    else:
        raise TypeError(f"new(): data must be a sequence (got {kind_of(first)})")
    given = ", ".join([type(x).__name__ for x in args])
    raise TypeError(f"new() received an invalid combination of arguments - got ({given}), but expected one of:\n"
                    " * (*, torch.device device = None)\n * (torch.Storage storage)\n * (Tensor other)\n")


def _is_size(value):
    """Whether the old constructors accept a value as a length: any integer that is no bool."""
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        return False
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


@method("_contents")
def contents(self: Tensor, data: tuple) -> Tensor | np.ndarray:
    """The contents of Tensor(...): its array, or the tensor that it becomes an alias of."""
    if len(data) == 1 and isinstance(data[0], Tensor):
        return data[0]._alias()
    return legacy_array(data, dt.get_default_dtype())


def check_array(array: np.ndarray | np.generic) -> np.ndarray | np.generic:
    """The array as a tensor holds it. TypeError for a dtype that torch lacks, ValueError for a foreign byte order, and
    for strides that are negative or no multiple of the element size (as the strides of a field of records may be)."""
    dt.of(array)
    if not array.dtype.isnative:
        raise ValueError("given numpy array has byte order different from the native byte order. Conversion between "
                         "byte orders is currently not supported.")
    for step in array.strides:
        if step < 0:
            raise ValueError("At least one stride in the given numpy array is negative, and tensors with negative "
                             "strides are not currently supported. (You can probably work around this by making a copy "
                             "of your array  with array.copy().) ")
        if step % array.itemsize:
            raise ValueError("given numpy array strides not a multiple of the element byte size. Copy the numpy array "
                             "to reallocate the memory.")
    return dt.given(array)


def _convert(data, array, target):
    numpy_dtype = target.numpy
    if array.dtype == numpy_dtype:
        return dt.given(array)
    if dt.kind(array.dtype) == dt.COMPLEX and target.category == 2:
        raise TypeError("must be real number, not complex")
    if target.category == 1 and array.size and array.dtype.kind in dt.INTEGER:
        limits = np.iinfo(numpy_dtype)
        if array.max() > limits.max or array.min() < limits.min:
            return _one_by_one(data, array, target)
    with ignored():
        return dt.cast(array, numpy_dtype)


def _checked(data, dtype):
    """(data with its tensors as numbers, the ndarray), or torch's error for data that cannot become an ndarray."""
    shape, leaf = [], data
    while not isinstance(leaf, str) and _is_sequence(leaf):
        shape.append(len(leaf))
        if len(shape) > _DEEPEST:
            raise _too_deep(leaf)
        if not shape[-1]:
            break
        leaf = leaf[0]
    if len(shape) > DIMENSIONS:
        raise RuntimeError(f"only tensors with up to {DIMENSIONS} dims are supported")
    if shape and isinstance(leaf, str):
        raise ValueError("too many dimensions 'str'")
    if shape and not shape[-1]:                # torch infers the default dtype and checks nothing else
        return [], np.empty(shape, dt.get_default_dtype().numpy)
    data = _plain(data, shape, 0, dtype or _infer(data))
    if dtype is not None:
        _infer(data, dtype)                    # raises for objects that are no numbers
    return data, np.array(data)


def _too_deep(x):
    return ValueError(f"too many dimensions '{type(x).__name__}'")


def _is_sequence(x):
    if isinstance(x, Tensor):
        return False                           # a tensor counts as one number of its sequence
    return isinstance(x, (list, tuple, range, np.ndarray)) or (hasattr(x, "__len__") and hasattr(x, "__getitem__")
                                                               and not isinstance(x, (dict, str, bytes)))


def _plain(x, shape, depth, dtype):
    """x with every tensor as a NumPy scalar, after a check that all levels have the lengths `shape`. `dtype`: the dtype
    that the numbers will have."""
    if depth == len(shape):
        if isinstance(x, Tensor):
            return _number_of_tensor(x, dtype)
        if isinstance(x, (list, tuple)):
            raise TypeError(f"'{type(x).__name__}' object cannot be interpreted as an integer")
        return _NUMBER_OF[dtype.category](x) if isinstance(x, np.ndarray) else x
    if not (_is_sequence(x) or isinstance(x, str) or isinstance(x, Tensor) and x._array.ndim):
        raise TypeError("not a sequence")
    if len(x) != shape[depth]:
        raise ValueError(f"expected sequence of length {shape[depth]} at dim {depth} (got {len(x)})")
    if isinstance(x, str):
        raise TypeError("not a sequence")
    if isinstance(x, np.ndarray):
        return x
    check_not_in_itself(x)
    return [_plain(x[i], shape, depth + 1, dtype) for i in range(shape[depth])]


def _number_of_tensor(x, dtype):
    """The element of a tensor that stands for a number."""
    if x._array.size != 1 or dtype.category < 2 and x._array.dtype.kind not in dt.INTEGRAL:
        if dtype.category < 2:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        raise ValueError("only one element tensors can be converted to Python scalars")
    number = bool(x) if x._array.dtype == bool else dt.numbers(x._array).reshape(-1)[0]
    if isinstance(number, np.complexfloating) and dtype.category == 2:
        if number.imag:
            raise RuntimeError("value cannot be converted to type double without overflow")
        return number.real
    return number


#: For each category of dtypes: converts an array that stands for a number to that number, or raises NumPy's error.
_NUMBER_OF = [operator.index, operator.index, float, complex]


def check_not_in_itself(x: Sequence) -> None:
    """TypeError for a sequence that is one of its own items."""
    if any(item is x for item in x):
        raise TypeError("new(): self-referential lists are incompatible")


def _infer(x, requested=None, depth=0, first=True):
    """The dtype of nested numbers, NumPy scalars, arrays and Tensors. `requested`: the dtype that the caller asked for;
    the error for an object that is no number depends on it."""
    if isinstance(x, Tensor):
        return x.dtype
    if isinstance(x, (np.ndarray, np.generic)):
        return dt.of(np.asarray(x))
    if isinstance(x, (bool, int, float, complex)):
        return dt.int64 if x.__class__ is int else dt.of_scalar(x)
    if isinstance(x, str):
        if depth and first:
            raise ValueError("too many dimensions 'str'")
        raise TypeError("new(): invalid data type 'str'")
    if isinstance(x, bytes):
        raise TypeError("new(): invalid data type 'bytes'")
    if not _is_sequence(x):
        if requested is not None and requested is not dt.bool:
            if requested.category == 1:
                raise TypeError(f"'{type(x).__name__}' object cannot be interpreted as an integer")
            raise TypeError(f"must be real number, not {type(x).__name__}")
        raise RuntimeError(f"Could not infer dtype of {type(x).__name__}")
    if depth > _DEEPEST:                       # lists that hold each other
        raise TypeError(f"'{type(x).__name__}' object cannot be interpreted as an integer")
    found = None
    check_not_in_itself(x)
    for i, item in enumerate(x):
        d = _infer(item, requested, depth + 1, first and i == 0)
        found = d if found is None or requested is not None else dt.promote_types(found, d)
    return dt.get_default_dtype() if found is None else found
