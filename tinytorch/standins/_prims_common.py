"""torch._prims_common: the memory layout of tensors."""
from __future__ import annotations

from collections.abc import Sequence

from .memory_format import channels_last, channels_last_3d, contiguous_format, memory_format, strided
from .missing import namespace as _namespace
from .tensor import Tensor

__all__ = ["is_contiguous_or_false", "make_contiguous_strides_for", "suggest_memory_format"]


def make_contiguous_strides_for(shape: Sequence[int], row_major: bool = True) -> tuple[int, ...]:
    """The strides of a contiguous tensor of this shape. Without `row_major` its matrices lie column by column.

    >>> from tinytorch._prims_common import make_contiguous_strides_for
    >>> make_contiguous_strides_for((2, 3, 4)), make_contiguous_strides_for((2, 3, 4), row_major=False)
    ((12, 4, 1), (12, 1, 3))
    """
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    strides.reverse()
    if row_major or len(shape) < 2:
        return tuple(strides)
    return *strides[:-2], 1, max(shape[-2], 1)


def suggest_memory_format(x: Tensor) -> memory_format:
    """channels_last or channels_last_3d if the strides have this order, else contiguous_format."""
    if x.layout is not strided or x.is_contiguous():
        return contiguous_format
    for ndim, said in ((4, channels_last), (5, channels_last_3d)):
        if x.ndim == ndim and x.is_contiguous(memory_format=said):
            return said
    return contiguous_format


def is_contiguous_or_false(a: Tensor) -> bool:
    """Whether a tensor is contiguous."""
    return a.is_contiguous()


__path__: list[str] = []                      # torch has a package of this name: refused.txt
__getattr__ = _namespace(__name__)
