"""torch's messages that many functions share, each in one place."""
import os
import sys
import warnings

from . import dtypes as dt
from .memory_format import LAYOUT_NAMES, sparse_coo

#: The name of a dtype in torch's C++ messages, by the name of its tensor type.
C_NAMES = {"Float": "float", "Double": "double", "Half": "c10::Half", "BFloat16": "c10::BFloat16", "Long": "long int",
           "Int": "int", "Short": "short int", "UInt16": "short unsigned int", "UInt32": "unsigned int",
           "UInt64": "long unsigned int", "Char": "signed char", "Byte": "unsigned char", "Bool": "bool",
           "ComplexHalf": "c10::complex<c10::Half>", "ComplexFloat": "c10::complex<float>",
           "ComplexDouble": "c10::complex<double>", **{d.type_name: f"c10::{d.type_name}" for d in dt.FLOAT8}}


def type_name(x):
    """The name in torch's messages (Float, Long ...) of a dtype, or of the dtype of a tensor or array."""
    return (x if isinstance(x, dt.dtype) else dt.of(getattr(x, "_array", x))).type_name


_HERE = os.path.dirname(__file__) + os.sep
_warned = set()


def warn(message, category=UserWarning):
    """Warn, at the innermost running line outside of this package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        level, frame = level + 1, frame.f_back
    once.given += 1
    warnings.warn(message, category, stacklevel=level)


class once:
    """What is known of warnings.

    always   whether warnings that are given once are given every time (`torch.set_warn_always`)
    given    how many warnings were given
    """

    always, given = False, 0


def warn_once(message, kind=None):
    """A UserWarning, given only the first time for this message or `kind`."""
    if once.always or (kind or message) not in _warned:
        _warned.add(kind or message)
        warn(message)


def kind_of(value):
    """The class of a value as torch's messages name it: int, numpy.ndarray."""
    kind = type(value)
    return f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__


def not_a_tensor(function, argument, position, value):
    """The TypeError for an argument that must be a tensor; `position` counts from 1, None leaves it out."""
    where = "" if position is None else f" (position {position})"
    return TypeError(f"{function}(): argument '{argument}'{where} must be Tensor, not {kind_of(value)}")


def not_implemented(kernel, x):
    """The NotImplementedError of torch's `kernel` for a dtype (of a tensor or array `x`, or `x` itself)."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{type_name(x)}'")


def refuse_records(kernel, x, records=dt.ONLY_STORED):
    """Raise `not_implemented` if a tensor or array `x` holds such records, by default all but bfloat16. A tensor
    without elements is accepted, as in torch."""
    array = getattr(x, "_array", x)
    if array.dtype.kind == dt.WIDENED and array.dtype in records and array.size:
        raise not_implemented(kernel, x)


def sizes_do_not_match(a, b, dim):
    """The RuntimeError for sizes `a` and `b`, neither of them 1, in dimension `dim` of operands to be broadcast."""
    return RuntimeError(f"The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension "
                        f"{dim}")


class SparseOperandError(NotImplementedError, TypeError):
    """A function of ndarrays got a sparse one. It is a TypeError too, as NumPy's error for unknown objects is."""


def refuse_sparse(function, x):
    """Raise the error of a function that does not accept a sparse tensor (or array) `x`."""
    backend = "SparseCPU" if x.layout is sparse_coo else "SparseCsrCPU"
    raise SparseOperandError(f"Could not run 'aten::{function}' with arguments from the '{backend}' backend: "
                             f"tinytorch has no {function} of tensors with layout {x.layout}")


def layout_expected(function, kind, x):
    """The RuntimeError of a function for tensors whose layout differs from that of `x`."""
    return RuntimeError(f"{function} expected {kind}tensor layout but got {LAYOUT_NAMES[x.layout]}")
