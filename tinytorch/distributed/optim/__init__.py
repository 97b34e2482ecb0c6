"""torch.distributed.optim: ZeroRedundancyOptimizer. DistributedOptimizer needs remote calls: there are none."""
from ..._refused import refused_class as _refused_class
from ...missing import namespace as _namespace
from .zero_redundancy_optimizer import ZeroRedundancyOptimizer

__all__ = ["DistributedOptimizer", "ZeroRedundancyOptimizer"]

DistributedOptimizer = _refused_class(__name__, "DistributedOptimizer", "there are no remote calls")

__getattr__ = _namespace(__name__)
