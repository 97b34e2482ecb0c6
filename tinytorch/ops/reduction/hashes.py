"""hash_tensor: the bits of all elements in one number."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...autograd.public import public
from ...errors import not_implemented
from ...tensor import Tensor, wrap
from ...types import Ints
from .reductions import axes

__all__ = ["hash_tensor"]


@public(out="Expected result to be of dtype uint64, but got {Have}", apart=None, method=True)
def hash_tensor(input: Tensor, dim: int | Ints | None = (), *, keepdim: bool = False, mode: int = 0,
                out: Tensor | None = None) -> Tensor:
    """The exclusive or of the bits of all elements, or over `dim` (an int or several), as uint64. The elements are
    first converted to float64 or int64.

    RuntimeError for a `mode` other than 0 and for no elements, NotImplementedError for complex numbers.

    >>> import tinytorch as torch
    >>> torch.hash_tensor(torch.tensor([5, 3, 2]))
    tensor(4, dtype=torch.uint64)
    """
    if mode:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    array = input._array
    over = axes(dim, array.ndim)
    if not array.size:
        if dim is None or dim == ():
            raise RuntimeError("hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify "
                               "the reduction dim with the 'dim' argument.")
        if over is None:
            over = range(array.ndim)
        elif isinstance(over, int):
            over = (over,)
        for axis in over:
            if not array.shape[axis]:
                raise IndexError(f"hash_tensor: Expected reduction dim {axis} to have non-zero size.")
    kind = array.dtype.kind
    if kind not in dt.INTEGRAL + dt.FLOATING or kind in dt.UNSIGNED and array.itemsize > 1:
        raise not_implemented("xor_sum_cpu", input)
    wide = dt.cast(array, np.dtype(np.float64 if kind in dt.FLOATING else np.int64))
    return wrap(np.asarray(np.bitwise_xor.reduce(wide.view(np.uint64), axis=over, keepdims=keepdim)))
