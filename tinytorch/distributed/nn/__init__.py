"""torch.distributed.nn: collectives with gradients."""
from . import functional
from .functional import *

__all__ = functional.__all__
