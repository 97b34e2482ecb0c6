"""torch.ao.quantization: what stands in models for the places where numbers would be quantised."""
from ..._refused import refused
from ...nn import Identity

__all__ = ["DeQuantStub", "QuantStub", "convert", "fuse_modules", "fuse_modules_qat", "get_default_qat_qconfig",
           "get_default_qconfig", "prepare", "prepare_qat", "quantize", "quantize_dynamic"]

convert, fuse_modules, fuse_modules_qat, get_default_qat_qconfig, get_default_qconfig, prepare, prepare_qat, quantize, \
    quantize_dynamic = [refused(__name__, name, "there are no quantised numbers") for name in __all__[2:]]


class QuantStub(Identity):
    """The input: what `convert` would make a quantisation."""

    def __init__(self, qconfig=None):
        super().__init__()


class DeQuantStub(Identity):
    """The input: what `convert` would make the end of quantisation."""

    def __init__(self, qconfig=None):
        super().__init__()
