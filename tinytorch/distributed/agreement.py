"""Checks that the processes have the same model, and gives all of them the model of one."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import distributed as dist
from ..tensor import Tensor, wrap
from .buckets import flat_groups

__all__ = ["broadcast_coalesced", "verify_shapes"]


def verify_shapes(group: Any, parameters: Sequence[Tensor]) -> None:
    """Raises RuntimeError, in torch's words, unless the parameters of all processes of the group agree in number,
    shapes and strides."""
    rank = dist.get_rank(group)
    mine = [(list(p.shape), list(p.stride())) for p in parameters]
    everyone: list = [None] * dist.get_world_size(group)
    dist.all_gather_object(everyone, mine, group=group)
    for other, theirs in enumerate(everyone):
        if len(theirs) != len(mine):
            raise RuntimeError(f"DDP expects same model across all ranks, but Rank {rank} has {len(mine)} params, "
                               f"while rank {other} has inconsistent {len(theirs)} params.")
    for i, ((shape, stride), (first_shape, first_stride)) in enumerate(zip(mine, everyone[0])):
        if shape != first_shape:
            raise RuntimeError(f"[{rank}]: params[{i}] in this process with sizes {shape} appears not to match sizes "
                               "of the same param in process 0.")
        if stride != first_stride:
            raise RuntimeError(f"params[{i}] in this process with sizes {shape} appears not to match strides of the "
                               "same param in process 0.")


def broadcast_coalesced(group: Any, tensors: Sequence[Tensor], source: int) -> None:
    """Writes the tensors of rank `source` of the group into the tensors of all ranks, with one message for each dtype.
    The versions of the tensors stay as they are."""
    root = dist.get_global_rank(group, source)
    for together in flat_groups(tensors):
        flat = np.concatenate([t._array.reshape(-1) for t in together])
        dist.broadcast(wrap(flat), root, group=group)
        end = 0
        for tensor in together:
            begin, end = end, end + tensor._array.size
            tensor._array[...] = flat[begin:end].reshape(tensor._array.shape)
