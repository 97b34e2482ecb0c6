"""torch.distributed._functional_collectives: collectives that return a new tensor. Libraries import them wherever
there can be several processes. Each collective has ended when it returns, so no result must be waited for."""
import sys

from .._refused import refused_class, refused_names
from ..ops.layout.join import cat
from ..tensor import Tensor
from . import collectives
from .reductions import ReduceOp
from .world import get_world_size

_REASON = "collectives of tinytorch have no derivatives, and end before they return"
AsyncCollectiveTensor = refused_class(__name__, "AsyncCollectiveTensor", _REASON)
vars(sys.modules[__name__]).update(refused_names(
    __name__, _REASON, "all_gather_tensor_autograd all_to_all_single_autograd reduce_scatter_tensor_autograd "
    "permute_tensor all_reduce_coalesced all_gather_into_tensor_coalesced reduce_scatter_tensor_coalesced"))


def _op(name):
    return getattr(ReduceOp, name.upper())


def wait_tensor(tensor: Tensor) -> Tensor:
    """Returns the tensor, because every collective has ended."""
    return tensor


def all_reduce(self: Tensor, reduceOp: str, group, tag: str = "") -> Tensor:
    """The result of the operation ("sum", "avg", "max" ...) on the tensors of all ranks."""
    result = self.detach().clone()
    collectives.all_reduce(result, _op(reduceOp), group)
    return result


def broadcast(self: Tensor, src: int, group, tag: str = "") -> Tensor:
    """The tensor of rank `src` of the world."""
    result = self.detach().clone()
    collectives.broadcast(result, src, group)
    return result


def all_gather_tensor(self: Tensor, gather_dim: int, group, tag: str = "") -> Tensor:
    """The tensors of all ranks, one after the other along a dimension."""
    ranks, own = get_world_size(group), self.detach().contiguous()
    found = own.new_empty((ranks, *own.shape))
    collectives.all_gather_into_tensor(found, own.unsqueeze(0), group)
    return cat(found.unbind(0), gather_dim)


def reduce_scatter_tensor(self: Tensor, reduceOp: str, scatter_dim: int, group, tag: str = "") -> Tensor:
    """This rank's part of the result of the operation on the tensors of all ranks, cut into equal parts along a
    dimension."""
    parts = self.detach().chunk(get_world_size(group), scatter_dim)
    own = parts[0].new_empty(parts[0].shape)
    collectives.reduce_scatter_tensor(own, cat([part.contiguous() for part in parts], 0), _op(reduceOp), group)
    return own


def all_to_all_single(self: Tensor, output_split_sizes: list[int] | None, input_split_sizes: list[int] | None, group,
                      tag: str = "") -> Tensor:
    """The parts from all ranks, one after the other. Each rank sends the i-th part of its tensor to rank i."""
    lines = len(self) if output_split_sizes is None else sum(output_split_sizes)
    result = self.new_empty((lines, *self.shape[1:]))
    collectives.all_to_all_single(result, self.detach().contiguous(), output_split_sizes, input_split_sizes, group)
    return result
