"""torch's number types on NumPy's, and torch's rules for mixing them.

A tensor's dtype is the dtype of its array: it is stored nowhere else. A type that NumPy lacks is a record of bits
(`kinds/record_dtypes.py`): it can be stored, viewed, indexed and converted. Arithmetic on bfloat16 computes in float32
and rounds back. So do the few operations that torch has on complex32 (in complex64) and on float8.
"""
from __future__ import annotations

import builtins

import numpy as np

from .kinds.record_dtypes import (
    BFLOAT16,
    COMPLEX32,
    FLOAT8_E4M3FN,
    FLOAT8_E4M3FNUZ,
    FLOAT8_E5M2,
    FLOAT8_E5M2FNUZ,
    FLOAT8_E8M0FNU,
    FLOAT8_RECORDS,
    STORED,
    converted,
    from_bfloat16,
    to_bfloat16,
)
from .seam import door, settings_changed

#: Kinds of dtypes, for `array.dtype.kind in FLOATING`: each is a string of NumPy's letters ("V" is a record: bfloat16,
#: or one of the dtypes for which torch has hardly any kernels). They can be added: FLOATING + COMPLEX.
BOOL, SIGNED, UNSIGNED, NATIVE, WIDENED, COMPLEX = "b", "i", "u", "f", "V", "c"
INTEGER = SIGNED + UNSIGNED
INTEGRAL = BOOL + INTEGER
FLOATING = NATIVE + WIDENED                    # dtypes that NumPy computes in, and dtypes that are widened for it
DIFFERENTIABLE = FLOATING + COMPLEX

#: Whether NumPy's counts and indices have 32 bits, as on 32-bit machines, where torch's are int64. There NumPy's counts
#: are C's long, while torch.int32 is C's int, of the same size, so the two can be told apart.
NARROW = np.dtype(np.intp).itemsize < 8
_COUNT, _INT32 = np.dtype(np.intp).num, np.intc if NARROW else np.int32

_CATEGORIES = {BOOL: 0, UNSIGNED: 1, SIGNED: 1, NATIVE: 2, COMPLEX: 3}


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
        self.tensor_type = tensor_type         # the old torch class of such tensors: "FloatTensor"
        self.type_name = tensor_type.removesuffix("Tensor")
        kind = (STORED[self.numpy].wide if self.numpy.kind == WIDENED else self.numpy).kind
        self.is_complex = kind == COMPLEX
        self.is_floating_point = kind == NATIVE
        # torch's promotion goes by category: bool < integer < floating < complex
        self.category = _CATEGORIES[kind]
        self.is_signed = kind not in BOOL + UNSIGNED and self.numpy != FLOAT8_E8M0FNU

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        return self.name                       # pickle finds it under its name, here or in torch

    def to_real(self):
        return _REAL.get(self, self)

    def to_complex(self):
        """The complex dtype of the same precision. RuntimeError for float8."""
        if self in FLOAT8:
            raise RuntimeError(f"Unknown Complex ScalarType for {self.type_name}")
        return _COMPLEX.get(self, complex64 if self.category < 3 else self)


bool = dtype("bool", np.bool_, "BoolTensor")
uint8 = dtype("uint8", np.uint8, "ByteTensor")
int8 = dtype("int8", np.int8, "CharTensor")
int16 = dtype("int16", np.int16, "ShortTensor")
int32 = dtype("int32", _INT32, "IntTensor")
int64 = dtype("int64", np.int64, "LongTensor")
uint16 = dtype("uint16", np.uint16, "UInt16Tensor")
uint32 = dtype("uint32", np.uint32, "UInt32Tensor")
uint64 = dtype("uint64", np.uint64, "UInt64Tensor")
float16 = dtype("float16", np.float16, "HalfTensor")
bfloat16 = dtype("bfloat16", BFLOAT16, "BFloat16Tensor")
float32 = dtype("float32", np.float32, "FloatTensor")
float64 = dtype("float64", np.float64, "DoubleTensor")
float8_e4m3fn = dtype("float8_e4m3fn", FLOAT8_E4M3FN, "Float8_e4m3fnTensor")
float8_e5m2 = dtype("float8_e5m2", FLOAT8_E5M2, "Float8_e5m2Tensor")
float8_e4m3fnuz = dtype("float8_e4m3fnuz", FLOAT8_E4M3FNUZ, "Float8_e4m3fnuzTensor")
float8_e5m2fnuz = dtype("float8_e5m2fnuz", FLOAT8_E5M2FNUZ, "Float8_e5m2fnuzTensor")
float8_e8m0fnu = dtype("float8_e8m0fnu", FLOAT8_E8M0FNU, "Float8_e8m0fnuTensor")
complex32 = dtype("complex32", COMPLEX32, "ComplexHalfTensor")
complex64 = dtype("complex64", np.complex64, "ComplexFloatTensor")
complex128 = dtype("complex128", np.complex128, "ComplexDoubleTensor")

FLOAT8 = (float8_e4m3fn, float8_e5m2, float8_e4m3fnuz, float8_e5m2fnuz, float8_e8m0fnu)
ALL = (bool, uint8, int8, int16, int32, int64, uint16, uint32, uint64,
       float16, bfloat16, float32, float64, *FLOAT8, complex32, complex64, complex128)
NAMES = {d.name: d for d in ALL}
PYTHON_TYPES = {builtins.float: float64, builtins.int: int64, builtins.bool: bool, complex: complex128}
ALIASES = {"short": int16, "int": int32, "long": int64, "half": float16, "float": float32,
           "double": float64, "chalf": complex32, "cfloat": complex64, "cdouble": complex128}
BY_NUMPY = {d.numpy: d for d in ALL}
_NOT_MIXED = (uint16, uint32, uint64)          # dtypes that have no common dtype with other integers
_REAL = {complex32: float16, complex64: float32, complex128: float64}
_COMPLEX = {real: complex for complex, real in _REAL.items()}

#: Records that torch has few kernels for (`Op.stored`).
ONLY_COMPLEX32 = frozenset([COMPLEX32])
ONLY_STORED = ONLY_COMPLEX32 | {*FLOAT8_RECORDS}
#: Records that have no infinity.
FINITE = frozenset(FLOAT8_RECORDS) - {FLOAT8_E5M2}

_default = float32


def of(array):
    """The dtype of an ndarray (TypeError if torch has no such dtype)."""
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


def counted(array):
    """An array that NumPy computed, as a tensor holds it: counts and indices become int64 where they are narrower."""
    return array.astype(np.int64) if NARROW and array.dtype.num == _COUNT else array


def given(array):
    """An array of a program or a file, as a tensor holds it, sharing its memory. Its 32-bit numbers are no counts,
    whichever of C's types they have."""
    return array.view(_INT32) if NARROW and array.dtype.num == _COUNT else array


def as_intp(numbers):
    """Counts and indices for functions of NumPy that refuse 64 bits on 32-bit machines."""
    return numbers.astype(np.intp, copy=False)


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
    if d in FLOAT8:
        raise TypeError(f"couldn't find storage object {d.type_name}Storage")
    _default = d
    settings_changed()


def check_long(value):
    """OverflowError for an int that fits neither in int64 nor in uint64."""
    if value >= 1 << 64:
        raise OverflowError("int too big to convert")
    if value < -1 << 63:
        raise OverflowError("can't convert negative int to unsigned")


def number_of(value):
    """A NumPy scalar as the Python number that torch reads it as: an int for integers, else a float (of a complex64 its
    real part), except complex128. Python's numbers unchanged."""
    if not isinstance(value, np.generic):
        return value
    if isinstance(value, np.integer):
        return int(value)
    return value.item() if isinstance(value, complex) else builtins.float(value.real)


def default_complex():
    return _default.to_complex()


@door
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
    if type1 in FLOAT8 or type2 in FLOAT8:
        raise RuntimeError("Promotion for Float8 Types is not supported, attempted to promote "
                           f"{type1.type_name} and {type2.type_name}")
    low, high = sorted((type1, type2), key=lambda d: d.category)
    if high.category != 2 and (type1 in _NOT_MIXED or type2 in _NOT_MIXED):
        raise RuntimeError("Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
                           f"{type1.type_name} and {type2.type_name}")
    if high.is_complex:
        return max(low.to_complex(), high, key=lambda d: d.itemsize) if low.category >= 2 else high
    if low.category < high.category:
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
    """torch's three tiers: tensors with dimensions decide; 0-dim tensors, and then Python numbers, only raise the
    category. Each argument is a dtype or None."""
    return _lift(_lift(dims, zeros), scalars)


def _lift(higher, lower):
    if higher is None or lower is None:
        return higher or lower
    if higher.is_complex:
        return higher
    if higher.is_floating_point:
        return higher.to_complex() if lower.is_complex else higher
    if lower.is_complex:
        return lower
    if higher is bool or lower.category >= 2:
        return promote_types(higher, lower)
    return higher


@door
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


def _of_type(function, kind):
    """The dtype that the argument of finfo or iinfo names: a dtype, or a Python type."""
    found = PYTHON_TYPES.get(kind, kind) if isinstance(kind, type) else kind
    if not isinstance(found, dtype):
        raise TypeError(f"{function}(): argument 'type' (position 1) must be torch.dtype, not {type(kind).__name__}")
    return found


class finfo:
    """Limits of a floating dtype, or of Python's float: bits, eps, max, min, tiny, smallest_normal, resolution, dtype.

    >>> import tinytorch as torch
    >>> torch.finfo(torch.float32).eps
    1.1920928955078125e-07
    """

    def __init__(self, type=...):
        d = _default if type is ... else _of_type("finfo", type)
        if not (d.is_floating_point or d.is_complex):
            raise TypeError("torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
                            "'torch.finfo'")
        d = d.to_real()
        self.dtype = d.name
        self.bits = d.itemsize * 8
        if d.numpy in STORED:
            self.eps, self.max, self.min, self.tiny, self.resolution = STORED[d.numpy].limits
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
    """Limits of an integer dtype, or of Python's int as tensors have it: bits, min, max, dtype.

    >>> import tinytorch as torch
    >>> torch.iinfo(torch.int8).max
    127
    """

    def __init__(self, type):
        type = _of_type("iinfo", type)
        if type.category != 1:
            raise TypeError("torch.bool is not supported by torch.iinfo" if type is bool else
                            "torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        info = np.iinfo(type.numpy)
        self.dtype, self.bits, self.min, self.max = type.name, info.bits, int(info.min), int(info.max)

    def __repr__(self):
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


def stored(x, record):
    """The opposite of `numbers` for computed results, also in a tuple: arrays of floating and complex numbers become
    such records, and real arrays become float16 if the record is complex; anything else is unchanged."""
    if x.__class__ is tuple:
        return tuple([stored(y, record) for y in x])
    if not isinstance(x, (np.ndarray, np.generic)) or x.dtype.kind not in NATIVE + COMPLEX:
        return x
    if record == COMPLEX32 and x.dtype.kind == NATIVE:
        return np.asarray(x, np.float16)
    return cast(np.asarray(x), record)


def kind(numpy_dtype):
    """As `numpy_dtype.kind`, except that other records than bfloat16 do not count as WIDENED: complex32 is COMPLEX, and
    float8 has a kind that no constant here contains."""
    letter = numpy_dtype.kind
    return letter if letter != WIDENED else _KINDS[numpy_dtype]


_KINDS = {BFLOAT16: WIDENED, COMPLEX32: COMPLEX, **dict.fromkeys(FLOAT8_RECORDS, "8")}


def joined(real, imag):
    """The complex32 numbers with these real and imaginary parts in float16."""
    result = np.empty(np.broadcast_shapes(np.shape(real), np.shape(imag)), COMPLEX32)
    result["real"], result["imag"] = real, imag
    return result


def is_complex(numpy_dtype):
    """Whether a NumPy dtype, or a record, is one of complex numbers."""
    return numpy_dtype.kind == COMPLEX or numpy_dtype.kind == WIDENED and numpy_dtype == COMPLEX32


_SIMPLE = frozenset([int, float, builtins.bool, type(None)])


def widened(x):
    """The values that an op computes with: bfloat16 arrays as float32, also in a tuple or list, anything else
    unchanged. TypeError, as from NumPy, for other records, for which few operations exist."""
    if x.__class__ is tuple or x.__class__ is list:
        return x.__class__([y if y.__class__ in _SIMPLE else widened(y) for y in x])
    if not isinstance(x, np.ndarray) or x.dtype.kind != WIDENED:
        return x
    if x.dtype != BFLOAT16:
        raise TypeError(f"{BY_NUMPY[x.dtype].name} is not widened")
    return from_bfloat16(x)


def numbers(x):
    """The numbers in an array of any records, as an array that NumPy can compute with. Other arrays, and other objects,
    are unchanged."""
    return STORED[x.dtype].widen(x) if isinstance(x, np.ndarray) and x.dtype.kind == WIDENED else x


def narrowed(x):
    """The opposite of `widened` for computed results: float32 arrays and numbers become bfloat16."""
    if x.__class__ is tuple or x.__class__ is list:
        return x.__class__([narrowed(y) for y in x])
    if hasattr(x, "with_values"):              # a sparse array
        return x.with_values(narrowed(x.values))
    return to_bfloat16(x) if isinstance(x, (np.ndarray, np.float32)) and x.dtype == np.float32 else x


def cast(array, numpy_dtype):
    """`array.astype`, records included; from complex to real the imaginary part is dropped. Always a copy."""
    if array.dtype.kind == WIDENED:
        if array.dtype == numpy_dtype:
            return array.copy()
        array = STORED[array.dtype].widen(array)
    if numpy_dtype.kind == WIDENED:
        return STORED[numpy_dtype].narrow(array if numpy_dtype == COMPLEX32 else array.real)
    if array.dtype.kind == COMPLEX and numpy_dtype.kind not in COMPLEX + BOOL:
        array = array.real
    if numpy_dtype.char in "ef" and array.dtype.char in "ef" and (result := converted(array, numpy_dtype)) is not None:
        return result
    return array.astype(numpy_dtype)
