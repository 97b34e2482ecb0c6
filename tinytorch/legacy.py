"""The types from before torch.dtype: FloatTensor, LongTensor ..., and changes of a tensor's memory."""
import numpy as np

from . import dtypes as dt
from .autograd.op import methods
from .ops.create import size_of
from .ops.data import array_of
from .tensor import Size, Tensor, root_of, wrap

__all__ = ["resize_as_", "set_default_tensor_type"]


class tensortype(type):
    """The class of `torch.FloatTensor` and its like: names for tensors of one dtype.

    Calling one makes a tensor: FloatTensor() is empty, FloatTensor(2, 3) is not initialised, FloatTensor([1, 2]) has
    data.
    """

    def __call__(cls, *args, device=None):
        return wrap(legacy_array(args, cls.dtype))

    def __instancecheck__(cls, x):
        return isinstance(x, Tensor) and x.array.dtype == cls.dtype.numpy

    def __repr__(cls):
        return f"<class 'torch.{cls.__name__}'>"


def legacy_array(args, dtype):
    """The ndarray of the old constructors. TypeError for a single number that is no size."""
    if not args:
        return np.empty(0, dtype.numpy)
    first = args[0]
    if len(args) > 1 or (isinstance(first, int) and not isinstance(first, bool)) or isinstance(first, Size):
        return np.empty(size_of(args, "new"), dtype.numpy)
    if isinstance(first, Tensor):
        if first.dtype is not dtype:
            raise TypeError(f"expected {_options(dtype)} (got {_options(first.dtype)})")
        return first.array
    if isinstance(first, (float, bool, complex)):
        raise TypeError(f"new(): data must be a sequence (got {type(first).__name__})")
    return array_of(first, dtype)


def _options(dtype):
    name = {"float32": "float", "float64": "double", "int64": "long int", "int16": "short int",
            "uint8": "unsigned char", "int8": "signed char", "int32": "int"}.get(dtype.name, dtype.name)
    return (f"TensorOptions(dtype={name}, device=cpu, layout=Strided, requires_grad=false (default), "
            "pinned_memory=false (default), memory_format=(nullopt))")


#: By name: FloatTensor, LongTensor ... (the unsigned types of 16 bits and more never had one).
TYPES = {d.tensor_type: tensortype(d.tensor_type, (), {"dtype": d, "is_cuda": False, "is_sparse": False,
                                                       "__doc__": f"Tensors of dtype {d!r}, and their constructor."})
         for d in dt.ALL if not d.tensor_type.startswith("UInt")}
globals().update(TYPES)
__all__ += TYPES


def set_default_tensor_type(t, /):
    """Make the floating type `t` (such as torch.DoubleTensor, or its name) that of new tensors.

    >>> import tinytorch as torch
    >>> torch.set_default_tensor_type(torch.DoubleTensor); torch.tensor(1.).dtype
    torch.float64
    >>> torch.set_default_tensor_type("torch.FloatTensor")
    """
    if isinstance(t, str):
        if t.rpartition(".")[2] not in TYPES:
            raise TypeError(f"invalid type: '{t}'")
        t = TYPES[t.rpartition(".")[2]]
    if not isinstance(t, tensortype) and t is not Tensor:
        raise TypeError("invalid type object")
    if t is Tensor:
        return
    if not t.dtype.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    dt.set_default_dtype(t.dtype)


def new(self, *args, device=None):
    """A tensor of this dtype as the old constructors made it: new(2, 3), new([1, 2])."""
    return wrap(legacy_array(args, self.dtype))


# ------------------------------------------------------------------ memory
def _memory(array):
    """The elements of an array's memory from its first one on, in one dimension."""
    root = root_of(array)
    if not root.flags.c_contiguous or root.dtype != array.dtype:
        return array.reshape(-1)
    start = (array.__array_interface__["data"][0] - root.__array_interface__["data"][0]) // array.itemsize
    return root.reshape(-1)[start:]


def resize_(self, *sizes, memory_format=None):
    """Give `self` another shape over the same memory; new memory, with undefined elements, if that is too small.

    >>> import tinytorch as torch
    >>> torch.arange(6).resize_(2, 2)
    tensor([[0, 1],
            [2, 3]])
    """
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    size = size_of(sizes, "resize_")
    if size == self.array.shape:
        return self
    count, memory = int(np.prod(size)), _memory(self.array)
    if memory.size < count:
        larger = np.empty(count, self.array.dtype)
        larger[:memory.size] = memory
        memory = larger
    self.array = memory[:count].reshape(size)
    self.version[0] += 1
    return self


def resize_as_(self, other, memory_format=None):
    """`self.resize_(other.size())`."""
    return resize_(self, other.array.shape)


methods(new, resize_, resize_as_)
