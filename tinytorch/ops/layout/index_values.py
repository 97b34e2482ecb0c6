"""Reading from an array, and writing to it, by an advanced index."""
import numpy as np

from ...kernels import masks
from ...kernels.layout import picked_like
from ...kernels.memory import READ_ONLY, refusal
from ...kernels.scatter import add_at, owned, picked_at
from .index_errors import check_fits, check_in_range, index_error, indexes_empty_dim, shape_of_result


def pick(array, index):
    """array[index] for an advanced index, with torch's errors."""
    if not array.size and indexes_empty_dim(array.shape, index):
        raise index_error(array.shape, index, None)
    try:
        last = index[-1]
        if len(index) == 1 and last.dtype == bool and (found := masks.selected(array, last)) is not None:
            return found
        if (last.dtype != bool and array.flags.c_contiguous and last.flags.c_contiguous
                and all([i.__class__ is slice for i in index[:-1]])):
            return array.take(last, axis=len(index) - 1)
        if (found := picked_at(array, index)) is not None:
            return found
        index = owned(index)
        return picked_like(array[index], array, index)
    except IndexError as error:
        shape = shape_of_result(array.shape, index)
        if shape is None or 0 not in shape or indexes_empty_dim(array.shape, index):
            raise index_error(array.shape, index, error) from None
        return np.empty(shape, array.dtype)    # no elements: torch does not check the range


def put_values(array, values, index, accumulate=False):
    """array[index] = values (or += with repeats) for an advanced index, with torch's errors."""
    if (np.ndim(values) > array.ndim or not np.size(values)) and not indexes_empty_dim(array.shape, index):
        # NumPy would accept extra dimensions of size 1, and any dimensions of a value without elements.
        shape = shape_of_result(array.shape, index)
        if shape is not None and len(shape) < np.ndim(values):
            raise _of_other_shape(values, shape)
    try:
        if accumulate:
            index = owned(index)
            check_in_range(array.shape, index)
            if not array.flags.writeable:      # NumPy's add.at does not check this
                raise RuntimeError(READ_ONLY)
            row_major = np.ascontiguousarray(array)
            add_at(row_major, index, values)
            if row_major is not array:
                array[...] = row_major
        else:
            array[owned(index)] = values
    except IndexError as error:
        shape = shape_of_result(array.shape, index)
        if shape is not None and not indexes_empty_dim(array.shape, index):
            check_fits(values, shape)
            if 0 in shape:                     # torch does not check the range
                return
        raise index_error(array.shape, index, error) from None
    except (TypeError, ValueError) as error:
        if not array.flags.writeable:
            raise refusal(error) from None
        if indexes_empty_dim(array.shape, index):
            raise index_error(array.shape, index, error) from None
        raise _of_other_shape(values, shape_of_result(array.shape, index)) from None


def _of_other_shape(values, shape):
    return RuntimeError(f"shape mismatch: value tensor of shape {list(np.shape(values))} cannot be broadcast to "
                        f"indexing result of shape {list(shape)}")
