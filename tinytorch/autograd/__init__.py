"""torch.autograd: the tape, backward, and grad modes."""
from .grad_mode import (enable_grad, inference_mode, is_grad_enabled, is_inference_mode_enabled, no_grad,
                        set_grad_enabled)
from .graph import Variable, backward, grad

__all__ = ["Variable", "backward", "enable_grad", "grad", "inference_mode", "is_grad_enabled",
           "is_inference_mode_enabled", "no_grad", "set_grad_enabled"]
