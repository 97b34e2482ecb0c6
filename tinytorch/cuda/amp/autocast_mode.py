"""torch.cuda.amp.autocast_mode, where torch has the class and the decorators."""
from . import autocast, custom_bwd, custom_fwd

__all__ = ["autocast", "custom_bwd", "custom_fwd"]
