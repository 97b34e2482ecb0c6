"""Kinds of arrays: the table of the arrays that `Tensor._array` may be besides an ndarray of numbers.

| kind        | contents of the array                     | file of its class     |
|-------------|-------------------------------------------|-----------------------|
| lazy        | memory seen conjugated or negated         | kinds/lazy.py         |
| batched     | one sample that stands for all, in vmap   | func/batched.py       |
| meta        | a shape and a dtype without numbers       | kernels/meta_array.py |
| sparse      | elements by their place                   | sparse/array.py       |
| records     | bfloat16 and other dtypes NumPy lacks     | autograd/record_dtypes.py   |

An operation first runs its forward with the arrays as they are. An array that has a class of its own implements
NumPy's protocols (`__array_ufunc__`, `__array_function__`), so most operations compute with every kind and need no
code for it. If the array cannot compute something, it raises a TypeError or ValueError. The operation then asks the
table, by the classes of the arrays alone: the first kind in the table that an operand has runs the operation, or lets
the error stand. A new kind is a subclass of Kind and a line `enter(its class, its kind)`; nothing else changes.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numpy import ndarray

from ..dtypes import WIDENED
from ..seam import UNSEEN
from ..tensor import Tensor


class Kind:
    """A kind of arrays: it computes the operations whose forward does not take such an array."""

    def run(self, o: Any, call: Callable, args: Sequence[Any], error: Exception | None) -> Any:
        """The result of the primitive `call` of the operation `o`, whose forward raised `error` (None: the forward did
        not run). UNSEEN if the error stands."""
        return UNSEEN

    def run_unary(self, o: Any, call: Callable, args: Sequence[Any], error: Exception | None) -> Any:
        """The result of a primitive that computes the elements of one tensor one by one. UNSEEN as in `run`."""
        return self.run(o, call, args, error)

    def run_binary(self, o: Any, call: Callable, args: Sequence[Any], error: Exception | None) -> Any:
        """The result of a primitive that computes corresponding elements of two operands. UNSEEN as in `run`."""
        return self.run(o, call, args, error)


#: The class of an array -> its kind. The key ndarray has the kind of arrays whose dtype is a record. If the operands
#: have several kinds, the kind that was entered first runs the operation, but records come last.
KINDS: dict[type, Kind] = {}


def enter(array_class: type, kind: Kind) -> None:
    """Enters the kind of the arrays of a class."""
    KINDS[array_class] = kind


_NUMBERS = frozenset([int, float, bool, complex, type(None)])


def kind_among(args: Sequence[Any]) -> Kind | None:
    """The kind that runs an operation of these arguments; None if all are ndarrays of numbers."""
    records = False
    for x in args:                             # this loop is nearly always enough
        if isinstance(x, Tensor) and type(x._array) is ndarray:
            records = records or x._array.dtype.kind == WIDENED
        elif x.__class__ not in _NUMBERS:
            break
    else:
        return KINDS[ndarray] if records else None
    found = set()
    _look(args, found)
    for array_class, kind in KINDS.items():
        if array_class in found and array_class is not ndarray:
            return kind
    if any([isinstance(x, Tensor) and x._array.dtype.kind == WIDENED for x in args]):
        return KINDS[ndarray]
    return None


def _look(args, found):
    """Adds the classes of the arrays in nested lists and tuples."""
    for x in args:
        if x.__class__ is list or x.__class__ is tuple:
            _look(x, found)
        else:
            found.add(type(x._array) if isinstance(x, Tensor) else type(x))
