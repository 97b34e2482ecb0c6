"""Checks of indices and of the values written by them, with torch's errors."""
import numpy as np

from ... import dtypes as dt
from ...autograd.views import check_overlap, may_share
from ...tensor import Tensor


def index_error(shape, index, error):
    """torch's error for index arrays that NumPy refused."""
    arrays = [(d, i) for d, i in enumerate(index) if isinstance(i, np.ndarray)]
    if any(shape[d] == 0 for d, _ in arrays):
        return IndexError("index is out of bounds for dimension with size 0")
    if "broadcast" in str(error) or shape_of_result(shape, index) is None:
        shapes = ", ".join(str(list(i.shape)) for _, i in arrays)
        return IndexError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}")
    for k, (d, i) in enumerate(arrays):
        if i.dtype != bool:
            wrong = i[(i < -shape[d]) | (i >= shape[d])]
            if wrong.size:
                return IndexError(f"index {wrong[0]} is out of bounds for dimension {k} with size {shape[d]}")
    return error


def shape_of_result(shape, index):
    """The shape of the elements that an advanced index selects from an array of `shape`. The values of the index are
    not checked. None if its arrays do not broadcast."""
    index = [np.zeros_like(i) if isinstance(i, np.ndarray) and i.dtype != bool else i for i in index]
    sizes = [n or 1 if isinstance(i, np.ndarray) else n for n, i in zip(shape, index)] + list(shape[len(index):])
    try:
        return np.broadcast_to(np.zeros(()), sizes)[tuple(index)].shape
    except IndexError:
        return None


def indexes_empty_dim(shape, index):
    """Whether the index has values for a dimension of size 0, where no value is in range."""
    arrays = [(n, i) for n, i in zip(shape, index) if isinstance(i, np.ndarray)]
    return any([not n for n, _ in arrays]) and all([i.size for _, i in arrays])


def check_fits(values, shape):
    """RuntimeError if the values cannot be broadcast to `shape`."""
    there = np.shape(values)
    there = there[next((i for i, n in enumerate(there) if n != 1), len(there)):]
    if len(there) > len(shape) or any([n not in (1, m) for n, m in zip(there[::-1], shape[::-1])]):
        raise RuntimeError(f"shape mismatch: value tensor of shape {list(np.shape(values))} cannot be broadcast to "
                           f"indexing result of shape {list(shape)}")


def check_in_range(shape, index):
    """IndexError if an array of an advanced index is out of range. (The arrays become places in flat memory later,
    where NumPy cannot notice it.)"""
    for i, n in zip(index, shape):
        if isinstance(i, np.ndarray) and i.dtype != bool and i.size and not -n <= i.min() <= i.max() < n:
            raise IndexError


_OF_MASKS = "The shape of the mask"


def check_mask(mask, at, there, shape):
    for i, (n, m) in enumerate(zip(mask.shape, there)):
        if n != m:
            raise IndexError(f"{_OF_MASKS} {list(mask.shape)} at index {i} does not match the shape of the "
                             f"indexed tensor {list(shape)} at index {at + i}")


def check_masks(index, value):
    """RuntimeError for one value written by one uint8 mask: torch calls masked_fill for it, which refuses the mask."""
    if not isinstance(value, Tensor) or value._array.size == 1:
        arrays = [x for x in index if isinstance(x, (list, tuple)) or isinstance(x, (Tensor, np.ndarray)) and x.ndim]
        if len(arrays) == 1 and _is_of_bytes(arrays[0]):
            raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype unsigned char")


def check_apart(target, value, advanced, index, accumulate=False):
    """The value to write to target[index]; `advanced` is the index in NumPy's form. RuntimeError if the value or a
    tensor of the index shares memory with the target. One exception: a single number that is written by a single mask
    is read first, since torch calls masked_fill for it, and the mask may then be the target itself."""
    array = target._array
    if isinstance(value, Tensor) and (value._array is array or may_share(array, value._array)):
        if _is_filling(value, advanced, accumulate):
            value = value.clone()
        else:
            check_overlap(value if value._array is array else target, value, True)
    if array.dtype.kind in dt.INTEGRAL:        # an index can have this dtype too
        for x in index:
            if isinstance(x, Tensor) and may_share(array, x._array):
                filling = _is_filling(value, advanced, accumulate)
                if filling or x._array.dtype != bool:
                    check_overlap(target, x, not filling)
    return value


def check_apart_first(error, target, value, accumulate=False):
    """The RuntimeError for a value that shares memory with its target, where `error` is about the shape of a mask:
    torch checks memory before that shape, unless the value is a single number."""
    if isinstance(value, Tensor) and (accumulate or value._array.size != 1) and str(error).startswith(_OF_MASKS) and (
            value is target or may_share(target._array, value._array)):
        check_overlap(target, value, True)


def _is_filling(value, advanced, accumulate):
    """Whether a single number is written by a single mask."""
    arrays = [x for x in advanced if x.__class__ is not slice]
    return len(arrays) == 1 and arrays[0].dtype == bool and not accumulate and (
        not isinstance(value, Tensor) or value._array.size == 1)


def _is_of_bytes(x):
    """Whether an item of an index is a tensor or an array of uint8, or a list of such numbers alone."""
    if isinstance(x, (list, tuple)):
        return len(x) > 0 and all([_is_of_bytes(item) for item in x])
    if isinstance(x, (Tensor, np.ndarray)):
        return x.ndim > 0 and getattr(x, "_array", x).dtype == np.uint8
    return isinstance(x, np.uint8)
