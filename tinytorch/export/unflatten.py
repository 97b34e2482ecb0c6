"""torch.export.unflatten: names to import."""
from .._refused import refused, refused_class
from ..nn import Module

__all__ = ["FlatArgsAdapter", "UnflattenedModule", "unflatten"]

_REASON = "graphs of modules are not made here"
FlatArgsAdapter = refused_class(__name__, "FlatArgsAdapter", _REASON)
UnflattenedModule = refused_class(__name__, "UnflattenedModule", _REASON, (Module,))
unflatten = refused(__name__, "unflatten", _REASON)
