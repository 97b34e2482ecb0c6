"""Copies, and conversions of dtype and device: to, float, long, clone, contiguous ..."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...arguments.data import check_array
from ...autograd.in_place import by_pieces
from ...autograd.op import op, renamed, single
from ...autograd.places import count_write
from ...autograd.promotion import NUMBERS, check_broadcast, filled_as, stored_as
from ...autograd.public import method, public, refuse
from ...autograd.record_dtypes import of_source
from ...autograd.views import assign, check_in_place, check_overlap, is_apart, is_expanded, layouts, may_share
from ...device import CPU, META, check_device, device as Device
from ...errors import kind_of, not_a_tensor, warn_once
from ...kernels import arrange, halves, native
from ...kernels.copies import copied, in_rows, write
from ...kernels.layout import channels_last, dense_copy, ordered_like
from ...kernels.memory import WHOLE, with_strides
from ...kinds.lazy import NO_DATA
from ...memory_format import (
    contiguous_format,
    dense_steps,
    memory_format as MemoryFormat,
    memory_order,
    preserve_format,
)
from ...tensor import Tensor, wrap
from ...types import Number
from ..layout.shape import inverse
from .options import as_dtype, check_options, without_numbers, wrong

#: The characters of the dtypes between which NumPy converts as torch does.
_REAL = "?bhilqBHILQfd"


def _converted_back(g, numpy_dtype, source):
    """The gradient of a conversion: rounded as the output was, then converted to the dtype of the source."""
    have = g._array.dtype if isinstance(g, Tensor) else g.dtype
    if have != numpy_dtype:
        g = _to_copy(g, numpy_dtype, have)
    return of_source(_to_copy(g, source, numpy_dtype), numpy_dtype)


@single(name="to_copy", batches="leading", input=lambda g, numpy_dtype, source: _converted_back(g, numpy_dtype, source),
    converts=True)
def _to_copy(input, numpy_dtype, source):
    return recast(input, numpy_dtype)


@single(name="to_copy")
def _to_discrete(input, numpy_dtype, source):
    """A conversion to integers or bools, which have no gradient."""
    return recast(input, numpy_dtype)


def recast(array, numpy_dtype):
    if type(array) is np.ndarray and array.dtype.char in _REAL and numpy_dtype.char in _REAL and (
            array.flags.c_contiguous and 1 not in array.shape):
        result = None if array.size < native.LEAST_OF["float_to_double"] else halves.convert(array, numpy_dtype)
        if result is None and native.listening and numpy_dtype.kind in dt.BOOL:
            return native.heard(np.not_equal)(array, 0)
        return array.astype(numpy_dtype) if result is None else result
    result = halves.convert(array, numpy_dtype)
    if result is None:
        result = dt.cast(array, numpy_dtype)
    return result if array.flags.c_contiguous and 1 not in array.shape else ordered_like(result, array)


@single(name="clone", input=lambda g: g)
def _clone(input, order):
    """A copy laid out as the input ("K"; "V" for a view), in C order ("C"), or with its dimensions in the
    given order."""
    if order == "K" and input.flags.forc and 1 not in input.shape:
        return copied(input)
    if order in ("K", "V") and input.ndim == 1 and type(input) is np.ndarray:
        return input.copy("C")
    if order in ("K", "V"):
        return dense_copy(input)
    if order == "C":
        return in_rows(input)
    if not input.size:
        return with_strides(np.empty(input.shape, input.dtype), order)
    return in_rows(input.transpose(order)).transpose(inverse(order))


_copied = renamed(_clone, "to_copy")


@method("_alias", seen=False)
@single(name="alias", view=True, input=lambda g: g)
def alias(input):
    """A view of the whole tensor."""
    return input[...]


def _from_meta(g):
    raise NotImplementedError(NO_DATA)


@single(name="to_copy", input=lambda g: _from_meta(g))
def _to_meta(input):
    return without_numbers(input)


def _on_device(self, device):
    """`self` on the device: the CPU or `meta`. NotImplementedError for a move from `meta`, where there are no numbers
    to copy."""
    if (device is META) is self.is_meta:
        return self
    return _to_meta(self) if device is META else _from_meta(self)


#: Complex numbers are converted to these kinds without a warning. WIDENED is among them for its complex dtype.
_KEEPING = dt.COMPLEX + dt.BOOL + dt.WIDENED


@method(repeats=True)
def to(self, *args, dtype=None, device=None, non_blocking=False, copy=False, memory_format=None):
    """`self` in another dtype (recorded), or itself if nothing changes: to(dtype), to(device), to(device, dtype) or
    to(other).

    >>> import tinytorch as torch
    >>> torch.tensor([1.7, -2.2]).to(torch.int64)
    tensor([ 1, -2])
    """
    # The paths, in the order in which they are asked: positional arguments; a move to another device, which ends the
    # call; a copy if the dtype differs; another copy if the order of dimensions differs; else `self`.
    if args:
        first = args[0]
        if first.__class__ is dt.dtype and len(args) == 1 and dtype is None and device is None:
            dtype = first
        elif first.__class__ in _DEVICES and len(args) == 1 and device is None:
            device = first
        else:
            dtype, device, copy = _arguments_of_to(args, dtype, device, copy)
    if device is not None:
        if device.__class__ in _DEVICES:
            device = check_device(device)
        else:
            check_options("to", None, device)
        moved = self if device is CPU and type(self._array) is np.ndarray else _on_device(self, device)
        if moved is not self:
            return to(moved, dtype=dtype, memory_format=memory_format)
    if non_blocking is not False or copy is not False:
        for name, flag in (("non_blocking", non_blocking), ("copy", copy)):
            if not isinstance(flag, bool):
                raise wrong("to", name, "bool", flag)
    try:
        own = self._array.dtype
    except AttributeError:
        raise TypeError(f"descriptor 'to' for 'torch._C.TensorBase' objects doesn't apply to a '{kind_of(self)}' "
                        "object") from None
    if dtype is None:
        target = own
    else:
        target = dtype.numpy if dtype.__class__ is dt.dtype else as_dtype(dtype, "to").numpy
    order = "K" if memory_format is None else _order("to", memory_format, self._array.ndim)
    if target != own:
        if own.kind in dt.COMPLEX and target.kind not in _KEEPING:
            warn_once("Casting complex values to real discards the imaginary part")
        result = (_to_copy if target.kind in dt.DIFFERENTIABLE else _to_discrete)(self, target, own)
        if own.kind == dt.WIDENED:
            of_source(result, own)
        return result if order == "K" or laid_out(result._array, order) and _has_format(result._array, order) else \
            _copied(result, order)
    return _copied(self, order) if copy or order != "K" and not _has_format(self._array, order) else self


_DEVICES = (str, Device)


def _arguments_of_to(args, dtype, device, copy):
    """(dtype, device, copy) from positional arguments: (dtype, ...), (other, ...) or (device, dtype, ...), each
    followed by non_blocking and copy."""
    first, *flags = args
    if isinstance(first, Tensor) or _is_dtype(first):
        fits = dtype is None and device is None
        dtype, device = (first.dtype, first.device) if isinstance(first, Tensor) else (first, None)
    else:
        fits, device = device is None, first
        if flags:
            fits = fits and dtype is None and (flags[0] is None or _is_dtype(flags[0]))
            dtype, *flags = flags
    if not fits or len(flags) > 2 or any([flag.__class__ is not bool for flag in flags]):
        kinds = ", ".join([type(arg).__name__ for arg in args])
        raise TypeError(f"to() received an invalid combination of arguments - got ({kinds}), but expected one of:\n"
                        " * (torch.device device = None, torch.dtype dtype = None, bool non_blocking = False, bool "
                        "copy = False, *, torch.memory_format memory_format = None)\n * (torch.dtype dtype, bool "
                        "non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None)\n * "
                        "(Tensor tensor, bool non_blocking = False, bool copy = False, *, torch.memory_format "
                        "memory_format = None)\n")
    return dtype, device, flags[1] if len(flags) == 2 else copy


def _is_dtype(x):
    return isinstance(x, dt.dtype) or isinstance(x, type) and x in (float, int, bool, complex)


def _order(name, memory_format, ndim):
    """`memory_order` of a memory format. Raises torch's TypeError for any other object."""
    if not isinstance(memory_format, MemoryFormat):
        raise wrong(name, "memory_format", "torch.memory_format", memory_format)
    return memory_order(memory_format, ndim)


def laid_out(array, order):
    """Whether the array's dimensions lie densely in memory in the given order ("C" or dimensions)."""
    if order == "C":
        return array.flags.c_contiguous
    if not array.size:                         # NumPy takes every array without elements to be contiguous
        steps = array.strides if any(array.strides) else [n * array.itemsize for n in dense_steps(array.shape)]
        return all([n == 1 or step == dense * array.itemsize
                    for n, step, dense in zip(array.shape, steps, dense_steps(array.shape, order))])
    return array.transpose(order).flags.c_contiguous


def _has_format(array, order):
    """Whether torch takes the array to be in that memory format, which may have gaps."""
    last = array.ndim > 3 and array.strides[1] <= array.strides[-1] and channels_last(array)
    return last is (order != "C")


@public(hot=True, method=True)
def clone(input: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor:
    """A copy that gradients pass through, by default in the same memory layout.

    >>> import tinytorch as torch
    >>> x = torch.tensor([1, 2]); y = x.clone(); y[0] = 5; x
    tensor([1, 2])
    """
    ndim = input._array.ndim
    if memory_format is None:
        return _clone(input, "K" if input._view_info is None else "V")
    return _clone(input, _order("clone", memory_format, ndim))


@method(repeats=True)
def contiguous(self, *, memory_format=contiguous_format):
    """The tensor itself if it lies in memory in C order (or in that of `memory_format`), else a copy in this order."""
    if memory_format is contiguous_format:
        return self if self._array.flags.c_contiguous else _clone(self, "C")
    if memory_format is preserve_format:
        if self._array.flags.c_contiguous:
            return self
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    order = _order("contiguous", memory_format, self._array.ndim)
    return self if laid_out(self._array, order) else _clone(self, order)


@method()
def is_contiguous(self, *, memory_format=contiguous_format):
    """Whether the elements lie densely in C order (or in that of `memory_format`)."""
    if memory_format is contiguous_format or memory_format is preserve_format:
        return self._array.flags.c_contiguous
    if not isinstance(memory_format, MemoryFormat):
        raise wrong("is_contiguous", "memory_format", "torch.memory_format", memory_format)
    return self._array.ndim == len(memory_format.order) and laid_out(self._array, memory_format.order)


@method(in_python=True, leaves=True)
def __array_wrap__(self, array, context=None, return_scalar=False):
    """The result of a NumPy function of a tensor, as a tensor. Bools become uint8.

    >>> import numpy, tinytorch as torch
    >>> numpy.add(torch.tensor([1, 2]), 1)
    tensor([2, 3])
    """
    if array.dtype == bool:
        array = array.astype(np.uint8)
    return wrap(check_array(array))


@method()
def type_as(self, other):
    """`self` in the dtype of `other`."""
    if not isinstance(other, Tensor):
        raise not_a_tensor("type_as", "other", 1, other)
    return to(self, other)


_NO_CUDA = "Cannot initialize CUDA without ATen_cuda library: tinytorch computes on the CPU"


@method("type")
def type_(self, dtype=None, non_blocking=False):
    """Without arguments the name of the type, else the tensor converted to a type (a dtype or a name).

    >>> import tinytorch as torch
    >>> torch.ones(1).type()
    'torch.FloatTensor'
    """
    if non_blocking.__class__ is not bool:
        raise wrong("type", "non_blocking", "bool", non_blocking)
    if dtype is None:
        return f"torch.{'meta.' * self.is_meta}{self.dtype.tensor_type}"
    if isinstance(dtype, str):
        for d in dt.ALL:
            if dtype == f"torch.{d.tensor_type}":
                return to(self, d)
            if dtype == f"torch.cuda.{d.tensor_type}":
                raise RuntimeError(_NO_CUDA)
        if dtype != "torch.Tensor":
            raise ValueError(f"invalid type: '{dtype}'")
        dtype = Tensor
    if dtype is Tensor:
        return to(self, dt.get_default_dtype())
    if not isinstance(dtype, dt.dtype):
        if not isinstance(dtype, type):
            raise TypeError("dtype must be a type, str, or dtype object")
        if getattr(dtype, "is_cuda", None) is True:
            raise RuntimeError(_NO_CUDA)
        if not isinstance(getattr(dtype, "dtype", None), dt.dtype):        # not a legacy type such as torch.FloatTensor
            raise ValueError(f"invalid type: '{dtype.__name__}'")
        dtype = dtype.dtype
    return to(self, dtype)


@method()
def cpu(self, *, memory_format=None):
    """The tensor itself. NotImplementedError for a tensor on `meta`, which has no numbers."""
    return _on_device(self, CPU)


@method("copy_")
def copy_values(self, other, non_blocking=False):
    """Writes `other`, broadcast and converted to this dtype, into `self`.

    >>> import tinytorch as torch
    >>> torch.zeros(2, 2).copy_(torch.tensor([1, 2]))
    tensor([[1., 2.],
            [1., 2.]])
    """
    if isinstance(other, Tensor) and non_blocking is False and is_apart(self) and is_apart(other):
        array, values = self._array, other._array
        if array.shape == values.shape and array.dtype is values.dtype and array.base is values.base is None and (
                array is not values and array.flags.writeable):
            write(array, values)
            self._version_counter[0] += 1
            return self
    if isinstance(other, NUMBERS):
        other = _number_for(self, other)
    if not isinstance(other, Tensor):
        raise not_a_tensor("copy_", "other", 1, other)
    if non_blocking.__class__ is not bool:
        raise wrong("copy_", "non_blocking", "bool", non_blocking)
    if other.device is not self.device:
        other = _on_device(other, self.device)
    check_in_place(self, other)
    same = other is self                       # the same elements, so that elements may share a place
    if same and is_expanded(self._array) and not self._requires_grad:
        count_write(self)
        return self
    if not same and may_share(self._array, other._array):
        check_overlap(self, other, copying=True, aligned=True)
        part, whole = layouts(other._array, self._array)
        same = part == whole
    return assign(self, _copy(self, to(other, self.dtype)), np.copyto if same else None)


def _number_for(self, number):
    """A number as a tensor that is copied to `self`. It has the dtype of `self` unless it is complex."""
    number = dt.number_of(number)
    return wrap(np.asarray(number) if isinstance(number, complex) else stored_as(number, self._array.dtype))


def _zero_gradient(g):
    """The gradient of the overwritten elements. It is not g * 0, which would be nan where g is infinite."""
    return g.new_zeros(g.shape) if isinstance(g, Tensor) else np.zeros(g.shape, g.dtype)


@op(name="copy", backward_name="torch::autograd::CopyBackwards", input=lambda g: _zero_gradient(g), src=lambda g: g)
def _copy(input, src):
    """The elements to write: `src` itself, broadcast."""
    if src.shape == input.shape:
        return src
    try:
        return np.broadcast_to(src, input.shape)
    except ValueError:
        check_broadcast(input.shape, src.shape)
        raise RuntimeError(f"output with shape {list(input.shape)} doesn't match the broadcast shape "
                           f"{list(np.broadcast_shapes(input.shape, src.shape))}") from None


@op(name="fill.2", input=lambda g: _zero_gradient(g), value=lambda g: g)
def _fill(input, value):
    if type(input) is not np.ndarray:
        return np.full_like(input, value)
    result = np.empty_like(input)
    result[...] = value                        # takes half as long as np.full_like
    return result


_fill_tensor, _zero = renamed(_fill, "fill.3"), renamed(_fill, "zero")
_filled, _filled_tensor = renamed(_fill, "fill"), renamed(_fill, "fill.1")


@public(hot=True)
def fill(input: Tensor, value: Tensor | Number) -> Tensor:
    """A copy of `input` with `value` (a number or a 0-dim tensor) everywhere.

    >>> import tinytorch as torch
    >>> torch.fill(torch.zeros(2), 3)
    tensor([3., 3.])
    """
    if not isinstance(input, Tensor) or not isinstance(value, _VALUES):
        refuse(fill, input, value)
    return _filled_with(input, value, _filled, _filled_tensor)


@public(hot=True, method=True, repeats=True)
def fill_(input: Tensor, value: Tensor | Number) -> Tensor:
    """Writes `value` (a number or a 0-dim tensor) everywhere.

    >>> import tinytorch as torch
    >>> torch.ones(2).fill_(3)
    tensor([3., 3.])
    """
    if not isinstance(input, Tensor) or not isinstance(value, _VALUES):
        refuse(fill_, input, value)
    if is_apart(input) and (value.__class__ is float or value.__class__ is int) and -65504 <= value <= 65504:
        array = input._array                   # every float dtype can hold the value
        if array.dtype.kind == dt.NATIVE and 0 not in array.strides and array.flags.writeable:
            arrange.fill(array, value)
            input._version_counter[0] += 1
            return input
    check_in_place(input, value)
    if input._array.size > WHOLE and by_pieces(fill_, input, (value,)):
        return input
    result = _filled_with(input, value, _fill, _fill_tensor)
    return assign(input, result, None if isinstance(value, Tensor) else np.copyto)


_VALUES = (Tensor, bool, int, float, complex, np.generic)


def _filled_with(input, value, of_number, of_tensor):
    if isinstance(value, Tensor):
        if value._array.ndim:
            raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value._array.ndim} "
                               "dimensions.")
        return of_tensor(input, to(value, input.dtype))
    return of_number(input, filled_as(value, input._array.dtype, input._array.size))


@public(hot=True, method=True, repeats=True)
def zero_(input: Tensor) -> Tensor:
    """Writes zeros everywhere.

    >>> import tinytorch as torch
    >>> torch.ones(2).zero_()
    tensor([0., 0.])
    """
    if is_apart(input):
        array = input._array
        if array.dtype.kind != dt.WIDENED and 0 not in array.strides and array.flags.writeable:
            arrange.fill(array, 0)
            input._version_counter[0] += 1
            return input
    check_in_place(input)
    if input._array.size > WHOLE and by_pieces(zero_, input):
        return input
    return assign(input, _zero(input, stored_as(0, input._array.dtype)), np.copyto)
