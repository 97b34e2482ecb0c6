"""torch.distributed.optim: names to ask isinstance of."""
from .._refused import refused_class

__all__ = ["ZeroRedundancyOptimizer"]

ZeroRedundancyOptimizer = refused_class(__name__, "ZeroRedundancyOptimizer", "there is one process")
