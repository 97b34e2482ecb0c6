"""torch.cuda.amp.grad_scaler: the class of torch.cuda.amp."""
from . import GradScaler

__all__ = ["GradScaler"]
