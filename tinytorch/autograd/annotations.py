"""What arguments may be: the words in the annotations of public functions."""
from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes as dt
from ..arguments import is_extent, is_int, is_one_int
from ..device import device
from ..kernels.memory import LARGEST
from ..memory_format import check_layout, layout, memory_format
from ..tensor import Size, Tensor
from .views import has_history

__all__ = ["ANY", "KINDS", "LEAST", "LISTS", "PARAMETERS", "Ints", "are_ints", "is_number", "read_annotation"]

#: The least int that 64 bits hold.
LEAST = -LARGEST - 1

_PLAIN = dt.INTEGRAL + dt.NATIVE + dt.COMPLEX


def is_number(x, kinds, fitting):
    """Whether `x` is a NumPy number of `kinds`, or a tensor without dimensions that torch takes for a number."""
    if isinstance(x, Tensor):
        return not x._array.ndim and not has_history(x) and x._array.dtype.kind in fitting
    return isinstance(x, np.generic) and x.dtype.kind in kinds


def _starts_with_int(x):
    return isinstance(x, (tuple, list)) and (not x or hasattr(x[0], "__index__"))


def _is_float(x):
    return isinstance(x, (float, int)) or is_number(x, _PLAIN, dt.INTEGRAL + dt.FLOATING)


def _is_sequence(x, fits):
    return isinstance(x, (tuple, list)) and all([fits(item) for item in x])


def _is_layout(x):
    return isinstance(x, layout) and check_layout(x)


def _is_tensor(x):
    return isinstance(x, Tensor)


class Ints:
    """The class that stands for a list of ints which needs no conversion."""


def are_ints(x: list | tuple) -> bool:
    """Whether a list holds Python's ints alone, of 64 bits."""
    for n in x:
        if n.__class__ is not int or not LEAST <= n <= LARGEST:
            return False
    return True


LISTS = frozenset([list, tuple, Size])
#: Subclasses of Tensor that compute as Tensor does: Parameter.
PARAMETERS: set[type] = set()


#: Annotation -> (classes that are accepted, a test for values of other classes, torch's word in messages).
KINDS = {
    "Tensor": ((Tensor,), _is_tensor, "Tensor"),
    "Tensors": ((), lambda x: _is_sequence(x, _is_tensor), "tuple of Tensors"),
    "int": ((int,), is_int, "int"),
    "Ints": ((Ints,), lambda x: isinstance(x, (tuple, list)), "tuple of ints"),
    "Extent": ((int,), is_extent, "int"),      # what torch's schemas call SymInt
    "Extents": ((Ints,), lambda x: isinstance(x, (tuple, list)), "tuple of ints"),
    "float": ((float, int), _is_float, "float"),
    "Number": ((float, int, bool, complex), lambda x: is_number(x, _PLAIN, _PLAIN + dt.WIDENED), "Number"),
    "bool": ((bool,), lambda x: False, "bool"),
    "str": ((str,), lambda x: isinstance(x, (str, bytes)), "str"),
    "dt.dtype": ((dt.dtype,), lambda x: isinstance(x, type) and x in dt.PYTHON_TYPES, "torch.dtype"),
    "Device": ((device, str, int, type(None)), lambda x: isinstance(x, (str, bytes, np.integer)), "torch.device"),
    "Layout": ((type(None),), _is_layout, "torch.layout"),
    "MemoryFormat": ((memory_format,), lambda x: False, "torch.memory_format"),
    "None": ((type(None),), lambda x: False, ""),
}


class _Any:
    """The set of classes of an argument that may be anything."""

    def __contains__(self, given):
        return True


ANY = _Any()


def read_annotation(annotation):
    """Read an annotation as it stands in the source: (accepted classes, tests for values of other classes, torch's
    word, the names among Extent and Extents in it)."""
    names = [name.strip() for name in (annotation or "").split("|")]
    kinds: list[Any] = [KINDS.get(name) for name in names]
    if None in kinds:
        return ANY, (), "", ()
    words = [kind[2] for kind in kinds]
    word = words[0]
    fits = [kind[1] for kind in kinds]
    if "tuple of Tensors" in words:            # a list of ints and a list of tensors differ by their first item
        fits = [_starts_with_int if kind == "tuple of ints" else fit for kind, fit in zip(words, fits)]
    elif "tuple of ints" in words:
        word = "tuple of ints"                 # torch's word for int | Ints
        if word != words[0]:                   # for Ints | int, torch has one function for each
            fits.append(is_one_int)
    return frozenset([c for kind in kinds for c in kind[0]]), fits, word, [n for n in names if n[:6] == "Extent"]
