"""torchvision.models, without models. Those of torchvision itself are made of torch's layers, and run on tinytorch."""
from ...missing import namespace as _namespace

__getattr__ = _namespace(__name__)
