"""torch.onnx.ops: ONNX's operators as functions, names to import."""
from .._refused import refused

_OF_ONNX = "aten_decompositions attention rotary_embedding symbolic symbolic_multi_out".split()
__all__ = [*_OF_ONNX]

globals().update({_name: refused(__name__, _name, "ONNX's operators do not run here") for _name in _OF_ONNX})
