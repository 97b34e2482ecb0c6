"""What is wrong with an index, in torch's words."""
import numpy as np

from ...tensor import Tensor


def index_error(shape, index, error):
    """torch's error for the index arrays that NumPy refused."""
    arrays = [(d, i) for d, i in enumerate(index) if isinstance(i, np.ndarray)]
    if any(shape[d] == 0 for d, _ in arrays):
        return IndexError("index is out of bounds for dimension with size 0")
    for k, (d, i) in enumerate(arrays):
        if i.dtype != bool:
            wrong = i[(i < -shape[d]) | (i >= shape[d])]
            if wrong.size:
                return IndexError(f"index {wrong[0]} is out of bounds for dimension {k} with size {shape[d]}")
    if "broadcast" in str(error):
        shapes = ", ".join(str(list(i.shape)) for _, i in arrays)
        return IndexError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}")
    return error


def check_mask(mask, at, there, shape):
    for i, (n, m) in enumerate(zip(mask.shape, there)):
        if n != m:
            raise IndexError(f"The shape of the mask {list(mask.shape)} at index {i} does not match the shape of the "
                             f"indexed tensor {list(shape)} at index {at + i}")


def check_masks(index, value):
    """RuntimeError for one value written where one mask of bytes says: torch does it with masked_fill."""
    if not isinstance(value, Tensor) or value.array.size == 1:
        arrays = [x for x in index if isinstance(x, Tensor) and x.array.ndim]
        if len(arrays) == 1 and arrays[0].array.dtype == np.uint8:
            raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype unsigned char")
