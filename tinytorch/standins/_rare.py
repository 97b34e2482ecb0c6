"""Names of torch's top level that few programs use."""
from __future__ import annotations

import math
import sys
from enum import Enum
from types import ModuleType

import numpy as np

from . import dtypes as dt, storage as _storage
from ._refused import refused_class
from .autograd import anomaly_mode
from .autograd.public import public
from .device import device as Device
from .errors import kind_of
from .ops.creation.factories import tensor
from .ops.nn.embedding import embedding_renorm_
from .ops.nn.pixel_shuffle import native_channel_shuffle
from .storage import UntypedStorage
from .tensor import Tensor, wrap
from .types import Device as AnyDevice, Number

#: Types of values in TorchScript.
_TYPES = """AnyType AwaitType BoolType ClassType ComplexType DeviceObjType DictType EnumType FloatType FutureType
    InferredType IntType InterfaceType ListType NoneType NumberType OptionalType PyObjectType RRefType StreamObjType
    StringType SymBoolType SymIntType TensorType TupleType Type UnionType""".split()
__all__ = ["AcceleratorError", "FatalError", "OutOfMemoryError", "Storage", "Tag", "compiled_with_cxx11_abi",
           "embedding_renorm_", "from_file", "get_autocast_ipu_dtype", "get_autocast_xla_dtype",
           "get_device_module", "has_lapack", "has_mkl", "has_openmp", "has_spectral", "init_num_threads",
           "is_autocast_ipu_enabled", "is_autocast_xla_enabled", "is_vulkan_available", "native_channel_shuffle",
           "qscheme", "set_anomaly_enabled", "sym_constrain_range", "sym_constrain_range_for_size", "sym_float",
           "sym_fresh_size", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sqrt", "sym_sum",
           "_has_compatible_shallow_copy_type", "_sym_sqrt", *_TYPES]
globals().update({_name: refused_class("torch", _name, "it is a type of TorchScript") for _name in _TYPES})


@public(any_layout=True)
def _has_compatible_shallow_copy_type(input: Tensor, from_: Tensor) -> bool:
    """Whether two tensors store their elements in the same way: both dense, both sparse with the same layout, or both
    on the meta device."""
    return input.layout is from_.layout and input.is_meta == from_.is_meta


#: torch's first class of storages.
Storage = vars(_storage)["FloatStorage"]


# ------------------------------------------------------------------ dtypes without tensors
class _Named(dt.dtype):
    """A dtype that programs may compare with. No tensor has it."""

    __slots__ = ("itemsize",)
    is_complex, is_floating_point = False, False
    reason = "there are no quantised numbers"

    @property
    def is_signed(self):
        raise RuntimeError("isSignedType not supported for quantized types")

    def __init__(self, name, itemsize=1):
        self.name, self.itemsize = name, itemsize

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") or not hasattr(dt.dtype, name):
            raise AttributeError(f"'torch.dtype' object has no attribute '{name}'", name=name, obj=self)
        raise NotImplementedError(f"torch.{self.name}: {self.reason}")


class _Small(_Named):
    """A dtype of less than eight bits, or of bits that are not numbers."""

    __slots__ = ()
    is_signed = False
    reason = "tensors of this dtype are not supported"


class _Bits(_Small):
    __slots__ = ()

    @property
    def is_signed(self):
        raise RuntimeError("Bits types are undefined")


class _Signed(_Small):
    __slots__ = ()
    is_signed = True


class _Float(_Signed):
    __slots__ = ()
    is_floating_point = True


#: {name: dtype}.
_DTYPES = {
    **{_name: _Named(_name, _size) for _name, _size in (("qint8", 1), ("qint32", 4))},
    **{_name: _Named(_name) for _name in ("quint8", "quint4x2", "quint2x4")},
    **{f"uint{_bits}": _Small(f"uint{_bits}") for _bits in range(1, 8)},
    **{f"int{_bits}": _Signed(f"int{_bits}") for _bits in range(1, 8)},
    **{_name: _Bits(_name, _size) for _name, _size in (("bits1x8", 1), ("bits2x4", 1), ("bits4x2", 1), ("bits8", 1),
                                                       ("bits16", 2))},
    "float4_e2m1fn_x2": _Float("float4_e2m1fn_x2"),
}
_DTYPES["bit"] = _DTYPES["uint1"]
globals().update(_DTYPES)
__all__ += _DTYPES


class Tag(Enum):
    """Tags that libraries give their operators. Nothing here reads them."""

    core, cudagraph_unsafe, data_dependent_output, dynamic_output_shape, flexible_layout, generated, inplace, \
        inplace_view, maybe_aliasing_or_mutating, needs_contiguous_strides, needs_exact_strides, \
        needs_fixed_stride_order, nondeterministic_bitwise, nondeterministic_seeded, out, out_variant, pointwise, \
        pt2_compliant_tag, reduction, view_copy = range(20)


class qscheme:
    """A scheme of quantisation: torch.per_tensor_affine ..."""

    def __init__(self, name):
        self._name = name

    def __repr__(self):
        return f"torch.{self._name}"

    def __reduce__(self):
        return self._name


_SCHEMES = {_name: qscheme(_name) for _name in (
    "per_tensor_affine", "per_channel_affine", "per_tensor_symmetric", "per_channel_symmetric",
    "per_channel_affine_float_qparams")}
globals().update(_SCHEMES)
__all__ += _SCHEMES


# ------------------------------------------------------------------ errors of parts that are not here
class AcceleratorError(RuntimeError):
    """An error of an accelerator's driver."""


class OutOfMemoryError(RuntimeError):
    """An accelerator is out of memory."""


class FatalError(RuntimeError):
    """An error after which a program cannot continue."""


# ------------------------------------------------------------------ features of this build
has_lapack = has_mkl = has_openmp = has_spectral = True        # the functions that need them in torch are here


def compiled_with_cxx11_abi() -> bool:
    """True."""
    return True


def is_vulkan_available(*args: object, **kwargs: object) -> bool:
    """False for any arguments."""
    return False


def init_num_threads() -> None:
    """Does nothing: see torch.set_num_threads."""


def is_autocast_ipu_enabled() -> bool:
    """False: there is no IPU."""
    return False


def is_autocast_xla_enabled() -> bool:
    """False: there is no XLA."""
    return False


def get_autocast_ipu_dtype() -> dt.dtype:
    """torch.float16."""
    return dt.float16


def get_autocast_xla_dtype() -> dt.dtype:
    """torch.bfloat16."""
    return dt.bfloat16


@public(seen=False)
def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Sets anomaly detection as torch.autograd.set_detect_anomaly does, but not as a context.

    >>> import tinytorch as torch
    >>> torch.set_anomaly_enabled(True); torch.is_anomaly_enabled()
    True
    >>> torch.set_anomaly_enabled(False)
    """
    anomaly_mode.set_detect_anomaly(enabled, check_nan)


# ------------------------------------------------------------------ numbers that may be symbols in torch
@public(python=True)
def sym_int(a):
    """The number without its fraction.

    >>> import tinytorch as torch
    >>> torch.sym_int(-2.7)
    -2
    """
    return int(a)


@public(python=True)
def sym_float(a) -> float:
    """The number as a float."""
    return float(a)


@public(python=True)
def sym_not(a) -> bool:
    """not a."""
    return not a


_FRACTIONS = np.floating, float
_REAL = np.integer, np.floating, int, float


def _sym_of_two(choose, a, b):
    """One of two numbers, as a float if either is a float. AssertionError unless both are numbers of Python or
    NumPy."""
    for x in (a, b):
        if not isinstance(x, _REAL):
            raise AssertionError(f"expected {_REAL}, got {type(x)}")
    chosen = choose(a, b)
    return float(chosen) if isinstance(a, _FRACTIONS) or isinstance(b, _FRACTIONS) else chosen


@public(python=True)
def sym_max(a, b):
    """The larger number; a float if either is."""
    return _sym_of_two(max, a, b)


@public(python=True)
def sym_min(a, b):
    """The smaller number; a float if either is."""
    return _sym_of_two(min, a, b)


@public(python=True)
def sym_ite(b, t, f):
    """t if b, else f. AssertionError if b is not a bool, or t and f have different classes."""
    assert isinstance(b, bool), f"expected SymBool or bool, got {type(b)}"
    assert type(t) is type(f), f"type mismatch: t ({type(t)}) vs f ({type(f)})"
    return t if b else f


@public(python=True)
def sym_sqrt(a) -> float:
    """The square root. ValueError for a negative number."""
    return math.sqrt(a)


_sym_sqrt = sym_sqrt                           # torch has this name too


@public(python=True)
def sym_sum(*args):
    """The sum of the arguments, or of the numbers in one list or tuple."""
    return sum(args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args)


def sym_fresh_size(expr):
    """The number itself. RuntimeError for more than one number."""
    return tensor(expr).item()


@public()
def sym_constrain_range(size: Number, *, min: int | None = None, max: int | None = None) -> None:
    """RuntimeError for a number below `min` or above `max`."""
    _check_range(size, -2 ** 63 if min is None else min, max)


@public()
def sym_constrain_range_for_size(size: Number, *, min: int | None = None, max: int | None = None) -> None:
    """RuntimeError for a number below `min` (default: 0) or above `max`, and for a `max` of 2 or less."""
    if max is not None and max <= 2:
        raise RuntimeError(f"Max value to constrain_range_for_size must be greater than 2. got: {max}")
    _check_range(size, 0 if min is None else min, max)


def _check_range(size, low, high):
    if size.imag or not -2 ** 63 <= size.real < 2 ** 63:
        raise RuntimeError("value cannot be converted to type int64_t without overflow")
    size, high = int(size.real), 2 ** 63 - 1 if high is None else high
    if low > high:
        raise RuntimeError(f"Max must be greater than or equal to min. Got min={low} max={high}")
    if not low <= size <= high:
        raise RuntimeError(f"Invalid value range for {size} between [{low}, {high}].")


# ------------------------------------------------------------------ devices, files
def get_device_module(device: AnyDevice = None) -> ModuleType:
    """The module of a kind of device, by default torch.cpu. RuntimeError if there is none."""
    hash(device)                               # TypeError for a list
    if not isinstance(device, (Device, str, type(None))):
        raise RuntimeError(f"Invalid value of device '{device}', expect torch.device, str, or None")
    kind = Device("cpu" if device is None else device).type
    package = sys.modules[__package__]
    try:
        return getattr(package, kind)
    except AttributeError:
        raise RuntimeError(f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'."
                           ) from None


def from_file(filename: str, shared: bool | None = None, size: int | None = 0, *, dtype: dt.dtype | None = None,
              layout: object = None, device: AnyDevice = None, pin_memory: bool = False,
              requires_grad: bool = False) -> Tensor:
    """A tensor of `size` numbers in the memory of a mapped file. With `shared`, writes change the file. RuntimeError if
    the file is too short and not shared."""
    for name, value, kinds in (("filename", filename, (str,)), ("shared", shared, (bool, type(None))),
                               ("size", size, (int, type(None)))):
        if not isinstance(value, kinds):
            raise TypeError(f"from_file(): argument '{name}' must be {kinds[0].__name__}, not {kind_of(value)}")
    dtype = dtype or dt.get_default_dtype()
    storage = UntypedStorage.from_file(filename, bool(shared), (size or 0) * dtype.itemsize)
    read = wrap(storage.numbers(dtype)[:size])
    return read.requires_grad_() if requires_grad else read
