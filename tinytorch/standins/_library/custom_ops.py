"""torch._library.custom_ops: names of torch.library."""
from ..library import CustomOpDef, custom_op

__all__ = ["CustomOpDef", "custom_op"]
