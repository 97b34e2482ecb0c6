"""torch._library.infer_schema: names of torch.library."""
from ..library import infer_schema

__all__ = ["infer_schema"]
