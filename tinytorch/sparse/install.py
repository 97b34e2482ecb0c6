"""What functions of torch do when an argument is sparse, put where they look."""
import re

from ..autograd import above
from ..autograd.public import TABLE
from ..tensor import Tensor
from .arithmetic import permute, to
from .array import SparseArray
from .tensor import FUNCTIONS, SparseTensor, dispatch
from .text import sparse_text

#: Public functions that look at nothing but shape, dtype and graph, and do with a sparse tensor what they always do.
_THE_SAME = {"is_floating_point", "is_complex", "numel", "is_inference", "is_signed", "result_type", "is_conj", "is_neg",
             "resolve_conj", "resolve_neg", "can_cast"}
_OPERATOR = re.compile("__i?r?(add|sub|mul|matmul|truediv|floordiv|mod|pow|and|or|xor|lshift|rshift|div)__|"
                       "__(neg|abs|invert|eq|ne|lt|le|gt|ge|pos|getitem|setitem|contains)__")


def _method(name, function):
    def method(self, *args, **kwargs):
        return dispatch(function, (self, *args), kwargs)
    method.__name__ = method.__qualname__ = name
    return method


def install():
    """Gives SparseTensor the methods of all public functions, and tells autograd who computes with sparse arguments."""
    names = {name: record.name for record in TABLE.values() for name in record.methods}
    names.update({name: name for name in vars(Tensor) if _OPERATOR.fullmatch(name)})
    for name, function in names.items():
        if name not in _THE_SAME and (name not in vars(SparseTensor)):
            setattr(SparseTensor, name, _method(name, name if name in FUNCTIONS else function))
    SparseTensor.to, SparseTensor.__repr__ = to, lambda self, *, tensor_contents=None: sparse_text(self)
    SparseTensor.T = property(lambda self: permute(self, *range(self.array.ndim)[::-1]))
    SparseTensor.mT = property(lambda self: permute(self, *range(self.array.ndim)[::-1]))
    above.sparse, above.sparse_array = dispatch, SparseArray
