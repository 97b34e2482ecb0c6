"""torch.distributed.fsdp.fully_sharded_data_parallel, where torch has the class."""
from . import FullyShardedDataParallel

__all__ = ["FullyShardedDataParallel"]
