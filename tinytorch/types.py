"""Types for annotations of arguments: `torch.types`.

>>> import tinytorch as torch
>>> isinstance(1.5, torch.types.Number), isinstance("1.5", torch.types.Number)
(True, False)
"""
import builtins
import os
from collections.abc import Sequence
from typing import IO, TypeAlias

from . import dtypes as dt
from .device import device
from .tensor import Size, Tensor

#: A Python number, as an operand beside tensors or to fill a tensor.
Number = builtins.bool | int | float | complex
#: Sizes, dimensions, strides.
Ints = tuple[int, ...] | list[int]
#: A size or an index, and several of them. torch accepts a tensor of one integer for each, whatever its shape.
Extent = int
Extents = Ints
#: Several tensors.
Tensors = tuple[Tensor, ...] | list[Tensor]
Device = device | str | int | None
#: The forms in which files may be given.
FileLike = str | os.PathLike | IO[bytes]

_int = int
_float = float
_bool = builtins.bool
_complex = complex
_dtype = dt.dtype
_device = device
_size = Size | tuple[int, ...] | list[int]
_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]


class Storage:
    """The attributes of storages: a name for annotations."""

    dtype: _dtype
    device: device

    def nbytes(self) -> _int:
        """The number of bytes."""
        raise NotImplementedError
