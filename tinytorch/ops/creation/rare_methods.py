"""Methods of Tensor that few programs use: those of quantised tensors and of other devices, which raise an error when
they are called, and those that torch has removed."""
from __future__ import annotations

import importlib
from itertools import pairwise

from ... import dtypes as dt
from ...autograd.public import checked_method, public
from ...device import device as Device
from ...errors import warn
from ...kernels.layout import dense_order
from ...memory_format import channels_last, memory_format, memory_format as MemoryFormat, strided
from ...tensor import Tensor, method
from ...types import Ints
from .conversion import to

_PACKAGE = __package__.partition(".")[0]


# ------------------------------------------------------------------ quantised, oneDNN and nested tensors
def _refuse(name):
    raise NotImplementedError(f"Could not run 'aten::{name}' with arguments from the 'CPU' backend: tinytorch has no "
                              "such tensors, see docs/coverage.md")


def _of_quantised(name):
    def refused(self):
        _refuse(name)
    refused.__name__ = refused.__qualname__ = name
    refused.__doc__ = "NotImplementedError: there are no quantised tensors."
    method(name)(refused)


for _name in """int_repr q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point
        qscheme""".split():
    _of_quantised(_name)


@checked_method
def to_padded_tensor(input: Tensor, padding: float, output_size: Ints | None = None) -> Tensor:
    """NotImplementedError: there are no nested tensors of this kind."""
    _refuse("to_padded_tensor")


@public(method=True)
def dequantize(input: Tensor) -> Tensor:
    """The numbers in float32. (There are no quantised tensors, for which they would be computed.)

    >>> import tinytorch as torch
    >>> torch.dequantize(torch.tensor([1, 2]))
    tensor([1., 2.])
    """
    return to(input, dt.float32)


_IN_ONEDNN = (dt.float32, dt.bfloat16, dt.float16, dt.uint8, dt.int8)


@checked_method
def to_mkldnn(input: Tensor, dtype: dt.dtype | None = None) -> Tensor:
    """NotImplementedError: there is no oneDNN, which has its own order of elements. RuntimeError for a dtype that
    oneDNN does not have."""
    if input.dtype not in _IN_ONEDNN:
        raise RuntimeError("dense_to_mkldnn expects float, bfloat16, half, uint8, int8 tensor input")
    _refuse("to_mkldnn")


# ------------------------------------------------------------------ other devices
def _of_device(kind, name, error, text):
    def move(input: Tensor, device: Device = None, non_blocking: bool = False, *,
             memory_format: MemoryFormat | None = None) -> Tensor:
        if device is not None and Device(device).type != kind:
            raise RuntimeError(f"Invalid device, must be {name} device")
        raise error(text)
    move.__name__ = move.__qualname__ = kind
    move.__doc__ = f"{error.__name__}: tinytorch has no such device. RuntimeError for another device."
    checked_method(move)


for _name in ("cuda", "xpu"):
    _of_device(_name, _name, AssertionError, f"Torch not compiled with {_name.upper()} enabled")
_of_device(
    "mtia", "MTIA", AssertionError, "Torch not compiled with MTIA enabled. Ensure you have `import mtia.host_runtime."
    "torch_mtia.dynamic_library` in your python src file and include `//mtia/host_runtime/torch_mtia:torch_mtia` as "
    "your target dependency!")
_of_device("ipu", "ipu", RuntimeError, "PyTorch is not linked with support for ipu devices")


@method()
def record_stream(self: Tensor, s) -> None:
    """NotImplementedError: no memory waits for a stream. RuntimeError for an argument that is not a torch.Stream."""
    if not isinstance(s, importlib.import_module(f"{_PACKAGE}.cpu").Stream):
        raise RuntimeError("unknown parameter type")
    _refuse("record_stream")


@public()
def get_device(input: Tensor) -> int:
    """-1: tensors are never on an accelerator.

    >>> import tinytorch as torch
    >>> torch.get_device(torch.ones(2))
    -1
    """
    return -1


@public(method=True)
def is_distributed(input: Tensor) -> bool:
    """False: tensors are never spread over several machines.

    >>> import tinytorch as torch
    >>> torch.ones(2).is_distributed()
    False
    """
    return False


# ------------------------------------------------------------------ memory
@method()
def const_data_ptr(self: Tensor) -> int:
    """The address of the first element. The caller must not write to it."""
    return self.data_ptr()


@method(in_python=True)
def storage_type(self: Tensor) -> type | None:
    """The old storage class of this dtype, such as torch.FloatStorage for float32; None if there is none."""
    classes = vars(importlib.import_module(f"{_PACKAGE}.storage"))
    return classes.get(self.dtype.tensor_type.replace("Tensor", "Storage"))


_AMBIGUOUS = "The tensor does not have unique dim order, or cannot map to exact one of the given memory formats."


@method(in_python="alone")
def dim_order(self: Tensor, *, ambiguity_check: bool | list[memory_format] = False) -> tuple[int, ...]:
    """The dimensions sorted by stride, the largest first.

    ambiguity_check    True: RuntimeError if there is more than one such order. A list of memory formats:
                       RuntimeError unless the tensor has exactly one of these formats, or only one order

    >>> import tinytorch as torch
    >>> torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last).dim_order()
    (0, 2, 3, 1)
    """
    if self.layout is not strided:
        raise AttributeError(f"Can't get dim order on sparse type: {self.type()} Use Tensor.to_dense() to convert to a "
                             "dense tensor first.")
    is_list = isinstance(ambiguity_check, list) and all([isinstance(x, memory_format) for x in ambiguity_check])
    if not isinstance(ambiguity_check, bool) and not is_list:
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    sizes, steps = self.shape, self.stride()
    if is_list or ambiguity_check:             # torch compares only neighbours
        several = 1 in sizes or any([a == b for a, b in pairwise(steps)])
        formats = ambiguity_check if is_list else []
        if several and sum([self.is_contiguous(memory_format=x) for x in formats]) != 1:
            raise RuntimeError(_AMBIGUOUS)
    in_order = self.is_contiguous()
    if in_order != (len(sizes) == 4 and self.is_contiguous(memory_format=channels_last)):
        return tuple(range(len(sizes))) if in_order else (0, 2, 3, 1)
    order = dense_order(sizes, steps)
    if ambiguity_check and not all([_comes_before(a, b, sizes, steps) for a, b in pairwise(order)]):
        raise RuntimeError(_AMBIGUOUS.partition(",")[0] + ".")
    return order


def _comes_before(a, b, sizes, steps):
    """Whether the strides decide that dimension `a` comes before `b`."""
    return bool(steps[a] and steps[b]) and steps[a] > steps[b]


# ------------------------------------------------------------------ parameters that are loaded
@method(in_python=True)
def module_load(self: Tensor, other: Tensor, assign: bool = False) -> Tensor:
    """The tensor that `load_state_dict` of a module puts in place of `self`: `self` with the numbers of `other`, or
    with `assign` the detached `other`.

    >>> import tinytorch as torch
    >>> torch.zeros(2).module_load(torch.ones(2))
    tensor([1., 1.])
    """
    if assign:
        return other.detach()
    return self.copy_(other).detach()


# ------------------------------------------------------------------ removed methods
def _removed(name):
    def removed(self, *args, **kwargs):
        return getattr(importlib.import_module(f"{_PACKAGE}._removed"), name)(self, *args, **kwargs)
    removed.__name__ = removed.__qualname__ = name
    removed.__doc__ = f"RuntimeError: torch has removed it. See torch.{name}."
    method(name, in_python=True)(removed)


for _name in ("eig", "lstsq", "solve", "symeig"):
    _removed(_name)


@method(in_python=True)
def reinforce(self: Tensor, reward) -> None:
    """RuntimeError: torch has replaced it by log_prob of torch.distributions."""
    raise RuntimeError("reinforce() was removed.\nUse torch.distributions instead: a loss of -log_prob(action) * "
                       "reward has the gradient that it wrote.")


def _resized(self, shape, name):
    warn(f"non-inplace {name} is deprecated")
    if not all([isinstance(n, int) for n in shape]) or self.shape.numel() != type(self.shape)(shape).numel():
        elements = 1
        for n in shape:
            elements = elements * n
        raise RuntimeError(f"requested resize to {'x'.join(map(str, shape))} ({elements} elements in total), but the "
                           f"given tensor has a size of {'x'.join(map(str, self.shape))} ({self.numel()} elements). "
                           "autograd's resize can only change the shape of a given tensor, while preserving the number "
                           "of elements. ")
    return self.contiguous().view(shape)


@method(in_python=True)
def resize(self: Tensor, *sizes: int) -> Tensor:
    """`view(*sizes)` under an older name. RuntimeError if the number of elements would change."""
    return _resized(self, sizes, "resize")


@method(in_python=True)
def resize_as(self: Tensor, tensor: Tensor) -> Tensor:
    """`view_as(tensor)` under an older name."""
    return _resized(self, tuple(tensor.shape), "resize_as")


def _volatile(self, *value):
    warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead." if value else
         "volatile was removed (Variable.volatile is always False)")
    return False


Tensor.volatile = property(_volatile, _volatile, doc="False: torch has replaced it by torch.no_grad.")
