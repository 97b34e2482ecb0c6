"""torch.cuda.jiterator: CUDA kernels from source text, which cannot be compiled here."""
from .._absent import refusing

_REFUSED = ["_create_jit_fn", "_create_multi_output_jit_fn"]
__all__ = []

globals().update(refusing(__name__, _REFUSED, AssertionError, "Torch not compiled with CUDA enabled"))
