"""Names for what arguments may be: `torch.types`.

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

#: A Python number where one stands beside tensors or fills them.
Number = builtins.bool | int | float | complex
#: Sizes, dimensions, strides.
Ints = tuple[int, ...] | list[int]
#: A size or an index, and several: torch takes a tensor of one integer for each, whatever its shape.
Extent = int
Extents = Ints
#: Several tensors.
Tensors = tuple[Tensor, ...] | list[Tensor]
Device = device | str | int | None
#: What files may be given as.
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
    """What storages have: a name for annotations."""

    dtype: _dtype
    device: device

    def nbytes(self) -> _int:
        """How many bytes it has."""
        raise NotImplementedError
