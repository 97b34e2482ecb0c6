"""torch.onnx: nothing is exported."""
from .._refused import refused
from . import symbolic_helper, symbolic_opset11

__all__ = ["OnnxExporterError", "export", "is_in_onnx_export", "register_custom_op_symbolic", "symbolic_helper",
           "symbolic_opset11"]

export = refused(__name__, "export", "a graph of ONNX operators cannot be made; save the state_dict")


def register_custom_op_symbolic(symbolic_name, symbolic_fn, opset_version):
    """Nothing: nothing is exported."""


class OnnxExporterError(RuntimeError):
    """What exports raise."""


def is_in_onnx_export():
    """False."""
    return False
