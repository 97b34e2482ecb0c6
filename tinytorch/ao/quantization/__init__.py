"""torch.ao.quantization: what stands in models for the places where numbers would be quantised."""
from sys import modules as _modules

from ..._refused import refused, refused_class
from ...missing import namespace as _namespace
from ...nn import Identity, Module

_FUNCTIONS = ["convert", "fuse_modules", "fuse_modules_qat", "get_default_qat_qconfig", "get_default_qconfig",
              "prepare", "prepare_qat", "quantize", "quantize_dynamic"]
_MODULES = ["FakeQuantize", "FakeQuantizeBase", "HistogramObserver", "MinMaxObserver", "MovingAverageMinMaxObserver",
            "MovingAveragePerChannelMinMaxObserver", "NoopObserver", "ObserverBase", "PerChannelMinMaxObserver",
            "PlaceholderObserver", "RecordingObserver"]
__all__ = ["DeQuantStub", "QConfig", "QuantStub", *_FUNCTIONS, *_MODULES]

_REASON = "there are no quantised numbers"
globals().update({name: refused(__name__, name, _REASON) for name in _FUNCTIONS})
globals().update({name: refused_class(__name__, name, _REASON, (Module,)) for name in _MODULES})
_remove_qconfig = refused(f"{__name__}.quantize", "_remove_qconfig", _REASON)
QConfig = refused_class(__name__, "QConfig", _REASON)


class QuantStub(Identity):
    """The input: what `convert` would make a quantisation."""

    def __init__(self, qconfig=None):
        super().__init__()


class DeQuantStub(Identity):
    """The input: what `convert` would make the end of quantisation."""

    def __init__(self, qconfig=None):
        super().__init__()


#: torch has them in files of these names.
fake_quantize = observer = qconfig = stubs = _modules[__name__]

__getattr__ = _namespace(__name__, ("fx",))
