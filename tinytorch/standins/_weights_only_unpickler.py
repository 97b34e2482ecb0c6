"""torch._weights_only_unpickler: checkpoint/unpickler.py under torch's name."""
from .checkpoint.unpickler import Unpickler

__all__ = ["Unpickler"]
