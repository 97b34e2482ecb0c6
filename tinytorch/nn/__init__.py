"""Neural networks: modules, and the functions, initialisers and utilities that go with them."""
from . import functional, init, parallel, parameter, utils
from .modules import *
from .parallel import DataParallel
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
