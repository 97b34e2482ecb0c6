"""torch.autograd: the tape, backward, grad modes, derivatives of functions, and their checks."""
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .grad_mode import (enable_grad, enforce_grad_layout_policy, inference_mode, is_grad_enabled,
                        is_inference_mode_enabled, is_multithreading_enabled, no_grad, set_grad_enabled,
                        set_multithreading_enabled)
from .tensor_methods import Variable, backward, grad

from . import anomaly_mode, forward_ad, function, graph, variable
from .function import Function
from .gradcheck import gradcheck, gradgradcheck

__all__ = ["Function", "Variable", "backward", "detect_anomaly", "enable_grad", "enforce_grad_layout_policy",
           "forward_ad", "functional", "grad", "gradcheck", "gradgradcheck", "inference_mode", "is_grad_enabled",
           "is_inference_mode_enabled", "is_multithreading_enabled", "no_grad", "set_detect_anomaly",
           "set_grad_enabled", "set_multithreading_enabled", "variable"]


def __getattr__(name):
    """Loads `functional` when it is first asked for."""
    if name == "functional":
        import importlib
        return importlib.import_module(f"{__name__}.functional")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
