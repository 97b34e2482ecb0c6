"""New tensors: tensor zeros ones full empty and their like."""
import warnings

import numpy as np

from ... import dtypes as dt
from ...arguments import check_positive, ints_of, size_of
from ...autograd.promotion import refill, scalar_as, stored_as
from ...autograd.public import methods
from ...autograd.tensor_methods import check_can_require_grad
from ...data import array_of, check_array
from ...device import check_device
from ...errors import not_a_tensor
from ...kernels.layout import span, strided
from ...kernels.memory import check_size, empty as new_memory
from ...memory_format import check_layout, memory_order, preserve_format
from ...tensor import Tensor, root_of, wrap
from ..layout.shape import inverse

__all__ = ["as_tensor", "asarray", "empty", "empty_like", "empty_permuted", "empty_strided", "from_numpy", "frombuffer",
           "full", "full_like", "is_tensor", "ones", "ones_like", "scalar_tensor", "tensor", "zeros", "zeros_like"]

_PYTHON_TYPES = {float: dt.float64, int: dt.int64, bool: dt.bool, complex: dt.complex128}


def as_dtype(dtype, name):
    """A dtype argument: a torch.dtype, None, or the Python types float, int, bool, complex."""
    if dtype is None or isinstance(dtype, dt.dtype):
        return dtype
    if isinstance(dtype, type) and dtype in _PYTHON_TYPES:
        return _PYTHON_TYPES[dtype]
    raise TypeError(f"{name}(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")


def finish(array, dtype=None, device=None, requires_grad=False):
    """A leaf around `array`, converted to `dtype`, with torch's checks."""
    if device is not None:
        check_device(device)
    if dtype is not None and array.dtype != dtype.numpy:
        array = dt.cast(array, dtype.numpy)
    result = wrap(array)
    if requires_grad:
        _require_grad(result)
    return result


def _require_grad(result):
    if result.array.dtype.kind not in "fcV":
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    check_can_require_grad(result)
    result._requires_grad = True


def is_tensor(obj):
    """Whether `obj` is a Tensor.

    >>> import tinytorch as torch
    >>> torch.is_tensor(torch.zeros(1)), torch.is_tensor(1)
    (True, False)
    """
    return isinstance(obj, Tensor)


# ------------------------------------------------------------------ from data
def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor with a copy of `data`: numbers, nested sequences, arrays, tensors.

    Numbers get the default dtype (float), int64, bool or the default complex dtype; arrays keep theirs.
    ValueError for ragged sequences, TypeError or RuntimeError for what is not a number.

    >>> import tinytorch as torch
    >>> torch.tensor([[1, 2], [3, 4]], dtype=torch.float64)
    tensor([[1., 2.],
            [3., 4.]], dtype=torch.float64)
    """
    if isinstance(data, Tensor):
        warnings.warn("To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
                      "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
                      UserWarning, stacklevel=2)
        return finish(data.array.copy(), as_dtype(dtype, "tensor"), device, requires_grad)
    return finish(array_of(data, as_dtype(dtype, "tensor")), None, device, requires_grad)


def as_tensor(data, dtype=None, device=None):
    """`data` as a tensor, shared where possible: a tensor (with its history) or an array of that dtype.

    >>> import tinytorch as torch
    >>> torch.as_tensor([1, 2])
    tensor([1, 2])
    """
    dtype = as_dtype(dtype, "as_tensor")
    if isinstance(data, Tensor):
        return data.to(device=device, dtype=dtype)
    if isinstance(data, np.ndarray):
        return finish(from_numpy(data).array, dtype, device)
    return finish(array_of(data, dtype), None, device)


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """`obj` (tensor, array, buffer, numbers) as a tensor: shared where possible unless `copy`.

    A buffer (bytearray, memoryview) is read as `frombuffer` does. ValueError if `copy` is False and a copy is needed.

    >>> import tinytorch as torch
    >>> torch.asarray([1., 2.])
    tensor([1., 2.])
    """
    dtype = as_dtype(dtype, "asarray")
    if isinstance(obj, Tensor):
        result = obj.to(dtype) if dtype is not None else obj
        shared = result is obj
        result = result if requires_grad else result.detach()
        if copy and shared:
            result = result.clone()
    elif isinstance(obj, np.ndarray):
        result = as_tensor(obj, dtype, device)
        shared = np.may_share_memory(result.array, obj)
        if copy and shared:
            result = wrap(result.array.copy())
    elif not isinstance(obj, np.generic) and _is_buffer(obj):
        result, shared = frombuffer(obj, dtype=dtype or dt.get_default_dtype()), not copy
        if copy:
            result = result.clone()
    else:
        result, shared = as_tensor(obj, dtype, device), False
    if copy is False and not shared:
        raise ValueError("can't alias arbitrary sequence into a "
                         "tensor." if not isinstance(obj, (Tensor, np.ndarray)) else
                         f"can't alias tensor with dtype {dt.of(np.asarray(getattr(obj, 'array', obj)))!r} into dtype "
                         f"{dtype!r}.")
    if requires_grad and not result.requires_grad:
        _require_grad(result)
    return result


def _is_buffer(obj):
    try:
        memoryview(obj)
    except TypeError:
        return False
    return True


def from_numpy(ndarray):
    """A tensor that shares the memory of an ndarray. One that is read-only stays so, with a warning.

    TypeError for dtypes that torch lacks, ValueError for strides that are negative or no multiple of the element.

    >>> import numpy, tinytorch as torch
    >>> torch.from_numpy(numpy.arange(3))
    tensor([0, 1, 2])
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    check_array(ndarray)
    if not ndarray.flags.writeable:
        warnings.warn("The given NumPy array is not writable, and PyTorch does not support non-writable tensors. Here "
                      "it stays as it is: writing to this tensor is an error.", UserWarning, stacklevel=2)
    return wrap(_plain(ndarray))


def _plain(array):
    """`array` itself, or the same memory without what a tensor has no use for: a subclass, and an array it is a view
    of in which its elements do not lie at whole places (those of a tensor's storage)."""
    if array.__class__ is not np.ndarray:
        array = array.view(np.ndarray)
    root = root_of(array)
    if root is not array:
        place = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
        if place < 0 or place % array.itemsize or root.nbytes % array.itemsize or min(root.strides, default=0) < 0:
            return np.asarray(memoryview(array))
    return array


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A vector that shares the memory of a Python buffer. One that is read-only stays so, with a warning.

    ValueError for what is no buffer, or too short for the offset and count, or no multiple of the element.

    >>> import tinytorch as torch
    >>> torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.int16)
    tensor([1, 2], dtype=torch.int16)
    """
    if not isinstance(dtype, dt.dtype):
        raise TypeError(f"frombuffer(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")
    for name, n in (("count", count), ("offset", offset)):
        if isinstance(n, bool) or not hasattr(n, "__index__"):
            raise TypeError(f"frombuffer(): argument '{name}' must be int, not {type(n).__name__}")
    try:
        memory = memoryview(buffer)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    if not memory.c_contiguous:
        raise RuntimeError("could not retrieve buffer from object")
    length = memory.nbytes
    if length == 0 or count == 0:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} "
                         "bytes) minus 1")
    if count < 0 and (length - offset) % dtype.itemsize:
        raise ValueError(f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple of "
                         f"element size ({dtype.itemsize})")
    if count > 0 and offset + count * dtype.itemsize > length:
        raise ValueError(f"requested buffer length ({count} * {dtype.itemsize} bytes) after offset ({offset} bytes) "
                         f"must not be greater than actual buffer length ({length} bytes)")
    if memory.readonly:
        warnings.warn("The given buffer is not writable, and PyTorch does not support non-writable tensors. Here it "
                      "stays as it is: writing to this tensor is an error.", UserWarning, stacklevel=2)
    return finish(np.frombuffer(buffer, dtype.numpy, count, offset), None, None, requires_grad)


def scalar_tensor(s, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A 0-dim tensor of a number, in the default dtype unless told.

    >>> import tinytorch as torch
    >>> torch.scalar_tensor(3)
    tensor(3.)
    """
    if not isinstance(s, (int, float, complex, np.generic)) and not (isinstance(s, Tensor) and not s.array.ndim):
        raise TypeError(f"scalar_tensor(): argument 's' (position 1) must be Number, not {type(s).__name__}")
    if dtype is None:
        dtype = dt.default_complex() if isinstance(s, complex) else dt.get_default_dtype()
    return finish(stored_as(s, dtype.numpy), None, device, requires_grad)


# ------------------------------------------------------------------ of one value
def _number_of(name, value):
    """A fill value as a Python number. TypeError for what is none."""
    number = value
    if isinstance(value, np.generic) or isinstance(value, Tensor) and not value.array.ndim:
        number = value.item()
    if not isinstance(number, (int, float, complex)):
        raise TypeError(f"{name}(): argument 'fill_value' (position 2) must be Number, not {type(value).__name__}")
    return number


def empty_in(size, numpy_dtype, order):
    """Uninitialised memory of shape `size` with its dimensions in the given order ("C", "K" or dimensions)."""
    if isinstance(order, str):
        return new_memory(size, numpy_dtype)
    return new_memory([size[d] for d in order], numpy_dtype).transpose(inverse(order))


def _filled(name, fill, doc):
    def create(*args, size=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False,
               memory_format=None):
        if size is None and not args:
            raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
        if layout is not None:
            check_layout(layout)
        shape = size_of(args if size is None else (size,), name)
        if out is not None and dtype is not None and as_dtype(dtype, name) is not out.dtype:
            raise RuntimeError(f"dtype {as_dtype(dtype, name).type_name} does not match dtype of out parameter "
                               f"({out.dtype.type_name})")
        numpy_dtype = (as_dtype(dtype, name) or (dt.get_default_dtype() if out is None else out.dtype)).numpy
        if memory_format is not None:
            if memory_format is preserve_format:
                raise RuntimeError("unsupported memory format Preserve")
            array = empty_in(shape, numpy_dtype, memory_order(memory_format, len(shape)))
            array[...] = fill(array.shape, numpy_dtype)
        else:
            array = new_memory(shape, numpy_dtype, fill)
        return refill(out, finish(array, None, device, requires_grad))
    create.__name__ = create.__qualname__ = name
    create.__doc__ = doc
    return create


def constant(size, value, numpy_dtype):
    """An array full of a Python number."""
    result = new_memory(size, numpy_dtype)
    result[...] = stored_as(value, numpy_dtype)
    return result


zeros = _filled("zeros", np.zeros, """A tensor of zeros: zeros(2, 3) or zeros((2, 3)).

    >>> import tinytorch as torch
    >>> torch.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """)
ones = _filled("ones", lambda size, d: constant(size, 1, d), """A tensor of ones: ones(2, 3) or ones((2, 3)).

    >>> import tinytorch as torch
    >>> torch.ones(2, dtype=torch.int64)
    tensor([1, 1])
    """)
empty = _filled("empty", np.empty, """A tensor of the given size whose elements are not set.

    >>> import tinytorch as torch
    >>> torch.empty(2, 3).shape
    torch.Size([2, 3])
    """)


def full(size, fill_value, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor full of a number, whose dtype follows the number unless told.

    >>> import tinytorch as torch
    >>> torch.full((2,), 7)
    tensor([7, 7])
    """
    check_layout(layout)
    if isinstance(size, int) or not isinstance(size, (tuple, list)):
        raise TypeError(f"full(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}")
    value = _number_of("full", fill_value)
    if dtype is None and out is not None:
        dtype = out.dtype
    elif dtype is None:
        dtype = fill_value.dtype if isinstance(fill_value, Tensor) else dt.of_scalar(value)
    array = _converted_constant(size_of((size,), "full"), value, as_dtype(dtype, "full"))
    return refill(out, finish(array, None, device, requires_grad))


def _converted_constant(size, value, dtype):
    return constant(size, value, dtype.numpy)


def _like(name, fill, doc):
    def create(input, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False,
               memory_format=preserve_format):
        return _fill_like(name, fill, input, dtype, layout, device, requires_grad, memory_format)
    create.__name__ = create.__qualname__ = name
    create.__doc__ = doc
    return create


def _fill_like(name, fill, input, dtype, layout, device, requires_grad, memory_format):
    if not isinstance(input, Tensor):
        raise not_a_tensor(name, "input", 1, input)
    check_layout(layout)
    array = input.array
    numpy_dtype = array.dtype if dtype is None else as_dtype(dtype, name).numpy
    order = memory_order(memory_format, array.ndim)
    if order == "K":
        order = "C" if 0 in array.strides else "K"
        result = new_memory(array.shape, numpy_dtype, lambda size, d: np.empty_like(array, d, order))
    else:
        result = empty_in(array.shape, numpy_dtype, order)
    fill(result)
    return finish(result, None, device, requires_grad)


def _fill_with(value):
    def fill(array):
        array[...] = scalar_as(value, array.dtype)
    return fill


zeros_like = _like("zeros_like", _fill_with(0), """Zeros with the shape, dtype and memory layout of `input`.

    >>> import tinytorch as torch
    >>> torch.zeros_like(torch.tensor([1, 2]))
    tensor([0, 0])
    """)
ones_like = _like("ones_like", _fill_with(1), """Ones with the shape, dtype and memory layout of `input`.

    >>> import tinytorch as torch
    >>> torch.ones_like(torch.tensor([1., 2.]))
    tensor([1., 1.])
    """)
empty_like = _like("empty_like", lambda array: None, """A tensor like `input` whose elements are not set.

    >>> import tinytorch as torch
    >>> torch.empty_like(torch.zeros(2, 3)).shape
    torch.Size([2, 3])
    """)


def full_like(input, fill_value, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False,
              memory_format=preserve_format):
    """A number everywhere, with the shape, dtype and memory layout of `input`.

    >>> import tinytorch as torch
    >>> torch.full_like(torch.tensor([1., 2.]), 3)
    tensor([3., 3.])
    """
    value = _number_of("full_like", fill_value)

    def fill(array):
        array[...] = _converted_constant((), value, dt.of(array))
    return _fill_like("full_like", fill, input, dtype, layout, device, requires_grad, memory_format)


def empty_strided(size, stride, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of the given size and strides (in elements) whose elements are not set.

    RuntimeError for negative sizes, strides that lead below the first element, and more memory than there is.

    >>> import tinytorch as torch
    >>> torch.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    return _strided("empty_strided", size, stride, dtype, layout, device, requires_grad)


def _strided(name, size, stride, dtype, layout, device, requires_grad):
    size, stride = ints_of(size, name, "size", 1), ints_of(stride, name, "stride", 2)
    numpy_dtype = (as_dtype(dtype, name) or dt.get_default_dtype()).numpy
    check_layout(layout)
    if len(size) != len(stride):
        raise RuntimeError(f"dimensionality of sizes ({len(size)}) must match dimensionality of strides "
                           f"({len(stride)})")
    check_positive(size)
    bytes_needed = span(size, stride, 0, numpy_dtype.itemsize)
    check_size(size, numpy_dtype.itemsize, stride)
    memory = new_memory((bytes_needed // numpy_dtype.itemsize,), numpy_dtype)
    return finish(strided(memory, size, stride), None, device, requires_grad)


def empty_permuted(size, physical_layout, *, dtype=None, layout=None, device=None, requires_grad=False,
                   pin_memory=False):
    """A tensor whose elements are not set and whose dimensions lie in memory in the order `physical_layout`.

    >>> import tinytorch as torch
    >>> torch.empty_permuted((2, 3), (1, 0)).stride()
    (1, 2)
    """
    size = ints_of(size, "empty_permuted", "size", 1)
    order = ints_of(physical_layout, "empty_permuted", "physical_layout", 2)
    check_positive(size)
    if sorted(order) != list(range(len(size))):
        raise RuntimeError(f"Number of dimensions in size does not match the length of the physical_layout; i.e. "
                           f"len(size) = {len(size)} is not equal to len(physical_layout) = "
                           f"{len(order)}" if len(order) != len(size)
                           else "Duplicate dim not allowed in physical_layout")
    return finish(empty_in(size, (dtype or dt.get_default_dtype()).numpy, order), None, device, requires_grad)


# ------------------------------------------------------------------ methods: like self
def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """`torch.tensor(data)` in the dtype of `self`."""
    return tensor(data, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)


def _new(name, create):
    def method(self, *args, size=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
        return create(size_of(args if size is None else (size,), name), dtype=dtype or self.dtype, layout=layout,
                      device=device, requires_grad=requires_grad)
    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"`torch.{name[4:]}(size)` in the dtype of `self`."
    return method


def new_full(self, size, fill_value, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """`torch.full(size, fill_value)` in the dtype of `self`."""
    value = _number_of("new_full", fill_value)
    return full(size, value, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)


def new_empty_strided(self, size, stride, *, dtype=None, layout=None, device=None, requires_grad=False,
                      pin_memory=False):
    """`torch.empty_strided(size, stride)` in the dtype of `self`."""
    return _strided("new_empty_strided", size, stride, dtype or self.dtype, layout, device, requires_grad)


methods(new_tensor, new_full, new_empty_strided, _new("new_zeros", zeros), _new("new_ones", ones),
        _new("new_empty", empty))
