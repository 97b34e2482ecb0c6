"""torch._custom_ops: torch.library, as it was called before."""
from .library import custom_op, impl, impl_abstract

__all__ = ["custom_op", "impl", "impl_abstract"]
