"""torch.distributed._composable."""
from . import fsdp

__all__ = ["fsdp"]
