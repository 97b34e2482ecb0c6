"""torch.distributed.distributed_c10d: the names of torch.distributed, where torch defines them."""
from ..errors import warn
from ..missing import namespace as _namespace
from . import collectives, detail, errors, objects, point_to_point, reductions, work, world
from .world import default_group

__all__ = []                                   # filled with the names of all modules
for _part in (collectives, detail, errors, objects, point_to_point, reductions, work, world):
    globals().update({name: getattr(_part, name) for name in _part.__all__})
    __all__ += _part.__all__

_get_default_group = default_group
_make_nccl_premul_sum = reductions._make_nccl_premul_sum


def _get_global_rank(group, rank):
    """Deprecated (FutureWarning): get_global_rank."""
    warn("`torch.distributed.distributed_c10d._get_global_rank` is deprecated, please use "
         "`torch.distributed.distributed_c10d.get_global_rank` instead", FutureWarning)
    return world.get_global_rank(group, rank)


__getattr__ = _namespace(__name__)
