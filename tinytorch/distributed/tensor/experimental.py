"""torch.distributed.tensor.experimental."""
from ..._refused import refused_names

_found = refused_names(__name__, "tensors are not divided among processes",
                       "context_parallel implicit_replication local_map register_sharding")
globals().update(_found)
__all__ = [*_found]

__path__: list[str] = []                      # torch has a package of this name: refused.txt
