"""Common arguments of the functions that make tensors: dtype= layout= device= requires_grad= pin_memory= and
numbers."""
from ... import dtypes as dt
from ...autograd.tensor_methods import check_can_require_grad
from ...autograd.views import has_history
from ...device import META, check_device, device as Device
from ...errors import kind_of
from ...memory_format import check_layout, layout as Layout, memory_format as MemoryFormat
from ...tensor import Tensor, wrap


def wrong(name, argument, word, value):
    """The TypeError for a keyword argument that is not of the type that torch calls `word`."""
    return TypeError(f"{name}(): argument '{argument}' must be {word}, not {kind_of(value)}")


def as_dtype(dtype, name):
    """A dtype argument: a torch.dtype, None, or one of Python's types float, int, bool and complex."""
    if dtype is None or isinstance(dtype, dt.dtype):
        return dtype
    if isinstance(dtype, type) and dtype in dt.PYTHON_TYPES:
        return dt.PYTHON_TYPES[dtype]
    raise wrong(name, "dtype", "torch.dtype", dtype)


def dtype_for(out, dtype, name):
    """The dtype to compute in: `dtype` if it is given, else that of `out`, else None. TypeError if `out` is not a
    tensor, RuntimeError if the two dtypes differ."""
    dtype = as_dtype(dtype, name)
    if out is None:
        return dtype
    if not isinstance(out, Tensor):
        raise wrong(name, "out", "Tensor", out)
    if dtype is not None and dtype is not out.dtype:
        raise RuntimeError(f"dtype {dtype.type_name} does not match dtype of out parameter ({out.dtype.type_name})")
    return out.dtype


def check_options(name, layout=None, device=None, requires_grad=False, pin_memory=False, memory_format=None):
    """Raises torch's errors for keywords that the door does not check. Returns whether the device is `meta`."""
    on_meta = False
    if device is not None:
        if device.__class__ is not Device and not isinstance(device, str) and (
                isinstance(device, (bool, Tensor)) or not hasattr(device, "__index__")):
            raise wrong(name, "device", "torch.device", device)
        on_meta = check_device(device) is META
    if layout is not None:
        if not isinstance(layout, Layout):
            raise wrong(name, "layout", "torch.layout", layout)
        check_layout(layout)
    if memory_format is not None and not isinstance(memory_format, MemoryFormat):
        raise wrong(name, "memory_format", "torch.memory_format", memory_format)
    if requires_grad.__class__ is not bool and requires_grad is not None:
        raise wrong(name, "requires_grad", "bool", requires_grad)
    if pin_memory.__class__ is not bool and pin_memory is not None:
        raise wrong(name, "pin_memory", "bool", pin_memory)
    check_pinned(pin_memory)
    return on_meta


def check_pinned(pin_memory):
    """RuntimeError for pinned memory, which needs an accelerator."""
    if pin_memory:
        raise RuntimeError("pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator "
                           "is available on this system.")


def finish(array, device=None, requires_grad=False, pin_memory=False):
    """A leaf around `array`, on the given device."""
    check_pinned(pin_memory)
    if device is not None and check_device(device) is META:
        array = without_numbers(array)
    result = wrap(array)
    if requires_grad:
        require_grad(result)
    return result


def without_numbers(array):
    """An array like `array` on the device `meta`."""
    from ..meta import meta_like  # loaded here, since few programs need it
    return meta_like(array)


def new_without_numbers(shape, numpy_dtype, order="C"):
    """An array on the device `meta` with its dimensions in memory in the given order ("C" or dimensions)."""
    from ..meta import new_meta
    return new_meta(shape, numpy_dtype, None if order == "C" else order)


def require_grad(result):
    """Makes a new leaf require gradients. RuntimeError for integers."""
    if result._array.dtype.kind not in dt.DIFFERENTIABLE:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    check_can_require_grad(result)
    result._requires_grad = True


def number_of(name, argument, position, value):
    """An argument as a Python number. It may be a NumPy number, or a tensor without dimensions that requires no
    gradient. TypeError for any other object."""
    number = dt.number_of(value)
    if isinstance(value, Tensor) and not value._array.ndim and not has_history(value):
        number = value.item()
    if not isinstance(number, (int, float, complex)):
        raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be Number, not "
                        f"{kind_of(value)}")
    return number
