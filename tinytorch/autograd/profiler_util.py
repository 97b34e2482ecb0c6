"""torch.autograd.profiler_util: the classes of events that a profiler recorded."""
from ..missing import namespace as _namespace
from .profiler import EventList, FunctionEvent

__all__ = ["EventList", "FunctionEvent"]

__getattr__ = _namespace(__name__)
