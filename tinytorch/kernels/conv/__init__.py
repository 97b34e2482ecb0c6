"""Convolutions."""
from ..later import namespace as _namespace

__getattr__ = _namespace(__name__, "columns depthwise direct few_outputs winograd windows")
