"""torch.utils.flop_counter: operations are not counted."""
from .._refused import refused_class

__all__ = ["FlopCounterMode"]

FlopCounterMode = refused_class(__name__, "FlopCounterMode", "there is no __torch_dispatch__ to count operations by")
