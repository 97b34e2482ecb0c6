"""torch.distributed._composable.fsdp: torch.distributed.fsdp, as it was called before."""
from ...fsdp import FSDPModule, fully_shard

__all__ = ["FSDPModule", "fully_shard"]
