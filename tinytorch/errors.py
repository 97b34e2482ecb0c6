"""torch's messages that many functions have in common, once."""
import os
import sys
import warnings

from . import dtypes as dt
from .memory_format import LAYOUT_NAMES, sparse_coo

#: A dtype as torch's C++ messages spell it, by the name of its tensor type.
C_NAMES = {"Float": "float", "Double": "double", "Half": "c10::Half", "BFloat16": "c10::BFloat16", "Long": "long int",
           "Int": "int", "Short": "short int", "UInt16": "short unsigned int", "UInt32": "unsigned int",
           "UInt64": "long unsigned int", "Char": "signed char", "Byte": "unsigned char", "Bool": "bool",
           "ComplexHalf": "c10::complex<c10::Half>", "ComplexFloat": "c10::complex<float>",
           "ComplexDouble": "c10::complex<double>", **{d.type_name: f"c10::{d.type_name}" for d in dt.FLOAT8}}


def type_name(x):
    """The dtype of a tensor, of an array, or a dtype itself, as torch's messages spell it: Float, Long ..."""
    return (x if isinstance(x, dt.dtype) else dt.of(getattr(x, "_array", x))).type_name


_HERE = os.path.dirname(__file__) + os.sep
_warned = set()


def warn(message, category=UserWarning):
    """A warning at the line outside of this package that is being executed."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


class once:
    """Whether what is warned of once is warned of every time (`torch.set_warn_always`)."""

    always = False


def warn_once(message, kind=None):
    """A UserWarning, the first time that it is asked for, or that one of its `kind` is."""
    if once.always or (kind or message) not in _warned:
        _warned.add(kind or message)
        warn(message)


def kind_of(value):
    """The class of a value as torch's messages spell it: int, numpy.ndarray."""
    kind = type(value)
    return f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__


def not_a_tensor(function, argument, position, value):
    """The TypeError for an argument that must be a tensor; `position` counts from 1, None: it is not told."""
    where = "" if position is None else f" (position {position})"
    return TypeError(f"{function}(): argument '{argument}'{where} must be Tensor, not {kind_of(value)}")


def not_implemented(kernel, x):
    """The NotImplementedError of torch's `kernel` for a dtype (of a tensor or array `x`, or `x` itself)."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{type_name(x)}'")


def refuse_records(kernel, x, records=dt.ONLY_STORED):
    """`not_implemented`, raised if a tensor or array `x` holds such records, by default all but bfloat16: of nothing
    torch computes nothing."""
    array = getattr(x, "_array", x)
    if array.dtype.kind == dt.WIDENED and array.dtype in records and array.size:
        raise not_implemented(kernel, x)


def sizes_do_not_match(a, b, dim):
    """The RuntimeError for sizes `a` and `b`, neither of them 1, in dimension `dim` of operands to be broadcast."""
    return RuntimeError(f"The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension "
                        f"{dim}")


class SparseOperandError(NotImplementedError, TypeError):
    """What computes with ndarrays was given a sparse one. A TypeError too, as NumPy's for other objects."""


def refuse_sparse(function, x):
    """Raise the error of a function that does not take a sparse tensor (or array) `x`."""
    backend = "SparseCPU" if x.layout is sparse_coo else "SparseCsrCPU"
    raise SparseOperandError(f"Could not run 'aten::{function}' with arguments from the '{backend}' backend: "
                             f"tinytorch has no {function} of tensors with layout {x.layout}")


def layout_expected(function, kind, x):
    """The RuntimeError of a function for tensors of another layout than that of `x`."""
    return RuntimeError(f"{function} expected {kind}tensor layout but got {LAYOUT_NAMES[x.layout]}")
