"""torch.cuda.sparse: the older names of sparse tensors on CUDA, which are not available."""
from .._absent import dummies

_KINDS = "BFloat16 Byte Char Double Float Half Int Long Short".split()
__all__ = [f"{_kind}Tensor" for _kind in _KINDS]

globals().update(dummies(__name__, __all__, TypeError,
                         "type torch.cuda.sparse.{name} not available. Torch not compiled with CUDA enabled."))
