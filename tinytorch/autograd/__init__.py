"""torch.autograd: the tape, backward, grad modes, derivatives of functions, and their checks."""
from ..missing import namespace as _namespace
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .grad_mode import (enable_grad, enforce_grad_layout_policy, inference_mode, is_grad_enabled,
                        is_inference_mode_enabled, is_multithreading_enabled, no_grad, set_grad_enabled,
                        set_multithreading_enabled)
from .tensor_methods import Variable, backward, grad

from . import anomaly_mode, forward_ad, function, graph, variable
from .function import Function
from .grad_mode import mode
from .gradcheck import gradcheck, gradgradcheck

__all__ = ["Function", "Variable", "backward", "detect_anomaly", "enable_grad", "enforce_grad_layout_policy",
           "forward_ad", "functional", "grad", "gradcheck", "gradgradcheck", "inference_mode", "is_grad_enabled",
           "is_inference_mode_enabled", "is_multithreading_enabled", "no_grad", "set_detect_anomaly",
           "set_grad_enabled", "set_multithreading_enabled", "variable"]

__getattr__ = _namespace(__name__, ("functional", "profiler", "profiler_util"))


def _is_checkpoint_valid():
    """Whether this backward can run a reentrant checkpoint: it cannot if only some inputs' gradients are wanted."""
    task = mode.graph_task
    return task is None or task.inputs is None
