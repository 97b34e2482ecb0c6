"""torch.sparse: tensors that hold only their non-zero elements. Loaded when the first one is made.

array.py       SparseArray, which a sparse tensor has in place of an ndarray
tensor.py      SparseTensor, and how operations on it are recorded
construction.py, conversion.py, arithmetic.py, products.py, reduction.py      the operations
legacy.py      torch.sparse.FloatTensor and its like
functions.py   the functions of torch.sparse; torch's functions and the methods of tensors are in ops/creation
semi_structured.py    the names of torch's 2:4 sparse tensors, which need a GPU
install.py     makes torch's functions find the operations: through `dispatch`, called at a function's door or when
               a routine for ndarrays refuses a SparseArray
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
