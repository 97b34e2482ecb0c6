"""torch.onnx.symbolic_helper: decorators of functions that export operators."""
from .._refused import refused

__all__ = ["parse_args", "quantized_args"]

#: Functions that such functions call.
_CALLED = """args_have_same_dtype check_training_mode dequantize_helper is_complex_value quantize_helper
    requantize_bias_helper""".split()
_REASON = "functions that a program registers get numbers and values of this library"
globals().update({_name: refused(__name__, _name, _REASON) for _name in _CALLED})
__all__ += _CALLED


def parse_args(*arg_descriptors):
    """A decorator that gives the function itself."""
    return lambda fn: fn


def quantized_args(*arg_q_descriptors, scale=None, zero_point=None, quantize_output=True):
    """A decorator that gives the function itself."""
    return lambda fn: fn
