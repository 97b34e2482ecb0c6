"""torch.cuda.amp.grad_scaler, where torch has the class."""
from . import GradScaler

__all__ = ["GradScaler"]
