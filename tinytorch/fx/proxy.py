"""torch.fx.proxy."""
from . import Proxy

__all__ = ["Proxy"]
