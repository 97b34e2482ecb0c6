"""torch.sparse._triton_ops_meta: tuning parameters of GPU kernels. tinytorch has no such kernels."""
from .._refused import refused_names

_found = refused_names(__name__, "there are no kernels of Triton", "dump get_meta minimize update")
globals().update(_found)
__all__ = [*_found]
