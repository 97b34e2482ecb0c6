"""torch.export: a module's call as a graph of ATen's operators, with its parameters, and .pt2 files of it.

`export` records (tracing.py), `ExportedProgram` holds and runs (exported_program.py), `save` and `load` write and read
PyTorch's files (archive.py).
"""
from .._refused import refused as _refused
from ..missing import namespace as _namespace
from ..utils._pytree import register_dataclass as _register_dataclass
from . import decompositions as _decompositions  # lets programs be taken apart
from .archive import load, save
from .decomp_utils import CustomDecompTable
from .dynamic_shapes import AdditionalInputs, Constraint, Dim, ShapesCollection, dims
from .exported_program import ExportedProgram, ModuleCallEntry, ModuleCallSignature, default_decompositions
from .graph_signature import ExportBackwardSignature, ExportGraphSignature
from .tracing import export
from .unflatten import FlatArgsAdapter, UnflattenedModule, unflatten

__all__ = ["AdditionalInputs", "Constraint", "CustomDecompTable", "Dim", "ExportBackwardSignature",
           "ExportGraphSignature", "ExportedProgram", "FlatArgsAdapter", "ModuleCallEntry", "ModuleCallSignature",
           "ShapesCollection", "UnflattenedModule", "default_decompositions", "dims", "draft_export", "export", "load",
           "register_dataclass", "save", "unflatten"]

draft_export = _refused(__name__, "draft_export", "export says what is wrong, one thing at a time")


def register_dataclass(cls, *, serialized_type_name=None):
    """Registers a dataclass, so that trees (torch.utils._pytree) go into its fields. ValueError for another class."""
    _register_dataclass(cls, serialized_type_name=serialized_type_name)


__getattr__ = _namespace(__name__)
