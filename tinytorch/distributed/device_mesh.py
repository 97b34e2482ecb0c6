"""torch.distributed.device_mesh."""
from .tensor import DeviceMesh, init_device_mesh

__all__ = ["DeviceMesh", "init_device_mesh"]
