"""torch.fx.passes: what is found out about a graph, or done to it."""
from ...missing import namespace as _namespace
from . import shape_prop

__all__ = ["shape_prop"]

__getattr__ = _namespace(__name__)
