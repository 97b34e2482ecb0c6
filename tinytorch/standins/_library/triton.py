"""torch._library.triton: names of torch.library."""
from ..library import triton_op, wrap_triton

__all__ = ["triton_op", "wrap_triton"]
