"""The names that the pickle in a checkpoint may hold: storages, and the functions that make tensors of them.

The numbers in a file are not trusted: every shape, stride and offset is compared with the available bytes, in Python's
integers, before NumPy sees it. Arguments of a wrong type are an UnpicklingError, wrong numbers a RuntimeError with
torch's message.
"""
import functools
import math
import pickle
from collections import Counter, OrderedDict

import numpy as np

from .. import dtypes as dt
from ..device import device
from ..kinds.lazy import seen
from ..memory_format import LAYOUT_NAMES, layout, sparse_coo
from ..nn.parameter import Parameter
from ..ops.creation.factories import empty_strided
from ..ops.creation.options import new_without_numbers
from ..ops.creation.sparse import sparse_compressed_tensor, sparse_coo_tensor
from ..storage import TypedStorage
from ..tensor import Size, Tensor, own_attributes, wrap

_DIMS = 64                                     # the largest number of dimensions in NumPy
_BYTES = 2 ** 63 - 1                           # the largest number of bytes in NumPy


class StorageType:
    """Stands for torch.FloatStorage and the like in the pickle. Holds the dtype of a storage's bytes."""

    def __init__(self, name, dtype):
        self.name, self.dtype = name, dtype


STORAGES = {d: StorageType(d.type_name + "Storage", d) for d in dt.ALL}
UNTYPED = StorageType("UntypedStorage", dt.uint8)
globals().update({kind.name: kind for kind in (*STORAGES.values(), UNTYPED)})      # pickle finds them by name


def _check(good, name, expected, value):
    if not good:
        raise pickle.UnpicklingError(f"argument '{name}' of a tensor must be {expected}, but got "
                                     f"{type(value).__name__}")


def _numbers(name, values):
    _check(isinstance(values, (tuple, list)), name, "a tuple of ints", values)
    for n in values:
        _check(type(n) is int, name, "a tuple of ints", n)
    return tuple(values)


def _view(storage, d, offset, size, stride):
    """The array of dtype `d` in `storage`. Offset, size and stride count elements."""
    _check(isinstance(storage, TypedStorage), "storage", "a storage", storage)
    _check(type(d) is dt.dtype and d in dt.ALL, "dtype", "a torch.dtype", d)
    _check(type(offset) is int, "storage_offset", "an int", offset)
    size, stride = _numbers("size", size), _numbers("stride", stride)
    if len(size) != len(stride):
        raise RuntimeError(f"unequal size length ({len(size)}) and stride length ({len(stride)})")
    if len(size) > _DIMS:
        raise RuntimeError(f"a tensor of {len(size)} dimensions was saved: NumPy has at most {_DIMS}")
    if not 0 <= offset <= _BYTES:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    if min(size, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(size)}: {list(size)}")
    if math.prod(n or 1 for n in size) * d.itemsize > _BYTES:
        raise RuntimeError("numel: integer multiplication overflow")
    if min(stride, default=0) < 0 or max(stride, default=0) * d.itemsize > _BYTES:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")
    if hasattr(storage, "swapped"):
        _swap(storage, d)
    memory = storage.memory.view(np.uint8)
    if 0 in size:
        return np.empty(size, d.numpy) if type(memory) is np.ndarray else new_without_numbers(size, d.numpy)
    end = (offset + sum((n - 1) * s for n, s in zip(size, stride)) + 1) * d.itemsize
    if end > storage.nbytes():
        if end > _BYTES:
            raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)} and "
                               f"strides={list(stride)}")
        raise RuntimeError("Trying to resize storage that is not resizable: the storage has "
                           f"{storage.nbytes()} bytes, the tensor ends at byte {end}")
    strides = tuple(s * d.itemsize for s in stride)
    if type(memory) is not np.ndarray:
        return memory[offset * d.itemsize:end].view(d.numpy).restrided(size, strides)
    return np.ndarray(size, d.numpy, memory, offset * d.itemsize, strides)


def _swap(storage, d):
    """Put the bytes of an untyped storage, from a machine of the other byte order, in order: the first tensor over it
    says how wide its numbers are. RuntimeError if another tensor has numbers of another width there."""
    width = d.itemsize // 2 if d.is_complex else d.itemsize
    if storage.swapped is None:
        storage.swapped, memory = width, storage.memory.view(np.uint8)
        if width > 1 and type(memory) is np.ndarray:
            memory[:memory.size // width * width].view(f"u{width}").byteswap(inplace=True)
    elif storage.swapped != width:
        raise RuntimeError(f"numbers of {storage.swapped} and of {width} bytes share an untyped storage, and the file "
                           "was written on a machine of the other byte order")


def _get_layout(name):
    """The layout of that name, as torch pickles it."""
    if type(name) is not str or name not in _LAYOUTS:
        raise pickle.UnpicklingError(f"a layout is given by its name, not {name!r:.50}")
    return _LAYOUTS[name]


_LAYOUTS = {str(x): x for x in LAYOUT_NAMES}


def _rebuild_sparse_tensor(kind, data):
    """A sparse tensor from its parts: (indices, values, size[, is_coalesced]), or for sparse_csr and sparse_csc
    (offsets of compressed rows or columns, indices, values, size)."""
    _check(type(kind) is layout, "layout", "a layout", kind)
    _check(type(data) is tuple and len(data) in ((3, 4) if kind is sparse_coo else (4,)), "data", "a tuple", data)
    count = 2 if kind is sparse_coo else 3
    for part in data[:count]:
        _check(isinstance(part, Tensor), "data", "tensors", part)
    size = _numbers("size", data[count])
    if kind is sparse_coo:
        coalesced = data[3] if len(data) > 3 else None
        _check(coalesced in (None, False, True), "is_coalesced", "a bool", coalesced)
        return sparse_coo_tensor(data[0], data[1], size, is_coalesced=coalesced)
    return sparse_compressed_tensor(*data[:count], size, layout=kind)


def _check_grad(requires_grad, d):
    if type(requires_grad) is not bool:
        raise RuntimeError("requires_grad must be a bool")
    if requires_grad and not (d.is_floating_point or d.is_complex):
        raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")


def _rebuild_tensor_v3(storage, offset, size, stride, requires_grad, hooks, dtype, metadata=None):
    """A tensor of any dtype over an untyped storage."""
    array = _view(storage, dtype, offset, size, stride)
    _check_grad(requires_grad, dtype)
    if metadata:
        _check(isinstance(metadata, dict), "metadata", "a dict", metadata)
        for key, value in metadata.items():
            _check(type(key) is str and isinstance(value, int), "metadata", "a dict of names and bools", value)
        conj, neg = "conj" in metadata, "neg" in metadata      # as in torch, the keys alone count
        if conj and not dtype.is_complex:
            raise RuntimeError(f"a tensor of dtype {dtype!r} cannot be conjugated")
        if neg and dtype is dt.bool:
            raise RuntimeError(f"a tensor of dtype {dtype!r} cannot be negated")
        array = seen(array, conj, neg)
    tensor = wrap(array)
    tensor._requires_grad = requires_grad
    return tensor


def _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks, metadata=None):
    """A tensor of the dtype of its storage."""
    _check(isinstance(storage, TypedStorage), "storage", "a storage", storage)
    return _rebuild_tensor_v3(storage, offset, size, stride, requires_grad, hooks, storage.dtype, metadata)


def _rebuild_meta_tensor_no_storage(dtype, size, stride, requires_grad):
    """A tensor on the device `meta`."""
    _check(type(dtype) is dt.dtype and dtype in dt.ALL, "dtype", "a torch.dtype", dtype)
    _check_grad(requires_grad, dtype)
    return empty_strided(_numbers("size", size), _numbers("stride", stride), dtype=dtype, device="meta",
                         requires_grad=requires_grad)


def _rebuild_parameter(data, requires_grad, hooks):
    _check(isinstance(data, Tensor), "data", "a Tensor", data)
    _check(type(requires_grad) is bool, "requires_grad", "a bool", requires_grad)
    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(data, requires_grad, hooks, state):
    """A Parameter with the attributes that its user had set on it."""
    parameter = _rebuild_parameter(data, requires_grad, hooks)
    check_state(Parameter, state)
    parameter.__dict__.update(state)
    if not state.keys() <= own_attributes(parameter).keys():
        raise pickle.UnpicklingError("gradient and hooks of a Parameter are not for a file to set")
    return parameter


def _rebuild_from_type_v2(function, kind, args, state):
    """A tensor of a user's own class, with the attributes that were set on it."""
    made_by = function.args[-1] if isinstance(function, functools.partial) else function       # from `guard`
    _check(made_by in (_rebuild_tensor_v2, _rebuild_tensor_v3), "function", "one that makes tensors", function)
    _check(isinstance(kind, type) and issubclass(kind, Tensor), "kind", "a class of tensors", kind)
    tensor = function(*args)
    if kind is not Tensor:
        tensor = tensor.as_subclass(kind)
    if hasattr(kind, "__setstate__"):
        tensor.__setstate__(state)
        return tensor
    check_state(kind, state)
    tensor.__dict__.update(state)
    if not state.keys() <= own_attributes(tensor).keys():
        raise pickle.UnpicklingError("gradient and hooks of a tensor are not for a file to set")
    return tensor


def check_state(cls, state):
    """UnpicklingError unless `state` may become the __dict__ of an instance of `cls`. Names that Python or NumPy look
    for are refused (NumPy reads memory at the address in __array_interface__), and so are names of descriptors, which
    __dict__ would not set."""
    if type(state) is not dict:
        raise pickle.UnpicklingError(f"the state of an object must be a dict, but got {type(state).__name__}")
    for name in state:
        if type(name) is not str or name.startswith("__") or hasattr(type(getattr(cls, name, None)), "__set__"):
            raise pickle.UnpicklingError(f"{name!r:.50} is not an attribute that a file may set on {cls.__name__}")


def guard(file, function, *args):
    """function(*args), with arguments from the file of that name. RuntimeErrors get the file's name; errors that
    arguments of a wrong kind cause become an UnpicklingError."""
    try:
        return function(*args)
    except RuntimeError as error:
        raise RuntimeError(f"{error} (in {file})") from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise pickle.UnpicklingError(f"{type(error).__name__}: {error}") from None


class Written:
    """Stands for a function in pickles that pickle's implementation in C writes. That checks whether a function can be
    found under its module and name, and functions here have torch's module."""

    def __init__(self, function):
        self.function, self.name = function, "written" + function.__name__

    def __call__(self, *args):
        return self.function(*args)


#: Function -> its stand-in.
WRITTEN = {function: Written(function) for function in (
    _rebuild_tensor_v2, _rebuild_tensor_v3, _rebuild_meta_tensor_no_storage, _rebuild_parameter,
    _rebuild_parameter_with_state, _rebuild_sparse_tensor, _rebuild_from_type_v2, _get_layout)}
globals().update({written.name: written for written in WRITTEN.values()})

for _function in (_rebuild_tensor_v2, _rebuild_tensor_v3, _rebuild_meta_tensor_no_storage, _rebuild_parameter,
                  _rebuild_parameter_with_state, _rebuild_sparse_tensor):
    _function.__module__ = "torch._utils"      # pickles name them so
_rebuild_from_type_v2.__module__, _get_layout.__module__ = "torch._tensor", "torch.serialization"

#: The names that any file may hold: torch's name -> our object.
KNOWN = {
    "torch._utils._rebuild_tensor_v2": _rebuild_tensor_v2,
    "torch._utils._rebuild_tensor_v3": _rebuild_tensor_v3,
    "torch._utils._rebuild_meta_tensor_no_storage": _rebuild_meta_tensor_no_storage,
    "torch._utils._rebuild_parameter": _rebuild_parameter,
    "torch._utils._rebuild_parameter_with_state": _rebuild_parameter_with_state,
    "torch._tensor._rebuild_from_type_v2": _rebuild_from_type_v2,
    "torch._utils._rebuild_sparse_tensor": _rebuild_sparse_tensor,
    "torch.serialization._get_layout": _get_layout,
    "torch.nn.parameter.Parameter": Parameter,
    "torch.Tensor": Tensor,
    "torch.Size": Size,
    "torch.device": device,
    "torch.storage.UntypedStorage": UNTYPED,
    "torch.UntypedStorage": UNTYPED,
    "collections.OrderedDict": OrderedDict,
    "collections.Counter": Counter,
    "builtins.bytearray": bytearray,
    "builtins.set": set,
    "builtins.complex": complex,
}
KNOWN.update({f"torch.{d.name}": d for d in dt.ALL})
KNOWN.update({f"torch.{s.name}": s for s in STORAGES.values()})
