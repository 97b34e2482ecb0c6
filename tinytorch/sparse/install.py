"""Puts the functions for sparse tensors where torch's functions and methods look for them."""
import re

from ..autograd import late_bound
from ..autograd.promotion import NUMBERS
from ..autograd.public import TABLE
from ..errors import refuse_sparse
from ..kinds.table import enter
from ..memory_format import LAYOUT_NAMES
from ..ops.creation.casts import CASTS
from ..tensor import Tensor
from . import products, reduction, structure  # noqa: F401
from .arithmetic import to, written, written_out
from .array import SparseArray
from .tensor import FUNCTIONS, Sparse, SparseTensor, dispatch, is_sparse
from .text import sparse_text

_OPERATOR = re.compile("__i?r?(add|sub|mul|matmul|truediv|floordiv|mod|pow|and|or|xor|lshift|rshift|div)__|"
                       "__(neg|abs|invert|eq|ne|lt|le|gt|ge|pos|getitem|setitem|contains)__")


def _method(name, function):
    is_operator = name[:2] == "__" and name != "__getitem__"

    def method(self, *args, **kwargs):
        if is_operator and args and not isinstance(args[0], (Tensor, *NUMBERS)):
            return NotImplemented              # == None is False
        return dispatch(function, (self, *args), kwargs)
    method.__name__ = method.__qualname__ = name
    return method


def _in_place(name, function):
    """The in-place form of a function: it computes the result, then writes it to `self`."""

    def method(self, *args, **kwargs):
        compute = FUNCTIONS.get(function)
        turns = compute is not None and compute.in_place == "turns"
        if compute is None or not compute.in_place or turns and not self.is_sparse:
            refuse_sparse(name, self)
        array = compute(self.detach(), *args, **kwargs)._array
        if not isinstance(array, SparseArray) or array.shape != self._array.shape and not turns:
            refuse_sparse(name, self)
        if not args and array.coalesced and not self._array.coalesced and self.is_sparse:
            raise RuntimeError(f"{function}_ requires coalesced input")
        return written(self, array)
    method.__name__ = method.__qualname__ = name
    return method


def _cast(name, dtype):
    def method(self, *, memory_format=None):
        return self.to(dtype)
    method.__name__ = method.__qualname__ = name
    return method


def _type_as(self, other):
    if not is_sparse(other):
        raise RuntimeError("to(options) doesn't support converting to a different layout, but got self.layout being "
                           f"{LAYOUT_NAMES[self.layout]} and options.layout set as Strided")
    return self.to(other.dtype)


def _type(self, dtype=None, non_blocking=False):
    if dtype is not None:
        return self.to(getattr(dtype, "dtype", dtype))
    if not self.is_sparse:
        raise RuntimeError(f"Unimplemented backend {LAYOUT_NAMES[self.layout]}CPU")
    return f"torch.sparse.{self.dtype.tensor_type}"


def install():
    """Gives SparseTensor the methods of all public functions, and registers the handler of sparse arguments."""
    names = {name: record.name for record in TABLE.values() if not record.any_layout for name in record.methods}
    names.update({name: name for name in vars(Tensor) if _OPERATOR.fullmatch(name) or name in FUNCTIONS})
    for name, function in names.items():
        if name not in vars(SparseTensor):
            made = _in_place if name[-1] == "_" != name[-2] and name not in FUNCTIONS else _method
            setattr(SparseTensor, name, made(name, name if name in FUNCTIONS else function))
    SparseTensor.to, SparseTensor.__repr__ = to, lambda self, *, tensor_contents=None: sparse_text(self)
    for name, dtype in CASTS.items():
        setattr(SparseTensor, name, _cast(name, dtype))
    SparseTensor.type_as = _type_as
    SparseTensor.data = property(FUNCTIONS["detach"], vars(Tensor)["data"].fset)
    SparseTensor.type = _type
    for name in ("new_ones", "new_zeros", "new_empty", "new_full", "new_tensor", "new_empty_strided", "contiguous",
                 "storage", "untyped_storage", "view", "expand", "repeat", "resize_", "set_", "share_memory_"):
        setattr(SparseTensor, name, _method(name, name))
    late_bound.sparse, late_bound.sparse_array, late_bound.sparse_out = dispatch, SparseArray, written_out
    enter(SparseArray, Sparse())
