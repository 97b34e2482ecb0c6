"""Parameter and Buffer: tensors that a Module registers when they are assigned to it. And their uninitialised forms,
whose shape a lazy module determines at its first call."""
import numpy as np

from .. import dtypes as dt
from ..autograd.public import PARAMETERS
from ..autograd.tensor_methods import check_not_inference
from ..autograd.torch_function import disabled
from ..ops.creation.factories import empty
from ..tensor import Tensor, instance_of, own_attributes, wrap

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]


def _share(cls, data, requires_grad):
    """A new leaf of class `cls` that shares the memory of `data`."""
    if requires_grad and data._array.dtype.kind not in dt.DIFFERENTIABLE:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    if requires_grad:
        check_not_inference(data)
    self = instance_of(cls)
    self._array, self._version_counter = data._array, data._version_counter
    self._node, self._requires_grad, self._view_info = None, bool(requires_grad), None
    return self


class _ParameterType(type):
    """The class of Parameter. A tensor of a user's own class that went through Parameter() is an instance, too."""

    def __instancecheck__(cls, instance):
        return type.__instancecheck__(cls, instance) or (
            cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False))


class Parameter(Tensor, metaclass=_ParameterType):
    """A tensor that a Module registers as a parameter when it is assigned to an attribute.

    It shares the memory of `data` and is a leaf. `requires_grad` does not depend on the grad mode. Data of a
    user's own Tensor class keeps its class. RuntimeError for an integer tensor with `requires_grad`.

    >>> import tinytorch as torch
    >>> torch.nn.Parameter(torch.tensor([1., 2.]))
    Parameter containing:
    tensor([1., 2.], requires_grad=True)
    """

    __torch_function__ = disabled

    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            data = wrap(np.empty(0, dt.get_default_dtype().numpy))
        if type(data) is Tensor or type(data) is Parameter:
            return _share(cls, data, requires_grad)
        self = data.detach().requires_grad_(requires_grad)
        if type(self) is not type(data):
            name = type(data).__name__
            raise RuntimeError(f"Creating a Parameter from an instance of type {name} requires that detach() returns "
                               f"an instance of the same type, but return type {type(self).__name__} was found "
                               "instead. To use the type as a Parameter, please correct the detach() semantics "
                               "defined by its __torch_dispatch__() implementation.")
        self._is_param = True
        return self

    def __init__(self, data=None, requires_grad=True):
        """__new__ does all the work."""

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(wrap(self._array.copy(order="K")), self.requires_grad)
        return memo[id(self)]

    def __repr__(self):
        return "Parameter containing:\n" + super().__repr__()

    def _reduced(self):
        return _rebuild_parameter, (type(self), self._array, self._requires_grad), own_attributes(self) or None


def _rebuild_parameter(cls, array, requires_grad):
    return _share(cls, wrap(array), requires_grad)


class _BufferType(type):
    """The class of Buffer. A plain Tensor with the mark `_is_buffer` is an instance."""

    def __instancecheck__(cls, instance):
        return type.__instancecheck__(cls, instance) or (
            cls is Buffer and isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False))


class Buffer(Tensor, metaclass=_BufferType):
    """A tensor that a Module registers as a buffer (state that is not learned) when it is assigned to an attribute.

    persistent    whether the module's state_dict contains it

    >>> import tinytorch as torch
    >>> torch.nn.Buffer(torch.tensor([1., 2.]))
    tensor([1., 2.])
    """

    __torch_function__ = disabled
    persistent: bool

    def __new__(cls, data=None, *, persistent=True):
        if data is None:
            data = wrap(np.empty(0, dt.get_default_dtype().numpy))
        buffer = _share(type(data), data, data.requires_grad)
        buffer.persistent, buffer._is_buffer = persistent, True
        return buffer


class UninitializedTensorMixin:
    """A tensor whose shape is not known yet. It has a dtype and can be converted, but nothing else."""

    @property
    def _array(self):
        raise ValueError(
            f"Attempted to use an uninitialized parameter in an operation. This error happens when you are using a "
            "`LazyModule` or explicitly manipulating "
            f"`torch.nn.parameter.{type(self).__name__}` objects. When using LazyModules Call `forward` with a dummy "
            "batch to initialize the parameters before calling torch functions")

    @property
    def shape(self):
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` "
            "to initialize the parameters before accessing their attributes.")

    @property
    def dtype(self):
        return self.lazy_dtype

    @property
    def data(self):
        """A tensor without elements: random numbers written to it are lost."""
        return empty(0, dtype=self.lazy_dtype, device=self.lazy_device)

    @data.setter
    def data(self, other):
        self.__dict__["lazy_dtype"] = other.dtype

    @property
    def device(self):
        return self.lazy_device

    def is_floating_point(self):
        return self.lazy_dtype.is_floating_point

    def is_complex(self):
        return self.lazy_dtype.is_complex

    def _of(self, dtype):
        return type(self)(self._requires_grad, self.lazy_device, dtype)

    def to(self, *args, dtype=None, **kwargs):
        """An uninitialised tensor of another dtype."""
        for arg in args:
            if isinstance(arg, dt.dtype):
                dtype = arg
            elif isinstance(arg, Tensor):
                dtype = arg.dtype
        return self if dtype is None else self._of(dtype)

    def half(self):
        return self._of(dt.float16)

    def bfloat16(self):
        return self._of(dt.bfloat16)

    def float(self):
        return self._of(dt.float32)

    def double(self):
        return self._of(dt.float64)

    def detach(self):
        return self._array                      # raises the error of uninitialised tensors

    def share_memory_(self):
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
            "before calling `module.share_memory()`.")

    def materialize(self, shape, device=None, dtype=None):
        """Make the tensor ordinary, with this shape (a tuple, or one length) and arbitrary elements."""
        made = empty(shape, dtype=dtype or self.lazy_dtype, device=device or self.lazy_device)
        del self.__dict__["lazy_dtype"], self.__dict__["lazy_device"]
        self.__class__ = self.cls_to_become
        self._array = made._array

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = self._of(self.lazy_dtype)
        return memo[id(self)]

    def __repr__(self):
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol):
        return type(self), (self._requires_grad, self.lazy_device, self.lazy_dtype)


def _uninitialized(cls, requires_grad, device, dtype):
    self = instance_of(cls)
    self._node, self._requires_grad, self._version_counter, self._view_info = None, bool(requires_grad), [0], None
    self.__dict__["lazy_dtype"] = dtype or dt.get_default_dtype()
    self.__dict__["lazy_device"] = empty(0, device=device).device
    return self


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A Parameter whose shape is not known yet. `materialize(shape)` makes it an ordinary one."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        return _uninitialized(cls, requires_grad, device, dtype)

    def __init__(self, requires_grad=True, device=None, dtype=None):
        """__new__ does all the work."""


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape is not known yet. `materialize(shape)` makes it an ordinary tensor."""

    cls_to_become = Tensor
    __torch_function__ = disabled

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        self = _uninitialized(cls, requires_grad, device, dtype)
        self.persistent, self._is_buffer = persistent, True
        return self

    def __init__(self, requires_grad=False, device=None, dtype=None, persistent=True):
        """__new__ does all the work."""


def is_lazy(param):
    """Whether a parameter or buffer is still uninitialised."""
    return isinstance(param, UninitializedTensorMixin)


PARAMETERS.add(Parameter)

#: The metaclass of Parameter, for similar classes.
_ParameterMeta = type(Parameter)
