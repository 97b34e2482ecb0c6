"""torch.onnx: nothing is exported."""
from .._refused import refused

__all__ = ["OnnxExporterError", "export", "is_in_onnx_export"]

export = refused(__name__, "export", "a graph of ONNX operators cannot be made; save the state_dict")


class OnnxExporterError(RuntimeError):
    """What exports raise."""


def is_in_onnx_export():
    """False."""
    return False
