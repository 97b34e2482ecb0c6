"""torch.distributed.tensor._utils: a name that libraries import."""
from ..._refused import refused

compute_local_shape_and_global_offset = refused(__name__, "compute_local_shape_and_global_offset",
                                                "tensors are not divided among processes")
