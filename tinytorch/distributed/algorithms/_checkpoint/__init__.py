"""torch.distributed.algorithms._checkpoint: modules that checkpoint their forward."""
from ....missing import namespace as _namespace

__getattr__ = _namespace(__name__, ("checkpoint_wrapper",))
