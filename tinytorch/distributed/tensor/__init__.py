"""torch.distributed.tensor: classes for isinstance. Tensors are not divided among processes."""
from ..._refused import refused, refused_class
from .placement_types import Partial, Placement, Replicate, Shard

__all__ = ["DTensor", "DeviceMesh", "Partial", "Placement", "Replicate", "Shard", "distribute_module",
           "distribute_tensor", "init_device_mesh"]

_REASON = "tensors are not divided among processes"
DTensor, DeviceMesh = [refused_class(__name__, name, _REASON) for name in ("DTensor", "DeviceMesh")]
distribute_module, distribute_tensor, init_device_mesh = [
    refused(__name__, name, _REASON) for name in ("distribute_module", "distribute_tensor", "init_device_mesh")]
