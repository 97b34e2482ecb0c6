"""Buckets of parameters: their assignment, the flat memory of a bucket, and its view for a communication hook."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..dtypes import NATIVE
from ..tensor import Tensor, wrap

__all__ = ["Bucket", "GradBucket", "assign", "flat_groups"]


def assign(tensors: Sequence[Tensor], limits: Sequence[int], sparse: Sequence[bool] = (),
           order: Sequence[int] | None = None) -> list[list[int]]:
    """The numbers of the `tensors` in each bucket. Tensors of one dtype go into a bucket in turn, until it has as many
    bytes as its limit. The limits of the buckets of a dtype are those of `limits` in turn, and then the last of them. A
    tensor whose gradient is sparse has a bucket of its own. Tensors are taken in `order`. Without it they are taken by
    their numbers, and the buckets are sorted by their first number."""
    done, open_ones, at = [], {}, {}
    for i in range(len(tensors)) if order is None else order:
        if sparse and sparse[i]:
            done.append([i])
            continue
        array = tensors[i]._array
        key = array.dtype
        indices, size = open_ones.get(key, ([], 0))
        indices.append(i)
        size += array.size * array.itemsize
        k = at.get(key, 0)
        open_ones[key] = indices, size
        if size >= limits[k]:
            done.append(indices)
            del open_ones[key]
            at[key] = min(k + 1, len(limits) - 1)
    done += [indices for indices, _ in open_ones.values()]
    return sorted(done, key=min) if order is None else done


def flat_groups(tensors: Iterable[Tensor]) -> list[list[Tensor]]:
    """The tensors by dtype, in the order in which the dtypes first occur."""
    groups = {}
    for tensor in tensors:
        groups.setdefault(tensor._array.dtype, []).append(tensor)
    return list(groups.values())


def _view(flat, array):
    """`flat` seen as an array like `array`: with its strides, if that fills its memory without gaps."""
    order = sorted(range(array.ndim), key=lambda i: (-array.strides[i], i))
    dense = array.transpose(order)
    if not array.flags.c_contiguous and dense.flags.c_contiguous:
        return flat.reshape(dense.shape).transpose(np.argsort(order))
    return flat.reshape(array.shape)


class Bucket:
    """Parameters whose gradients are sent together.

    indices    the numbers of the parameters
    flat       the memory of their gradients, one after the other; None if the gradient is sparse
    buffer     this memory as a Tensor
    views      the parts of it, as arrays with the shapes and strides of the parameters; grads: the parts as Tensors
    pending    the number of gradients that are missing in this iteration
    plain      whether NumPy computes with the dtype
    started    the object by which to wait for the end of the sending
    """

    __slots__ = ("indices", "flat", "buffer", "views", "grads", "pending", "plain", "started", "sparse")

    def __init__(self, indices: Sequence[int], parameters: Sequence[Tensor], sparse: bool) -> None:
        self.indices, self.sparse, self.pending, self.started = list(indices), sparse, len(indices), None
        arrays = [parameters[i]._array for i in indices]
        dtype = arrays[0].dtype
        self.plain, self.flat, self.buffer, self.views, self.grads = dtype.kind in NATIVE, None, None, None, None
        if sparse:
            return
        self.flat = np.zeros(sum([array.size for array in arrays]), dtype)
        self.buffer = wrap(self.flat)
        self.views, end = [], 0
        for array in arrays:
            begin, end = end, end + array.size
            self.views.append(_view(self.flat[begin:end], array))
        self.grads = list(map(wrap, self.views))


class GradBucket:
    """The argument of a communication hook of DistributedDataParallel: the gradients of some parameters, flat."""

    def __init__(self, index: int, bucket: Bucket, parameters: Sequence[Tensor], last: bool) -> None:
        self._index, self._bucket, self._parameters, self._last = index, bucket, parameters, last
        self._buffer = bucket.buffer

    def index(self) -> int:
        """The number of the bucket. Buckets are sent in the order of their numbers."""
        return self._index

    def buffer(self) -> Tensor:
        """The gradients, one after the other, as a 1-D tensor."""
        return self._buffer

    def set_buffer(self, buffer: Tensor) -> None:
        """Puts another tensor in the place of `buffer()`."""
        self._buffer = buffer

    def gradients(self) -> list[Tensor]:
        """The parts of the buffer, in the shapes of the parameters."""
        return list(self._bucket.grads)

    def parameters(self) -> list[Tensor]:
        """The parameters whose gradients are in it."""
        return [self._parameters[i] for i in self._bucket.indices]

    def is_last(self) -> bool:
        """Whether it is the last one of a backward."""
        return self._last
