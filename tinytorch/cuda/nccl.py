"""torch.cuda.nccl: collective operations between GPUs, which are not available."""
from .._absent import refusing

_REFUSED = "all_gather all_reduce broadcast init_rank reduce reduce_scatter unique_id version".split()
__all__ = ["is_available", *_REFUSED]

globals().update(refusing(__name__, _REFUSED, RuntimeError, "PyTorch built without NCCL support"))


def is_available(tensors=None):
    """False."""
    return False
