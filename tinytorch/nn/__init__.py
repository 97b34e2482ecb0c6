"""Neural networks: modules, and the functions, initialisers and utilities that go with them."""
from ..missing import namespace as _namespace
from . import functional, init, parallel, parameter, utils
from .modules import *
from .parallel import DataParallel
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__getattr__ = _namespace(__name__, ["_reduction", "attention", "common_types", "grad", "quantized"])
