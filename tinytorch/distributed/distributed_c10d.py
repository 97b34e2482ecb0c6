"""torch.distributed.distributed_c10d: the names of torch.distributed, where torch defines them."""
from .collectives import *
from .detail import *
from .objects import *
from .point_to_point import *
from .reductions import *
from .reductions import _make_nccl_premul_sum
from .work import *
from .world import *
from .world import default_group as _get_default_group
