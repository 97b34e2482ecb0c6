"""torch's number types on NumPy's, and torch's rules for mixing them.

A tensor's dtype is that of its array: nothing else is stored. bfloat16, which NumPy lacks, is a
one-field record of 16 bits: it can be stored, viewed, indexed and converted, and every
arithmetic op on it computes in float32 and rounds back.
"""
from __future__ import annotations

import builtins

import numpy as np

#: Kinds of dtypes, for `array.dtype.kind in FLOATING`: each is the letters that NumPy has for them ("V": a record,
#: which here is bfloat16 alone). They add up: FLOATING + COMPLEX.
BOOL, SIGNED, UNSIGNED, NATIVE, WIDENED, COMPLEX = "b", "i", "u", "f", "V", "c"
INTEGER = SIGNED + UNSIGNED
INTEGRAL = BOOL + INTEGER
FLOATING = NATIVE + WIDENED                    # what NumPy computes in, and what is widened to float32 for it
DIFFERENTIABLE = FLOATING + COMPLEX

_CATEGORIES = {BOOL: 0, UNSIGNED: 1, SIGNED: 1, NATIVE: 2, WIDENED: 2, COMPLEX: 3}


class dtype:
    """One of torch's number types (`torch.float32`, ...).

    >>> import tinytorch as torch
    >>> torch.float32, torch.float32.itemsize, torch.float32.is_floating_point
    (torch.float32, 4, True)
    """

    __slots__ = ("name", "numpy", "category", "itemsize", "tensor_type", "type_name", "is_signed",
                 "is_floating_point", "is_complex")

    def __init__(self, name, numpy, tensor_type):
        self.name = name
        self.numpy = np.dtype(numpy)
        self.itemsize = self.numpy.itemsize
        self.tensor_type = tensor_type         # "FloatTensor": the class that torch once had for it
        self.type_name = tensor_type.removesuffix("Tensor")
        self.is_complex = self.numpy.kind == COMPLEX
        self.is_floating_point = self.numpy.kind in FLOATING
        # torch's promotion goes by category: bool < integer < floating < complex
        self.category = _CATEGORIES[self.numpy.kind]
        self.is_signed = self.numpy.kind not in BOOL + UNSIGNED

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        return _by_name, (self.name,)

    def to_real(self):
        return _REAL.get(self, self)

    def to_complex(self):
        """The complex dtype of the same precision. NotImplementedError for float16, whose complex32 is missing."""
        if self is float16:
            raise NotImplementedError("complex32, the complex dtype of float16, is not implemented: convert to float32 "
                                      "or complex64 first")
        return _COMPLEX.get(self, complex64 if self.category < 3 else self)


def _by_name(name):
    return NAMES[name]


BFLOAT16 = np.dtype([("bfloat16", np.uint16)])

bool = dtype("bool", np.bool_, "BoolTensor")
uint8 = dtype("uint8", np.uint8, "ByteTensor")
int8 = dtype("int8", np.int8, "CharTensor")
int16 = dtype("int16", np.int16, "ShortTensor")
int32 = dtype("int32", np.int32, "IntTensor")
int64 = dtype("int64", np.int64, "LongTensor")
uint16 = dtype("uint16", np.uint16, "UInt16Tensor")
uint32 = dtype("uint32", np.uint32, "UInt32Tensor")
uint64 = dtype("uint64", np.uint64, "UInt64Tensor")
float16 = dtype("float16", np.float16, "HalfTensor")
bfloat16 = dtype("bfloat16", BFLOAT16, "BFloat16Tensor")
float32 = dtype("float32", np.float32, "FloatTensor")
float64 = dtype("float64", np.float64, "DoubleTensor")
complex64 = dtype("complex64", np.complex64, "ComplexFloatTensor")
complex128 = dtype("complex128", np.complex128, "ComplexDoubleTensor")

ALL = (bool, uint8, int8, int16, int32, int64, uint16, uint32, uint64,
       float16, bfloat16, float32, float64, complex64, complex128)
NAMES = {d.name: d for d in ALL}
PYTHON_TYPES = {builtins.float: float64, builtins.int: int64, builtins.bool: bool, complex: complex128}
ALIASES = {"short": int16, "int": int32, "long": int64, "half": float16, "float": float32,
           "double": float64, "cfloat": complex64, "cdouble": complex128}
BY_NUMPY = {d.numpy: d for d in ALL}
_NOT_MIXED = (uint16, uint32, uint64)          # have no common dtype with other integers
_REAL = {complex64: float32, complex128: float64}
_COMPLEX = {float32: complex64, float64: complex128}

_default = float32


def of(array):
    """The dtype of an ndarray (TypeError for one that torch has no name for)."""
    try:
        return BY_NUMPY[array.dtype]
    except KeyError:
        native = BY_NUMPY.get(array.dtype.newbyteorder("="))
        if native is not None:
            return native
        raise TypeError(
            f"can't convert np.ndarray of type {array.dtype.type.__module__}.{array.dtype.type.__name__}. "
            "The only supported types are: float64, float32, float16, complex64, complex128, int64, "
            "int32, int16, int8, uint64, uint32, uint16, uint8, and bool.") from None


def get_default_dtype() -> dtype:
    """The floating dtype of new tensors: float32 unless changed.

    >>> import tinytorch as torch
    >>> torch.get_default_dtype()
    torch.float32
    """
    return _default


def set_default_dtype(d: dtype, /) -> None:
    """Make `d` the floating dtype of new tensors. TypeError if it is not a floating dtype.

    >>> import tinytorch as torch
    >>> torch.set_default_dtype(torch.float64); torch.tensor(1.5).dtype
    torch.float64
    >>> torch.set_default_dtype(torch.float32)
    """
    global _default
    if not isinstance(d, dtype):
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _default = d


def check_long(value):
    """OverflowError for an int that fits neither in int64 nor in uint64."""
    if value >= 1 << 64:
        raise OverflowError("int too big to convert")
    if value < -1 << 63:
        raise OverflowError("can't convert negative int to unsigned")


def number_of(value):
    """A NumPy scalar as the Python number that torch reads it as: one that is neither an integer nor double precision
    as a float (of a complex64 the real part). Python's numbers as they are."""
    if not isinstance(value, np.generic):
        return value
    if isinstance(value, np.integer):
        return int(value)
    return value.item() if isinstance(value, complex) else builtins.float(value.real)


def default_complex():
    return complex128 if _default is float64 else complex64


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest dtype that both can be converted to, by torch's table.

    >>> import tinytorch as torch
    >>> torch.promote_types(torch.int32, torch.float32), torch.promote_types(torch.uint8, torch.int8)
    (torch.float32, torch.int16)
    """
    if type1.__class__ is not dtype or type2.__class__ is not dtype:
        _refuse("promote_types", type1=type1, type2=type2)
    if type1 is type2:
        return type1
    low, high = sorted((type1, type2), key=lambda d: d.category)
    if high.category != 2 and (type1 in _NOT_MIXED or type2 in _NOT_MIXED):
        raise RuntimeError("Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
                           f"{type1.type_name} and {type2.type_name}")
    if low.category < high.category:
        if high is complex64 and low is float64:
            return complex128
        return high
    if bfloat16 in (low, high):
        other = low if high is bfloat16 else high
        return float32 if other is float16 else other
    return BY_NUMPY[np.promote_types(low.numpy, high.numpy)]


def of_scalar(value):
    """The dtype that a Python number counts as: float and complex follow the default dtype."""
    if value is True or value is False:
        return bool
    if isinstance(value, int):
        if -1 << 63 <= value < 1 << 63:
            return int64
        check_long(value)
        return uint64
    if isinstance(value, float):
        return _default
    return default_complex()


def combine(dims, zeros, scalars):
    """torch's three tiers: tensors with dimensions decide; 0-dim tensors and then Python numbers
    only lift the category. Each argument is a dtype or None."""
    return _lift(_lift(dims, zeros), scalars)


def _lift(higher, lower):
    if higher is None or lower is None:
        return higher or lower
    if higher.is_complex:
        return higher
    if higher.is_floating_point:
        return higher.to_complex() if lower.is_complex else higher
    if higher is bool or lower.category >= 2:
        return promote_types(higher, lower)
    return higher


def can_cast(from_: dtype, to: dtype) -> builtins.bool:
    """Whether torch lets a result of dtype `from_` be stored into `to`: never down a category.

    >>> import tinytorch as torch
    >>> torch.can_cast(torch.double, torch.float), torch.can_cast(torch.float, torch.int)
    (True, False)
    """
    if from_.__class__ is not dtype or to.__class__ is not dtype:
        _refuse("can_cast", from_=from_, to=to)
    if from_.category > to.category and not (from_.category == 1 and to.category == 1):
        return False
    return not (to is bool and from_ is not bool)


def _refuse(function, **arguments):
    """TypeError for the first of the arguments that is not a dtype."""
    for position, (name, value) in enumerate(arguments.items(), 1):
        if not isinstance(value, dtype):
            raise TypeError(f"{function}(): argument '{name}' (position {position}) must be torch.dtype, not "
                            f"{type(value).__name__}")


class finfo:
    """Limits of a floating dtype: bits, eps, max, min, tiny, smallest_normal, resolution, dtype.

    >>> import tinytorch as torch
    >>> torch.finfo(torch.float32).eps
    1.1920928955078125e-07
    """

    def __init__(self, type=None):
        d = _default if type is None else type
        if not isinstance(d, dtype) or not (d.is_floating_point or d.is_complex):
            raise TypeError(f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{d!r}'")
        d = d.to_real()
        self.dtype = d.name
        self.bits = d.itemsize * 8
        if d is bfloat16:
            self.eps, self.resolution = 2.0 ** -7, 0.01
            self.max, self.tiny = 3.3895313892515355e38, 2.0 ** -126
        else:
            info = np.finfo(d.numpy)
            self.eps, self.resolution = float(info.eps), float(f"1e-{info.precision}")
            self.max, self.tiny = float(info.max), float(info.tiny)
        self.min = -self.max
        self.smallest_normal = self.tiny

    def __repr__(self):
        return (f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
                f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})")


class iinfo:
    """Limits of an integer dtype: bits, min, max, dtype.

    >>> import tinytorch as torch
    >>> torch.iinfo(torch.int8).max
    127
    """

    def __init__(self, type):
        if not isinstance(type, dtype) or type.category != 1:
            raise TypeError("torch.bool is not supported by torch.iinfo" if type is bool else
                            "torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        info = np.iinfo(type.numpy)
        self.dtype, self.bits, self.min, self.max = type.name, info.bits, int(info.min), int(info.max)

    def __repr__(self):
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


def to_bfloat16(array):
    """A floating array as bfloat16 bits, rounded to nearest even (NaN stays NaN)."""
    bits = np.asarray(array, np.float32).view(np.uint32)
    rounded = (bits + (np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1)))) >> np.uint32(16)
    rounded = np.where(np.isnan(array), np.uint32(0x7FC0), rounded).astype(np.uint16)
    return _stepping_as(array, rounded.view(BFLOAT16))


def from_bfloat16(array):
    """bfloat16 bits as the float32 array of the same values."""
    return _stepping_as(array, (array["bfloat16"].astype(np.uint32) << np.uint32(16)).view(np.float32))


def _stepping_as(array, result):
    """`result`, made of `array` element by element, with its strides along dimensions of size 1: NumPy sets those as it
    likes, and torch tells memory formats by them."""
    if result.ndim < 3:
        return result
    strides = tuple([s * result.itemsize // array.itemsize for s in array.strides])
    if strides == result.strides or any([a != b and n != 1 for a, b, n in zip(strides, result.strides, result.shape)]):
        return result
    return np.lib.stride_tricks.as_strided(result, result.shape, strides)


def widened(x):
    """What an op computes with: bfloat16 arrays as float32, also those in a tuple or list, anything else as it is."""
    if x.__class__ is tuple or x.__class__ is list:
        return x.__class__([widened(y) for y in x])
    return from_bfloat16(x) if isinstance(x, np.ndarray) and x.dtype == BFLOAT16 else x


def narrowed(x):
    """The opposite of `widened`, of what was computed: float32 arrays and numbers as bfloat16."""
    if x.__class__ is tuple or x.__class__ is list:
        return x.__class__([narrowed(y) for y in x])
    return to_bfloat16(x) if isinstance(x, (np.ndarray, np.float32)) and x.dtype == np.float32 else x


def cast(array, numpy_dtype):
    """`array.astype`, bfloat16 included; complex to real drops the imaginary part. Always a copy."""
    if array.dtype == BFLOAT16:
        wide = from_bfloat16(array)
        return array.copy() if numpy_dtype == BFLOAT16 else wide.astype(numpy_dtype)
    if numpy_dtype == BFLOAT16:
        return to_bfloat16(array.real.astype(np.float32))
    if array.dtype.kind == COMPLEX and numpy_dtype.kind not in COMPLEX + BOOL:
        array = array.real
    return array.astype(numpy_dtype)
