"""torch.distributed.nn.functional: collectives with gradients.

Each returns new tensors. Its backward is the collective that carries gradients the other way, so all ranks of the group
must call backward, and in the same order. Ranks `src` and `dst` are those of the world.
"""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...autograd.function import Function
from ...tensor import Tensor, wrap
from .. import collectives
from ..reductions import RedOpType, ReduceOp
from ..world import ProcessGroup, get_rank, get_world_size

__all__ = ["all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce",
           "reduce_scatter", "scatter"]

SUM = ReduceOp.SUM
Op = RedOpType | ReduceOp


def _copy(x):
    return wrap(np.array(x._array, order="C", copy=True))


def _empty(x, shape=None):
    return wrap(np.empty(x._array.shape if shape is None else tuple(shape), x._array.dtype))


class _Broadcast(Function):
    @staticmethod
    def forward(ctx, src, group, tensor):
        ctx.src, ctx.group = src, group
        out = _copy(tensor)
        collectives.broadcast(out, src, group)
        return out

    @staticmethod
    def backward(ctx, grad):
        grad = _Reduce.apply(ctx.src, SUM, ctx.group, grad)
        return None, None, grad if get_rank() == ctx.src else grad * 0


class _Reduce(Function):
    @staticmethod
    def forward(ctx, dst, op, group, tensor):
        ctx.dst, ctx.group = dst, group
        out = _copy(tensor)
        collectives.reduce(out, dst, op, group)
        return out

    @staticmethod
    def backward(ctx, grad):
        return None, None, None, _Broadcast.apply(ctx.dst, ctx.group, grad)


class _Gather(Function):
    @staticmethod
    def forward(ctx, dst, group, tensor):
        ctx.dst, ctx.group = dst, group
        outs = [wrap(np.zeros(tensor._array.shape, tensor._array.dtype)) for _ in range(get_world_size(group))]
        collectives.gather(tensor, outs if get_rank() == dst else None, dst, group)
        return tuple(outs)

    @staticmethod
    def backward(ctx, *grads):
        return None, None, _Scatter.apply(ctx.dst, ctx.group, *grads)


class _Scatter(Function):
    @staticmethod
    def forward(ctx, src, group, *tensors):
        ctx.src, ctx.group = src, group
        if any([x._array.shape != tensors[0]._array.shape for x in tensors]):
            raise AssertionError("the tensors to scatter must be of one shape")
        out = _empty(tensors[0])
        collectives.scatter(out, list(tensors) if get_rank() == src else None, src, group)
        return out

    @staticmethod
    def backward(ctx, grad):
        return None, None, *_Gather.apply(ctx.src, ctx.group, grad)


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx, op, group, output, *tensors):
        ctx.group = group
        out = _empty(output)
        collectives.reduce_scatter(out, list(tensors), op, group)
        return out

    @staticmethod
    def backward(ctx, grad):
        return None, None, None, *_AllGather.apply(ctx.group, grad)


class _AllGather(Function):
    @staticmethod
    def forward(ctx, group, tensor):
        ctx.group = group
        outs = [_empty(tensor) for _ in range(get_world_size(group))]
        collectives.all_gather(outs, tensor, group)
        return tuple(outs)

    @staticmethod
    def backward(ctx, *grads):
        return None, _ReduceScatter.apply(SUM, ctx.group, grads[0], *grads)


class _AllToAll(Function):
    @staticmethod
    def forward(ctx, group, shapes, *tensors):
        ctx.group, ctx.shapes = group, [x._array.shape for x in tensors]
        outs = [_empty(tensors[0], shape) for shape in shapes]
        collectives.all_to_all(outs, list(tensors), group)
        return tuple(outs)

    @staticmethod
    def backward(ctx, *grads):
        return None, None, *_AllToAll.apply(ctx.group, ctx.shapes, *grads)


class _AllToAllSingle(Function):
    @staticmethod
    def forward(ctx, group, shape, output_sizes, input_sizes, tensor):
        ctx.group, ctx.shape, ctx.sizes = group, tensor._array.shape, (input_sizes, output_sizes)
        out = _empty(tensor, shape)
        collectives.all_to_all_single(out, tensor, output_sizes, input_sizes, group)
        return out

    @staticmethod
    def backward(ctx, grad):
        return None, None, None, None, _AllToAllSingle.apply(ctx.group, ctx.shape, *ctx.sizes, grad)


class _AllReduce(Function):
    @staticmethod
    def forward(ctx, op, group, tensor):
        ctx.op, ctx.group = op, group
        out = _copy(tensor)
        collectives.all_reduce(out, op, group)
        return out

    @staticmethod
    def backward(ctx, grad):
        return None, None, _AllReduce.apply(ctx.op, ctx.group, grad)


# ------------------------------------------------------------------ the functions
def broadcast(tensor: Tensor, src: int, group: ProcessGroup | None = None) -> Tensor:
    """The tensor of rank `src`, on every rank."""
    return _Broadcast.apply(src, group, tensor)


def gather(tensor: Tensor, dst: int = 0, group: ProcessGroup | None = None) -> tuple[Tensor, ...]:
    """The tensors of all ranks on rank `dst`; zeros on the others."""
    return _Gather.apply(dst, group, tensor)


def scatter(tensors: Sequence[Tensor], src: int = 0, group: ProcessGroup | None = None) -> Tensor:
    """tensors[i] of rank `src` on rank i. Others give as many of the same shape, which are not looked at."""
    return _Scatter.apply(src, group, *tensors)


def reduce(tensor: Tensor, dst: int, op: Op = SUM, group: ProcessGroup | None = None) -> Tensor:
    """What `op` makes of the tensors of all ranks, on rank `dst`; on others their own. The gradient is that of SUM."""
    return _Reduce.apply(dst, op, group, tensor)


def reduce_scatter(output: Tensor, input_list: Sequence[Tensor], op: Op = SUM, group: ProcessGroup | None = None
                   ) -> Tensor:
    """What `op` makes of input_list[i] of all ranks, on rank i; `output` says the shape. The gradient is that of
    SUM."""
    return _ReduceScatter.apply(op, group, output, *input_list)


def all_gather(tensor: Tensor, group: ProcessGroup | None = None) -> tuple[Tensor, ...]:
    """The tensors of all ranks, on every rank."""
    return _AllGather.apply(group, tensor)


def all_to_all(output_tensor_list: Sequence[Tensor], input_tensor_list: Sequence[Tensor],
               group: ProcessGroup | None = None) -> tuple[Tensor, ...]:
    """input_tensor_list[i] goes to rank i; `output_tensor_list` says the shapes of what comes."""
    return _AllToAll.apply(group, [x._array.shape for x in output_tensor_list], *input_tensor_list)


def all_to_all_single(output: Tensor, input: Tensor, output_split_sizes: list[int] | None = None,
                      input_split_sizes: list[int] | None = None, group: ProcessGroup | None = None) -> Tensor:
    """The i-th part of `input` goes to rank i; `output` says the shape of what comes."""
    return _AllToAllSingle.apply(group, output._array.shape, output_split_sizes, input_split_sizes, input)


def all_reduce(tensor: Tensor, op: Op = SUM, group: ProcessGroup | None = None) -> Tensor:
    """What `op` makes of the tensors of all ranks, on every rank. The gradient is reduced by `op` too, which is right
    for SUM."""
    return _AllReduce.apply(op, group, tensor)
