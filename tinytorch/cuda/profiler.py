"""torch.cuda.profiler: NVIDIA's profiler, which is not available."""
from .._absent import refusing

_REFUSED = "init profile start stop".split()
__all__ = [*_REFUSED]

globals().update(refusing(__name__, _REFUSED, AssertionError, "Torch not compiled with CUDA enabled"))
