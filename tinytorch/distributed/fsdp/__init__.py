"""torch.distributed.fsdp: names to ask isinstance of."""
from ..._refused import refused, refused_class, refused_names
from ...missing import namespace as _namespace
from ...nn import Module

__all__ = ["FSDPModule", "FullyShardedDataParallel", "fully_shard"]

FullyShardedDataParallel, FSDPModule = [refused_class(__name__, name, "models are not sharded", (Module,))
                                        for name in ("FullyShardedDataParallel", "FSDPModule")]
globals().update(refused_names(__name__, "models are not sharded", classes="""BackwardPrefetch CPUOffload
    CPUOffloadPolicy FullOptimStateDictConfig FullStateDictConfig LocalOptimStateDictConfig LocalStateDictConfig
    MixedPrecision MixedPrecisionPolicy OffloadPolicy OptimStateDictConfig OptimStateKeyType ShardedOptimStateDictConfig
    ShardedStateDictConfig ShardingStrategy StateDictConfig StateDictSettings StateDictType"""))
fully_shard = refused(__name__, "fully_shard", "models are not sharded")

__getattr__ = _namespace(__name__, ("fully_sharded_data_parallel",))
