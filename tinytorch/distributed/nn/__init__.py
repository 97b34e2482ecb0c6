"""torch.distributed.nn: collectives with gradients."""
from ..._refused import refused_class
from ...nn import Module
from . import functional
from .functional import *

__all__ = [*functional.__all__, "RemoteModule"]

RemoteModule = refused_class(__name__, "RemoteModule", "there are no calls of other processes", (Module,))
