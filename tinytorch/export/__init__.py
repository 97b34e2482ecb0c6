"""torch.export: names to import, and dimensions to name. No graph of a module is made here: what would raises."""
from .._refused import refused as _refused
from ..missing import namespace as _namespace
from ..utils._pytree import register_dataclass as _register_dataclass
from .decomp_utils import CustomDecompTable
from .dynamic_shapes import AdditionalInputs, Constraint, Dim, ShapesCollection, dims
from .exported_program import ExportedProgram, ModuleCallEntry, ModuleCallSignature, default_decompositions
from .graph_signature import ExportBackwardSignature, ExportGraphSignature
from .unflatten import FlatArgsAdapter, UnflattenedModule, unflatten

__all__ = ["AdditionalInputs", "Constraint", "CustomDecompTable", "Dim", "ExportBackwardSignature",
           "ExportGraphSignature", "ExportedProgram", "FlatArgsAdapter", "ModuleCallEntry", "ModuleCallSignature",
           "ShapesCollection", "UnflattenedModule", "default_decompositions", "dims", "draft_export", "export", "load",
           "register_dataclass", "save", "unflatten"]

_REASON = "graphs of modules are not made here; save the state_dict"
export, draft_export, save, load = [_refused(__name__, _name, _REASON)
                                    for _name in ("export", "draft_export", "save", "load")]


def register_dataclass(cls, *, serialized_type_name=None):
    """Has trees (torch.utils._pytree) go into the fields of a dataclass. ValueError for another class."""
    _register_dataclass(cls, serialized_type_name=serialized_type_name)


__getattr__ = _namespace(__name__)
