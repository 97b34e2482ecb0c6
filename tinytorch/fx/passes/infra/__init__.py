"""torch.fx.passes.infra: passes one after the other, and graphs in parts."""
from ....missing import namespace as _namespace

__getattr__ = _namespace(__name__, ("partitioner", "pass_base", "pass_manager"))
