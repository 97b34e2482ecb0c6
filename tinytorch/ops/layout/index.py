"""x[...] and x[...] = v in all of torch's forms.

An index is split in two: its basic part (numbers, slices, None, Ellipsis), which gives a view, and
its advanced part (masks and integer tensors), which then picks from that view and gives a copy.
"""
from __future__ import annotations

from operator import index as as_int

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ... import dtypes as dt
from ...arguments import in_64_bits
from ...arguments.data import array_of, check_not_in_itself
from ...autograd.grad_mode import all_threads, mode
from ...autograd.op import op, single
from ...autograd.outputs import UNWATCHED
from ...autograd.places import count_write, note_place
from ...autograd.promotion import as_scalar_tensor, stored_as
from ...autograd.public import method, public
from ...autograd.saved import PACKED
from ...autograd.views import (
    assign,
    check_in_place,
    check_inference,
    check_overlap,
    check_written,
    has_history,
    is_expanded,
    layouts,
    may_share,
    warn_expanded,
)
from ...errors import kind_of, refuse_records, type_name, warn
from ...kernels import arrange
from ...kernels.errstate import ignored
from ...kernels.layout import dense_copy, with_new_dims
from ...kernels.memory import READ_ONLY, refusal
from ...kernels.scatter import add_at, add_flat, added_at
from ...kinds.lazy import StandIn, is_lazy
from ...tensor import Tensor, wrap
from ...types import Tensors
from .index_errors import check_apart, check_apart_first, check_mask, check_masks
from .index_values import pick, put_values
from .strided import empty_slice

__all__ = ["index_put"]

_ALL = slice(None)
_NUMBERS = (bool, int, float, complex)
_PLAIN, _UNIT = (int, type(None)), (None, 1)
_INDICES = (np.int64, np.int32, np.uint8, np.bool_)
_INT64 = np.dtype(np.int64)
_LARGE = 1 << 16                               # bytes from which on a kernel puts values among zeros in less time


# ------------------------------------------------------------------ primitives
def _basic(name, view=None):
    """A primitive f(input, index) that gives a view. The index holds numbers, slices and None, and ends in Ellipsis."""
    @single(name=name, view=True, input=lambda g, shape, index: _put_in_zeros(g, shape, index))
    def primitive(input, index):
        result = view(input, index) if view else input[index]
        return result if result.size else empty_slice(input, index, result)
    return primitive


def _with_new_axes(array, index):
    """array[index] with torch's strides for the dimensions that None adds. NumPy gives these dimensions stride 0."""
    size, items, rest, new = [], [], list(array.shape), []
    for item in index[:-1]:
        if item is None:
            new.append(len(size))
        size.append(1 if item is None else rest.pop(0))
        items.append(_ALL if item is None else item)
    return with_new_dims(array, size + rest, new)[(*items, ...)]


_select, _slice, _alias = _basic("select"), _basic("slice"), _basic("alias")
_select_new, _slice_new, _new_axis = [_basic(name, _with_new_axes) for name in ("select", "slice", "unsqueeze")]


@op(name="slice_backward", g=lambda g, index: _slice(g, index))
def _put_in_zeros(g, shape, index):
    if g.__class__ is np.ndarray and g.nbytes >= _LARGE and (borders := _borders(shape, index)) is not None:
        inside = [n - before - after for n, (before, after) in zip(shape, borders)]
        found = arrange.bordered(g.reshape(inside), borders, 0.0)
        if found is not None:
            return found
    result = arrange.zeros(shape, g.dtype)
    result[index] = g
    return result


def _borders(shape, index):
    """How many elements lie before and behind those of a basic index, in each dimension. None for an index with steps
    or new dimensions."""
    found = [(0, 0)] * len(shape)
    for d, item in enumerate(index[:-1]):
        if item.__class__ is slice:
            start, stop, step = item.indices(shape[d])
            if step != 1:
                return None
            found[d] = start, shape[d] - stop
        elif item is None:
            return None
        else:
            found[d] = item, shape[d] - item - 1
    return tuple(found)


@single(name="index", input=lambda g, shape, indices: _add_in_zeros(g, shape, indices),
    converts=True)     # the rule itself adds in bfloat16, rounding after each addition
def _index(input, indices):
    return pick(input, indices)


@op(name="index_backward", g=lambda g, index: _index(g, index))
def _add_in_zeros(g, shape, index):
    found = added_at(shape, index, g)
    if found is not None:
        return found
    result = np.zeros(shape, g.dtype)
    if any(isinstance(i, np.ndarray) and i.dtype == bool for i in index):
        result[index] = g                      # a mask names no element twice
    elif g.size:                               # torch does not check indices of an empty gradient
        add_at(result, index, g)
    return result


@op(name="index_put", values=lambda g, indices: _index(g, indices),
    input=lambda g, indices, accumulate: g if accumulate else _index_put(g, 0, indices, False))
def _index_put(input, values, indices, accumulate):
    result = dense_copy(input)
    put_values(result, values, indices, accumulate)
    return result


def _with_index_versions(result, index):
    """`result`, whose node now records the versions of the tensors in `index`: backward raises an error if they were
    written to."""
    node = result._node
    if node is not None and node.versions is not PACKED:
        versions = []
        for item in index if isinstance(index, tuple) or _is_list_of_items(index) else (index,):
            if isinstance(item, Tensor) and item._array.ndim:
                versions += (item._version_counter, item._version_counter[0])
        node.versions = versions or UNWATCHED
    return result


# ------------------------------------------------------------------ reading an index
def parse(shape, index):
    """Splits `index` of a tensor of `shape`: (basic index or None if it selects everything, the primitive for it,
    advanced index or None). The basic index ends in Ellipsis. The advanced index is applied to its result."""
    if index.__class__ is not tuple:
        index = _as_tuple(index)
    # First every item is made plain and the dimensions that they use are counted. Then one case per kind of item: a
    # slice, None, Ellipsis, a bool (a new dimension of size 0 or 1), an integer, an array of integers or of bools.
    items = [item if item is None or item is Ellipsis or item.__class__ in (int, slice) else _plain_item(item)
             for item in index]
    used = 0
    for item in items:
        if isinstance(item, np.ndarray):
            used += item.ndim if item.dtype == bool else 1
        elif item is not None and item is not Ellipsis and item.__class__ is not bool:
            used += 1
    if used > len(shape):
        if not shape and len(items) == 1 and index[0].__class__ in (int, slice):
            raise _no_dimensions(items[0])
        raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
    basic, arrays, primitive = [], [], _alias
    dim = made = 0                             # dimensions used of the tensor; dimensions made of the result
    rest = len(shape) - used
    for place, item in enumerate(items):
        kind = item.__class__
        if kind is slice:
            item = _plain_slice(item)
            basic.append(item)
            if item is not _ALL and (item.start or item.step not in _UNIT or (
                    item.stop is not None and item.stop < shape[dim])):
                primitive = _slice
            dim, made = dim + 1, made + 1
        elif item is None:
            basic.append(None)
            made += 1
            primitive = _new_axis
        elif item is Ellipsis:
            basic += [_ALL] * rest
            dim, made, rest = dim + rest, made + rest, 0
        elif kind is bool:
            basic.append(None)
            arrays.append((made, np.zeros(int(item), np.int64)))
            made += 1
            primitive = _new_axis
        elif kind is int:
            if not -shape[dim] <= item < shape[dim]:
                in_64_bits(item)
                raise IndexError(f"index {item} is out of bounds for dimension {place} with size {shape[dim]}")
            basic.append(item)
            dim += 1
            primitive = _select
        else:
            basic += [_ALL] * (item.ndim if item.dtype == bool else 1)
            arrays.append((made, item))
            if item.dtype == bool:
                check_mask(item, made, shape[dim:dim + item.ndim], shape)
            count = item.ndim if item.dtype == bool else 1
            dim, made = dim + count, made + count
    advanced = _advanced(arrays) if arrays else None
    if None in basic:
        primitive = {_select: _select_new, _slice: _slice_new}.get(primitive, _new_axis)
    if advanced is not None and all(item is _ALL for item in basic):
        return None, primitive, advanced
    return (*basic, Ellipsis), primitive, advanced


def _no_dimensions(item):
    """The error for a number or a slice as the index of a 0-dim tensor."""
    if item.__class__ is slice:
        return IndexError("slice() cannot be applied to a 0-dim tensor.")
    if item:
        in_64_bits(item)
        return IndexError(f"index {item} is out of bounds for dimension 0 with size 0")
    return IndexError("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to "
                      "convert a 0-dim tensor to a number")


def _advanced(arrays):
    """An index for NumPy from (dimension, array) pairs. A single mask stays a mask; several become integers."""
    if len(arrays) > 1:
        arrays = [(d + k, part) for d, a in arrays
                  for k, part in enumerate(a.nonzero() if a.dtype == bool else (a,))]
    index, dim = [], 0
    for d, array in arrays:
        index += [_ALL] * (d - dim)
        index.append(array)
        dim = d + 1
    return tuple(index)


def _check_numbers(advanced):
    """Has a recording refuse an array of one number in an index that is applied in two parts, or that gives a view: the
    number is no part of the advanced index where nobody records."""
    for item in advanced:
        if isinstance(item, StandIn) and not item.ndim:
            item.check_number()


def _as_tuple(index):
    """The items of an index that is no plain tuple."""
    if isinstance(index, tuple):
        return tuple(index)
    return _list_as_tuple(index) if _is_list_of_items(index) else (index,)


def _is_list_of_items(index):
    """Whether an index is a list that torch reads as a tuple: a short list of more than numbers."""
    return index.__class__ is list and len(index) < 32 and any(
        item is None or item is Ellipsis or isinstance(item, (slice, list, tuple, Tensor, np.ndarray))
        for item in index)


def _list_as_tuple(index):
    warn("Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in "
         "pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor "
         "index, x[torch.tensor(seq)], which will result either in an error or a different result")
    return tuple(index)


def _plain_item(item):
    """An item of an index as an int, a bool, a slice, None, Ellipsis, or an array of integers or bools."""
    if isinstance(item, Tensor):
        return _plain_array(item._array)
    if isinstance(item, np.ndarray):           # unlike a tensor, it may have any dtype of real numbers
        known = not item.ndim or item.dtype in _INDICES or item.dtype.kind not in dt.INTEGER + dt.NATIVE
        return _plain_array(item.copy() if known else item.astype(np.int64))   # the caller may write to the original
    if isinstance(item, np.generic) and item.dtype.kind not in dt.BOOL + dt.INTEGER:
        return _plain_array(np.asarray(item))
    if isinstance(item, (bool, slice)):
        return item
    if isinstance(item, (list, tuple, range)):
        if not len(item):
            return np.zeros(0, np.int64)
        try:
            array = np.array([x._array if isinstance(x, Tensor) else x for x in item])
        except ValueError:                     # ragged, or nested too deep
            check_not_in_itself(item)
            array = array_of(list(item))
        if not any([isinstance(x, (Tensor, np.ndarray)) for x in item]):
            array = _of_numbers(array, item)
        if not array.size:                     # lists of empty lists
            array = array.astype(np.int64)
        return _plain_array(array) if array.ndim else array
    if isinstance(item, str):
        raise TypeError("new(): invalid data type 'str'")
    try:
        return as_int(item)
    except TypeError:
        raise IndexError("only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid "
                         f"indices (got {kind_of(item)})") from None


#: The kinds of arrays that NumPy makes from floats, complex numbers and bytes.
_NO_INDICES = (*dt.NATIVE, "c", "S")


def _of_numbers(array, item):
    """The array of a list of numbers, in torch's dtype for it: uint8 or bool if all numbers are, else int64."""
    if array.dtype == np.uint8 or array.dtype == bool or not array.size:
        return array
    if array.dtype.kind == "U" and array.size == 1:
        raise TypeError("new(): invalid data type 'str'")
    if array.dtype.kind in _NO_INDICES or any([isinstance(x, np.bool_) for x in item]):
        return array_of(list(item), dt.int64)  # refuses everything but integers and Python's floats
    if array.dtype.kind not in dt.INTEGER:
        return array
    if array.dtype == np.uint64:
        in_64_bits(int(array.max()))
    return array.astype(np.int64)


def _plain_array(array):
    if array.dtype == np.uint8:
        warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.")
        array = array != 0
    if isinstance(array, StandIn):
        array.check_mask()                     # under vmap an integer per sample stays an array
    elif array.dtype == bool:
        return array if array.ndim else bool(array)
    elif not array.ndim and array.dtype.kind in dt.INTEGER:
        return int(array)
    if array.dtype not in (np.int64, np.int32):
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    return array


def _plain_slice(item):
    """A slice with plain numbers and a step that torch allows."""
    if item.step is not None:
        step = as_int(item.step)
        if step <= 0:
            raise ValueError("step must be greater than zero" if step else "slice step cannot be zero")
        return slice(*[None if n is None else as_int(n) for n in (item.start, item.stop)], step)
    if item.start.__class__ in _PLAIN and item.stop.__class__ in _PLAIN:
        return item if item.start is not None or item.stop is not None else _ALL
    try:
        return slice(*[None if n is None else as_int(n) for n in (item.start, item.stop)])
    except TypeError:
        raise TypeError("slice indices must be integers or None or have an __index__ method") from None


# ------------------------------------------------------------------ reading and writing
def _simple_index(shape, index):
    """(basic index, primitive) for a tuple of integers and slices that are in range, else None. It is the frequent case
    of an index."""
    if len(index) > len(shape):
        return None
    primitive = _alias
    for n, item in zip(shape, index):
        if item.__class__ is int:
            if not -n <= item < n:
                return None
            primitive = _select
        elif (item.__class__ is slice and item.step is None and item.start.__class__ in _PLAIN
              and item.stop.__class__ in _PLAIN):
            if item.start or item.stop is not None and item.stop < n:          # not the whole dimension
                primitive = _slice
        else:
            return None
    return (*index, ...), primitive


def _plain_arrays(shape, index):
    """The arrays of a tuple of tensors of int64 for the first dimensions, else None."""
    if not 0 < len(index) <= len(shape):
        return None
    arrays = []
    for item in index:
        if item.__class__ is not Tensor:
            return None
        array = item._array
        if array.__class__ is not np.ndarray or array.dtype != _INT64 or not array.ndim:
            return None
        arrays.append(array)
    return tuple(arrays)


@method("__getitem__")
def getitem(self, index):
    """self[index]. It is a view if the index holds only numbers, slices, None and Ellipsis, else a copy."""
    try:
        shape = self._array.shape
    except AttributeError:
        raise TypeError("descriptor '__getitem__' requires a 'torch._C.TensorBase' object but received a "
                        f"'{type(self).__name__}'") from None
    kind = index.__class__
    if kind is int and shape and -shape[0] <= index < shape[0]:
        return _select(self, (index, ...))
    if kind is slice or kind is tuple:
        simple = _simple_index(shape, index if kind is tuple else (index,))
        if simple is not None:
            return (_slice if kind is slice else simple[1])(self, simple[0])
    advanced = _plain_arrays(shape, index if kind is tuple else (index,))
    if advanced is None:
        basic, primitive, advanced = parse(shape, index)
        if basic is not None:
            self = primitive(self, basic)
        if advanced is None:
            return self
        _check_numbers(advanced)
    result = _index(self, advanced)
    return _with_index_versions(result, index) if result._requires_grad else result


@method("__setitem__")
def setitem(self, index, value):
    """self[index] = value, in place, with history. `value` is a number or a tensor, broadcast."""
    # Checks of the value and the index come first. Then there are three ways to write: recorded by autograd
    # (`_set_recorded`); by an advanced index (`_set_by_arrays`); else into a view of the memory.
    if value.__class__ not in _NUMBERS and not isinstance(value, Tensor):
        value = _assignable(self, value)
    if index is False:
        return
    if value.__class__ is int and not -1 << 63 <= value < 1 << 63:
        raise ValueError("Overflow when unpacking long long")
    if index is True:
        self, index = self.unsqueeze(0), Ellipsis
    if isinstance(value, complex) and not dt.is_complex(self._array.dtype):
        as_scalar_tensor(value, self._array.dtype)              # raises torch's error
    try:
        basic, primitive, advanced = parse(self._array.shape, index)
    except IndexError as error:
        check_apart_first(error, self, value)
        raise
    if advanced is not None:
        check_masks(index if isinstance(index, tuple) else (index,), value)
        if isinstance(value, Tensor) and value._array.ndim > 1 and value._array.shape[0] == 1:
            value = value.reshape(_without_leading_ones(value._array.shape))
    if mode.grad_now and (has_history(self) or isinstance(value, Tensor) and has_history(value)):
        _set_recorded(self, index, basic, primitive, advanced, value)
        return
    if self._version_counter.__class__ is not list:
        check_inference(self)
    array = self._array if basic is None else self._array[basic]
    if advanced is not None:
        _set_by_arrays(array, index, advanced, value)
    else:
        if 0 in array.strides and not _needs_write(array, value):
            count_write(self)
            return
        source = value
        if not isinstance(value, Tensor):
            value = as_scalar_tensor(value, array.dtype)
        else:
            if may_share(array, value._array):
                check_overlap(wrap(array), _expanded_value(value, array.shape), copying=True)
            value = value._array
            if value.dtype != array.dtype:
                with ignored():                # a number may be too large for the dtype
                    value = dt.cast(value, array.dtype)
        try:
            array[...] = value
        except ValueError as error:
            if isinstance(source, Tensor):
                _expanded_value(source, array.shape)   # raises torch's error for shapes that do not fit
            raise refusal(error) from None
    self._version_counter[0] += 1
    if all_threads.noting_writes:
        note_place(self._version_counter)


def _assignable(self, value):
    """A number from NumPy as Python's. TypeError for a value that cannot be assigned to elements of `self`."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, _NUMBERS):            # an instance of a subclass of these
        return value
    kind = "numpy.ndarray" if isinstance(value, np.ndarray) else type(value).__name__
    raise TypeError(f"can't assign a {kind} to a {self.type()}")


def _set_recorded(self, index, basic, primitive, advanced, value):
    """Writes through in-place operations that autograd records."""
    target = self if basic is None or _selects_all(self._array.shape, basic) else primitive(self, basic)
    copies = advanced is None and isinstance(value, Tensor) and value._array.ndim or not target._array.ndim
    if advanced is None and not copies:
        check_written(target._array)
    if not isinstance(value, Tensor):
        value = wrap(as_scalar_tensor(value, self._array.dtype))
    if advanced is not None:
        _put_in_place(target, advanced, value, False, index)
    elif copies:
        target.copy_(_expanded_value(value, target._array.shape))
    else:
        target.fill_(value)


def _set_by_arrays(array, index, advanced, value):
    """Writes a number or a tensor to the elements that an advanced index selects."""
    if isinstance(value, Tensor) or array.dtype.kind in dt.INTEGRAL:
        value = check_apart(wrap(array), value, advanced, index if index.__class__ is tuple else (index,))
    if not isinstance(value, Tensor):
        value = as_scalar_tensor(value, array.dtype)
    elif value._array.dtype == array.dtype:
        value = value._array
    else:
        value = _in_own_dtype(wrap(array), value, advanced)
        with ignored():                        # a number may be too large for the dtype
            value = dt.cast(value._array, array.dtype)
    if is_expanded(array):
        _put_expanded(array, np.asarray(value, array.dtype), advanced)
    else:
        put_values(array, value, advanced)


def _needs_write(array, value):
    """For memory with a stride of 0: whether torch copies `value` there. It does not if the value is the same memory in
    the same layout. RuntimeError if elements share a place."""
    if isinstance(value, Tensor) and value._array.ndim and may_share(array, value._array):
        part, whole = layouts(_expanded_value(value, array.shape)._array, array)
        if part == whole:
            return False
    check_written(array)
    return True


def _selects_all(shape, basic):
    """Whether a basic index selects everything in a form for which torch makes no view. It makes a view for -1: of one
    element and for :-1 of none."""
    dims = [item for item in basic if item is not Ellipsis]
    return all(item.__class__ is slice for item in dims) and all(
        not item.start and item.step in (None, 1) and (item.stop is None or item.stop >= n)
        for n, item in zip(shape, dims))


def _expanded_value(value, shape):
    """`value` without its leading dimensions of size 1, expanded to `shape`."""
    size = value._array.shape
    if size == shape:
        return value
    return value.reshape(_without_leading_ones(size)).expand(shape)


def _without_leading_ones(size):
    return size[next((i for i, n in enumerate(size) if n != 1), len(size)):]


def _in_own_dtype(self, values, advanced, accumulate=False):
    """`values` in the dtype of `self`. RuntimeError for another dtype, except for one value written by a mask."""
    if values._array.dtype == self._array.dtype:
        return values
    if values._array.size == 1 and not accumulate and advanced[-1].dtype == bool:
        stored_as(values.item(), self._array.dtype)             # raises if the dtype cannot hold it
        return values.to(self.dtype)
    pick(self._array, advanced)                 # errors of the index come before the error of dtypes
    raise RuntimeError("Index put requires the source and destination dtypes match, got "
                       f"{type_name(self)} for the destination and {type_name(values)} for the source.")


def _parse_put(shape, indices):
    """The advanced index of `index_put`, from a tensor or None (all elements) per dimension."""
    if len(indices) > len(shape):
        raise IndexError(f"too many indices for tensor of dimension {len(shape)} (got {len(indices)})")
    if not indices:
        raise RuntimeError("index_put: needs at least one tensor of indices")
    return parse(shape, tuple(map(_item_of_put, indices)))[2]


def _item_of_put(i):
    """An item of the indices of `index_put` as an item of an index: 0-dim integers are arrays here."""
    if i is None:
        return _ALL
    return i.reshape(1) if isinstance(i, Tensor) and not i._array.ndim and i._array.dtype.kind in dt.INTEGER else i


def _put(input, indices, values, accumulate, index=None):
    """`index_put`. `index`: the user's index from which `indices`, then a tuple of arrays, was made."""
    refuse_records("index_put", input, _NOT_PUT)
    if not accumulate:
        check_masks(indices, values)
    advanced = _parse_put(input._array.shape, indices)
    values = _in_own_dtype(input, values, advanced, accumulate)
    index = tuple(indices) if index is None else index
    return _with_index_versions(_index_put(input, values, advanced, accumulate), index)


_NOT_PUT = (dt.FLOAT8_E8M0FNU,)


def _put_in_place(self, indices, values, accumulate, index=None):
    refuse_records("index_put", self, _NOT_PUT)
    check_in_place(self, values)
    if not accumulate:
        check_masks(indices, values)
    try:
        advanced = _parse_put(self._array.shape, indices)
    except IndexError as error:
        check_apart_first(error, self, values, accumulate)
        raise
    if not mode.grad_now or not (has_history(self) or has_history(values)):
        values = check_apart(self, _in_own_dtype(self, values, advanced, accumulate), advanced, indices, accumulate)
        if self._array.flags.c_contiguous or not accumulate and 0 not in self._array.strides:
            put_values(self._array, values._array, advanced, accumulate)
            count_write(self)
            return self
    values = check_apart(self, values, advanced, indices, accumulate)
    return assign(self, _put(self, indices, values, accumulate, index),
                  lambda memory, _: _put_expanded(memory, values._array, _parse_put(memory.shape, indices), accumulate))


@public(method=True)
def index_put(input: Tensor, indices: Tensors, values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy of `input` with input[indices] = values, or += with `accumulate` (repeated places add up).

    RuntimeError if the dtypes differ or `values` does not broadcast; IndexError out of range.

    >>> import tinytorch as torch
    >>> torch.zeros(3).index_put((torch.tensor([1, 1]),), torch.tensor([1., 2.]), accumulate=True)
    tensor([0., 3., 0.])
    """
    return _put(input, indices, values, accumulate)


@public(method=True)
def index_put_(input: Tensor, indices: Tensors, values: Tensor, accumulate: bool = False) -> Tensor:
    """In-place form of `index_put`."""
    return _put_in_place(input, indices, values, accumulate)


def _put_expanded(memory, values, advanced, accumulate=False):
    if is_lazy(memory):
        check_written(memory)
    warn_expanded("index_put_", "tensor[indices] = tensor")
    if values.size == 1 and not accumulate and len(advanced) == 1 and advanced[0].dtype == bool:
        warn_expanded("masked_fill_", "tensor[mask] = scalar")     # torch calls masked_fill_ for it
    if accumulate and memory.size:
        if not memory.flags.writeable:
            raise RuntimeError(READ_ONLY)
        steps = [step // memory.itemsize for step in memory.strides]
        count = 1 + sum((n - 1) * step for n, step in zip(memory.shape, steps))
        places = as_strided(np.arange(count), memory.shape, [8 * step for step in steps])
        add_flat(as_strided(memory, (count,), (memory.itemsize,)), pick(places, advanced), values)
    else:
        put_values(memory, values, advanced)
