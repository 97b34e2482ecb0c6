"""The types from before torch.dtype (FloatTensor, LongTensor ...), and resizing of a tensor's memory."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ... import dtypes as dt
from ...arguments import size_of
from ...arguments.data import legacy_array
from ...autograd.grad_mode import mode
from ...autograd.places import count_write
from ...autograd.promotion import stored_as
from ...autograd.public import method, public
from ...autograd.views import resized
from ...errors import not_a_tensor, warn_once
from ...memory_format import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    memory_format as MemoryFormat,
    memory_order,
    preserve_format,
    strided,
)
from ...tensor import Size, Tensor, wrap
from ...types import Device, Ints, Number
from ..layout.broadcast import expand
from .conversion import laid_out
from .factories import empty_in

__all__ = ["resize_as_", "set_default_tensor_type"]


class tensortype(type):
    """The metaclass of `torch.FloatTensor` and its like, which are names for tensors of one dtype.

    Calling one makes a tensor: FloatTensor() is empty, FloatTensor(2, 3) is not initialised, FloatTensor([1, 2]) has
    data.
    """

    def __call__(cls, *args, device=None):
        return _legacy(args, cls.dtype)

    def __instancecheck__(cls, x):
        return isinstance(x, Tensor) and x._array.dtype == cls.dtype.numpy and x.layout is strided

    def __repr__(cls):
        return f"<class 'torch.{cls.__name__}'>"


def _legacy(args, dtype):
    """The tensor that an old constructor makes of its arguments. TypeError for a tensor of another dtype."""
    if len(args) != 1 or not isinstance(args[0], Tensor):
        return wrap(legacy_array(args, dtype))
    if args[0].dtype is not dtype:
        raise TypeError(f"expected {_options(dtype)} (got {_options(args[0].dtype)})")
    return args[0]._alias()


def _options(dtype):
    name = {"float32": "float", "float64": "double", "int64": "long int", "int16": "short int",
            "uint8": "unsigned char", "int8": "signed char", "int32": "int"}.get(dtype.name, dtype.name)
    return (f"TensorOptions(dtype={name}, device=cpu, layout=Strided, requires_grad=false (default), "
            "pinned_memory=false (default), memory_format=(nullopt))")


class absenttype(type):
    """The metaclass of `torch.cuda.FloatTensor` and its like. No tensor is an instance, and a call raises TypeError."""

    def __call__(cls, *args, device=None):
        raise cls.refusal()

    def refusal(cls):
        return TypeError(f"type torch.cuda.{cls.__name__} not available. Torch not compiled with CUDA enabled.")

    def __instancecheck__(cls, x):
        return False

    def __repr__(cls):
        return f"<class 'torch.cuda.{cls.__name__}'>"


#: The types by name: FloatTensor, LongTensor ... torch has none for later dtypes, such as unsigned types of 16 bits.
TYPES = {d.tensor_type: tensortype(d.tensor_type, (), {"dtype": d, "is_cuda": False, "is_sparse": False,
                                                       "__doc__": f"Tensors of dtype {d!r}, and their constructor."})
         for d in dt.ALL if d not in (dt.uint16, dt.uint32, dt.uint64, dt.complex32, *dt.FLOAT8)}
globals().update(TYPES)
#: The types of torch.cuda, by name.
ABSENT = {name: absenttype(name, (), {"dtype": kind.dtype, "is_cuda": True, "is_sparse": False,
                                      "__module__": "torch.cuda", "__doc__": f"{kind.__doc__[:-1]} on CUDA: there are "
                                                                             "none here."})
          for name, kind in TYPES.items() if not kind.dtype.is_complex}
__all__ += TYPES


def set_default_tensor_type(t: type | str, /) -> None:
    """Makes the floating type `t` (such as torch.DoubleTensor, or its name) the type of new tensors.

    >>> import tinytorch as torch
    >>> torch.set_default_tensor_type(torch.DoubleTensor); torch.tensor(1.).dtype
    torch.float64
    >>> torch.set_default_tensor_type("torch.FloatTensor")
    """
    warn_once("torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() "
              "and torch.set_default_device() as alternatives.")
    if isinstance(t, str):
        module, _, name = t.rpartition(".")
        if not module:
            raise ModuleNotFoundError(f"No module named '{t}'")
        if module == "torch.sparse" and name in TYPES:
            raise TypeError("only dense types are supported as the default type")
        found = {"torch": {**TYPES, "Tensor": Tensor}, "torch.cuda": ABSENT}.get(module, {})
        if name not in found:
            raise TypeError(f"invalid type: '{t}'")
        t = found[name]
    if isinstance(t, absenttype):
        raise t.refusal()
    if isinstance(t, type) and issubclass(t, Tensor):
        raise TypeError("invalid type object: only floating-point types are supported as the default type")
    if not isinstance(t, tensortype):
        raise TypeError("invalid type object")
    if not t.dtype.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    dt.set_default_dtype(t.dtype)


@method()
def new(self: Tensor, *args: int | Ints | Tensor, size: Ints | None = None, device: Device = None) -> Tensor:
    """A tensor of this dtype, from the arguments of the old constructors: new(2, 3), new(size=(2, 3)), new([1, 2])."""
    return _legacy(args if size is None else (Size(size),), self.dtype)


# ------------------------------------------------------------------ memory
@method()
def resize_(self: Tensor, *sizes: int | Ints, memory_format: MemoryFormat | None = None) -> Tensor:
    """Gives `self` another shape over the same memory, or over new, uninitialised memory if that is too small. The
    dimensions lie in memory in C order, or in that of `memory_format`.

    >>> import tinytorch as torch
    >>> torch.arange(6).resize_(2, 2)
    tensor([[0, 1],
            [2, 3]])
    """
    if not sizes:
        raise TypeError('resize_() missing 1 required positional arguments: "size"')
    if self.requires_grad and not mode.inference:
        raise RuntimeError("cannot resize variables that require grad")
    size, order = size_of(sizes, "resize_"), "C"
    if memory_format is not None:
        if memory_format is preserve_format:
            raise RuntimeError("Unsupported memory formatPreserve")
        order = memory_order(memory_format, len(size))
    elif size == self._array.shape:
        return self
    self._array = resized(self._array, empty_in(size, self._array.dtype, order))
    count_write(self)
    return self


@public(method=True)
def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor:
    """`input.resize_(the_template.size())`; with `memory_format=torch.preserve_format` in the order of the template."""
    if memory_format is preserve_format:
        array = the_template._array
        last = {4: channels_last, 5: channels_last_3d}.get(array.ndim)
        lies_so = last is not None and not array.flags.c_contiguous and laid_out(array, last.order)
        memory_format = last if lies_so else contiguous_format
    return resize_(input, the_template._array.shape, memory_format=memory_format)


# ------------------------------------------------------------------ a Python function of each element
def _overwrite(name, self, others, function):
    """Writes function(element, elements of the others ...) over each element. As in torch, no write is counted."""
    for x in (self, *others):
        if isinstance(x, Tensor) and x.requires_grad:
            raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() "
                               "instead.")
    for i, x in enumerate(others):
        label = "other" if len(others) == 1 else "xy"[i]
        argument = "'other'" if len(others) == 1 else f"argument '{label}'"
        if not isinstance(x, Tensor):
            raise not_a_tensor(name, label, i + 1, x)
        if x.dtype is not self.dtype:
            raise TypeError(f"{name}: expected {self.type()} for {argument} (got {x.type()})")
    if not callable(function):
        raise TypeError(f"'{type(function).__name__}' object is not callable")
    array = self._array
    seen = [wrap(array), *[expand(x.detach(), array.shape) for x in others]]
    for place in np.ndindex(array.shape):      # one after the other, since elements may share their memory
        value = function(*[x[place].item() for x in seen])
        array[place] = stored_as(value.item() if isinstance(value, Tensor) else value, array.dtype)
    return self


@method(autocast="within")
def apply_(self: Tensor, callable: Callable[[Number], Number]) -> Tensor:
    """Replaces each element by callable(element), in Python: slow. RuntimeError if the tensor requires grad.

    >>> import tinytorch as torch
    >>> torch.tensor([1., 2.]).apply_(lambda x: x * x)
    tensor([1., 4.])
    """
    return _overwrite("apply_", self, (), callable)


@method(autocast="within")
def map_(self: Tensor, other: Tensor, callable: Callable[[Number, Number], Number]) -> Tensor:
    """Replaces each element by callable(element, element of other), with `other` broadcast. Errors as `apply_`.

    >>> import tinytorch as torch
    >>> torch.tensor([1., 2.]).map_(torch.tensor([5., 6.]), max)
    tensor([5., 6.])
    """
    return _overwrite("map_", self, (other,), callable)


@method(autocast="within")
def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Number, Number, Number], Number]) -> Tensor:
    """Replaces each element by callable(element, element of x, element of y). Errors as `apply_`.

    >>> import tinytorch as torch
    >>> torch.tensor([1.]).map2_(torch.tensor([2.]), torch.tensor([3.]), lambda a, b, c: a + b * c)
    tensor([7.])
    """
    return _overwrite("map2_", self, (x, y), callable)
