"""Recurrent layers, one direction of one layer at a time."""
from ..later import namespace as _namespace

__getattr__ = _namespace(__name__, "cell elman gru loops lstm shared split")
