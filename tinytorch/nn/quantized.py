"""torch.nn.quantized. Quantisation is not supported: only the names exist."""
from .._refused import refused_class
from ..missing import namespace as _namespace
from .modules.module import Module

_MODULES = ["BatchNorm2d", "BatchNorm3d", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d",
           "ConvTranspose3d", "DeQuantize", "Dropout", "ELU", "Embedding", "EmbeddingBag", "FXFloatFunctional",
           "FloatFunctional", "GroupNorm", "Hardswish", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LSTM",
           "LayerNorm", "LeakyReLU", "Linear", "MaxPool2d", "MultiheadAttention", "PReLU", "QFunctional", "Quantize",
           "ReLU6", "Sigmoid", "Softmax"]
__all__ = [*_MODULES]

globals().update({name: refused_class(__name__, name, "there are no quantised numbers", (Module,))
                  for name in _MODULES})

__path__: list[str] = []                       # torch has a package of this name: refused.txt
__getattr__ = _namespace(__name__)
