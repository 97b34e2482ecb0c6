"""class Tensor: an ndarray, its gradient, and its history. It knows no operation: the package ops adds the
methods of operations, autograd those of the graph."""
from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from copy import deepcopy
from operator import index as as_int
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np

from . import dtypes as dt
from .device import CPU, META, device as Device
from .errors import kind_of, warn
from .kinds.lazy import StandIn, address_of, bits_of, device_of, resolved, root_of
from .memory_format import dense_steps, strided
from .seam import seam

_new_tuple = tuple.__new__


class Size(tuple):
    """A shape: a tuple of ints with `numel()`. Tensors of one integer are read; TypeError for anything else.

    >>> import tinytorch as torch
    >>> torch.zeros(2, 3).shape, torch.zeros(2, 3).shape.numel()
    (torch.Size([2, 3]), 6)
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable[int] = (), /) -> Size:
        size = _new_tuple(cls, sizes)
        for item in size:
            if item.__class__ is not int:
                return _new_tuple(cls, [_as_size(item, i) for i, item in enumerate(size)])
        return size

    def numel(self) -> int:
        n = 1
        for size in self:
            n *= size
        return n

    def __repr__(self) -> str:
        return f"torch.Size({[int(size) for size in self]})"

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> int: ...
    @overload
    def __getitem__(self, index: slice, /) -> Size: ...

    def __getitem__(self, index: SupportsIndex | slice) -> int | Size:
        item: Any = tuple.__getitem__(self, index)
        return Size(item) if isinstance(index, slice) else item

    def __add__(self, other: tuple) -> Size:
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to torch.Size")
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: tuple) -> Size:
        return Size(tuple(other) + tuple(self))

    def __mul__(self, times: SupportsIndex) -> Size:
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __reduce__(self):
        return Size, (tuple(self),)


def _as_size(item, i):
    if isinstance(item, np.integer):
        return item
    if isinstance(item, Tensor) and item.numel() == 1 and item.dtype.category < 2 or hasattr(
            item, "__index__") and not isinstance(item, (Tensor, np.generic)):
        return int(item)
    raise TypeError(f"torch.Size() takes an iterable of 'int' (item {i} is '{kind_of(item)}')")


class _Slots:
    # A separate base class, so that Tensor itself can give defaults to the rarer attributes.
    # _array: the numbers. _node: the node that computed it (None: a leaf); grad_fn shows it. _version_counter: [count
    # of in-place writes], shared with views. _view_info: View (see autograd/views.py) or None.
    __slots__ = ("_array", "_node", "_requires_grad", "_version_counter", "_view_info", "__weakref__")
    if TYPE_CHECKING:
        _array: Any                            # an ndarray, or an array of another kind (see kinds/)
        _node: Any
        _requires_grad: bool
        _version_counter: Any
        _view_info: Any


if dt.NARROW:                                  # every array that becomes a tensor's passes through this setter
    _slots: Any = _Slots

    def _put(tensor, array, place=_slots._array.__set__):
        place(tensor, dt.counted(array))
    _slots._array = property(_slots._array.__get__, _put)
    del _put                                   # the stub names the file's functions


def _copied_span(array):
    """A copy of all the memory from the first to the last element, with the shape and strides of the array."""
    count = 1 + sum([(n - 1) * step for n, step in zip(array.shape, array.strides)]) // array.itemsize
    span = np.lib.stride_tricks.as_strided(array, (count,), (array.itemsize,)).copy()
    return np.ndarray(array.shape, array.dtype, span, 0, array.strides)


def said(**what: Any) -> Callable[[Callable], Callable]:
    """Decorator: notes how a method, or the function that reads a property, appears to handlers of calls
    (overridable.py).

    seen       whether handlers see it; by default they do, unless its name begins with an underscore
    in_python  whether torch's is written in Python, which passes all its arguments on by name; "alone": no keywords
    shown      for an operator: the method that handlers receive, True: the operator itself
    called     the former name, if it has kept that as its __name__
    leaves     whether it is a way out of what can be recorded of tensors (capture/steps.py): to Python numbers, to
               memory that others write to, to hooks, to the stream of random numbers
    autocast   as for a public function (public.py)
    repeats    as for a public function: whether its calls may be answered by what is kept of earlier ones
    """
    def decorate(function):
        function.said = what
        return function
    return decorate


class Tensor(_Slots):
    """A multi-dimensional array of one dtype that records how it was computed.

    `Tensor(2, 3)` is uninitialised, `Tensor([1, 2])` holds data; both have the default dtype.
    Use `torch.tensor` for data of any dtype.

    >>> import tinytorch as torch
    >>> x = torch.tensor([1., 2.], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """

    _grad = None
    _hooks = None
    _overrides = False         # whether the class has a `__torch_function__` that is to be asked
    __array_priority__ = 1000      # an ndarray on the left of an operator leaves the operation to the tensor
    is_cuda = is_sparse = is_sparse_csr = is_quantized = is_mps = is_xpu = is_nested = is_mkldnn = False
    is_ipu = is_maia = is_mtia = is_vulkan = is_xla = False
    layout = strided
    name = None
    if TYPE_CHECKING:                          # some of the attributes that ops and autograd add
        requires_grad: bool
        grad_fn: Any
        new_empty: Callable[..., Tensor]
        _contents: Callable

    def __new__(cls, *data, device=None):
        self = instance_of(cls)
        self._node, self._requires_grad, self._version_counter, self._view_info = None, False, [0], None
        contents = self._contents(data)        # defined in arguments/data.py, which imports this module
        if not isinstance(contents, Tensor):
            self._array = contents
            return self
        for name in ("_array", "_node", "_requires_grad", "_version_counter", "_view_info"):
            setattr(self, name, getattr(contents, name))
        return self

    @said(seen=False)
    def __init__(self, *args, **kwargs):
        """Nothing is left to do after __new__."""

    # -------------------------------------------------------------- properties
    @property
    def shape(self) -> Size:
        return _new_tuple(Size, self._array.shape)

    def size(self, dim: int | None = None) -> Size | int:
        """The shape, or the length of dimension `dim`. IndexError if there is no such dimension."""
        if dim is None:
            return _new_tuple(Size, self._array.shape)
        if not self._array.ndim:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        return self._array.shape[check_dim(dim, self._array.ndim)]

    @property
    def dtype(self) -> dt.dtype:
        return dt.of(self._array)

    @property
    def device(self) -> Device:
        return CPU if type(self._array) is np.ndarray else device_of(self._array)

    @property
    def is_cpu(self) -> bool:
        return self.device is CPU

    @property
    def is_meta(self) -> bool:
        """Whether this tensor is on the device `meta`: of known shape and dtype, without numbers."""
        return self.device is META

    def get_device(self) -> int:
        """-1: no tensor is on an accelerator."""
        return -1

    @property
    def ndim(self) -> int:
        return self._array.ndim

    def dim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    ndimension = dim

    def numel(self) -> int:
        """The number of elements."""
        return self._array.size

    nelement = numel

    @property
    def itemsize(self) -> int:
        return self._array.itemsize

    def element_size(self) -> int:
        """Bytes of one element."""
        return self._array.itemsize

    @property
    def nbytes(self) -> int:
        return self._array.nbytes

    def stride(self, dim: int | None = None) -> tuple[int, ...] | int:
        """Steps between neighbours along each dimension (or along `dim`), in elements."""
        # NumPy gives new arrays without elements strides of zero; torch's strides follow from the shape.
        array = self._array
        if not array.size and not any(array.strides):
            steps = dense_steps(array.shape)
        else:
            steps = tuple(s // array.itemsize for s in array.strides)
        if dim is not None and not steps:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        return steps if dim is None else steps[check_dim(dim, len(steps))]

    def storage_offset(self) -> int:
        """The offset of the first element in the underlying memory, in elements."""
        return (address_of(self._array) - address_of(root_of(self._array))) // self._array.itemsize

    @said(leaves=True)
    def data_ptr(self) -> int:
        """Address of the first element (0 if there is none, or no memory)."""
        return address_of(self._array) if self._array.size and not self.is_meta else 0

    def is_floating_point(self) -> bool:
        """Whether the dtype is a floating one."""
        return self._array.dtype.kind in dt.FLOATING and not dt.is_complex(self._array.dtype)

    def is_complex(self) -> bool:
        """Whether the dtype is complex."""
        return dt.is_complex(self._array.dtype)

    def is_signed(self) -> bool:
        """Whether the dtype has negative numbers."""
        return self.dtype.is_signed

    def is_pinned(self, device: Device | str | None = None) -> bool:
        """False: there is no device to pin memory for."""
        if device is not None:
            Device(device)                     # raises for an invalid device
        return False

    def pin_memory(self, device: Device | str | None = None) -> Tensor:
        """RuntimeError: there is no device to pin memory for."""
        if self.is_meta:
            raise RuntimeError(f"cannot pin 'Meta{self.dtype.type_name}Type' only dense CPU tensors can be pinned")
        if device is not None and Device(device).type == "cpu":
            raise RuntimeError("CPU device type not an accelerator.")
        raise RuntimeError("Cannot access accelerator device when none is available.")

    def is_inference(self) -> bool:
        """Whether this tensor was made in inference mode."""
        return self._version_counter.__class__ is not list

    @property
    @said(seen=True)
    def _version(self) -> int:
        if not getattr(self._version_counter, "counts", True):
            raise RuntimeError("Inference tensors do not track version counter.")
        return int(self._version_counter[0])

    # -------------------------------------------------------------- to Python and NumPy
    @said(leaves=True)
    def item(self) -> Any:
        """The only element as a Python number. RuntimeError if there is not exactly one."""
        try:
            size = self._array.size
        except AttributeError:
            raise TypeError("descriptor 'item' for 'torch._C.TensorBase' objects doesn't apply to a "
                            f"'{kind_of(self)}' object") from None
        if size != 1:
            raise RuntimeError(f"a Tensor with {size} elements cannot be converted to Scalar")
        return dt.numbers(self._array).item()

    @said(leaves=True)
    def tolist(self) -> list | bool | int | float | complex:
        """The elements as nested lists (a number for a 0-dim tensor)."""
        return dt.numbers(self._array).tolist()

    @said(leaves=True)
    def numpy(self, *, force: bool = False) -> np.ndarray:
        """An ndarray of the numbers, which shares the tensor's memory.

        RuntimeError if the tensor requires grad in grad mode, or shows its memory conjugated or negated, unless
        `force`; TypeError for a dtype that NumPy lacks.
        """
        if self.requires_grad and not force and new_tensor_state.recording():
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if isinstance(self._array, StandIn):
            self._array.check_storage(force)
        if type(self._array) is not np.ndarray and not force:
            bit, name = ("conjugate", "conj") if bits_of(self._array)[0] else ("negative", "neg")
            raise RuntimeError(f"Can't call numpy() on Tensor that has {bit} bit set. Use "
                               f"tensor.resolve_{name}().numpy() instead.")
        if self._array.dtype.kind == dt.WIDENED:
            raise TypeError(f"Got unsupported ScalarType {self.dtype.type_name}")
        array = self._array if type(self._array) is np.ndarray else resolved(self._array)
        if not array.size:                     # NumPy's strides of an array without elements
            return np.ndarray(array.shape, array.dtype, array, strides=(0,) * array.ndim)
        return array.view()                    # the caller may set its shape, dtype and flags

    @said(in_python=True, leaves=True)
    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> np.ndarray:
        array = self.numpy()
        if copy is False and dtype is not None and array.dtype != dtype:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        return array if dtype is None and not copy else array.astype(dtype or array.dtype, copy=bool(copy))

    @said(in_python=True)
    def __len__(self) -> int:
        if not self._array.ndim:
            raise TypeError("len() of a 0-d tensor")
        return self._array.shape[0]

    @said(seen=False)
    def __delitem__(self, index):
        raise TypeError("Tensor does not support deleting items")

    @said(leaves=True)
    def __bool__(self) -> bool:
        if self._array.size == 0:
            raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
        if self._array.size > 1:
            raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
        return self._array.truth() if isinstance(self._array, StandIn) else bool(self.item())

    @said(leaves=True)
    def __int__(self) -> int:
        return int(_real(self._only(), "int64_t"))

    @said(leaves=True)
    def __float__(self) -> float:
        return float(_real(self._as_number(), "double"))

    @said(leaves=True)
    def __complex__(self) -> complex:
        return complex(self._as_number())

    def _only(self):
        if self._array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self.item()

    def _as_number(self):
        if self._requires_grad:
            warn("Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
                 "Consider using tensor.detach() first.")
        return self._only()

    @said(leaves=True)
    def __index__(self) -> int:
        if self._array.size != 1 or self._array.dtype.kind not in dt.INTEGRAL:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._array.item())

    # Hashed by identity, though == compares elements. torch's hash is id(self), in Python; the engine hashes too often
    # for a Python method.
    __hash__ = object.__hash__

    @said(in_python=True, leaves=True)
    def __format__(self, spec: str) -> str:
        if self._array.ndim == 0 and type(self) is Tensor and not self.is_meta:
            return self.item().__format__(spec)
        return object.__format__(self, spec)

    @said(in_python=True, leaves=True)
    def __deepcopy__(self, memo: dict) -> Tensor:
        if id(self) in memo:
            return memo[id(self)]
        if not self.is_leaf:
            raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the "
                               "deepcopy protocol at the moment.  If you were attempting to deepcopy a module, "
                               "this may be because of a torch.nn.utils.weight_norm usage, see "
                               "https://github.com/pytorch/pytorch/pull/103001")
        if type(self) is not Tensor and type(self.new_empty([])) is not type(self):
            raise RuntimeError("The default implementation of __deepcopy__() for non-wrapper subclasses only works for "
                               "subclass types that implement new_empty() and for which that function returns another "
                               "instance of the same subclass. You should either properly implement new_empty() for "
                               "your subclass or override __deepcopy__() if it is intended behavior for new_empty() to "
                               "return an instance of a different type.")
        copy = memo[id(self)] = _rebuild(type(self), self._copied_array(memo), self._requires_grad)
        if self._grad is not None:
            copy._grad = self._grad.__deepcopy__(memo)
        if self.__dict__:
            copy.__dict__.update(deepcopy(own_attributes(self), memo))
        return copy

    def _copied_array(self, memo):
        # Views that are copied together share memory again: `memo` keeps the copy of their base.
        owner = self._array if self._view_info is None else self._view_info.base._array
        if True in bits_of(owner) + bits_of(self._array):
            return self._array.copy(order="C" if 0 in self._array.strides else "K")
        start = address_of(owner)
        key = "memory", start, owner.nbytes
        if key not in memo:
            memo[key] = owner.copy(order="K") if owner.flags.forc or not owner.size else _copied_span(owner)
        whole = memo[key]
        if whole.dtype != owner.dtype or whole.shape != owner.shape:       # `memo` may hold the copy of a storage
            whole = np.ndarray(owner.shape, owner.dtype, whole, 0, owner.strides)
        if self._array is owner:
            return whole
        offset = address_of(self._array) - start
        if self.is_meta:
            return whole.over(np.ndarray(self._array.shape, self._array.dtype, root_of(whole), offset,
                                         self._array.strides))
        if whole.strides != owner.strides or root_of(owner) is not root_of(self._array) or not whole.flags.forc:
            return self._array.copy(order="K")
        try:
            return np.ndarray(self._array.shape, self._array.dtype, whole.reshape(-1, order="A"), offset,
                              self._array.strides)
        except ValueError:                     # the view reaches past its base, into memory of a foreign array
            return self._array.copy(order="K")

    @said(in_python=True, leaves=True)
    def __reduce_ex__(self, protocol: int) -> tuple:
        return as_torch_does(self) or self._reduced()

    def _reduced(self):
        return _rebuild, (type(self), self._array, self.requires_grad), own_attributes(self) or None

    # -------------------------------------------------------------- gradient
    @property
    def is_leaf(self) -> bool:
        return self.grad_fn is None

    @property
    @said(seen=True)
    def _base(self) -> Tensor | None:
        return None if self._view_info is None else self._view_info.base

    @said(seen=True)
    def _is_view(self) -> bool:
        return self._view_info is not None


def method(*names: str, **what: Any) -> Callable[[Callable], Callable]:
    """Decorator: the Tensor method of these names (the function's own, if none is given), which is no function of
    torch. `what` is passed to `said`."""
    def decorate(function):
        for name in names or (function.__name__,):
            setattr(Tensor, name, function)
        return said(**what)(function) if what else function
    return decorate


def _real(number, name):
    """`number` without an imaginary part; RuntimeError if it has one. `name` is the C++ name of the wanted type."""
    if not isinstance(number, complex):
        return number
    if number.imag:
        raise RuntimeError(f"value cannot be converted to type {name} without overflow")
    return number.real


def as_torch_does(x: Any) -> tuple | None:
    """torch's pickled form of a tensor or storage, if this package is imported under torch's name: then torch can read
    the pickle, and the other way round. None: it is not, or torch cannot pickle this object."""
    if sys.modules.get("torch") is not sys.modules[__package__]:
        return None
    return importlib.import_module(f"{__package__}.serialization").plain_form(x)


def own_attributes(tensor: Tensor) -> dict:
    """The attributes that the user has set on a tensor. Gradient and hooks are not copied or pickled with it."""
    return {k: v for k, v in tensor.__dict__.items() if k not in ("_grad", "_hooks", "_accumulating", "_accumulator")}


def _rebuild(cls, array, tracked):
    self = instance_of(cls)
    self._node, self._version_counter, self._view_info = None, [0], None
    self._array, self._requires_grad = dt.given(array), tracked
    return self


new_instance = object.__new__     # new_instance(Tensor): the caller fills every slot


def instance_of(cls: Any) -> Tensor:
    """A new instance of any class. Calls must go to handlers for as long as a tensor lives whose class overrides."""
    instance: Any = new_instance(cls)
    if cls._overrides:
        seam.watch_instance(instance)
    return instance


class _NewTensorState:
    """`cell` makes the version cell of a new tensor while some thread is in inference mode; otherwise it is None, and
    the cell is [0]. `recording` returns whether this thread is in grad mode."""

    __slots__ = ("cell", "recording")

    def __init__(self) -> None:
        self.cell: Any = None
        self.recording: Any = None


new_tensor_state = _NewTensorState()


def wrap(array: np.ndarray) -> Tensor:
    """A leaf tensor around an ndarray (shared) that requires no gradient."""
    tensor = new_instance(Tensor)
    tensor._array = array
    tensor._node = None
    tensor._requires_grad = False
    tensor._version_counter = [0] if new_tensor_state.cell is None else new_tensor_state.cell()
    tensor._view_info = None
    return tensor


def check_dim(dim: int, ndim: int) -> int:
    """`dim` counted from the front; IndexError with torch's message if it is out of range."""
    extent = ndim or 1
    if dim.__class__ is not int:
        dim = _whole(dim)
    if not -extent <= dim < extent:
        if not -1 << 63 <= dim < 1 << 63:
            raise ValueError("Overflow when unpacking long long")
        raise IndexError(f"Dimension out of range (expected to be in range of [{-extent}, {extent - 1}], "
                         f"but got {dim})")
    return dim + extent if dim < 0 else dim


def _whole(dim):
    """A dimension that is no Python int, as an int; TypeError for objects that torch does not accept as an integer."""
    if isinstance(dim, (bool, np.bool_, np.ndarray)) or isinstance(dim, Tensor) and (
            dim._array.ndim or dim._array.dtype.kind == dt.BOOL or dim.requires_grad):
        raise TypeError(f"a dimension must be int, not {kind_of(dim)}")
    return as_int(dim)
