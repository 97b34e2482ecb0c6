"""Collectives of tensors: operations that all ranks of a group perform together.

MPI gets the memory of a tensor that is in one piece. Any other tensor is copied, and the result is written back. With
async_op=True each collective returns a Work and must be waited for. MPI needs the same async_op on all ranks. As in
torch, collectives change tensors and autograd does not notice (`distributed.nn.functional` has collectives with
gradients).
"""
from __future__ import annotations

from typing import Any

import numpy as np

from ..tensor import Tensor
from . import detail, messages
from .errors import failure
from .messages import Call
from .reductions import RedOpType, ReduceOp
from .work import Work
from .world import ProcessGroup, joined, not_in, of_group, rank_in

__all__ = ["all_gather", "all_gather_into_tensor", "all_gather_single", "all_reduce", "all_reduce_coalesced",
           "all_to_all", "all_to_all_single", "barrier", "broadcast", "gather", "reduce", "reduce_scatter",
           "reduce_scatter_single", "reduce_scatter_tensor", "scatter"]

SUM = ReduceOp.SUM
_BAD = "Invalid function argument. Expected parameter `{}` of type {}\n             but got {} instead."


# ------------------------------------------------------------------ arguments
def check_tensor(x: Any, name: str) -> None:
    """Raises TypeError in torch's words if `x` is no tensor, and NotImplementedError if it is not dense."""
    if not isinstance(x, Tensor):
        raise TypeError(_BAD.format(name, "torch.Tensor", type(x)))
    if x.is_sparse or x.is_meta:
        raise NotImplementedError("torch.distributed takes dense tensors: of sparse ones send indices and values, and "
                                  "of those on meta there is nothing to send")


def _check_list(xs, name):
    if not isinstance(xs, list):
        raise TypeError(_BAD.format(name, "List[torch.Tensor]", type(xs)))
    if not all([isinstance(x, Tensor) for x in xs]):
        raise TypeError(_BAD.format(name, "List[torch.Tensor]",
                                    f"{type(xs)} with elements of type {[type(x) for x in xs]}")
                        .replace(" instead.", "."))
    for x in xs:
        check_tensor(x, name)


def _check_dtypes(*tensors):
    """Raises ValueError if there are several dtypes. Complex numbers may go with real numbers of their parts' dtype."""
    last = None
    for x in tensors:
        dtype = x.dtype.to_real()
        if last is not None and dtype is not last:
            raise ValueError(f"Invalid usage of tensors with different dtypesFound {last} and  {dtype}")
        last = dtype


def _shape(x):
    """The shape that messages show: complex numbers are pairs."""
    sizes = [*x._array.shape, *[2] * x.dtype.is_complex]
    return f"({', '.join(map(str, sizes))})"


def _check_shapes(name, tensors, like):
    for i, x in enumerate(tensors):
        if x._array.shape != like._array.shape:
            raise RuntimeError(f"ProcessGroupGloo::{name}: invalid tensor size at index {i} (expected {_shape(like)}, "
                               f"got {_shape(x)})")


def _root(group, global_rank, group_rank, name):
    root = rank_in(group, global_rank, group_rank)
    if not 0 <= root < group.count:
        raise RuntimeError(f"ProcessGroupGloo::{name}: invalid root rank: {root}")
    return root


# ------------------------------------------------------------------ results
def _written(tensor, array, own, after=None):
    """A function to call when `array` holds the tensor's new numbers; None if nothing remains to be done."""
    if own:
        return None if after is None else lambda: after(array)

    def finish():
        if after is not None:
            after(array)
        tensor._array[...] = array
    return finish


def _flat(tensors, array_dtype):
    """All numbers of the tensors, one after the other, in a new array."""
    out = np.empty(sum([x._array.size for x in tensors]), array_dtype)
    at = 0
    for x in tensors:
        out[at:at + x._array.size] = x._array.reshape(-1)
        at += x._array.size
    return out


def _spread(flat, tensors):
    """Writes the numbers back to the tensors."""
    def finish():
        at = 0
        for x in tensors:
            x._array[...] = flat[at:at + x._array.size].reshape(x._array.shape)
            at += x._array.size
    return finish


# ------------------------------------------------------------------ reductions
def all_reduce(tensor: Tensor, op: RedOpType | ReduceOp = SUM, group: ProcessGroup | None = None,
               async_op: bool = False) -> Work | None:
    """Writes the result of `op` on the tensors of all ranks to `tensor` of every rank. All tensors have the same shape.

    TypeError for arguments that are no tensor or no operation, ValueError for complex numbers that are not summed,
    RuntimeError for numbers that cannot be reduced so (bits of floating-point numbers, the average of integers).
    """
    if tensor.__class__ is not Tensor or tensor._array.__class__ is not np.ndarray:
        check_tensor(tensor, "tensor")
    group = joined(group, "all_reduce")
    if group is None:
        return None
    array, own = group.mpi.contiguous(tensor)
    plan = group.plan(op, array, "all_reduce")
    if detail.on:
        detail.check(group, async_op, "all_reduce", [tensor], op)
    if plan.before is not None:
        plan.before(array)
    finish = None if own and plan.after is None else _written(tensor, array, own, plan.after)
    if async_op or array.nbytes > messages.LIMIT:
        return Call(group, ("all_reduce", [tensor], op), async_op, finish, [tensor]).all_reduce(plan, array)
    try:
        group.comm.Allreduce(group.mpi.IN_PLACE, plan.shown(array), plan.op)
    except group.mpi.MPI.Exception as error:
        raise failure(group.mpi, error, group, "all_reduce", [tensor], op) from error
    if finish is not None:
        finish()
    return None


def all_reduce_coalesced(tensors: list[Tensor], op: RedOpType | ReduceOp = SUM, group: ProcessGroup | None = None,
                         async_op: bool = False) -> Any:
    """One all_reduce of several tensors of one dtype. With async_op it returns a Future of them."""
    tensors = [tensors] if isinstance(tensors, Tensor) else tensors
    _check_list(tensors, "tensor")
    _check_dtypes(*tensors)
    group = joined(group, "all_reduce_coalesced")
    if group is None:
        return None
    flat = _flat(tensors, tensors[0]._array.dtype)
    plan = group.plan(op, flat, "all_reduce")
    about = "all_reduce_coalesced", tensors, op
    if detail.on:
        detail.check(group, async_op, *about)
    if plan.before is not None:
        plan.before(flat)

    def finish():
        if plan.after is not None:
            plan.after(flat)
        _spread(flat, tensors)()
    work = Call(group, about, async_op, finish, tensors).all_reduce(plan, flat)
    return work.get_future() if async_op else None


def reduce(tensor: Tensor, dst: int | None = None, op: RedOpType | ReduceOp = SUM, group: ProcessGroup | None = None,
           async_op: bool = False, group_dst: int | None = None) -> Work | None:
    """As all_reduce, but only rank `dst` of the world (`group_dst` of the group) gets the result. On other ranks the
    tensor stays as it is."""
    group = joined(group, "reduce")
    if group is None:
        return None
    root = rank_in(group, dst, group_dst)
    check_tensor(tensor, "tensor")
    root = _root(group, None, root, "reduce")
    array, own = group.mpi.contiguous(tensor)
    plan = group.plan(op, array, "reduce")
    about = "reduce", [tensor], op, root
    if detail.on:
        detail.check(group, async_op, *about)
    here = group.own_rank == root
    if plan.before is not None:
        if own and not here:
            array = array.copy()
        plan.before(array)
    finish = _written(tensor, array, own, plan.after) if here else None
    return Call(group, about, async_op, finish, [tensor]).reduce(plan, array, root)


def _reduce_scatter(group, about, output, flat, op, async_op):
    plan = group.plan(op, flat, "reduce_scatter")
    if plan.before is not None:
        plan.before(flat)
    array, own = group.mpi.contiguous(output)
    finish = _written(output, array, own, plan.after)
    return Call(group, about, async_op, finish, [output]).reduce_scatter(plan, flat, array)


def reduce_scatter(output: Tensor, input_list: list[Tensor], op: RedOpType | ReduceOp = SUM,
                   group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
    """Writes the result of `op` on input_list[i] of all ranks to `output` of rank i. All tensors have one shape."""
    check_tensor(output, "output")
    _check_list(input_list, "input_list")
    _check_dtypes(output, *input_list)
    group = joined(group, "reduce_scatter")
    if group is None:
        return None
    if len(input_list) != group.count:
        raise RuntimeError("invalid input tensor list size, must be world size")
    for x in input_list:
        if x._array.shape != output._array.shape:
            raise RuntimeError(f"reduce_scatter: output is of shape {tuple(output._array.shape)} and one of the inputs "
                               f"of {tuple(x._array.shape)}")
    about = "reduce_scatter", input_list, op
    if detail.on:
        detail.check(group, async_op, *about)
    return _reduce_scatter(group, about, output, _flat(input_list, output._array.dtype), op, async_op)


def reduce_scatter_single(output: Tensor, input: Tensor, op: RedOpType | ReduceOp = SUM,
                          group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
    """Writes the result of `op` on the i-th part of `input` of all ranks to `output` of rank i.

    `input` has one output for each rank, one after the other or stacked.
    """
    check_tensor(output, "output")
    check_tensor(input, "input")
    group = joined(group, "reduce_scatter_single")
    if group is None:
        return None
    if output.dtype is not input.dtype:
        raise RuntimeError(f"reduce_scatter: output is of dtype {output.dtype} and input of {input.dtype}")
    if output._array.size * group.count != input._array.size:
        raise RuntimeError(f"reduce_scatter: input has {input._array.size} elements, and output {output._array.size} "
                           f"on each of {group.count} ranks")
    about = "reduce_scatter_single", [input], op
    if detail.on:
        detail.check(group, async_op, *about)
    flat, own = group.mpi.contiguous(input)
    plan_changes = isinstance(op, ReduceOp) and op.factor is not None
    return _reduce_scatter(group, about, output, flat.copy() if own and plan_changes else flat, op, async_op)


def reduce_scatter_tensor(output: Tensor, input: Tensor, op: RedOpType | ReduceOp = SUM,
                          group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
    """`reduce_scatter_single` under its older name."""
    return reduce_scatter_single(output, input, op, group, async_op)


# ------------------------------------------------------------------ from one to all and back
def broadcast(tensor: Tensor, src: int | None = None, group: ProcessGroup | None = None, async_op: bool = False,
              group_src: int | None = None) -> Work | None:
    """Writes the tensor of rank `src` of the world (`group_src` of the group) to `tensor` of every rank."""
    group = joined(group, "broadcast")
    if group is None:
        return None
    root = rank_in(group, src, group_src)
    check_tensor(tensor, "tensor")
    root = _root(group, None, root, "broadcast")
    about = "broadcast", [tensor], None, root
    if detail.on:
        detail.check(group, async_op, *about)
    array, own = group.mpi.contiguous(tensor)
    finish = None if group.own_rank == root else _written(tensor, array, own)
    return Call(group, about, async_op, finish, [tensor]).broadcast(array, root)


def gather(tensor: Tensor, gather_list: list[Tensor] | None = None, dst: int | None = None,
           group: ProcessGroup | None = None, async_op: bool = False, group_dst: int | None = None) -> Work | None:
    """Writes the tensors of all ranks, in order, to `gather_list` of rank `dst` (0 by default). Other ranks pass
    None."""
    check_tensor(tensor, "tensor")
    gather_list = gather_list or []
    _check_list(gather_list, "gather_list")
    _check_dtypes(tensor, *gather_list)
    group = joined(group, "gather")
    if group is None:
        return None
    root = rank_in(group, 0 if dst is None and group_dst is None else dst, group_dst)
    check_gather_list(group.own_rank, root, gather_list)
    root = _root(group, None, root, "gather")
    here = group.own_rank == root
    if here:
        if len(gather_list) != group.count:
            raise RuntimeError(f"ProcessGroupGloo::gather: Incorrect output list size {len(gather_list)}. Output list "
                               f"size should be {group.count}, same as size of the process group.")
        _check_shapes("gather", gather_list, tensor)
    about = "gather", [tensor], None, root
    if detail.on:
        detail.check(group, async_op, *about)
    flat = np.empty(group.count * tensor._array.size, tensor._array.dtype) if here else None
    sent = group.mpi.contiguous(tensor)[0]
    finish = _spread(flat, gather_list) if here else None
    return Call(group, about, async_op, finish, gather_list).gather(sent, flat, root)


def check_gather_list(rank: int, dst: int, gather_list: list | None) -> None:
    """Raises ValueError if the list is missing on rank `dst`, or given on another rank."""
    if dst == rank:
        if not gather_list:
            raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    elif gather_list:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")


def scatter(tensor: Tensor, scatter_list: list[Tensor] | None = None, src: int | None = None,
            group: ProcessGroup | None = None, async_op: bool = False, group_src: int | None = None) -> Work | None:
    """Writes scatter_list[i] of rank `src` (0 by default) to `tensor` of rank i. Other ranks pass None for the list."""
    check_tensor(tensor, "tensor")
    scatter_list = scatter_list or []
    _check_list(scatter_list, "scatter_list")
    _check_dtypes(tensor, *scatter_list)
    group = joined(group, "scatter")
    if group is None:
        return None
    root = rank_in(group, 0 if src is None and group_src is None else src, group_src)
    here = group.own_rank == root
    if here and not scatter_list:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    if scatter_list and not here:
        raise ValueError("Argument ``scatter_list`` must NOT be specified on non-source ranks.")
    root = _root(group, None, root, "scatter")
    if here:
        if len(scatter_list) != group.count:
            raise RuntimeError(f"ProcessGroupGloo::scatter: Incorrect input list size {len(scatter_list)}. Input list "
                               f"size should be {group.count}, same as size of the process group.")
        _check_shapes("scatter", scatter_list, tensor)
    about = "scatter", [tensor], None, root
    if detail.on:
        detail.check(group, async_op, *about)
    array, own = group.mpi.contiguous(tensor)
    sent = _flat(scatter_list, tensor._array.dtype) if here else None
    return Call(group, about, async_op, _written(tensor, array, own), [tensor]).scatter(sent, array, root)


# ------------------------------------------------------------------ from all to all
def all_gather(tensor_list: list[Tensor], tensor: Tensor, group: ProcessGroup | None = None, async_op: bool = False
               ) -> Work | None:
    """Writes the tensors of all ranks, in order, to `tensor_list` of every rank. All tensors have one shape."""
    _check_list(tensor_list, "tensor_list")
    check_tensor(tensor, "tensor")
    _check_dtypes(*tensor_list, tensor)
    group = joined(group, "all_gather")
    if group is None:
        return None
    if len(tensor_list) != group.count:
        raise RuntimeError("ProcessGroupGloo::allgather: invalid output tensor list at index 0 (expected length "
                           f"{group.count}, got {len(tensor_list)})")
    _check_shapes("allgather", tensor_list, tensor)
    about = "all_gather", [tensor]
    if detail.on:
        detail.check(group, async_op, *about)
    flat = np.empty(group.count * tensor._array.size, tensor._array.dtype)
    sent = group.mpi.contiguous(tensor)[0]
    return Call(group, about, async_op, _spread(flat, tensor_list), tensor_list).all_gather(sent, flat)


def all_gather_single(output_tensor: Tensor, input_tensor: Tensor, group: ProcessGroup | None = None,
                      async_op: bool = False) -> Work | None:
    """Writes the tensors of all ranks, one after the other or stacked, to `output_tensor` of every rank."""
    check_tensor(input_tensor, "input_tensor")
    check_tensor(output_tensor, "output_tensor")
    group = joined(group, "all_gather_single")
    if group is None:
        return None
    if output_tensor.dtype is not input_tensor.dtype:
        raise RuntimeError(f"ProcessGroupGloo::allgather: invalid tensor type at index 0 (expected {input_tensor.dtype}"
                           f", got {output_tensor.dtype})")
    if output_tensor._array.size != group.count * input_tensor._array.size:
        whole = output_tensor._array
        first = whole[:-(-len(whole) // group.count)] if whole.ndim else None
        got = "()" if first is None else str(list(first.shape))[1:-1]
        raise RuntimeError("ProcessGroupGloo::allgather: invalid tensor size at index 0 (expected "
                           f"{_shape(input_tensor)}, got ({got}))")
    about = "all_gather_single", [input_tensor]
    if detail.on:
        detail.check(group, async_op, *about)
    array, own = group.mpi.contiguous(output_tensor)
    sent = group.mpi.contiguous(input_tensor)[0]
    finish = _written(output_tensor, array, own)
    return Call(group, about, async_op, finish, [output_tensor]).all_gather(sent, array)


def all_gather_into_tensor(output_tensor: Tensor, input_tensor: Tensor, group: ProcessGroup | None = None,
                           async_op: bool = False) -> Work | None:
    """`all_gather_single` under its older name."""
    return all_gather_single(output_tensor, input_tensor, group, async_op)


def _split(sizes, length, row, count):
    """The number of elements for each rank, from lengths along the first dimension. RuntimeError if they do not add
    up."""
    if not sizes:
        if length % count:
            raise RuntimeError("Tensor's dim 0 does not divide equally across group size")
        return [length // count * row] * count
    if len(sizes) != count or sum(sizes) != length or min(sizes) < 0:
        raise RuntimeError("Split sizes doesn't match total dim 0 size")
    return [size * row for size in sizes]


def all_to_all_single(output: Tensor, input: Tensor, output_split_sizes: list[int] | None = None,
                      input_split_sizes: list[int] | None = None, group: ProcessGroup | None = None,
                      async_op: bool = False) -> Work | None:
    """Sends the i-th part of `input` to rank i, and puts the part from rank j at the j-th place of `output`.

    Parts are along the first dimension. They have the same length, or the lengths in the lists of sizes.
    """
    if not_in(group, "all_to_all_single"):
        return None
    check_tensor(output, "output")
    check_tensor(input, "input")
    _check_dtypes(output, input)
    group = of_group(group)
    if not output_split_sizes and not input_split_sizes and output._array.size != input._array.size:
        raise RuntimeError(f"all_to_all_single: output has {output._array.size} elements, and input "
                           f"{input._array.size}")
    parts = []
    for x, sizes in ((output, output_split_sizes), (input, input_split_sizes)):
        length = x._array.shape[0] if x._array.ndim else 1
        parts.append(_split(sizes, length, x._array.size // max(length, 1), group.count))
    array, own = group.mpi.contiguous(output)
    sent = group.mpi.contiguous(input)[0]
    return _exchange(group, async_op, ("all_to_all_single", [input]), _written(output, array, own), [output], array,
                     parts[0], sent, parts[1])


def _exchange(group, async_op, about, finish, result, array, to_get, sent, to_send):
    own = group.own_rank
    if to_send[own] != to_get[own]:
        raise RuntimeError(f"{about[0]}: rank {own} sends {to_send[own]} elements to itself, and receives "
                           f"{to_get[own]}")
    if detail.on:
        detail.check(group, async_op, *about, splits=(to_send, to_get))
    return Call(group, about, async_op, finish, result).all_to_all(array, to_get, sent, to_send)


def all_to_all(output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: ProcessGroup | None = None,
               async_op: bool = False) -> Work | None:
    """Sends input_tensor_list[i] to rank i, and writes the tensor from rank j to output_tensor_list[j].

    The tensors may differ in shape. output_tensor_list[j] has the size of the tensor that rank j sends.
    """
    if not_in(group, "all_to_all"):
        return None
    _check_list(output_tensor_list, "output_tensor_list")
    _check_list(input_tensor_list, "input_tensor_list")
    _check_dtypes(*output_tensor_list, *input_tensor_list)
    group = of_group(group)
    for word, tensors in (("input", input_tensor_list), ("output", output_tensor_list)):
        if len(tensors) != group.count:
            raise RuntimeError(f"ProcessGroupGloo::alltoall: {word} tensor list size {len(tensors)} does not match "
                               f"world size {group.count}")
    numpy_dtype = input_tensor_list[0]._array.dtype
    sizes = [[x._array.size for x in tensors] for tensors in (output_tensor_list, input_tensor_list)]
    flat = np.empty(sum(sizes[0]), numpy_dtype)
    return _exchange(group, async_op, ("all_to_all", input_tensor_list), _spread(flat, output_tensor_list),
                     output_tensor_list, flat, sizes[0], _flat(input_tensor_list, numpy_dtype), sizes[1])


def barrier(group: ProcessGroup | None = None, async_op: bool = False, device_ids: Any = None, timeout: Any = None
            ) -> Work | None:
    """Returns when all ranks have called it."""
    group = joined(group, "barrier")
    if group is None:
        return None
    if detail.on:
        detail.check(group, async_op, "barrier")
    return Call(group, ("barrier",), async_op).run("Barrier")
