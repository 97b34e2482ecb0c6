"""Names that autograd uses from modules that import autograd. Those modules bind them here when they are imported.

stack, relaid, without_part    the functions of ops/layout
sparse                         sparse/install.py: (name, arguments, keywords) -> result, for a public function that was
                               called with a sparse argument
sparse_out                     sparse/install.py: (out, result) -> out, where one of the two is sparse
sparse_array                   the class SparseArray, which a sparse tensor holds in the place of an ndarray
custom                         func/custom.py: custom Functions under torch.func's transforms
module                         nn/modules/module.py: the class Module
about                          overridable.py: the record by which handlers see a function
vmap                           func/inside.py: vmap, and the rules for new and random tensors under it
"""
import importlib
from typing import Any

stack: Any = None
relaid: Any = None
without_part: Any = None
sparse: Any = None
sparse_out: Any = None
module: Any = ()                               # isinstance(x, ()) is False until the class is bound

#: Names whose modules are imported at the first use of the name: name -> module that binds it.
later: dict[str, str] = {}


def __getattr__(name):
    if name not in later:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    importlib.import_module(later[name])
    return globals()[name]


class sparse_array:
    """A stand-in that has no instances. The package `sparse` replaces it by SparseArray when it is imported."""

    tensor: Any
    values: Any
