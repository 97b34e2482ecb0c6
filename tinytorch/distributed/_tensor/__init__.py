"""torch.distributed._tensor: torch.distributed.tensor, as it was called before."""
from ..tensor import *
