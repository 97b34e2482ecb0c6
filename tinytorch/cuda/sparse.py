"""torch.cuda.sparse: sparse tensors on CUDA by their older names, of which there are none."""
from .._absent import dummies

_KINDS = "BFloat16 Byte Char Double Float Half Int Long Short".split()
__all__ = [f"{_kind}Tensor" for _kind in _KINDS]

globals().update(dummies(__name__, __all__, TypeError,
                         "type torch.cuda.sparse.{name} not available. Torch not compiled with CUDA enabled."))
