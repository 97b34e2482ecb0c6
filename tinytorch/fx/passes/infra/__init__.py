"""torch.fx.passes.infra: sequences of passes, and the partition of graphs."""
from ....missing import namespace as _namespace

__getattr__ = _namespace(__name__, ("partitioner", "pass_base", "pass_manager"))
