"""Broadcasting as an operation: expand, and the common shape of several tensors."""
from __future__ import annotations

from functools import lru_cache
from operator import index as as_int

import numpy as np

from ...arguments import ints_of
from ...autograd.op import single
from ...autograd.public import method, public
from ...errors import sizes_do_not_match
from ...kinds.lazy import restrided
from ...tensor import Size, Tensor
from ...types import Extents, Ints, Tensors
from .sizes import elements, sizes

__all__ = ["broadcast_shapes", "broadcast_tensors", "broadcast_to"]


@single(name="expand", view=True, input=lambda g: g)
def _expand(input, size):
    strides = _strides(input.shape, input.strides, size)
    if input.flags.c_contiguous and input.size and 0 not in size and type(input) is np.ndarray:
        return np.ndarray(size, input.dtype, input, 0, strides)
    return restrided(input, size, strides)


@lru_cache(1024)
def _strides(shape, steps, size):
    """The strides of an array of this shape and these strides, expanded to `size`."""
    lead = len(size) - len(shape)
    strides = [s if n == m else 0 for s, n, m in zip(steps, shape, size[lead:])]
    for i in range(lead - 1, -1, -1):          # torch's stride of a new dimension of size 1 spans those after it
        strides.insert(0, size[i + 1] * strides[0] if size[i] == 1 and strides else 0)
    return tuple(strides)


@lru_cache(1024)
def _size(shape, asked):
    """`asked` with the sizes that it keeps in place of -1. None if a tensor of this shape has no such expanded form."""
    lead = len(asked) - len(shape)
    shape = (1,) * lead + shape
    fits = lead >= 0 and all([n == have or have == 1 and n >= 0 or n == -1 and i >= lead
                              for i, (n, have) in enumerate(zip(asked, shape))])
    return tuple([have if n == -1 else n for n, have in zip(asked, shape)]) if fits else None


@method(repeats=True)
def expand(self: Tensor, *args: int | Ints, size: Ints | None = None, implicit: bool = False) -> Tensor:
    """A view with dimensions of size 1 repeated. New dimensions are put in front; -1 keeps a size.

    >>> import tinytorch as torch
    >>> torch.tensor([[1], [2]]).expand(-1, 3)
    tensor([[1, 1, 1],
            [2, 2, 2]])
    """
    asked = sizes(args, "expand") if size is None else ints_of(size, "expand", "size", None, True)
    shape = self._array.shape
    if (full := _size(shape, asked)) is not None:
        return _expand(self, full)
    lead = len(asked) - len(shape)
    if lead < 0:
        raise RuntimeError(f"expand({_kind(self.dtype)}{{{list(shape)}}}, size={list(asked)}): the number of sizes "
                           f"provided ({len(asked)}) must be greater or equal to the number of dimensions in the "
                           f"tensor ({len(shape)})")
    full = list(asked)
    for i, n in reversed(list(enumerate(asked))):
        have = shape[i - lead] if i >= lead else 1
        if n == -1:
            if i < lead:
                raise RuntimeError(f"The expanded size of the tensor (-1) isn't allowed in a leading, "
                                   f"non-existing dimension {i}")
            full[i] = have
        elif n != have and have != 1:
            raise RuntimeError(f"The expanded size of the tensor ({n}) must match the existing size ({have}) at "
                               f"non-singleton dimension {i}.  Target sizes: {list(asked)}.  Tensor sizes: "
                               f"{list(shape)}")
    return _expand(self, tuple(full))


def _kind(dtype):
    """The name of a tensor's type in torch's C++."""
    name = dtype.tensor_type
    return f"torch.{name}" if name[:-6] in _LEGACY else f"CPU{name[:-6]}Type"


_LEGACY = ("Double", "Float", "Half", "Byte", "Char", "Short", "Int", "Long")


@public(method=True, shares=True)
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """`self.expand(other.size())`."""
    return expand(self, other._array.shape)


@public(shares=True)
def broadcast_to(input: Tensor, size: Extents) -> Tensor:
    """`input.expand(size)`.

    >>> import tinytorch as torch
    >>> torch.broadcast_to(torch.tensor([1, 2]), (2, 2))
    tensor([[1, 2],
            [1, 2]])
    """
    return expand(input, size)


@method("broadcast_to")
def _broadcast_to_method(self: Tensor, *args: int | Ints, size: Ints | None = None) -> Tensor:
    """`expand`: broadcast_to(2, 2) or broadcast_to((2, 2))."""
    return expand(self, sizes(args, "broadcast_to") if size is None else
                  ints_of(size, "broadcast_to", "size", None, True))


@public(python=True, seen=False)
def broadcast_shapes(*shapes: int | Ints) -> Size:
    """The shape that tensors of these shapes (tuples or ints) broadcast to. RuntimeError if they do not broadcast.

    >>> import tinytorch as torch
    >>> torch.broadcast_shapes((2,), (3, 1))
    torch.Size([3, 2])
    """
    shapes = [(s,) if isinstance(s, int) else _as_shape(s) for s in shapes if s is not None]
    result = [1] * max(map(len, shapes), default=0)
    for k, shape in enumerate(shapes):
        for i in range(-1, -len(shape) - 1, -1):
            if shape[i] < 0:
                raise RuntimeError(f"Trying to create tensor with negative dimension ({shape[i]}): ({shape[i]})")
            if shape[i] in (1, result[i]):
                continue
            if result[i] != 1:
                raise RuntimeError(f"Attempting to broadcast a dimension of length {shape[i]} at {i}! Mismatching "
                                   f"argument at index {k} had {shape}; but expected shape should be broadcastable to "
                                   f"{result}")
            result[i] = shape[i]
    return Size([as_int(n) for n in result])


def _as_shape(shape):
    if not isinstance(shape, (tuple, list, str)):
        raise RuntimeError(f"Input shapes should be of type ints, a tuple of ints, or a list of ints, got {shape}")
    return tuple(shape) if isinstance(shape, str) else shape


@public(python=True, shares=True)
def broadcast_tensors(*tensors: Tensor) -> Tensors:
    """The tensors expanded to their common shape.

    >>> import tinytorch as torch
    >>> a, b = torch.broadcast_tensors(torch.zeros(2, 1), torch.zeros(3))
    >>> a.shape, b.shape
    (torch.Size([2, 3]), torch.Size([2, 3]))
    """
    size = ()
    for tensor in elements(tensors):
        size = common_shape(size, tensor._array.shape)
    return tuple([tensor if tensor._array.shape == size else expand(tensor, size) for tensor in tensors])


def common_shape(a, b):
    """The shape that `a` and `b` broadcast to. RuntimeError as elementwise operations raise it."""
    ndim = max(len(a), len(b))
    a_full, b_full = (1,) * (ndim - len(a)) + tuple(a), (1,) * (ndim - len(b)) + tuple(b)
    for i in reversed(range(ndim)):
        if a_full[i] != b_full[i] and a_full[i] != 1 and b_full[i] != 1:
            raise sizes_do_not_match(a_full[i], b_full[i], i)
    return tuple([n if m == 1 else m for m, n in zip(a_full, b_full)])
