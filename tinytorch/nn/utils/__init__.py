"""Helpers for training: gradient clipping, parameters as vectors, padded sequences, parametrizations."""
from ...missing import namespace as _namespace
from . import parametrizations, parametrize, rnn
from .clip_grad import *
from .convert_parameters import *
from .fusion import *
from .init import *
from .memory_format import *
from .spectral_norm import *
from .weight_norm import *

__getattr__ = _namespace(__name__, ["_named_member_accessor", "prune", "stateless"])
