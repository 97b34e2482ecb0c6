"""New tensors: tensor zeros ones full empty and their like."""
from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes as dt
from ...arguments import check_positive, ints_of, size_of
from ...arguments.data import array_of
from ...autograd import late_bound
from ...autograd.places import count_write
from ...autograd.promotion import as_scalar_tensor, filled_as, refill, scalar_as
from ...autograd.public import public
from ...device import META, check_device
from ...errors import warn
from ...kernels import arrange
from ...kernels.layout import ordered_like, span, strided
from ...kernels.memory import Unset, check_size, empty as new_memory, unset, with_strides
from ...kinds.lazy import restrided
from ...memory_format import (
    contiguous_format,
    layout as Layout,
    memory_format as MemoryFormat,
    memory_order,
    preserve_format,
)
from ...tensor import Tensor, wrap
from ...types import Device, Extent, Extents, Ints, Number
from ..layout.shape import inverse
from .buffers import from_numpy, frombuffer
from .options import (
    as_dtype,
    check_options,
    dtype_for,
    finish,
    new_without_numbers,
    number_of,
    require_grad,
    without_numbers,
)

__all__ = ["as_tensor", "asarray", "empty", "empty_like", "empty_permuted", "empty_strided", "full", "full_like",
           "is_tensor", "ones", "ones_like", "scalar_tensor", "tensor", "zeros", "zeros_like"]


@public(python=True, seen=False)
def is_tensor(obj: Any) -> bool:
    """Whether `obj` is a Tensor.

    >>> import tinytorch as torch
    >>> torch.is_tensor(torch.zeros(1)), torch.is_tensor(1)
    (True, False)
    """
    return isinstance(obj, Tensor)


# ------------------------------------------------------------------ from data
def _array(data, dtype):
    """A new array of `data`. For an object that is not a number the error is that of Python's conversion to the
    dtype."""
    try:
        return array_of(data, dtype)
    except RuntimeError as error:
        nothing = str(error).removeprefix("Could not infer dtype of ")
        if nothing == str(error) or dtype is None or dtype is dt.bool:
            raise
        raise TypeError(f"'{nothing}' object cannot be interpreted as an integer" if dtype.category == 1
                        else f"must be real number, not {nothing}") from None


@public(hot=True, seen="modes")
def tensor(data: Any, *, dtype: dt.dtype | type | None = None, device: Device = None, requires_grad: bool = False,
           pin_memory: bool = False) -> Tensor:
    """A tensor with a copy of `data`: numbers, nested sequences, arrays, tensors.

    Numbers get the default dtype (float), int64, bool or the default complex dtype; arrays keep theirs.
    ValueError for ragged sequences, TypeError or RuntimeError for what is not a number.

    >>> import tinytorch as torch
    >>> torch.tensor([[1, 2], [3, 4]], dtype=torch.float64)
    tensor([[1., 2.],
            [3., 4.]], dtype=torch.float64)
    """
    if dtype is not None:
        dtype = as_dtype(dtype, "tensor")
    on_meta = False
    if device is not None or requires_grad.__class__ is not bool or pin_memory is not False:
        on_meta = check_options("tensor", None, device, requires_grad, pin_memory)
    if isinstance(data, Tensor):
        warn("To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
             "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).")
        result = wrap(data._array.copy() if dtype is None else dt.cast(data._array, dtype.numpy))
    else:
        result = wrap(_array(data, dtype))
    if on_meta:
        result = wrap(without_numbers(result._array))
    if requires_grad:
        require_grad(result)
    return result


@public(hot=True, seen="modes", shares=True)
def as_tensor(data: Any, *, dtype: dt.dtype | type | None = None, device: Device = None) -> Tensor:
    """`data` as a tensor. A tensor (with its history) or an array of that dtype shares its memory.

    >>> import tinytorch as torch
    >>> torch.as_tensor([1, 2])
    tensor([1, 2])
    """
    dtype = as_dtype(dtype, "as_tensor")
    on_meta = device is not None and check_options("as_tensor", None, device)
    if isinstance(data, Tensor):
        return data.to(device=device, dtype=dtype)
    if isinstance(data, np.ndarray):
        result = from_numpy(data)
        return result if dtype is None and not on_meta else result.to(device=device, dtype=dtype)
    array = _array(data, dtype)
    return wrap(without_numbers(array) if on_meta else array)


@public(shares=True)
def asarray(obj: Any, *, dtype: dt.dtype | type | None = None, device: Device = None, copy: bool | None = None,
            requires_grad: bool | None = None) -> Tensor:
    """`obj` (tensor, array, buffer, numbers) as a tensor. Memory is shared where possible unless `copy` is set; a
    tensor that needs no change is returned itself. `requires_grad`: by default that of a tensor `obj`, with its
    history.

    A buffer (bytearray, memoryview) is read as `frombuffer` does. ValueError if `copy` is False and a copy is needed.

    >>> import tinytorch as torch
    >>> torch.asarray([1., 2.])
    tensor([1., 2.])
    """
    dtype = as_dtype(dtype, "asarray")
    if isinstance(obj, Tensor):
        if requires_grad is None:
            if obj.requires_grad:
                warn("torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of "
                     "False. Pass requires_grad=False explicitly to get the old behavior and silence this "
                     "warning.")
            requires_grad = obj.requires_grad
        result, shared = _of_tensor(obj, dtype, device, copy, requires_grad)
    elif isinstance(obj, np.ndarray):
        result = as_tensor(obj, dtype=dtype, device=device)
        shared = np.may_share_memory(result._array, obj)
        if copy and shared:
            result = wrap(result._array.copy())
    elif type(obj).__name__ == "PyCapsule":
        from .dlpack import from_dlpack  # imported here, since dlpack.py imports this file
        return asarray(from_dlpack(obj), dtype=dtype, device=device, copy=copy, requires_grad=requires_grad)
    elif not isinstance(obj, np.generic) and _is_buffer(obj):
        result, shared = frombuffer(obj, dtype=dtype or dt.get_default_dtype()), not copy
        if copy:
            result = result.clone()
    else:
        result, shared = as_tensor(obj, dtype=dtype, device=device), False
    if copy is False and not shared:
        raise ValueError("can't alias arbitrary sequence into a "
                         "tensor." if not isinstance(obj, (Tensor, np.ndarray)) else
                         f"can't alias tensor with dtype '{dt.of(getattr(obj, '_array', obj)).type_name}' into dtype "
                         f"'{dtype.type_name}'.")
    if requires_grad and not result.requires_grad:
        require_grad(result)
    return result


def _of_tensor(tensor, dtype, device, copy, requires_grad):
    """`asarray` of a tensor: the result, and whether it shares memory with `tensor`."""
    result = tensor.to(device=device, dtype=dtype)
    shared = result is tensor
    if copy and shared:
        result = result.clone()
    if not requires_grad and result.requires_grad:
        result = result.requires_grad_(False) if result.is_leaf else result.detach()
    return result, shared


def _is_buffer(obj):
    try:
        memoryview(obj)
    except TypeError:
        return False
    return True


@public()
def scalar_tensor(s: Number, *, dtype: dt.dtype | type | None = None, layout: Layout | None = None,
                  device: Device = None, requires_grad: bool | None = False,
                  pin_memory: bool | None = False) -> Tensor:
    """A 0-dim tensor of a number, in the default dtype unless `dtype` is given.

    >>> import tinytorch as torch
    >>> torch.scalar_tensor(3)
    tensor(3.)
    """
    s = s.item() if isinstance(s, Tensor) else s
    dtype = as_dtype(dtype, "scalar_tensor")
    return finish(as_scalar_tensor(s, (dtype or dt.get_default_dtype()).numpy), device, requires_grad, pin_memory)


# ------------------------------------------------------------------ of a single value
def _unset(size, numpy_dtype):
    return unset(np.empty(size, numpy_dtype))


def empty_in(size, numpy_dtype, order):
    """Uninitialised memory of shape `size` with its dimensions in the given order ("C", "K" or dimensions)."""
    if isinstance(order, str):
        return new_memory(size, numpy_dtype)
    if 0 in size:
        return with_strides(np.empty(size, numpy_dtype), order)
    return new_memory([size[d] for d in order], numpy_dtype).transpose(inverse(order))


def constant(size, value, numpy_dtype):
    """An array filled with a Python number."""
    if numpy_dtype == _FLOAT and value.__class__ in _PLAIN and -65504 <= value <= 65504:
        result = new_memory(size, numpy_dtype, lambda size, _: arrange.filled(size, value))
        if result is not None:
            return result
    result = new_memory(size, numpy_dtype)
    result[...] = filled_as(value, numpy_dtype, result.size)
    return result if result.size else with_strides(result)


def _ones(size, numpy_dtype):
    return constant(size, 1, numpy_dtype)


def _filled(name, fill, args, size, out, dtype, layout, device, requires_grad, pin_memory, memory_format=None):
    """The common part of zeros, ones, empty and their methods: fill(size, dtype) as a tensor. The size, the dtype and
    the options are checked first. Then there are three kinds of memory: without numbers (on `meta`), filled, or in a
    given memory format. Last come `out` and `requires_grad`."""
    if not args if size is None else args or not isinstance(size, (tuple, list)):
        raise TypeError(_size_is_wrong(name, args, size))
    shape = size_of(args if size is None else (size,), name)
    if out is not None or dtype is not None and dtype.__class__ is not dt.dtype:
        dtype = dtype_for(out, dtype, name)
    numpy_dtype = (dtype or dt.get_default_dtype()).numpy
    if (layout is not None or device is not None or requires_grad.__class__ is not bool
            or pin_memory is not False):
        if check_options(name, layout, device, requires_grad, pin_memory):
            fill = None
    if fill is None:
        array = new_without_numbers(shape, numpy_dtype, memory_order(memory_format or contiguous_format, len(shape)))
    elif memory_format is None:
        array = new_memory(shape, numpy_dtype, fill)
    else:
        array = _unset_in_format(name, shape, numpy_dtype, memory_format)
    result = wrap(array if array.size else with_strides(array))
    if out is not None:
        result = refill(out, result) if fill is not _unset else _resized(out, shape)
    if requires_grad:
        require_grad(result)
    return result


def _unset_in_format(name, shape, numpy_dtype, memory_format):
    """Uninitialised memory in a memory format."""
    check_options(name, memory_format=memory_format)
    if memory_format is preserve_format:
        raise RuntimeError("unsupported memory format Preserve")
    return unset(empty_in(shape, numpy_dtype, memory_order(memory_format, len(shape))))


def _resized(out, shape):
    """`out` in another shape. Under torch.use_deterministic_algorithms its new elements are filled."""
    result = out.resize_(shape)
    if Unset.deterministic and Unset.filled:
        unset(result._array)
        count_write(result)
    return result


def _size_is_wrong(name, args, size):
    if size is None:
        return f'{name}() missing 1 required positional arguments: "size"'
    if args:
        return f"{name}() got multiple values for argument 'size'"
    return f"{name}(): argument 'size' must be tuple of ints, not {type(size).__name__}"


@public(hot=True, repeats=True)
def zeros(*args: Extent | Extents, size: Extents | None = None, out: Tensor | None = None,
          dtype: dt.dtype | type | None = None, layout: Layout | None = None, device: Device = None,
          requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """A tensor of zeros: zeros(2, 3) or zeros((2, 3)).

    >>> import tinytorch as torch
    >>> torch.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    return _filled("zeros", arrange.zeros, args, size, out, dtype, layout, device, requires_grad, pin_memory)


@public(hot=True, repeats=True)
def ones(*args: Extent | Extents, size: Extents | None = None, out: Tensor | None = None,
         dtype: dt.dtype | type | None = None, layout: Layout | None = None, device: Device = None,
         requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """A tensor of ones: ones(2, 3) or ones((2, 3)).

    >>> import tinytorch as torch
    >>> torch.ones(2, dtype=torch.int64)
    tensor([1, 1])
    """
    return _filled("ones", _ones, args, size, out, dtype, layout, device, requires_grad, pin_memory)


@public(hot=True)
def empty(*args: Extent | Extents, size: Extents | None = None, out: Tensor | None = None,
          dtype: dt.dtype | type | None = None, layout: Layout | None = None, device: Device = None,
          requires_grad: bool = False, pin_memory: bool = False,
          memory_format: MemoryFormat | None = None) -> Tensor:
    """A tensor of the given size with uninitialised elements.

    >>> import tinytorch as torch
    >>> torch.empty(2, 3).shape
    torch.Size([2, 3])
    """
    return _filled("empty", _unset, args, size, out, dtype, layout, device, requires_grad, pin_memory, memory_format)


@public(hot=True, repeats=True)
def full(size: Extents, fill_value: Number, *, out: Tensor | None = None, dtype: dt.dtype | type | None = None,
         layout: Layout | None = None, device: Device = None, requires_grad: bool = False,
         pin_memory: bool = False) -> Tensor:
    """A tensor filled with a number. By default its dtype follows from the number.

    >>> import tinytorch as torch
    >>> torch.full((2,), 7)
    tensor([7, 7])
    """
    return _full("full", size, fill_value, out, dtype, layout, device, requires_grad, pin_memory)


def _full(name, size, fill_value, out, dtype, layout, device, requires_grad, pin_memory):
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"{name}(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}")
    value = fill_value if fill_value.__class__ in _NUMBERS else number_of(name, "fill_value", 2, fill_value)
    if out is not None or dtype is not None and dtype.__class__ is not dt.dtype:
        dtype = dtype_for(out, dtype, name)
    if dtype is None:
        dtype = dt.int64 if value.__class__ is int else dt.of_scalar(value)
    if (layout is not None or device is not None or requires_grad.__class__ is not bool
            or pin_memory is not False):
        if check_options(name, layout, device, requires_grad, pin_memory):
            return finish(new_without_numbers(size_of((size,), name), dtype.numpy), None, requires_grad)
    result = wrap(constant(size_of((size,), name), value, dtype.numpy))
    if requires_grad:
        require_grad(result)
    return result if out is None else refill(out, result)


_NUMBERS = (float, int, bool, complex)
_FLOAT, _PLAIN = np.dtype(np.float32), (float, int)
#: A tensor of fewer elements always fits into memory, so its size is not checked.
_FEW = 1 << 16


# ------------------------------------------------------------------ like another tensor
def _fill_like(function, fill, input, dtype, layout, device, requires_grad, pin_memory, memory_format):
    if (layout is not None or device is not None or requires_grad.__class__ is not bool
            or pin_memory is not False):
        if check_options(function.__name__, layout, device, requires_grad, pin_memory) is not input.is_meta:
            input = elsewhere(input)
    array = input._array
    if array.__class__ is late_bound.sparse_array:
        return late_bound.sparse(function.__name__, (input,), {"dtype": dtype, "requires_grad": requires_grad})
    numpy_dtype = array.dtype if dtype is None else as_dtype(dtype, function.__name__).numpy
    usual = memory_format is None or memory_format is preserve_format
    if usual and type(array) is np.ndarray and array.size < _FEW and array.flags.c_contiguous and (
            1 not in array.shape):
        result = np.empty(array.shape, numpy_dtype)
    elif usual:
        order = "C" if 0 in array.strides else "K"
        result = new_memory(array.shape, numpy_dtype, lambda size, d: np.empty_like(array, d, order))
        if not array.flags.c_contiguous or 1 in array.shape:
            result = ordered_like(result, array)
    else:
        check_options(function.__name__, memory_format=memory_format)
        result = empty_in(array.shape, numpy_dtype, memory_order(memory_format, array.ndim))
    fill(result)
    result = wrap(result)
    if requires_grad:
        require_grad(result)
    return result


def elsewhere(input):
    """A tensor like `input` on the other device (the CPU or `meta`), with the same shape, strides and dtype."""
    if not input.is_meta:
        return wrap(without_numbers(input._array))
    return wrap(restrided(np.empty((), input._array.dtype), input._array.shape, input._array.strides))


def _fill_with(value):
    def fill(array):
        if type(array) is np.ndarray and array.dtype.kind != dt.WIDENED:
            arrange.fill(array, value)         # 0 and 1, which every dtype holds
        else:
            array[...] = scalar_as(value, array.dtype)
    return fill


_with_zeros, _with_ones = _fill_with(0), _fill_with(1)


@public(hot=True, repeats=True)
def zeros_like(input: Tensor, *, dtype: dt.dtype | type | None = None, layout: Layout | None = None,
               device: Device = None, requires_grad: bool = False, pin_memory: bool = False,
               memory_format: MemoryFormat | None = preserve_format) -> Tensor:
    """Zeros with the shape, dtype and memory layout of `input`.

    >>> import tinytorch as torch
    >>> torch.zeros_like(torch.tensor([1, 2]))
    tensor([0, 0])
    """
    return _fill_like(zeros_like, _with_zeros, input, dtype, layout, device, requires_grad, pin_memory,
                      memory_format)


@public(hot=True, repeats=True)
def ones_like(input: Tensor, *, dtype: dt.dtype | type | None = None, layout: Layout | None = None,
              device: Device = None, requires_grad: bool = False, pin_memory: bool = False,
              memory_format: MemoryFormat | None = preserve_format) -> Tensor:
    """Ones with the shape, dtype and memory layout of `input`.

    >>> import tinytorch as torch
    >>> torch.ones_like(torch.tensor([1., 2.]))
    tensor([1., 1.])
    """
    return _fill_like(ones_like, _with_ones, input, dtype, layout, device, requires_grad, pin_memory, memory_format)


@public(hot=True)
def empty_like(input: Tensor, *, dtype: dt.dtype | type | None = None, layout: Layout | None = None,
               device: Device = None, requires_grad: bool = False, pin_memory: bool = False,
               memory_format: MemoryFormat | None = preserve_format) -> Tensor:
    """A tensor like `input` with uninitialised elements.

    >>> import tinytorch as torch
    >>> torch.empty_like(torch.zeros(2, 3)).shape
    torch.Size([2, 3])
    """
    return _fill_like(empty_like, unset, input, dtype, layout, device, requires_grad, pin_memory, memory_format)


@public(hot=True, repeats=True)
def full_like(input: Tensor, fill_value: Number, *, dtype: dt.dtype | type | None = None, layout: Layout | None = None,
              device: Device = None, requires_grad: bool = False, pin_memory: bool = False,
              memory_format: MemoryFormat | None = preserve_format) -> Tensor:
    """A number everywhere, with the shape, dtype and memory layout of `input`.

    >>> import tinytorch as torch
    >>> torch.full_like(torch.tensor([1., 2.]), 3)
    tensor([3., 3.])
    """
    value = fill_value if fill_value.__class__ in _NUMBERS else number_of("full_like", "fill_value", 2, fill_value)

    def fill(array):
        if array.dtype == _FLOAT and type(array) is np.ndarray and value.__class__ in _PLAIN and (
                -65504 <= value <= 65504):
            arrange.fill(array, value)
            return
        array[...] = filled_as(value, array.dtype, array.size)
    return _fill_like(full_like, fill, input, dtype, layout, device, requires_grad, pin_memory, memory_format)


# ------------------------------------------------------------------ with given strides
@public()
def empty_strided(size: Extents, stride: Extents, *, dtype: dt.dtype | type | None = None, layout: Layout | None = None,
                  device: Device = None, requires_grad: bool | None = False,
                  pin_memory: bool | None = False) -> Tensor:
    """A tensor of the given size and strides (in elements) with uninitialised elements.

    RuntimeError for negative sizes, strides that lead below the first element, and sizes that exceed the memory.

    >>> import tinytorch as torch
    >>> torch.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    return _strided("empty_strided", size, stride, dtype, device, requires_grad, pin_memory)


def _strided(name, size, stride, dtype, device, requires_grad, pin_memory):
    size, stride = ints_of(size, name, "size", 1, True), ints_of(stride, name, "stride", 2, True)
    numpy_dtype = (as_dtype(dtype, name) or dt.get_default_dtype()).numpy
    if len(size) != len(stride):
        raise RuntimeError(f"dimensionality of sizes ({len(size)}) must match dimensionality of strides "
                           f"({len(stride)})")
    check_positive(size)
    bytes_needed = span(size, stride, 0, numpy_dtype.itemsize)
    check_size(size, numpy_dtype.itemsize, stride)
    count = bytes_needed // numpy_dtype.itemsize,
    if device is not None and check_device(device) is META:
        steps = [n * numpy_dtype.itemsize for n in stride]
        return finish(new_without_numbers(count, numpy_dtype).restrided(size, steps), None, requires_grad, pin_memory)
    return finish(strided(new_memory(count, numpy_dtype, _unset), size, stride), device, requires_grad, pin_memory)


@public()
def empty_permuted(size: Extents, physical_layout: Ints, *, dtype: dt.dtype | type | None = None,
                   layout: Layout | None = None, device: Device = None, requires_grad: bool | None = False,
                   pin_memory: bool | None = False) -> Tensor:
    """A tensor with uninitialised elements whose dimensions lie in memory in the order `physical_layout`.

    >>> import tinytorch as torch
    >>> torch.empty_permuted((2, 3), (1, 0)).stride()
    (1, 2)
    """
    size = ints_of(size, "empty_permuted", "size", 1, True)
    order = ints_of(physical_layout, "empty_permuted", "physical_layout", 2)
    check_positive(size)
    if sorted(order) != list(range(len(size))):
        raise RuntimeError(f"Number of dimensions in size does not match the length of the physical_layout; i.e. "
                           f"len(size) = {len(size)} is not equal to len(physical_layout) = "
                           f"{len(order)}" if len(order) != len(size)
                           else "Duplicate dim not allowed in physical_layout")
    numpy_dtype = (as_dtype(dtype, "empty_permuted") or dt.get_default_dtype()).numpy
    return finish(unset(empty_in(size, numpy_dtype, order)), device, requires_grad, pin_memory)
