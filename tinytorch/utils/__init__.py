"""torch.utils: data loading, checkpointing, hook handles, DLPack."""
from ..missing import namespace as _namespace
from . import hooks

__getattr__ = _namespace(__name__, ("checkpoint", "data", "deterministic", "dlpack"))
