"""torch.export.exported_program: names to import."""
from .._refused import refused, refused_class

__all__ = ["ExportedProgram", "ModuleCallEntry", "ModuleCallSignature", "default_decompositions"]

_REASON = "graphs of modules are not made here"
ExportedProgram, ModuleCallEntry, ModuleCallSignature = [
    refused_class(__name__, _name, _REASON) for _name in ("ExportedProgram", "ModuleCallEntry", "ModuleCallSignature")]
default_decompositions = refused(__name__, "default_decompositions", _REASON)
