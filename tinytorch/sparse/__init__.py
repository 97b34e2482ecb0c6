"""torch.sparse: tensors of which the elements that are not zero are held. Loaded when there is the first one.

array.py       SparseArray, which stands in the place of an ndarray
tensor.py      SparseTensor, and how operations on it are recorded
construction.py, conversion.py, arithmetic.py, products.py, reduction.py      the operations
legacy.py      torch.sparse.FloatTensor and its like
functions.py   what torch.sparse has; torch's functions and the methods of tensors are in ops/creation
semi_structured.py    names of what there is for GPUs
install.py     how functions of torch find them: by `dispatch`, at the door or when a routine for ndarrays refuses
"""
from .functions import *
from .functions import __all__ as _functions
from .legacy import *
from .legacy import __all__ as _types
from .resizing import spdiags
from .semi_structured import *
from .semi_structured import __all__ as _semi_structured
from . import install as _install

__all__ = [*_functions, *_semi_structured, *_types, "spdiags"]

_install.install()
