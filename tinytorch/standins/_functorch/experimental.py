"""functorch.experimental: control flow as functions."""
from .. import _higher_order_ops as control_flow
from ..missing import namespace as _namespace

__all__ = ["control_flow"]

__getattr__ = _namespace(__name__)
