"""torch.distributed.fsdp.fully_sharded_data_parallel, where torch has the class."""
from ...missing import namespace as _namespace
from . import FullyShardedDataParallel

__all__ = ["FullyShardedDataParallel"]


__getattr__ = _namespace(__name__)
