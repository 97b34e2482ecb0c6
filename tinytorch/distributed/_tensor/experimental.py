"""torch.distributed._tensor.experimental."""
from ..._refused import refused

__all__ = ["implicit_replication"]

implicit_replication = refused(__name__, "implicit_replication", "tensors are not divided among processes")
