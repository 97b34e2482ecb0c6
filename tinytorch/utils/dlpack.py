"""torch.utils.dlpack: tensors that share their memory with tensors of other libraries."""
from ..ops.creation.dlpack import DLDeviceType, from_dlpack, to_dlpack

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]
