"""Storages: the memory behind tensors, as bytes (UntypedStorage) or as numbers (TypedStorage).

A storage is a window on the memory of tensors. It holds no history, and autograd does not track it.
"""
from __future__ import annotations

import importlib
import io
import math
import os
from sys import getrefcount

import numpy as np

from . import dtypes as dt
from .arguments import int_of, ints_of
from .arguments.data import StorageBase, array_of
from .autograd.grad_mode import mode
from .autograd.op import op
from .autograd.places import count_write
from .autograd.public import method
from .autograd.views import check_in_place, check_written, give
from .device import META
from .errors import C_NAMES, not_a_tensor, warn
from .kernels.layout import strided
from .kernels.memory import LARGEST, empty, is_given
from .kernels.shared import segment_of
from .kinds.lazy import address_of, bits_of, device_of, is_lazy, raw, root_of, seen
from .ops.layout.strided import _memory
from .tensor import Tensor, as_torch_does, wrap
from .types import Ints

__all__ = ["TypedStorage", "UntypedStorage", "is_storage"]


class _Storage(StorageBase):
    """The base of both kinds of storages; `memory` is an ndarray of one dimension."""

    is_cuda = is_sparse = is_hpu = False
    filename = None

    @property
    def device(self):
        return device_of(self.memory)

    def data_ptr(self):
        """Address of the first byte (0 if there is none)."""
        if self.device is META:
            return 0
        return self.memory.__array_interface__["data"][0] if self.memory.size else 0

    def nbytes(self):
        """Number of bytes."""
        return self.memory.nbytes

    def size(self):
        """Number of elements."""
        return self.memory.size

    __len__ = size

    def element_size(self):
        """Bytes of an element."""
        return self.memory.itemsize

    def tolist(self):
        """The elements as Python numbers."""
        return wrap(self.memory).tolist()

    def __iter__(self):
        return iter(self.tolist())

    def _place(self, i):
        n = self.memory.size
        if not -n <= i < n:
            raise IndexError(f"index {i} out of range for storage of size {n}")
        return i

    def fill_(self, value):
        """Write `value` into every element and return the storage."""
        wrap(self.memory).fill_(value)
        return self

    def copy_(self, source, non_blocking=None):
        """Write the elements of `source`, a storage of the same number of bytes."""
        if source.nbytes() != self.nbytes():
            raise RuntimeError(f"size does not match, self was {self.nbytes()} bytes but src was {source.nbytes()} "
                               "bytes")
        wrap(self.memory).copy_(wrap(source.memory))
        return self

    def resizable(self):
        """Whether the library allocated the memory, and not NumPy or the owner of a buffer."""
        return not is_given(self.memory)

    def _resize(self, size):
        if not isinstance(size, int):
            raise RuntimeError(f"resize_ expects an int, but got {type(size).__name__}")
        if not self.resizable():
            raise RuntimeError("Trying to resize storage that is not resizable")
        if size == self.memory.size:
            return
        # getrefcount counts the storage's reference, and the reference of this call.
        if size >= 0 and (not self.memory.flags.owndata or getrefcount(self.memory) > 2):
            raise NotImplementedError("the memory of tensors cannot change its size through their storage: use "
                                      "Tensor.resize_")
        before, self.memory = self.memory, _zeros(size, self.memory.dtype)
        kept = min(size, before.size)
        self.memory[:kept] = before[:kept]

    def cpu(self):
        return self

    def is_shared(self):
        """Whether other processes can see the memory."""
        return segment_of(self.memory) is not None

    def is_pinned(self, device="cuda"):
        return False

    def get_device(self):
        return -1

    def __eq__(self, other):
        return type(self) is type(other) and self.data_ptr() == other.data_ptr() and self.nbytes() == other.nbytes()

    def __hash__(self):
        return hash((self.data_ptr(), self.nbytes()))

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = copy = self.clone()
            key = "memory", self.data_ptr(), self.nbytes()     # the key under which tensors look for the copy
            if self.device is not META:
                memory = memo.setdefault(key, copy.memory)
                copy.memory = memory.reshape(-1, order="A").view(copy.memory.dtype)
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        return as_torch_does(self) or object.__reduce_ex__(self, protocol)

    def __repr__(self):
        numbers = "..." if self.device is META else " " + "\n ".join(map(str, self.tolist()))
        return f"{numbers}\n[torch.storage.{type(self).__name__}({self._kind()}) of size {self.size()}]"


def _load_from_bytes(content):
    """The storage in `content`, the bytes of a file that holds it: the form in which storages are pickled."""
    return importlib.import_module(f"{__package__}.serialization").load(io.BytesIO(content), weights_only=False)


_load_from_bytes.__module__ = "torch.storage"


class UntypedStorage(_Storage):
    """Memory as bytes: `UntypedStorage(4)` has 4 bytes, `UntypedStorage([1, 2])` has these.

    >>> import tinytorch as torch
    >>> x = torch.arange(4)
    >>> x[2:].untyped_storage().nbytes(), x[2:].untyped_storage().data_ptr() == x.data_ptr()
    (32, True)
    """

    def __init__(self, content=0, *, device=None):
        if isinstance(content, bool):
            raise RuntimeError("torch.UntypedStorage(): Expected a sequence type, but got bool")
        if isinstance(content, int):
            self.memory = _zeros(content, np.dtype(np.uint8))
        else:
            try:
                items = list(content)
            except TypeError:
                raise RuntimeError("torch.UntypedStorage(): Expected a sequence type, but got "
                                   f"{type(content).__name__}") from None
            for item in items:
                if not isinstance(item, int):
                    raise RuntimeError(
                        "torch.UntypedStorage(): tried to construct a storage from a sequence "
                        f"({type(content).__name__}), but one of the items was of type {type(item).__name__} instead "
                        "of int")
            self.memory = np.array([item & 255 for item in items], np.uint8)

    @classmethod
    def from_file(cls, filename, shared=False, nbytes=0):
        """The bytes of a file. Writes to them go to the file if `shared`, and otherwise stay in memory. RuntimeError if
        the file has fewer than `nbytes` bytes and is not shared."""
        filename = os.fspath(filename)
        size = os.path.getsize(filename) if os.path.exists(filename) else 0
        if shared and size < nbytes:
            with open(filename, "ab") as file:
                file.truncate(nbytes)
        elif size < nbytes:
            raise RuntimeError(f"unable to mmap {nbytes} bytes from file <{filename}>: it has {size}")
        if not (nbytes or size):
            return cls(0)
        self = object.__new__(cls)
        self.memory = np.memmap(filename, np.uint8, "r+" if shared else "c", shape=(nbytes or size,)).view(np.ndarray)
        return self

    @classmethod
    def _over(cls, memory):
        self = object.__new__(cls)
        if memory.dtype != np.uint8:
            memory = memory.view(np.uint8) if memory.size else np.empty(0, np.uint8)
        self.memory = memory
        return self

    def _kind(self):
        return f"device={self.device}"

    def __getitem__(self, index):
        if isinstance(index, slice):
            if index.step not in (None, 1):
                raise RuntimeError(f"Trying to slice with a step of {index.step}, but only a step of 1 is supported")
            return self._over(self.memory[index])
        if not isinstance(index, int):
            raise TypeError(f"can't index a torch.UntypedStorage with {type(index).__name__}")
        return int(self.memory[self._place(index)])

    def __setitem__(self, index, value):
        check_written(self.memory)
        self.memory[index if isinstance(index, slice) else self._place(index)] = value & 255

    def clone(self):
        """A copy with its own memory."""
        return self._over(self.memory.copy())

    def resize_(self, *size):
        """Make the memory `size` bytes long; bytes beyond the old end are zeros. RuntimeError for memory of NumPy or of
        a buffer. NotImplementedError for the memory of a tensor, which would keep the old memory: use
        `Tensor.resize_`."""
        if len(size) != 1:
            raise TypeError(f"StorageBase.resize_() takes exactly one argument ({len(size)} given)")
        self._resize(*size)
        return self

    def new(self):
        """An empty storage."""
        return UntypedStorage()

    def untyped(self):
        return self

    def numbers(self, dtype):
        return _as_numbers(self, dtype.numpy)

    def type(self):
        return "torch.storage.UntypedStorage"


def _zeros(count, dtype):
    """Zeroed memory for `count` numbers. RuntimeError if there is not enough, ValueError if 64 bits cannot count it."""
    if abs(count * dtype.itemsize) > LARGEST:
        raise ValueError("Overflow when unpacking long long")
    if count < 0:
        raise RuntimeError("[enforce fail at alloc_cpu.cpp:98] ((ptrdiff_t)nbytes) >= 0. alloc_cpu() seems to have "
                           f"been called with negative number: {2 ** 64 + count * dtype.itemsize}")
    return empty((count,), dtype, np.zeros)


def _as_numbers(storage, dtype):
    """The memory of a storage as numbers of a NumPy dtype. Bytes at the end that fill no number are left out."""
    raw = storage.memory.view(np.uint8)
    return raw[:raw.nbytes // dtype.itemsize * dtype.itemsize].view(dtype)


_BAD_CALL = """TypedStorage.__init__ received an invalid combination of arguments. Expected one of:
 * (*, torch.device device, torch.dtype dtype)
 * (int size, *, torch.device device, torch.dtype dtype)
 * (Sequence data, *, torch.device device, torch.dtype dtype)
 * (*, UntypedStorage wrap_storage, torch.dtype dtype)
"""


class TypedStorage(_Storage):
    """Memory as numbers of one dtype, the default one unless given: TypedStorage(3), TypedStorage([1., 2.])."""

    def __init__(self, *args, dtype=None, device=None, wrap_storage=None, _internal=False):
        content = args[0] if args else 0
        self.dtype = dtype or dt.get_default_dtype()
        if wrap_storage is not None:
            if args:
                raise RuntimeError(_BAD_CALL + "No positional arguments should be given when using 'wrap_storage'")
            if dtype is None:
                raise RuntimeError(_BAD_CALL + "Argument 'dtype' must be specified")
            if not isinstance(wrap_storage, UntypedStorage):
                raise TypeError(_BAD_CALL + f"Argument 'wrap_storage' must be UntypedStorage, but got "
                                f"{type(wrap_storage)}")
            self.memory = _as_numbers(wrap_storage, self.dtype.numpy)
        elif isinstance(content, int):
            self.memory = _zeros(content, self.dtype.numpy)
        else:
            self.memory = array_of(content, self.dtype).reshape(-1)

    @classmethod
    def _over(cls, memory, dtype):
        self = object.__new__(cls)
        self.memory, self.dtype = memory, dtype
        return self

    def _kind(self):
        return f"dtype={self.dtype}, device={self.device}"

    def __getitem__(self, index):
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        if not isinstance(index, int):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}".replace(__package__ + ".", "torch."))
        index = self._place(index) % self.memory.size
        return wrap(self.memory[index:index + 1]).item()

    def __setitem__(self, index, value):
        if not isinstance(index, slice):
            if not isinstance(index, int):
                raise RuntimeError(f"can't index a <class 'torch.storage.TypedStorage'> with {type(index)}")
            index = self._place(index) % self.memory.size
            index = slice(index, index + 1)
        wrap(self.memory[index]).fill_(value)

    def clone(self):
        """A copy with its own memory."""
        return self._over(self.memory.copy(), self.dtype)

    def resize_(self, size):
        """As `UntypedStorage.resize_`, with `size` counted in elements."""
        self._resize(size)

    def untyped(self):
        """The same memory as bytes."""
        return UntypedStorage._over(self.memory)

    def numbers(self, dtype):
        return self.memory if dtype is self.dtype else None

    def pickle_storage_type(self):
        return self.dtype.type_name + "Storage"

    def type(self):
        return "torch." + self.pickle_storage_type()

    def _converted(self, dtype):
        return self._over(wrap(self.memory).to(dtype, copy=True)._array, dtype)


def _conversion(name, dtype):
    def method(self):
        return self._converted(dtype)
    method.__name__, method.__doc__ = name, f"A copy with the numbers as {dtype!r}."
    setattr(TypedStorage, name, method)


for _name, _dtype in [("float", dt.float32), ("double", dt.float64), ("half", dt.float16), ("bfloat16", dt.bfloat16),
                      ("long", dt.int64), ("int", dt.int32), ("short", dt.int16), ("char", dt.int8),
                      ("byte", dt.uint8), ("bool", dt.bool)]:
    _conversion(_name, _dtype)


def is_storage(obj: object, /) -> bool:
    """Whether `obj` is a storage.

    >>> import tinytorch as torch
    >>> torch.is_storage(torch.ones(2).untyped_storage())
    True
    """
    return isinstance(obj, _Storage)


# ------------------------------------------------------------------ methods of tensors
@method(leaves=True)
def untyped_storage(self: Tensor) -> UntypedStorage:
    """All the memory that this tensor is a view of, as bytes."""
    return UntypedStorage._over(_memory(self._array))


@method(in_python=True, leaves=True)
def storage(self: Tensor) -> TypedStorage:
    """All the memory that this tensor is a view of, as numbers of its dtype."""
    warn(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage "
        "class. This should only matter to you if you are using storages directly.  To access UntypedStorage directly, "
        "use tensor.untyped_storage() instead of tensor.storage()")
    return _typed_storage(self)


@method(leaves=True)
def _typed_storage(self: Tensor) -> TypedStorage:
    return TypedStorage._over(_memory(self._array), self.dtype)


@method(in_python=True)
def is_shared(self: Tensor) -> bool:
    """Whether other processes can see the memory of this tensor (see share_memory_)."""
    return segment_of(raw(self._array)) is not None


@method(leaves=True)
def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether both are the same elements of the same memory."""
    if not isinstance(tensor, Tensor):
        raise not_a_tensor("is_set_to", "tensor", 1, tensor)
    a, b = self._array, tensor._array
    if self.is_meta or tensor.is_meta:
        raise NotImplementedError("aten::is_set_to is not implemented for tensors on the device meta")
    return (not is_lazy(a) and not is_lazy(b) and address_of(a) == address_of(b) and a.shape == b.shape
            and self.stride() == tensor.stride())


_LEFT_OUT = object()


@method(leaves=True)
def set_(self: Tensor, source: Tensor | TypedStorage | UntypedStorage = _LEFT_OUT, storage_offset: int = _LEFT_OUT,
         size: Ints | None = None, stride: Ints | None = None) -> Tensor:
    """Make `self` share the memory of `source`, a tensor or a storage: all of it, or a part as as_strided takes it.

    The offset counts from the beginning of a storage, or from the first element of a tensor.

    RuntimeError unless `source` has the same dtype (or is an UntypedStorage), and for a part that lies outside its
    memory, which does not grow.

    >>> import tinytorch as torch
    >>> x = torch.zeros(2)
    >>> x.set_(torch.arange(4.), 1, (2,), (2,))
    tensor([1., 3.])
    """
    check_in_place(self)
    if source is _LEFT_OUT:
        source = self.new_empty(0)
    if not isinstance(source, (Tensor, _Storage)) or (storage_offset is _LEFT_OUT) is not (size is None):
        told = [source, storage_offset] + [x for x in (size, stride) if x is not None]
        given = ", ".join([type(x).__name__ for x in told if x is not _LEFT_OUT])
        raise TypeError(f"set_() received an invalid combination of arguments - got ({given}), but expected one of:\n"
                        " * (Tensor source)\n * (torch.Storage source)\n * (Tensor source, int storage_offset, tuple "
                        "of ints size, tuple of ints stride = None)\n")
    if isinstance(source, TypedStorage) and source.dtype is not self.dtype:
        raise RuntimeError(f"Expected a Storage of type {_c_name(self.dtype)} or an UntypedStorage, but got type "
                           f"{source.dtype.type_name} for argument 1 'storage'")
    if source.device is not self.device:
        raise RuntimeError(f'Attempted to set the storage of a tensor on device "{self.device}" to a storage on '
                           f'different device "{source.device}".  This is no longer allowed; the devices must match.')
    if isinstance(source, _Storage):
        source = wrap(_as_numbers(source, self._array.dtype))
    if source.dtype is not self.dtype:
        raise RuntimeError(f"Could not set tensor of type {_c_name(source.dtype)} to a tensor of type "
                           f"{_c_name(self.dtype)}")
    array = raw(source._array) if size is None else _part(source, storage_offset, size, stride)
    array = seen(array, *bits_of(self._array))
    recorded = _set(self, source, array) if mode.grad_now and (self.requires_grad or source.requires_grad) else None
    give(self, array)
    count_write(self)
    if recorded is not None:
        self._node, self._requires_grad = recorded._node, True
        if self._view_info is not None:
            self._view_info.seen = self._version_counter[0]
    return self


def _no_derivative(g):
    raise RuntimeError("derivative for set_ is not implemented")


@op(name="set_", input=_no_derivative, source=_no_derivative, backward_name="torch::autograd::NotImplemented")
def _set(input, source, array):
    return array


def _part(source, storage_offset, size, stride):
    """The array of this size and stride in the memory of the tensor `source`."""
    size = ints_of(size, "set_", "size", 3)
    stride = None if stride is None else ints_of(stride, "set_", "stride", 4)
    if not stride:
        stride = tuple([math.prod([n or 1 for n in size[i + 1:]]) for i in range(len(size))])
    if not source._array.flags.c_contiguous:
        raise RuntimeError("passed in tensor to be used as storage must be contiguous")
    offset = source.storage_offset() + int_of(storage_offset, "set_", "storage_offset", 2)
    if not 0 <= offset <= LARGEST:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    if len(size) != len(stride):
        raise RuntimeError(f"unequal size length ({len(size)}) and stride length ({len(stride)})")
    return strided(_memory(source._array), size, stride, offset)


def _c_name(dtype):
    return C_NAMES.get(dtype.type_name, dtype.name)


# ------------------------------------------------------------------ torch.FloatStorage and the like
class storagetype(type):
    """The class of `torch.FloatStorage` and the like: names for storages of one dtype. A call makes a storage of that
    many numbers, or of the numbers in a sequence."""

    def __call__(cls, *args, wrap_storage=None):
        return TypedStorage(*args, dtype=cls.dtype, wrap_storage=wrap_storage)

    def __instancecheck__(cls, x):
        return isinstance(x, TypedStorage) and x.dtype is cls.dtype

    def __repr__(cls):
        return f"<class 'torch.{cls.__name__}'>"


_KINDS = {f"{d.type_name}Storage": d for d in dt.ALL
          if d not in (dt.uint16, dt.uint32, dt.uint64, dt.complex32, *dt.FLOAT8)}
globals().update({name: storagetype(name, (), {"dtype": d, "__doc__": f"Storages of {d!r}."})
                  for name, d in _KINDS.items()})
__all__ += _KINDS


def memory_of(array):
    """The whole memory that `array` is a view of, as a flat uint8 array; None if torch could not describe the view."""
    if any(s < 0 or s % array.itemsize for s in array.strides) or not array.dtype.isnative:
        return None
    root = root_of(array)
    if root.nbytes % array.itemsize:
        return None
    flat = root.transpose(np.argsort(root.strides)[::-1]).reshape(-1) if root.ndim != 1 else root
    if not flat.flags.c_contiguous or root.size and not np.may_share_memory(flat, root):
        return None
    return flat.view(np.uint8)
