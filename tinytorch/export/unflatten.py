"""torch.export.unflatten: names to import."""
from .._refused import refused, refused_class
from ..missing import namespace as _namespace
from ..nn import Module

__all__ = ["FlatArgsAdapter", "UnflattenedModule", "unflatten"]

_REASON = "a program does not say which module a node belongs to; ExportedProgram.module() runs it"
FlatArgsAdapter = refused_class(__name__, "FlatArgsAdapter", _REASON)
UnflattenedModule = refused_class(__name__, "UnflattenedModule", _REASON, (Module,))
unflatten = refused(__name__, "unflatten", _REASON)


__getattr__ = _namespace(__name__)
