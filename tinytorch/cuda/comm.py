"""torch.cuda.comm: communication between GPUs, which is not available."""
from .. import _absent

_found = _absent.refusing(__name__, """broadcast broadcast_coalesced gather reduce_add reduce_add_coalesced
    scatter""".split(), AssertionError, "Torch not compiled with CUDA enabled")
globals().update(_found)
__all__ = [*_found]
