"""What autograd uses of the files that stand on it: they put it here when they are loaded.

stack, relaid, without_part    of ops/layout
sparse                         sparse/install.py: (name, arguments, keywords) of a public function of which an argument
                               is sparse -> what it does
sparse_out                     the same file: (out, result) -> out, where one of them is sparse
sparse_array                   what a sparse tensor has for an ndarray: SparseArray
custom                         func/custom.py: a Function under torch.func's transforms
module                         nn/modules/module.py: the class Module
about                          overridable.py: how handlers see a function
vmap                           func/inside.py: vmap, and what new and random tensors are under it
"""
import importlib
from typing import Any

stack: Any = None
relaid: Any = None
without_part: Any = None
sparse: Any = None
sparse_out: Any = None
module: Any = ()                               # a class, or none, of which nothing is an instance

#: Of what is loaded when first asked for: name here -> module that puts it here.
later: dict[str, str] = {}


def __getattr__(name):
    if name not in later:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    importlib.import_module(later[name])
    return globals()[name]


class sparse_array:
    """Of which there are none before that package is loaded."""

    tensor: Any
    values: Any
