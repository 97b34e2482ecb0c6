"""What functions of torch do when an argument is sparse, put where they look."""
import re

from .. import dtypes as dt
from ..autograd import above
from ..autograd.promotion import NUMBERS
from ..autograd.public import TABLE
from ..errors import refuse_sparse
from ..kinds import enter
from ..memory_format import LAYOUT_NAMES
from ..tensor import Tensor
from . import products, reduction, structure  # noqa: F401
from .arithmetic import to, written, written_out
from .array import SparseArray
from .tensor import FUNCTIONS, Sparse, SparseTensor, dispatch, is_sparse
from .text import sparse_text

#: Public functions that do with a sparse tensor what they always do: they look at nothing but shape, dtype and graph,
#: or are made for sparse ones.
_THE_SAME = {"is_floating_point", "is_complex", "numel", "is_inference", "is_signed", "sparse_resize_",
             "sparse_resize_and_clear_", "resize_as_sparse_"}
#: Public functions made of others, which see to sparse tensors.
_OF_OTHERS = {"adjoint", "is_same_size", "movedim", "moveaxis"}
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


#: Functions of sparse tensors whose in-place form torch has for dense ones alone.
_OUT_OF_PLACE = {"clamp", "pow", "square", "squeeze", "unsqueeze"}
#: In-place forms that change the shape, which compressed layouts do not take.
_TURNS = {"t", "transpose", "swapaxes", "swapdims"}


def _in_place(name, function):
    """The in-place form of a function of sparse tensors: computes, then writes."""

    def method(self, *args, **kwargs):
        if function not in FUNCTIONS or function in _OUT_OF_PLACE or function in _TURNS and not self.is_sparse:
            refuse_sparse(name, self)
        result = FUNCTIONS[function](self.detach(), *args, **kwargs)
        array = result._array
        if not isinstance(array, SparseArray) or array.shape != self._array.shape and function not in _TURNS:
            refuse_sparse(name, self)
        if not args and array.coalesced and not self._array.coalesced and self.is_sparse:
            raise RuntimeError(f"{function}_ requires coalesced input")
        return written(self, array)
    method.__name__ = method.__qualname__ = name
    return method


_CASTS = {"bool": dt.bool, "byte": dt.uint8, "char": dt.int8, "short": dt.int16, "int": dt.int32, "long": dt.int64,
          "half": dt.float16, "bfloat16": dt.bfloat16, "float": dt.float32, "double": dt.float64,
          "chalf": dt.complex32, "cfloat": dt.complex64, "cdouble": dt.complex128}


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
    """Gives SparseTensor the methods of all public functions, and tells autograd who computes with sparse arguments."""
    FUNCTIONS.update({record.name: record.function for record in TABLE.values() if record.name in _OF_OTHERS})
    names = {name: record.name for record in TABLE.values() for name in record.methods}
    names.update({name: name for name in vars(Tensor) if _OPERATOR.fullmatch(name) or name in FUNCTIONS})
    for name, function in names.items():
        if name not in _THE_SAME and (name not in vars(SparseTensor)):
            made = _in_place if name[-1] == "_" != name[-2] and name not in FUNCTIONS else _method
            setattr(SparseTensor, name, made(name, name if name in FUNCTIONS else function))
    SparseTensor.to, SparseTensor.__repr__ = to, lambda self, *, tensor_contents=None: sparse_text(self)
    for name in _THE_SAME:
        if name in vars(Tensor):
            FUNCTIONS[name] = vars(Tensor)[name]
    for name, dtype in _CASTS.items():
        setattr(SparseTensor, name, _cast(name, dtype))
    SparseTensor.type_as = _type_as
    SparseTensor.data = property(FUNCTIONS["detach"], vars(Tensor)["data"].fset)
    SparseTensor.type = _type
    for name in ("new_ones", "new_zeros", "new_empty", "new_full", "new_tensor", "new_empty_strided", "contiguous",
                 "storage", "untyped_storage", "view", "expand", "repeat", "resize_", "set_", "share_memory_"):
        setattr(SparseTensor, name, _method(name, name))
    above.sparse, above.sparse_array, above.sparse_out = dispatch, SparseArray, written_out
    enter(SparseArray, Sparse())
