"""torch.sparse: tensors of which the elements that are not zero are held.

array.py       SparseArray, which stands in the place of an ndarray
tensor.py      SparseTensor, and how operations on it are recorded
construction.py, conversion.py, arithmetic.py, products.py, reduction.py      the operations
public.py, methods.py, functions.py      what the user calls
install.py     how functions of torch find them: by `dispatch`, at the door or when a routine for ndarrays refuses
"""
from .functions import *
from .functions import __all__
from . import install as _install, public as _public

_install.install()
